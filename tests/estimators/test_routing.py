"""Parameters of `fit` reach predictor and scale, row by row, and never the rank."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput, SearchPlan
from pacband.core import row_tables
from pacband.draws import Units
from pacband.scale import ResidualScale
from support.estimators import PROMISE, X_NEW, Y_NEW, X, Y, sine
from support.twins import put_in_place

WEIGHTS = np.random.default_rng(0).integers(0, 4, len(Y))


class SpreadOfY(BaseEstimator):
    """A scale that takes weights."""

    def fit(self, X, y, sample_weight=None):
        self.weights_ = sample_weight
        self.level_ = float(np.sqrt(np.average(np.square(y), weights=sample_weight)))
        return self

    def predict(self, X):
        return np.full(len(X), self.level_)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def regressor(model=None, **options):
    return CertifiedRegressor(Ridge() if model is None else model, random_state=0, **PROMISE, **options)


def test_integer_weights_are_repeated_training_rows():
    apart = {"calibration": (X_NEW, Y_NEW)}
    weighted = regressor(scale=SpreadOfY()).fit(X, Y, sample_weight=WEIGHTS, **apart)
    repeated = regressor(scale=SpreadOfY()).fit(np.repeat(X, WEIGHTS, axis=0), np.repeat(Y, WEIGHTS), **apart)
    np.testing.assert_allclose(weighted.predict(X_NEW), repeated.predict(X_NEW), rtol=1e-9)
    np.testing.assert_allclose(weighted.scale_.level_, repeated.scale_.level_, rtol=1e-12)
    one, other = weighted.certificate_, repeated.certificate_
    np.testing.assert_allclose(one.gamma, other.gamma, rtol=1e-9)
    assert (one.n_samples, one.rank) == (other.n_samples, other.rank)


def assert_rows_have_their_weights(model):
    fit, calibrate = model.split_indices(X, Y)
    np.testing.assert_array_equal(model.estimator_.coef_, Ridge().fit(X[fit], Y[fit], WEIGHTS[fit]).coef_)
    np.testing.assert_array_equal(model.scale_.weights_, WEIGHTS[fit])
    plain = regressor(scale=SpreadOfY()).fit(X, Y).certificate_
    assert (model.certificate_.n_samples, model.certificate_.rank) == (plain.n_samples, plain.rank)
    assert model.certificate_.n_samples == len(calibrate), "a row of weight 0 or 3 is one draw, too"


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series], ids=["array", "list", "series"])
def test_training_rows_keep_their_weights_in_the_split(kind):
    assert_rows_have_their_weights(regressor(scale=SpreadOfY()).fit(X, Y, sample_weight=kind(WEIGHTS)))


def test_weights_of_other_rows_would_be_seen(monkeypatch):
    shifted = lambda table, rows: np.roll(np.asarray(table), 1)[rows]  # noqa: E731
    put_in_place(
        monkeypatch, row_tables.take_parameters, lambda p, n, rows: {k: shifted(v, rows) for k, v in p.items()}
    )
    with pytest.raises(AssertionError):
        assert_rows_have_their_weights(regressor(scale=SpreadOfY()).fit(X, Y, sample_weight=WEIGHTS))


@pytest.mark.parametrize("enabled", [False, True])
def test_scales_of_pacband_see_the_errors_of_the_weighted_predictor(enabled):
    model = Ridge()
    with sklearn.config_context(enable_metadata_routing=enabled):
        if enabled:
            model.set_fit_request(sample_weight=True)
        certified = regressor(model, scale=ResidualScale(regressor=LinearRegression(), cv=2))
        fit, _ = certified.split_indices(X, Y)
        certified.fit(X, Y, sample_weight=WEIGHTS)
        plain = regressor(model, scale=ResidualScale(regressor=LinearRegression(), cv=2)).fit(X, Y)
    from pacband.scale.crossfit import make_folds

    expected = np.empty(len(fit))
    for train, test in make_folds(2, len(fit), random_state=0):
        rows = fit[train]
        expected[test] = Y[fit[test]] - Ridge().fit(X[rows], Y[rows], WEIGHTS[rows]).predict(X[fit[test]])
    np.testing.assert_array_equal(certified.scale_.errors_, expected)
    assert (plain.scale_.errors_ != expected).any()


def test_routing_by_request(routing):
    weighted = regressor(
        Ridge().set_fit_request(sample_weight=True), scale=SpreadOfY().set_fit_request(sample_weight="noise_weight")
    )
    half = WEIGHTS / 2
    fit, _ = weighted.split_indices(X, Y)
    weighted.fit(X, Y, sample_weight=WEIGHTS, noise_weight=half)
    np.testing.assert_array_equal(weighted.estimator_.coef_, Ridge().fit(X[fit], Y[fit], WEIGHTS[fit]).coef_)
    np.testing.assert_array_equal(weighted.scale_.weights_, half[fit])
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        regressor().fit(X, Y, sample_weight=WEIGHTS)
    with pytest.raises(TypeError, match="unexpected argument"):
        weighted.fit(X, Y, other=WEIGHTS)


def test_routing_through_a_search_and_a_pipeline(routing):
    inner = regressor(Ridge().set_fit_request(sample_weight=True)).set_score_request(sample_weight=False)
    search = GridSearchCV(inner, {"estimator__alpha": [0.1, 10.0]}, cv=2).fit(X, Y, sample_weight=WEIGHTS)
    best = search.best_estimator_
    fit, _ = best.split_indices(X, Y)
    expected = Ridge(alpha=best.estimator.alpha).fit(X[fit], Y[fit], WEIGHTS[fit])
    np.testing.assert_array_equal(best.estimator_.coef_, expected.coef_)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    outer = make_pipeline(scaler, regressor(Ridge().set_fit_request(sample_weight=True)))
    outer.fit(X, Y, sample_weight=WEIGHTS)
    Z = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(outer[-1].estimator_.coef_, Ridge().fit(Z[fit], Y[fit], WEIGHTS[fit]).coef_)
    within = regressor(make_pipeline(scaler, Ridge().set_fit_request(sample_weight=True)))
    within.fit(X, Y, sample_weight=WEIGHTS)
    Z = StandardScaler().fit_transform(X[fit])
    np.testing.assert_array_equal(within.estimator_[-1].coef_, Ridge().fit(Z, Y[fit], WEIGHTS[fit]).coef_)


def test_searches_and_pipelines_without_routing():
    search = GridSearchCV(regressor(), {"estimator__alpha": [1.0]}, cv=2).fit(X, Y, sample_weight=WEIGHTS)
    fit, _ = search.best_estimator_.split_indices(X, Y)
    expected = Ridge().fit(X[fit], Y[fit], WEIGHTS[fit]).coef_
    np.testing.assert_array_equal(search.best_estimator_.estimator_.coef_, expected)
    outer = make_pipeline("passthrough", regressor()).fit(X, Y, certifiedregressor__sample_weight=WEIGHTS)
    np.testing.assert_array_equal(outer[-1].estimator_.coef_, expected)
    within = make_pipeline("passthrough", Ridge())
    for name in ("sample_weight", "ridge__sample_weight"):
        model = regressor(within).fit(X, Y, **{name: WEIGHTS})
        np.testing.assert_array_equal(model.estimator_[-1].coef_, expected)


def test_a_family_gives_weights_to_every_candidate():
    pair = {"ridge": Ridge(), "line": (LinearRegression(), SpreadOfY())}
    family = CertifiedFamily(pair, random_state=0, **PROMISE).fit(X, Y, sample_weight=WEIGHTS)
    fit, _ = family.split_indices(X, Y)
    for name, model in (("ridge", Ridge()), ("line", LinearRegression())):
        expected = model.fit(X[fit], Y[fit], WEIGHTS[fit]).coef_
        np.testing.assert_array_equal(family.estimators_[name].coef_, expected)
    np.testing.assert_array_equal(family.members_["line"].scale.weights_, WEIGHTS[fit])


def test_a_family_routes_to_those_that_ask(routing):
    pair = {"ridge": Ridge().set_fit_request(sample_weight=True), "near": KNeighborsRegressor()}
    family = CertifiedFamily(pair, random_state=0, **PROMISE).fit(X, Y, sample_weight=WEIGHTS)
    fit, _ = family.split_indices(X, Y)
    np.testing.assert_array_equal(family.estimators_["ridge"].coef_, Ridge().fit(X[fit], Y[fit], WEIGHTS[fit]).coef_)


def test_units_keep_their_weights():
    machine = np.arange(len(Y)) // 3
    model = regressor().fit(X, Y, draws=Units(machine), sample_weight=WEIGHTS)
    fit, _ = model.split_indices(X, Y, draws=Units(machine))
    np.testing.assert_array_equal(model.estimator_.coef_, Ridge().fit(X[fit], Y[fit], WEIGHTS[fit]).coef_)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (regressor(KNeighborsRegressor()), {"sample_weight": WEIGHTS}, r"KNeighborsRegressor \('estimator'\) takes no 'sample_weight' at fit.*enable_metadata_routing"),
        (CertifiedFamily({"a": Ridge(), "b": KNeighborsRegressor()}, **PROMISE), {"sample_weight": WEIGHTS}, "'b'"),
        (CertifiedFamily("auto", **PROMISE), {"sample_weight": WEIGHTS}, r"Automatic \('auto'\) takes no 'sample_weight'"),
        (regressor(make_pipeline(StandardScaler(), KNeighborsRegressor())), {"sample_weight": WEIGHTS}, "Pipeline"),
        (regressor(), {"weight": WEIGHTS}, "takes no 'weight'"),
        (regressor(), {"sample_weight": WEIGHTS[:-1]}, "one value per row: 3000 rows, got 2999"),
        (regressor(), {"sample_weight": 2.0}, "got 2.0"),
        (regressor(sine), {"sample_weight": WEIGHTS}, "nothing is fitted.*draws.Weighted"),
        (regressor(FrozenEstimator(Ridge().fit(X_NEW, Y_NEW))), {"sample_weight": WEIGHTS}, "nothing is fitted"),
    ],
)  # fmt: skip
def test_parameters_that_nothing_would_use_are_refused(model, options, message):
    with pytest.raises(InvalidInput, match=message):
        model.fit(X, Y, **options)
    assert not hasattr(model, "certificate_")


def test_own_candidates_next_to_the_automatic_ones_get_what_they_request(routing):
    plan = SearchPlan(("linear",), (), all_rows=True, rows=1, columns=1)
    mine = Ridge().set_fit_request(sample_weight=True)
    options = {"random_state": 0, "n_jobs": 1, "search_plan": plan, **PROMISE}
    family = CertifiedFamily(
        {"auto": "auto", "mine": mine, "other": Ridge().set_fit_request(sample_weight=False)}, **options
    )
    with pytest.warns(UserWarning, match="the plan was recorded"):
        family.fit(X, Y, calibration=(X_NEW, Y_NEW), sample_weight=WEIGHTS)
    weighted = Ridge().fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(family.estimators_["mine"].coef_, weighted.coef_)
    np.testing.assert_array_equal(family.estimators_["other"].coef_, Ridge().fit(X, Y).coef_)


def test_the_automatic_family_takes_no_weights_without_routing():
    with pytest.raises(InvalidInput, match=r"takes no .sample_weight"):
        CertifiedFamily({"auto": "auto", "mine": Ridge()}, random_state=0, **PROMISE).fit(X, Y, sample_weight=WEIGHTS)
