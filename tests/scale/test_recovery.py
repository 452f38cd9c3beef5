"""Each scale recovers a known σ(x), narrows the band where σ varies, and costs little where it does not.

Mean over seeds of the width of the certified band, as a share of that of the constant scale; correlation is that of
log σ̂ and log σ; calibration is the root mean square of e/σ̂ on fresh rows.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, QuantileRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures
from threadpoolctl import threadpool_limits

from pacband import CertifiedRegressor, LocalKernelRidge, certify_family, datasets
from pacband.candidates.members import Member, fit_members
from pacband.scale import (
    EnsembleScale,
    FloorScale,
    LeverageScale,
    NeighborScale,
    ParzenScale,
    ProductScale,
    QuantileBand,
    QuantileScale,
    ResidualScale,
    StdScale,
)

TRAIN, TEST, SEEDS = 1500, 4000, (0, 1)
NEAR = KNeighborsRegressor(20)
FOREST = RandomForestRegressor(60, min_samples_leaf=8, random_state=0)
LOCAL = LocalKernelRidge("rbf", gamma=5, alpha=0.02, decay=4)
QUADRATIC = make_pipeline(FunctionTransformer(np.abs), PolynomialFeatures(2))
ENDS = [make_pipeline(QUADRATIC, QuantileRegressor(quantile=q, alpha=0.0, solver="highs")) for q in (0.05, 0.95)]

CASES = {
    "neighbour": (NEAR, NeighborScale()),
    "residual": (NEAR, ResidualScale()),
    "forest": (FOREST, EnsembleScale(cv=3)),
    "local std": (LOCAL, StdScale()),
    "parzen": (NEAR, ParzenScale(NEAR, decay=4)),
    "product": (NEAR, ProductScale([NeighborScale(), ResidualScale()])),
    "floor": (NEAR, FloorScale(NeighborScale(), share=0.3)),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield


def draw(n, seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.5, 2.5, (n, 1))
    sigma = scale(X)
    return X, datasets.paper_predictor(X) + sigma * rng.standard_normal(n), sigma


def constant(X):
    return np.full(len(X), 3.0)


def ratio(y, prediction, scale):
    bound = certify_family(y, {"plain": prediction, "scaled": (prediction, scale)}, eps=0.1, delta=0.01).mean_bound
    return bound["scaled"] / bound["plain"]


@cache
def study(name, noise):
    """(width ratio, correlation, calibration), each the mean over seeds."""
    predictor, scale = CASES[name]
    found = []
    for seed in SEEDS:
        X, y, _ = draw(TRAIN, seed, noise)
        X_new, y_new, sigma = draw(TEST, seed + 100, noise)
        member = fit_members({"a": Member(predictor, scale)}, X, y)["a"]
        prediction, estimate = member.predict_with_scale(X_new)
        spread = np.std(np.log(sigma)) > 0 and np.std(np.log(estimate)) > 0
        correlation = np.corrcoef(np.log(sigma), np.log(estimate))[0, 1] if spread else 0.0
        calibration = np.sqrt(np.mean(((y_new - prediction) / estimate) ** 2))
        found.append((ratio(y_new, prediction, estimate), correlation, calibration))
    return tuple(np.mean(found, axis=0))


each_case = pytest.mark.parametrize("name", CASES)


@each_case
def test_recovers_a_known_scale_and_beats_the_constant_one(name):
    width, correlation, calibration = study(name, datasets.paper_scale)
    print(f"{name}: width {width:.3f}, correlation {correlation:.3f}, calibration {calibration:.3f}")
    assert correlation > 0.8
    assert 0.85 < calibration < 1.25
    assert width < 0.95


@each_case
def test_costs_little_where_the_noise_is_constant(name):
    width, _, calibration = study(name, constant)
    print(f"{name}: width {width:.3f}, calibration {calibration:.3f}")
    assert width < 1.03
    assert 0.85 < calibration < 1.25


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


def nought(X):
    return np.zeros(len(X))


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


def test_quantile_band_is_a_regressor_with_its_own_scale():
    X, y, _ = draw(2000, 0, datasets.paper_scale)
    options = {"eps": 0.1, "delta": 0.01, "random_state": 0}
    midpoint = CertifiedRegressor(QuantileBand(cv=2), scale="std", **options).fit(X, y)
    centre, (lower, upper) = midpoint.estimator_.predict(X, return_std=True)
    np.testing.assert_allclose(lower, upper)
    np.testing.assert_array_equal(centre, midpoint.predict(X))
    median = CertifiedRegressor(QuantileBand(centre=KNeighborsRegressor(20), cv=2), scale="std", **options).fit(X, y)
    lower, upper = median.estimator_.predict(X, return_std=True)[1]
    assert np.any(lower != upper)
    plain = CertifiedRegressor(KNeighborsRegressor(20), **options).fit(X, y)
    for model in (midpoint, median):
        assert np.mean(np.diff(model.predict_interval(X), axis=1)) < 0.97 * np.mean(np.diff(plain.predict_interval(X)))


def test_quantiles_that_cross_or_miss_the_predictor_leave_the_floor():
    ends = DummyRegressor(strategy="constant", constant=3.0), DummyRegressor(strategy="constant", constant=1.0)
    X, y = np.zeros((4, 1)), np.arange(4.0)
    scale = QuantileScale(*ends, estimator=lambda X: X[:, 0]).fit(X, y)
    lower, upper = scale._raw_half_widths(scale._ends(X[:3]), np.array([2.5, 0.0, 9.0]))
    np.testing.assert_allclose(lower, [1.5, 0.05, 8.0])
    np.testing.assert_allclose(upper, [0.5, 3.0, 0.05])


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


def test_a_scale_may_be_settled_for_the_narrowest_band():
    """The narrowest band on average varies less with x than σ does; `eps` says at which ε it is wanted."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (4000, 1))
    y = np.exp(0.8 * X[:, 0]) * rng.standard_normal(4000)
    zero = np.zeros(2000)
    likely, narrow = (NeighborScale(nought, eps=eps).fit(X[:2000], y[:2000]).predict(X[2000:]) for eps in (None, 0.1))
    assert np.std(np.log(narrow)) < np.std(np.log(likely))
    assert ratio(y[2000:], zero, narrow) < 0.97 * ratio(y[2000:], zero, likely)


def test_tempering_and_products_multiply():
    X = np.array([[1.0], [4.0]])
    tempered = ProductScale([lambda X: X[:, 0]], powers=[0.5]).fit(X, [0.0, 0.0])
    np.testing.assert_allclose(tempered.predict(X), [1.0, 2.0])
    pair = ProductScale([lambda X: (X[:, 0], 4 * X[:, 0]), lambda X: X[:, 0]]).fit(X, [0.0, 0.0])
    np.testing.assert_allclose(pair.predict(X), [[1.0, 4.0], [2.0, 8.0]])
    floored = FloorScale(lambda X: (X[:, 0], 4 * X[:, 0]), share=0.0, absolute=3.0).fit(X, [0.0, 0.0])
    np.testing.assert_allclose(floored.predict(X), [[3.0, 4.0], [4.0, 16.0]])
