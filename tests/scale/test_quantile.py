"""Two quantiles around a predictor."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import QuantileRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from pacband import CertifiedRegressor, datasets
from pacband.scale import (
    NeighborScale,
    QuantileScale,
)
from support.noise import constant, draw, nought, ratio

TRAIN, TEST, SEEDS = 1500, 4000, (0, 1)
NEAR = KNeighborsRegressor(20)
QUADRATIC = make_pipeline(FunctionTransformer(np.abs), PolynomialFeatures(2))
ENDS = [make_pipeline(QUADRATIC, QuantileRegressor(quantile=q, alpha=0.0, solver="highs")) for q in (0.05, 0.95)]


def test_quantile_ends_recover_both_sides():
    X, y, _ = draw(TRAIN, 0, datasets.paper_scale)
    X_new, y_new, sigma = draw(TEST, 1, datasets.paper_scale)
    flat, flat_new = y - datasets.paper_predictor(X), y_new - datasets.paper_predictor(X_new)
    scale = QuantileScale(*ENDS, estimator=nought).fit(X, flat)
    for side in scale.predict(X_new):
        np.testing.assert_allclose(side / (1.645 * sigma), 1.0, atol=0.25)
    assert ratio(flat_new, np.zeros(TEST), scale.predict(X_new)) < 0.95
    even, even_new = draw(TRAIN, 2, constant), draw(TEST, 3, constant)
    scale.fit(even[0], even[1] - datasets.paper_predictor(even[0]))
    assert ratio(even_new[1] - datasets.paper_predictor(even_new[0]), np.zeros(TEST), scale.predict(even_new[0])) < 1.03


def test_quantile_scale_follows_skewed_errors():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (2000, 1))
    y = np.sign(X[:, 0]) * rng.exponential(1.0, 2000)  # the long tail changes sides
    widths = {}
    for name, scale in {
        "none": None,
        "even": NeighborScale(),
        "pair": QuantileScale(cv=2),
        "pair of errors": QuantileScale(target="error", cv=2),
    }.items():
        model = CertifiedRegressor(nought, scale=scale, eps=0.1, delta=0.01, random_state=0).fit(X, y)
        widths[name] = np.mean(np.diff(model.predict_interval(X), axis=1))
    assert widths["pair"] < 0.8 * min(widths["none"], widths["even"])
    assert widths["pair of errors"] == pytest.approx(widths["pair"], rel=0.1), "the error of a T that is nought is y"


def test_boosted_quantiles_of_y_and_of_the_error():
    for noise, worst in ((datasets.paper_scale, 0.95), (constant, 1.02)):
        X, y, _ = draw(TRAIN, 0, noise)
        X_new, y_new, _ = draw(TEST, 1, noise)
        prediction = clone(NEAR).fit(X, y).predict(X_new)
        for target in ("y", "error"):
            scale = QuantileScale(estimator=NEAR, target=target, cv=2).fit(X, y)
            width = ratio(y_new, prediction, scale.predict(X_new))
            print(f"{target}: width {width:.3f}, share {scale.shrinkage_.share}")
            assert width < worst


def test_quantiles_that_cross_or_miss_the_predictor_leave_the_floor():
    ends = DummyRegressor(strategy="constant", constant=3.0), DummyRegressor(strategy="constant", constant=1.0)
    X, y = np.zeros((4, 1)), np.arange(4.0)
    scale = QuantileScale(*ends, estimator=lambda X: X[:, 0]).fit(X, y)
    lower, upper = scale._raw_half_widths(scale._ends(X[:3]), np.array([2.5, 0.0, 9.0]))
    np.testing.assert_allclose(lower, [1.5, 0.05, 8.0])
    np.testing.assert_allclose(upper, [0.5, 3.0, 0.05])
