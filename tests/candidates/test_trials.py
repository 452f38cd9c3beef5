"""Out-of-fold predictions in a limited time."""

import signal
from contextlib import suppress

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, cross_val_predict

from pacband.candidates import ledger as ledger_module
from pacband.candidates import trials
from pacband.candidates.ledger import Ledger
from pacband.candidates.smooth import SmoothProcess
from pacband.candidates.trials import Task, cross_fit_all, estimate_seconds
from pacband.candidates.workers import Workers
from support.automatic import Broken, Witness, draw


class Silent(LinearRegression):
    """A regressor that fails without a message."""

    def fit(self, X, y):
        raise ZeroDivisionError


class Infinite(LinearRegression):
    """A regressor that predicts no finite value."""

    def predict(self, X):
        return np.full(len(X), np.inf)


class Short(LinearRegression):
    """A regressor that predicts too few rows."""

    def predict(self, X):
        return super().predict(X)[2:]


def run(models, X, y, *, budget=1000.0, share=0.5, **options):
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    tasks = {name: Task(f"the {name}", model, y) for name, model in models.items()}
    ledger = Ledger(budget)
    found = cross_fit_all(tasks, X, folds, ledger, kept_share=0.9 - share, workers=Workers(1), **options)
    return found, [(one.name, one.status) for one in ledger.dropped], folds


class Named(LinearRegression):
    """A regression that is off by so much, and keeps its name when it is fitted first."""

    shown: list = []  # noqa: RUF012 (shared by the clones on purpose)

    def __init__(self, name="", off=0.0):
        self.name = name
        self.off = off

    def fit(self, X, y):
        if self.name not in self.shown:
            self.shown.append(self.name)
        super().__init__()
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X) + self.off


@pytest.mark.parametrize(
    ("best", "order"),
    [
        (["coarse"], ["other", "coarse", "fine", "last", "finest", "finer"]),
        (["coarse", "fine"], ["other", "coarse", "fine", "finer", "last", "finest"]),
        (["other"], ["other", "coarse", "last", "finest", "fine", "finer"]),
        (["other", "fine"], ["other", "coarse", "last", "finest", "fine", "finer"]),
    ],
)
def test_a_finer_model_comes_next_if_the_coarser_one_is_the_best_so_far(rng, best, order):
    """Each of the models named `best` is better than those before it."""
    X, y = draw(rng, 60)
    Named.shown = []
    coarser = {"fine": "coarse", "finer": "fine", "finest": "absent"}
    names = ["other", "coarse", "last", "finest", "fine", "finer"]
    models = {name: Named(name, 1.0 / (1 + best.index(name)) if name in best else 2.0) for name in names}
    found, dropped, _ = run(models, X, y, coarser=coarser)
    assert Named.shown == order
    assert list(found) == names
    assert dropped == []


@pytest.mark.parametrize("n", [60, 2500])
def test_predictions_are_those_of_cross_validation(rng, n):
    X, y = draw(rng, n)
    found, dropped, folds = run({"ridge": Ridge()}, X, y)
    assert dropped == []
    np.testing.assert_allclose(found["ridge"].predictions, cross_val_predict(Ridge(), X, y, cv=folds), rtol=1e-12)


@pytest.mark.parametrize(("n", "sizes"), [(90, [60, 60, 60]), (2400, [800, 1600, 1600, 1600])])
def test_the_trial_is_the_first_fold_if_there_are_few_rows(rng, n, sizes):
    X, y = draw(rng, n)
    Witness.shown = []
    run({"witness": Witness()}, X, y)
    assert [len(shown) for shown in Witness.shown] == sizes


def test_what_fails_is_dropped_with_its_reason(rng):
    X, y = draw(rng, 60)
    models = {
        "broken": Broken(),
        "silent": Silent(),
        "infinite": Infinite(),
        "short": Short(),
        "ridge": Ridge(),
    }
    found, dropped, _ = run(models, X, y)
    assert list(found) == ["ridge"]
    assert dropped[:3] == [
        ("the broken", "dropped: singular"),
        ("the silent", "dropped: ZeroDivisionError"),
        ("the infinite", "dropped: it predicts NaN or infinite values"),
    ]
    assert [name for name, _ in dropped] == ["the broken", "the silent", "the infinite", "the short"]


def test_without_time_only_the_first_success_is_kept_and_only_if_one_is_needed(rng):
    X, y = draw(rng, 60)
    models = {"broken": Broken(), "first": Ridge(), "second": Ridge()}
    late = "dropped: the budget leaves no time to try it"
    found, dropped, _ = run(models, X, y, budget=1e-9, needs_one=True)
    assert list(found) == ["first"]
    assert dropped == [("the broken", "dropped: singular"), ("the second", late)]
    found, dropped, _ = run(models, X, y, budget=1e-9)
    assert found == {}
    assert {status for _, status in dropped} == {late}


class Slower(Ridge):
    """A regressor whose every fit takes longer than the one before, as on a machine that gets busy."""

    clock = 0.0
    seconds = 0.0

    def fit(self, X, y):
        type(self).clock += self.seconds
        type(self).seconds *= 4
        return super().fit(X, y)


