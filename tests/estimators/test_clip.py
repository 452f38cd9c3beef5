"""Certified estimators of a target with a known range."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import pacband
from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput
from support.estimators import PROMISE, everyone

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(1000, 2))
Y = np.maximum(0.0, 2 * X[:, 0] - 0.5 + 0.3 * RNG.standard_normal(1000))


@parametrize_with_checks([CertifiedRegressor(LinearRegression(), eps=0.5, delta=0.5, clip=(-1e9, 1e9))])
def test_follows_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "model",
    [
        CertifiedRegressor(LinearRegression(), clip=(0, None), random_state=0, **PROMISE),
        CertifiedFamily({"a": LinearRegression(), "b": LinearRegression(positive=True)}, clip=(0, None), **PROMISE),
        CertifiedFamily({"a": LinearRegression()}, clip=(0, None), groups=everyone, **PROMISE),
    ],
    ids=["regressor", "family", "groups"],
)
def test_bands_stay_in_the_range_and_predictions_do_not_change(model):
    model.fit(X, Y)
    ends, prediction = model.predict_interval(X), model.predict(X)
    assert ends.min() == 0.0
    assert prediction.min() < 0.0, "T is as it was fitted: the promise is about its errors"
    assert "[0, ∞)" in str(model.certificate_)
    plain = model.__class__(**{**model.get_params(deep=False), "clip": None, "random_state": 0})
    np.testing.assert_array_equal(plain.fit(X, Y).predict(X) >= 0.0, plain.predict(X) >= 0.0)


def test_files_and_frames(tmp_path):
    table = pd.DataFrame(X, columns=["a", "b"])
    model = CertifiedRegressor(LinearRegression(), clip=(0, None), random_state=0, **PROMISE).fit(table, Y)
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    assert loaded.clip == (0, None)
    np.testing.assert_array_equal(loaded.predict_interval(table), model.predict_interval(table))
    bands = model.predict_interval(table, output="frame")
    assert bands["lower"].min() == 0.0


def test_targets_outside_the_range_are_refused_before_any_fit():
    class Untouchable(LinearRegression):
        def fit(self, X, y):
            raise AssertionError("fitted")

    model = CertifiedRegressor(Untouchable(), clip=(0, None), **PROMISE)
    with pytest.raises(InvalidInput, match=r"y must lie in \[0, ∞\), .* 3"):
        model.fit(X, np.where(np.arange(1000) == 3, -1.0, Y))
    with pytest.raises(InvalidInput, match="low < high"):
        model.set_params(clip=(1, 0)).fit(X, Y)
    fitted = LinearRegression().fit(X[:500], Y[:500])
    with pytest.raises(InvalidInput, match="the range of clip"):
        CertifiedRegressor(fitted, clip=(0, None), **PROMISE).calibrate(X[500:], Y[500:] - 1)


def test_the_range_chooses_no_candidate_with_groups_or_without():
    """By the clipped width, the guess below the range would be the sharpest: its band is nearly empty."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 1, 2000), np.arange(2000) % 2])
    y = np.maximum(0.0, X[:, 0] + 0.1 * rng.standard_normal(2000))
    candidates = {"below": lambda X: X[:, 0] - 2.0, "near": lambda X: X[:, 0] + 0.05}
    options = {"eps": 0.1, "delta": 0.01, "random_state": 0}
    for side in ("both", "lower", "upper"):
        found = []
        for clip in ((0, None), (0, 2), None):
            for groups in (None, 1):
                family = CertifiedFamily(candidates, side=side, clip=clip, groups=groups, **options).fit(X, y)
                found.append(family.best_name_)
        assert len(set(found)) == 1, (side, found)


def test_rows_that_left_their_range_can_be_diagnosed():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (2000, 1))
    y = np.maximum(0.0, X[:, 0] + 0.1 * rng.standard_normal(2000))
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0, clip=(0, None)).fit(X, y)
    fresh = rng.uniform(0, 1, (500, 1))
    left = fresh[:, 0] + 0.1 * rng.standard_normal(500) - 0.05
    assert (left < 0).any()
    assert pacband.diagnose(model, fresh, left).sound
