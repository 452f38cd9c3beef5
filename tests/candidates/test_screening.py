"""Screening: its stages one by one, and what the budget drops."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge

from pacband import InvalidInput
from pacband.candidates import sample as sample_module
from pacband.candidates import screening
from pacband.candidates.automatic import auto_candidates
from pacband.candidates.blend import fit_blend
from pacband.candidates.defaults import ScaleModel
from pacband.candidates.ledger import Ledger
from pacband.candidates.pairs import Goal, Recipe, rank_pairs
from pacband.candidates.sample import draw_sample
from pacband.candidates.screening import cross_fit_predictors, cross_fit_scales, fit_stack, share_for_scales
from pacband.candidates.workers import Workers
from pacband.scores import ScoreRule
from support.automatic import FAST, OPTIONS, Broken, Witness, draw
from support.twins import use_number

BOOSTING = HistGradientBoostingRegressor(max_iter=2, random_state=0)


def test_no_row_is_judged_by_a_fit_that_saw_it(rng):
    X, y = draw(rng, 100)
    Witness.shown = []
    auto_candidates(X, y, predictors={"witness": Witness()}, **OPTIONS)
    # Five folds of 80 rows, and the last fit on all.
    assert sorted(map(len, Witness.shown)) == [80] * 5 + [100]


class Slow(LinearRegression):
    """A regressor that takes its time."""

    def fit(self, X, y):
        time.sleep(0.2)
        return super().fit(X, y)


def test_what_would_exceed_the_budget_is_dropped_with_the_reason(rng):
    X, y = draw(rng, 100)
    models = {"fast": Ridge(), "slow": Slow()}
    hasty = auto_candidates(X, y, predictors=models, time_budget=1.0, **OPTIONS)
    (record,) = [tried for tried in hasty.tried if tried.name == "slow"]
    assert "budget" in record.status
    assert not any("slow" in name for name in hasty.members)
    patient = auto_candidates(X, y, predictors=models, time_budget=1000.0, **OPTIONS)
    assert any(tried.name.startswith("slow /") for tried in patient.tried)


@pytest.mark.parametrize(
    ("model", "budget", "started"),
    [(BOOSTING, 60.0, 1), (BOOSTING, 5.0, 0), (Ridge(), 60.0, 0)],
    ids=["boosting", "little time", "no boosting"],
)
def test_workers_are_started_where_they_pay(rng, monkeypatch, model, budget, started):
    starts = []
    monkeypatch.setattr(Workers, "start", lambda workers: starts.append(workers.n_jobs))
    X, y = draw(rng, 60)
    auto_candidates(X, y, predictors={"model": model}, time_budget=budget, **OPTIONS | {"n_jobs": 2})
    assert starts == [2] * started


def test_nothing_starts_after_the_budget_is_used(rng):
    X, y = draw(rng, 60)
    Witness.shown = []
    models = {"slow": Slow(), "witness": Witness()}
    family = auto_candidates(X, y, predictors=models, time_budget=1e-3, **OPTIONS)
    assert Witness.shown == []
    dropped = [tried for tried in family.tried if "no time to try it" in tried.status]
    assert {tried.name for tried in dropped} >= {"witness", "scale by boosting", "scale by window"}


def test_the_first_predictor_is_never_dropped(rng):
    X, y = draw(rng, 60)
    family = auto_candidates(X, y, predictors={"slow": Slow()}, time_budget=1e-3, **OPTIONS)
    assert next(iter(family.members)).startswith(("slow", "blend"))


def test_a_predictor_that_fails_is_recorded_and_one_is_enough(rng):
    X, y = draw(rng, 60)
    family = auto_candidates(X, y, predictors={"broken": Broken(), "linear": Ridge()}, **OPTIONS)
    assert [tried.status for tried in family.tried if tried.name == "broken"] == ["dropped: singular"]
    with pytest.raises(InvalidInput, match="not one predictor could be fitted: broken dropped: singular"):
        auto_candidates(X, y, predictors={"broken": Broken()}, **OPTIONS)


@pytest.mark.parametrize(
    ("budget", "seconds", "share"),
    [(100.0, 1.0, 0.15), (100.0, 20.0, 0.3), (100.0, 1000.0, 0.4), (math.inf, 1000.0, 0.15)],
)
def test_predictors_leave_time_for_the_first_scale(rng, monkeypatch, budget, seconds, share):
    X, y = draw(rng, 60)
    sample = draw_sample(X, y, np.random.RandomState(0))
    tried = []
    monkeypatch.setattr(screening, "estimate_seconds", lambda task, *_, **__: tried.append(task.model) or seconds)
    scales = {"first": ScaleModel(Ridge()), "second": ScaleModel(Broken())}
    assert share_for_scales(scales, sample, Ledger(budget), Workers(1)) == pytest.approx(share)
    assert len(tried) == (budget < math.inf)
    assert all(isinstance(model, Ridge) for model in tried)
    assert share_for_scales({}, sample, Ledger(budget), Workers(1)) == 0.15


def test_a_scale_whose_trial_fails_takes_no_time_from_the_predictors(rng):
    X, y = draw(rng, 60)
    sample = draw_sample(X, y, np.random.RandomState(0))
    assert share_for_scales({"broken": ScaleModel(Broken())}, sample, Ledger(100.0), Workers(1)) == 0.15


@pytest.fixture(scope="module")
def stages():
    """The values that the stages return, for three fast predictors and one scale."""
    X, y = draw(np.random.default_rng(6), 120)
    ledger = Ledger(1000.0)
    sample = draw_sample(X, y, np.random.RandomState(0))
    models = cross_fit_predictors(FAST | {"broken": Broken()}, sample, ledger, Workers(1))
    blend = fit_blend({name: model.predictions for name, model in models.items()}, sample.target)
    scales = {"linear": ScaleModel(Ridge()), "broken": ScaleModel(Broken())}
    signals = cross_fit_scales(scales, blend, sample, ledger, Workers(1))
    goal = Goal(0.1, ScoreRule.create(side="both", gauge="max", min_scale=None, nonfinite="raise"))
    ranked = rank_pairs(blend, signals.evaluate(blend), sample.target, goal)
    return X, sample, ledger, models, blend, signals, ranked


def test_a_process_that_is_the_best_so_far_is_followed_by_the_finer_one(rng):
    X, y = draw(rng, 60)
    names = ["smooth process", "other", "fine smooth process"]
    shown = []

    class Named(Ridge):
        def __init__(self, name=""):
            super().__init__()
            self.name = name

        def fit(self, X, y):
            shown.append(self.name)
            return super().fit(X, y)

    sample = draw_sample(X, y, np.random.RandomState(0))
    found = cross_fit_predictors({name: Named(name) for name in names}, sample, Ledger(math.inf), Workers(1))
    assert list(found) == names
    assert list(dict.fromkeys(shown)) == ["smooth process", "fine smooth process", "other"]


def test_a_drop_is_recorded_under_its_label(stages):
    _, _, ledger, models, _, signals, _ = stages
    assert list(models) == list(FAST)
    assert list(signals.models) == ["linear"]
    assert [(one.name, one.status) for one in ledger.dropped] == [
        ("broken", "dropped: singular"),
        ("scale by broken", "dropped: singular"),
    ]


def test_scales_are_fitted_to_the_out_of_fold_errors_of_the_blend(stages):
    _, sample, _, _, blend, signals, _ = stages
    scale = signals.models["linear"]
    np.testing.assert_allclose(scale.task.target**2, np.abs(sample.target - blend.centre))
    for train, test in sample.folds:
        fitted = Ridge().fit(signals.meta[train], scale.task.target[train])
        np.testing.assert_array_equal(scale.predictions[test], fitted.predict(signals.meta[test]))


def fit(chosen, stages):
    _, sample, _, models, blend, signals, _ = stages
    return fit_stack(chosen, blend, models, signals, sample, use_all=True, workers=Workers(1))


def test_a_stack_has_what_its_pairs_need_and_no_more(stages):
    X, _, _, _, blend, _, ranked = stages
    # The linear model has no weight in the blend.
    assert set(blend.parts) == {"neighbours", "boosting"}
    by_name = {pair.name: pair for pair in ranked}
    alone = fit([by_name["linear / constant"]], stages)
    assert (list(alone.models), list(alone.scales)) == (["linear"], [])
    scaled = fit([by_name["linear / linear"]], stages)
    assert set(scaled.models) == {"linear", "neighbours", "boosting"}
    assert list(scaled.scales) == ["linear"]
    by_spread = replace(by_name["linear / linear"], recipe=Recipe("spread", (("spread", 1.0),)))
    spread = fit([by_spread], stages)
    assert (set(spread.models), list(spread.scales)) == (set(scaled.models), [])
    for name, stack in (("linear / constant", alone), ("linear / linear", scaled)):
        prediction, scale = by_name[name].make_band(stack).predict(X, return_std=True)
        assert np.isfinite(prediction).all()
        assert (scale > 0).all()


def test_boosting_is_averaged_with_the_fits_of_its_folds(stages):
    _, sample, _, _, _, _, ranked = stages
    by_name = {pair.name: pair for pair in ranked}
    stack = fit([by_name["boosting / constant"], by_name["linear / constant"]], stages)
    assert {name: len(model.models) for name, model in stack.models.items()} == {
        "linear": 1,
        "boosting": len(sample.folds) + 1,
    }


@pytest.mark.parametrize(("budget", "n_rows"), [(1000.0, 100), (1e-9, 60)])
def test_predictors_are_fitted_on_all_rows_if_the_time_allows(rng, monkeypatch, budget, n_rows):
    use_number(monkeypatch, sample_module, "_MOST_ROWS", 60)
    X, y = draw(rng, 100)
    Witness.shown = []
    family = auto_candidates(X, y, predictors={"witness": Witness()}, time_budget=budget, **OPTIONS)
    assert len(Witness.shown[-1]) == n_rows
    assert family.search_plan.all_rows == (n_rows == 100)


class Fails(LinearRegression):
    """Predicts nonsense if it is fitted to more rows than those of a fold, as a search of parameters may go astray."""

    def __init__(self, most=0):
        super().__init__()
        self.most = most

    def fit(self, X, y):
        self.failed_ = len(X) > self.most
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X) + (9.0 if self.failed_ else 0.0)


def test_a_last_fit_that_fails_is_replaced_by_that_of_a_fold(rng):
    X, y = draw(rng, 500)
    sound = auto_candidates(X, y, predictors={"mine": LinearRegression()}, **OPTIONS)
    family = auto_candidates(X, y, predictors={"mine": Fails(most=450)}, **OPTIONS)
    X_new, y_new = draw(rng, 500)
    errors = [np.abs(y_new - next(iter(each.members.values())).predict(X_new)).mean() for each in (sound, family)]
    assert errors[1] == pytest.approx(errors[0], rel=0.1)