def test_the_folds_that_are_done_correct_the_estimate(rng, monkeypatch):
    X, y = draw(rng, 90)
    for module in (trials, ledger_module):
        monkeypatch.setattr(module, "perf_counter", lambda: Slower.clock)
    # The trial takes 1 s, so that three folds would take 3 s of 7; but the second takes 4 s, and the third 16 s.
    Slower.clock, Slower.seconds = 0.0, 1.0
    found, dropped, _ = run({"slower": Slower(), "ridge": Ridge()}, X, y, budget=14.0, share=0.5)
    assert dropped == [("the slower", "dropped: the budget leaves too little time: about 7.5 s are needed")]
    assert Slower.clock == 5.0
    assert list(found) == ["ridge"]
    Slower.clock, Slower.seconds = 0.0, 1.0
    assert list(run({"slower": Slower()}, X, y, budget=60.0, share=0.5)[0]) == ["slower"]


class Process(SmoothProcess):
    """A process each of whose fits takes as many seconds as the rows from which it learns."""

    clock = 0.0
    fits = 0

    def fit(self, X, y):
        type(self).clock += self.n_tune
        type(self).fits += 1
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_a_process_that_learns_from_more_rows_than_a_late_one_is_not_tried(rng, monkeypatch):
    X, y = draw(rng, 90)
    for module in (trials, ledger_module):
        monkeypatch.setattr(module, "perf_counter", lambda: Process.clock)
    models = {"small": Process(10, 10), "large": Process(40, 40)}

    def late_ones(budget):
        Process.clock, Process.fits = 0.0, 0
        _, dropped, _ = run(models, X, y, budget=budget, share=0.9)
        return [name for name, _ in dropped], Process.fits

    # Four fits of the small one, its trial among them, take 40 s. The other would take eight times as long, at least.
    assert late_ones(1000.0) == ([], 8)
    assert late_ones(350.0) == (["the large"], 4)
    assert late_ones(40.0) == (["the small", "the large"], 1)


def test_a_process_that_fails_says_nothing_about_the_time_of_others(rng):
    X, y = draw(rng, 90)

    class Infinite(Process):
        def predict(self, X):
            return np.full(len(X), np.inf)

    found, dropped, _ = run({"small": Infinite(10), "large": Process(40)}, X, y)
    assert list(found) == ["large"]
    assert dropped == [("the small", "dropped: it predicts NaN or infinite values")]


def test_folds_that_are_fitted_at_once_take_as_long_as_one(rng, monkeypatch):
    X, y = draw(rng, 90)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    monkeypatch.setattr(trials, "perf_counter", lambda: Slower.clock)
    for at_once, seconds in ((2, 6.0), (3, 4.0), (64, 4.0)):
        monkeypatch.setattr(trials, "n_parallel", lambda *_, n=at_once: n)
        Slower.clock, Slower.seconds = 0.0, 2.0
        assert estimate_seconds(Task("", Slower(), y), X, folds, workers=Workers(1)) == seconds


def test_the_time_of_all_fits_is_estimated_by_a_trial(rng, monkeypatch):
    X, y = draw(rng, 90)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    monkeypatch.setattr(trials, "perf_counter", lambda: Slower.clock)
    Slower.clock, Slower.seconds = 0.0, 2.0
    # A fit takes 2 s; there are three of the folds, and one of all rows.
    assert estimate_seconds(Task("", Slower(), y), X, folds, workers=Workers(1)) == 8.0


def test_without_a_budget_there_is_no_trial(rng):
    X, y = draw(rng, 2400)
    Witness.shown = []
    run({"witness": Witness()}, X, y, budget=float("inf"))
    assert [len(shown) for shown in Witness.shown] == [1600] * 3


class Interrupted(Ridge):
    """A regressor whose fit the user, or a signal, interrupts."""

    reason = KeyboardInterrupt

    def fit(self, X, y):
        raise self.reason


def test_an_interrupt_keeps_what_was_found_and_fits_nothing_more(rng):
    X, y = draw(rng, 60)
    models = {"first": Ridge(), "interrupted": Interrupted(), "never": Broken()}
    with pytest.warns(UserWarning, match="the best so far is fitted and certified"):
        found, dropped, _ = run(models, X, y, needs_one=True)
    assert list(found) == ["first"]
    assert dropped == [(f"the {name}", "dropped: the search was interrupted") for name in ("interrupted", "never")]


class Deaf(Ridge):
    """A regressor whose fit loses an interrupt, as compiled code does, and perhaps fails by it."""

    def __init__(self, error=None, alpha=1.0):
        super().__init__(alpha)
        self.error = error

    def fit(self, X, y):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        if self.error is not None:
            raise self.error
        return super().fit(X, y)


@pytest.mark.parametrize("error", [None, ValueError("no such buffer")])
def test_an_interrupt_that_a_model_loses_ends_the_search(rng, set_handler, error):
    set_handler(signal.SIGINT, signal.default_int_handler)
    X, y = draw(rng, 60)
    with pytest.warns(UserWarning, match="the best so far is fitted and certified"):
        found, dropped, _ = run({"first": Ridge(), "deaf": Deaf(error), "never": Broken()}, X, y, needs_one=True)
    assert list(found) == ["first"]
    assert {status for _, status in dropped} == {"dropped: the search was interrupted"}


def test_an_interrupt_before_the_first_success_or_of_another_kind_ends_the_search(rng, monkeypatch):
    X, y = draw(rng, 60)
    with pytest.raises(KeyboardInterrupt):
        run({"interrupted": Interrupted(), "second": Ridge()}, X, y, needs_one=True)
    monkeypatch.setattr(Interrupted, "reason", type("Terminated", (KeyboardInterrupt,), {}))
    with pytest.raises(Interrupted.reason):
        run({"first": Ridge(), "interrupted": Interrupted()}, X, y, needs_one=True)
