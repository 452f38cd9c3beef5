"""ε or δ above one half is usually a confidence by mistake: a warning, at the user's line, for every public door."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import pacband
from support.estimators import X_NEW, Y_NEW, X, Y

ZERO = np.zeros(len(Y))
DOORS = {
    "plan": lambda **options: pacband.plan(**options),
    "plan_acceptance": lambda **options: pacband.plan_acceptance(**options, eps_good=0.01),
    "certify": lambda **options: pacband.certify(Y, ZERO, **options),
    "family": lambda **options: pacband.certify_family(Y, {"zero": ZERO}, **options),
    "groups": lambda **options: pacband.certify_groups(Y, ZERO, X[:, 0] > 0, **options),
    "scores": lambda **options: pacband.certify_scores(np.abs(Y), **options),
    "frame": lambda **options: pacband.certify_frame(
        __import__("pandas").DataFrame({"y": Y, "p": ZERO}), target="y", prediction="p", **options
    ),
    "regressor": lambda **options: pacband.CertifiedRegressor(Ridge(), random_state=0, **options).fit(X, Y),
    "calibrate": lambda **options: pacband.CertifiedRegressor(Ridge().fit(X, Y), **options).calibrate(X_NEW, Y_NEW),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eps": 0.95, "delta": 0.05}, "eps is the share .* 0.95 is more than half. For at least 95 % .* eps is 0.05"),
        ({"eps": 0.05, "delta": 0.999}, "delta is the probability .* For a confidence of 99.9 %, delta is 0.001"),
    ],
)
def test_a_confidence_in_the_wrong_place_is_a_warning(door, options, message):
    with pytest.warns(pacband.UnlikelyPromise, match=message) as found:
        DOORS[door](**options)
    assert [warning.filename for warning in found] == [__file__], "one warning, at the line of the caller"


@pytest.mark.parametrize("door", DOORS)
def test_half_is_no_mistake(door):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DOORS[door](eps=0.5, delta=0.5)


def test_a_tolerance_has_no_eps_of_its_own():
    with pytest.warns(pacband.UnlikelyPromise, match="delta is the probability"):
        pacband.certify_tolerance(Y, ZERO, 30.0, delta=0.95)


def test_a_curve_may_reach_every_eps():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pacband.certify_curve(Y, ZERO, delta=0.01, max_eps=0.9)


def test_a_certificate_is_loaded_without_a_warning(tmp_path):
    with pytest.warns(pacband.UnlikelyPromise):
        path = pacband.certify(Y, ZERO, eps=0.95, delta=0.05).save(tmp_path / "cert.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pacband.load(path)
