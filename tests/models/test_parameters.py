"""Forged parameters: only objects of the right role are accepted."""

from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from support.gallery import PLAIN, Y, fitted


def test_only_what_may_stand_there_stands_there(forge, refused):
    forged = forge(fitted("GaussianProcessRegressor"))
    kernels = [k for k, entry in enumerate(forged.document["objects"]) if entry["kind"].startswith("sklearn.kernels.")]
    forged.document["value"][3][1] = ["list", ["object", kernels[0]]]
    refused(forged, "a predictor has no predict method")
    forged = forge(make_pipeline(StandardScaler(), Ridge()).fit(PLAIN, Y))
    forged.objects("sklearn.Pipeline")[-1]["parameters"]["steps"] = ["list", 3]
    refused(forged, "steps of a Pipeline are not pairs|not in its range")
