"""Trusted types must be named by the manifest."""

from sklearn.linear_model import LinearRegression

from support.gallery import PLAIN, Y


def test_what_is_not_named_at_the_top_is_not_loaded(forge, refused):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    forged.document["objects"].append({"kind": "trusted", "file": 0})
    refused(forged, "an object refers to a file that does not exist")
    forged.document["objects"][-1] = {"kind": "lightgbm.LGBMRegressor", "parameters": {}, "state": {"text": "x"}}
    refused(forged, "it contains a lightgbm.LGBMRegressor, which its manifest does not name")
