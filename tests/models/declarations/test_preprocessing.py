"""Forged numbers of columns."""

from math import comb

import pytest
from sklearn.preprocessing import PolynomialFeatures

from pacband.models.values import Unsound
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


# Parameters of PolynomialFeatures, and the number of columns that they make of so many features, bias included.
COLUMNS = [
    ({"degree": 3}, 5, comb(8, 3)),
    ({"degree": 9}, 2, comb(11, 2)),
    ({"degree": 2, "interaction_only": True}, 5, 1 + 5 + 10),
    ({"degree": 50, "interaction_only": True}, 5, 2**5),
    ({"degree": (2, 4)}, 3, comb(7, 3)),
]


@pytest.mark.parametrize(("options", "n_features", "n_columns"), COLUMNS)
def test_columns_are_counted_before_they_are_made(options, n_features, n_columns, monkeypatch):
    from pacband.models.declarations import preprocessing as home

    model = PolynomialFeatures(**options)
    monkeypatch.setattr(home, "_MOST_POWERS", n_columns)
    home._restore_powers(model, {"n_features_in_": n_features})
    assert model._n_out_full == n_columns
    monkeypatch.setattr(home, "_MOST_POWERS", n_columns - 1)
    with pytest.raises(Unsound, match="too many columns"):
        home._restore_powers(model, {"n_features_in_": n_features})


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("degree", [10**9, ["tuple", 0, 10**9]])
def test_powers_that_would_take_hours_to_count_are_refused(forge, refused, monkeypatch, degree, interaction_only):
    def no_fit(*args):
        raise AssertionError("the powers were fitted")

    forged = forge(fitted("PolynomialFeatures"))
    (entry,) = forged.objects("sklearn.PolynomialFeatures")[-1:]
    entry["parameters"] |= {"degree": degree, "interaction_only": interaction_only}
    entry["state"] = {"n_features_in_": 10**6}
    monkeypatch.setattr(PolynomialFeatures, "fit", no_fit)
    refused(forged, "a sklearn.PolynomialFeatures has too many columns")
