"""Which rows fit and which calibrate where draws are not rows: no draw is on both sides, and sizes count draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from pacband import CertifiedRegressor, InvalidInput, NotEnoughSamples, certify_groups, plan
from pacband.certification.terms import Terms
from pacband.draws import Spaced, Units, Weighted
from pacband.estimators.division import Division
from pacband.planning import WHOLE
from support.estimators import PROMISE

TERMS = {"side": "both", "min_scale": None, "nonfinite": "raise", "gauge": "max"}


def division(draws, eps=0.5, delta=0.5, **options):
    return Division(Terms.create(eps=eps, delta=delta, **TERMS, draws=draws, **options), [WHOLE])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=30, max_size=80), st.integers(0, 5))
def test_no_unit_is_on_both_sides_and_every_row_is_used_once(units, seed):
    labels = np.array([f"m{unit}" for unit in [*range(13), *units]])
    fit, calibrate = division(Units(labels)).split(None, len(labels), 4, seed)
    assert sorted([*fit, *calibrate]) == list(range(len(labels)))
    assert not set(labels[fit]) & set(labels[calibrate])
    assert len(set(labels[calibrate])) == 4
    # The rows of a unit stay together.
    assert (labels[fit][1:] != labels[fit][:-1]).sum() == 8


@settings(max_examples=50, deadline=None)
@given(st.integers(20, 300), st.integers(1, 9), st.integers(1, 40))
def test_the_latest_rows_of_a_series_calibrate_after_a_gap(n_rows, gap, size):
    n_draws = n_rows // gap
    if not 1 <= size < n_draws:
        with pytest.raises(InvalidInput, match=rf"number of draws below {n_draws}, got {size}|at least 2 draws"):
            division(Spaced(gap)).split(None, n_rows, size, 0)
        return
    fit, calibrate = division(Spaced(gap)).split(None, n_rows, size, 0)
    assert fit.tolist() == list(range(len(fit)))
    assert calibrate.tolist() == list(range(n_rows - size * gap, n_rows))
    assert calibrate[0] - fit[-1] == gap
    assert Spaced(gap).take(calibrate).sample(len(calibrate)).n_draws == size


def test_units_are_drawn_within_every_group():
    labels = np.repeat(np.arange(40), 3)
    site = np.where(labels < 30, "north", "south")
    units = division(Units(labels))
    fit, calibrate = units.split(site, 120, 0.2, 0)
    assert len(fit) + len(calibrate) == 120
    assert [len(set(labels[calibrate][site[calibrate] == name])) for name in ("north", "south")] == [6, 2]
    assert units.count(site, 120) == (30, 10)
    with pytest.raises(InvalidInput, match="every unit must be in one group"):
        units.split(np.where(np.arange(120) % 2, "north", "south"), 120, 0.2, 0)
    with pytest.raises(InvalidInput, match="120 rows, got 3 labels"):
        units.count(site[:3], 120)
    with pytest.raises(InvalidInput, match="Spaced draws cannot be combined with groups"):
        division(Spaced(2)).split(site, 120, 0.2, 0)


def test_the_planned_number_is_one_of_draws(rng):
    X, labels = rng.standard_normal((6000, 2)), np.repeat(np.arange(1500), 4)
    y = X[:, 0] + rng.standard_normal(6000)
    model = CertifiedRegressor(Ridge(), random_state=0, **PROMISE)
    planned = plan(**PROMISE).n_samples
    units = model.fit(X, y, draws=Units(labels)).certificate_
    assert units.n_samples == max(planned, 1500 // 5)
    spaced = model.fit(X, y, draws=Spaced(4)).certificate_
    assert spaced.n_samples == max(planned, 1500 // 5)
    weights = rng.uniform(0, 2, 6000)
    weighted = model.fit(X, y, draws=Weighted(weights, at_most=2.0)).certificate_
    # Half of the rows are accepted.
    assert 0.8 * planned < weighted.n_samples < 1.3 * max(planned, 600)
    few = CertifiedRegressor(Ridge(), calibration_size=30, random_state=0, **PROMISE)
    with pytest.raises(NotEnoughSamples, match="30 of 1500 machines were kept for calibration") as error:
        few.fit(X, y, draws=Units(labels, name="machine"))
    assert error.value.n_samples == 30
    with pytest.raises(NotEnoughSamples, match="each accepted row is one draw"):
        few.fit(X, y, draws=Weighted(weights, at_most=2.0))
    with pytest.raises(InvalidInput, match="fit needs at least 2 units, one to fit and one to calibrate"):
        model.fit(X, y, draws=Units(np.zeros(6000)))


def test_the_training_rows_of_a_series_use_up_one_more_step_of_its_mixing():
    """B(r − 1; m, ε) + mβ(a) ≤ δ: the training rows and m draws are m + 1 parts of one series."""
    n_draws, beta = 100, 1e-4
    terms = Terms.create(eps=0.1, delta=0.05, **TERMS, draws=Spaced(3, lambda gap: beta))
    assert float(terms.slack(n_draws)) == pytest.approx(100 * beta)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 1))
    y = X[:, 0] + rng.standard_normal(3000)
    from scipy.stats import binom

    for delta in np.linspace(0.03, 0.05, 9):
        fitted = CertifiedRegressor(Ridge(), eps=0.1, delta=delta, calibration_size=200)
        found = fitted.fit(X, y, draws=Spaced(5, lambda gap: beta)).certificate_
        tails = binom.cdf(np.arange(40), 200, 0.1) + 200 * beta
        assert found.rank == int((tails <= delta).sum())


@pytest.mark.parametrize("interval", [False, True], ids=["importance", "interval"])
def test_weighted_draws_calibrate_within_groups(rng, interval):
    X = np.column_stack([np.arange(3000) % 2, rng.standard_normal(3000)])
    y, high = X[:, 1] + rng.standard_normal(3000), rng.uniform(0.3, 1.0, 3000)
    draws = Weighted((high - 0.2, high) if interval else high, at_most=1.0)
    model = CertifiedRegressor(lambda X: X[:, 1], groups=0, eps=0.1, delta=0.05)
    found = model.fit(X, y, draws=draws).certificate_
    assert found == certify_groups(y, X[:, 1], X[:, 0], eps=0.1, delta=0.05, draws=draws)
    # Of an interval, only the draws that are certain count beforehand: those of the lower importance alone.
    certain = Weighted(high - 0.2, at_most=1.0) if interval else draws
    site = X[certain.sample(3000).rows, 0]
    assert division(draws).count(X[:, 0], 3000) == (int((site == 0).sum()), int((site == 1).sum()))
    fitted = CertifiedRegressor(Ridge(), groups=0, eps=0.1, delta=0.05, random_state=0)
    assert len(fitted.fit(X, y, draws=draws).certificate_.groups) == 2
    with pytest.raises(InvalidInput, match="3000 rows, got 3 labels"):
        division(draws).count(np.arange(3), 3000)
