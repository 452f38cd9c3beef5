"""The prediction error of a linear model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from pacband import InvalidInput
from pacband.scale import LeverageScale
from support.noise import ratio

TRAIN, TEST, SEEDS = 1500, 4000, (0, 1)


def test_random_coefficients_are_recovered():
    for slope, worst in ((np.sqrt(7), 0.9), (0.0, 1.02)):
        widths = []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            x = rng.uniform(-2.5, 2.5, TRAIN + TEST)
            sigma = np.sqrt(slope**2 * x**2 + 3)
            y = 10 * x + 5 + sigma * rng.standard_normal(len(x))
            scale = LeverageScale(coefficients="random").fit(x[:TRAIN, None], y[:TRAIN])
            estimate = scale.predict(x[TRAIN:, None])
            np.testing.assert_allclose(estimate / sigma[TRAIN:], 1.0, atol=0.12)
            model = LinearRegression().fit(x[:TRAIN, None], y[:TRAIN])
            widths.append(ratio(y[TRAIN:], model.predict(x[TRAIN:, None]), estimate))
        assert np.mean(widths) < worst


def test_the_classical_form_is_the_standard_error_of_a_prediction(rng):
    X, y, new = rng.standard_normal((20, 3)), rng.standard_normal(20), rng.standard_normal((9, 3))
    design, points = np.c_[np.ones(20), X], np.c_[np.ones(9), new]
    errors = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    variance = errors @ errors / (20 - 4)
    leverage = np.einsum("ij,jk,ik->i", points, np.linalg.inv(design.T @ design), points)
    expected = np.sqrt(variance * (1 + leverage))
    np.testing.assert_allclose(LeverageScale().fit(X, y).predict(new), expected, rtol=1e-10)
    # Features that say nothing new change nothing, nor do their units.
    twice = LeverageScale(FunctionTransformer(lambda X: np.c_[X * [1, 1e3, 1e-3], X.sum(axis=1)])).fit(X, y)
    np.testing.assert_allclose(twice.predict(new), expected, rtol=1e-8)
    statsmodels = pytest.importorskip("statsmodels.api")
    fit = statsmodels.OLS(y, design).fit()
    np.testing.assert_allclose(LeverageScale().fit(X, y).predict(new), fit.get_prediction(points).se_obs, rtol=1e-10)


def test_leave_one_out_by_formula_and_by_refitting(rng):
    X, y = rng.standard_normal((15, 2)), rng.standard_normal(15)
    scale = LeverageScale().fit(X, y)
    rest = [np.delete(np.arange(15), i) for i in range(15)]
    refitted = np.array([LeverageScale().fit(X[rows], y[rows])._leverage(X[[i]])[0] for i, rows in enumerate(rest)])
    own = scale._leverage(X)
    np.testing.assert_allclose(own / (1 - own), refitted, rtol=1e-10)


def test_leverage_narrows_the_band_of_a_fit_to_few_rows():
    """Twelve rows, three coefficients: the fit's own error dominates away from the middle."""
    widths = []
    features = PolynomialFeatures(2, include_bias=False)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x = np.r_[rng.uniform(-1, 1, (12, 1)), rng.uniform(-2, 2, (1000, 1))]
        y = rng.standard_normal(1012)
        model = make_pipeline(clone(features), LinearRegression()).fit(x[:12], y[:12])
        scale = LeverageScale(features).fit(x[:12], y[:12])
        widths.append(ratio(y[12:], model.predict(x[12:]), scale.predict(x[12:])))
    assert np.exp(np.mean(np.log(widths))) < 0.97


def test_features_must_be_a_transformer():
    with pytest.raises(InvalidInput, match=r"features must be a transformer, .* got LinearRegression\(\)"):
        LeverageScale(LinearRegression()).fit(np.eye(3), np.arange(3.0))
