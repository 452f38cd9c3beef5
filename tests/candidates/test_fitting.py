"""Fits of many models at once."""

import warnings

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacband.candidates.fitting import (
    Rounds,
    compare_costs,
    fit_folds,
    fit_together,
    is_boosting,
    n_parallel,
    shorten_process,
)
from pacband.candidates.smooth import SmoothProcess
from pacband.candidates.windows import ShortestWindow
from pacband.candidates.workers import Workers
from support.automatic import draw

BOOSTING = HistGradientBoostingRegressor(max_iter=5, random_state=0)


def test_a_fold_is_predicted_by_a_fit_to_the_other_rows(rng):
    X, y = draw(rng, 60)
    folds = list(KFold(3).split(X))
    for (train, test), fit in zip(folds, fit_folds(Ridge(), X, y, folds, workers=Workers(2)), strict=True):
        np.testing.assert_array_equal(fit.predictions, Ridge().fit(X[train], y[train]).predict(X[test]))
        assert fit.model is None


@pytest.mark.parametrize("model", [BOOSTING, TransformedTargetRegressor(BOOSTING)], ids=["plain", "transformed"])
def test_the_fits_of_boosting_are_kept_and_threads_do_not_change_them(rng, model):
    X, y = draw(rng, 90)
    folds = list(KFold(3).split(X))
    one, two = (fit_folds(model, X, y, folds, workers=Workers(n_jobs)) for n_jobs in (1, 2))
    assert is_boosting(model)
    for (_, test), alone, beside in zip(folds, one, two, strict=True):
        np.testing.assert_array_equal(alone.predictions, beside.predictions)
        np.testing.assert_array_equal(alone.model.predict(X[test]), alone.predictions)


def test_every_model_is_fitted_to_its_own_target_and_forests_predict_in_one_thread(rng):
    X, y = draw(rng, 40)
    forest = make_pipeline(StandardScaler(), ExtraTreesRegressor(3, n_jobs=2, random_state=0))
    linear, fitted = fit_together([Ridge(), forest], X, [y, -y], workers=Workers(1))
    np.testing.assert_array_equal(linear.coef_, Ridge().fit(X, y).coef_)
    np.testing.assert_allclose(fitted.predict(X), -y)
    assert fitted[-1].n_jobs is None
    assert forest[-1].n_jobs == 2


class ForgetsFilters(Ridge):
    """As the threads of a forest, of which one may restore the empty list of another."""

    def fit(self, X, y):
        warnings.resetwarnings()
        return super().fit(X, y)


def test_fits_leave_the_warning_filters_as_they_were(rng):
    X, y = draw(rng, 40)
    before = list(warnings.filters)
    fit_together([ForgetsFilters()], X, [y], workers=Workers(1))
    assert before
    assert warnings.filters == before


def test_rounds_are_found_within_pipelines_and_their_number_is_limited():
    deep = HistGradientBoostingRegressor(max_iter=300)
    models = {
        300: deep,
        200: make_pipeline("passthrough", ExtraTreesRegressor(200)),
        100: ShortestWindow(RandomForestRegressor(100), 0.9),
    }
    models[301] = TransformedTargetRegressor(HistGradientBoostingRegressor(max_iter=301))
    for count, model in models.items():
        rounds = Rounds.of(model)
        assert rounds.count == count
        assert model.get_params()[rounds.name] == count
        assert rounds.limit(model, 3).get_params()[rounds.name] == 3
        assert model.get_params()[rounds.name] == count
    assert Rounds.of(make_pipeline(StandardScaler(), Ridge())) is None


def test_a_process_of_a_converted_target_is_treated_as_a_process():
    model = make_pipeline(
        StandardScaler(), TransformedTargetRegressor(SmoothProcess(50, 200), transformer=StandardScaler())
    )
    short, times = shorten_process(model, 1000)
    assert short[-1].regressor.n_most == 50
    assert model[-1].regressor.n_most == 200
    assert times == SmoothProcess(50, 200).shorten(1000)[1]
    assert compare_costs(model, 1000) == compare_costs(SmoothProcess(50, 200), 1000)
    assert n_parallel(model, np.zeros((20, 2)), Workers(2)) == 2


def test_a_process_is_shortened_and_other_models_are_not():
    model = make_pipeline(StandardScaler(), SmoothProcess(50, 200, max_iter=30))
    short, times = shorten_process(model, 1000)
    assert isinstance(short[0], StandardScaler)
    assert (short[-1].n_most, short[-1].max_iter) == (50, 1)
    assert (model[-1].n_most, model[-1].max_iter) == (200, 30)
    assert times == model[-1].shorten(1000)[1]
    assert shorten_process(model[-1], 1000)[1] == times
    assert shorten_process(make_pipeline(StandardScaler(), Ridge()), 1000) is None
