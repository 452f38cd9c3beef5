"""Forged numbers of columns."""

from support.gallery import fitted


def test_columns_that_are_not_filled_cannot_be_asked_for(forge, refused):
    """They would show what was in memory before."""
    forged = forge(fitted("PolynomialFeatures"))
    for name in ("_n_out_full", "n_output_features_", "_max_degree"):
        forged.objects("sklearn.PolynomialFeatures")[-1]["state"] = {"n_features_in_": 3, name: 9}
        refused(forged, "a sklearn.PolynomialFeatures has an attribute that is not declared")
    forged = forge(fitted("SplineTransformer"))
    forged.objects("sklearn.SplineTransformer")[-1]["state"]["n_features_out_"] = 10**6
    refused(forged, "the number of columns does not match the splines")
    forged = forge(fitted("DummyRegressor"))
    forged.objects("sklearn.DummyRegressor")[-1]["state"]["n_outputs_"] = 10**6
    refused(forged, "different numbers of outputs and constants")
    forged = forge(fitted("RegressorChain"))
    forged.objects("sklearn.RegressorChain")[-1]["state"]["order_"] = ["list", 1, 1]
    refused(forged, "has an invalid order")
    forged = forge(fitted("LocalRidge"))
    node = forged.objects("pacband.Model")[-1]["parameters"]["y"]
    forged.objects("pacband.Model")[-1]["parameters"]["y"] = forged.add(forged.array(node)[:-1])
    refused(forged, "different numbers of targets and samples")
