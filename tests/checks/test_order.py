"""Serial dependence and drift, told apart."""

import numpy as np
import pytest
from scipy.stats import binom

import pacband
from pacband.checks.order import DEPENDENCE, DRIFT, check_order
from pacband.checks.tails import chi2_tail
from pacband.checks.transforms import centred_ranks, centred_signs
from support.clean_rows import machines, series
from support.diagnosed import checks
from support.twins import put_in_place


def order_of(values):
    series = {"scores": centred_ranks(np.abs(values)), "errors": centred_ranks(values)}
    return check_order(series, {"scores": np.abs(values), "errors": values}, whole=lambda: (series, len(values)))


@pytest.mark.parametrize("transform", [centred_ranks, lambda values: centred_signs(values, 0.5)])
@pytest.mark.parametrize("place", [0, 1])
def test_order_checks_hold_their_size_in_the_tail(rng, transform, place):
    """Over 2000 orders of 100 rows: p-values below .002 and .02 at most that often; false alarm 1e-6."""
    p_values = []
    for _ in range(2000):
        values = rng.random(100)
        p_values.append(check_order({"scores": transform(values)}, {"scores": values})[place].p_value)
    for level in (0.002, 0.02):
        assert np.count_nonzero(np.array(p_values) <= level) <= binom.ppf(1 - 1e-6, 2000, level)


def test_the_wrong_twin_with_smaller_tails_accuses_sound_rows(rng, monkeypatch):
    put_in_place(monkeypatch, chi2_tail, lambda value, df: chi2_tail(value, 1) / 4)
    p_values = [check_order({"scores": centred_ranks(z)}, {"scores": z})[0].p_value for z in rng.random((1000, 100))]
    assert np.count_nonzero(np.array(p_values) <= 0.02) > binom.ppf(1 - 1e-6, 1000, 0.02)


@pytest.mark.parametrize("rho", [0.6, 0.9])
def test_a_stationary_series_is_dependent_and_does_not_drift(rng, rho):
    """In each of 40 series dependence is found. Drift may be called in 1 of 20: more than 10 of 40 has chance 2e-6."""
    drifts = 0
    for _ in range(40):
        found = checks(pacband.diagnose(series(rng, 1000, rho), np.zeros(1000)))
        assert DEPENDENCE in found
        drifts += DRIFT in found
    assert drifts <= 10


def test_independent_machines_in_file_order_do_not_drift(rng):
    drifts = 0
    for _ in range(40):
        table = machines(rng, 200, 50, 0.5, shuffled=False)
        dependence, drift = order_of(table["y"].to_numpy() - table["p"].to_numpy())
        assert dependence.p_value < 1e-12
        drifts += drift.p_value < 0.01
    assert drifts <= 10


def test_drift_is_found_placed_and_is_no_dependence(rng):
    """The rows on either side of the change are independent: dependence may be called in 1 of 100."""
    dependent = 0
    for _ in range(30):
        noise = rng.standard_normal(1000)
        noise[600:] += 1.0
        findings = pacband.diagnose(noise, np.zeros(1000)).findings
        drift = next(finding for finding in findings if finding.check == DRIFT)
        row = int(drift.seen.split("row ")[1].split(",")[0])
        assert 500 <= row <= 700
        assert "calibrate on later rows" in drift.advice
        dependent += DEPENDENCE in [finding.check for finding in findings]
    assert dependent <= 5


def test_drift_is_described_by_what_drifts(rng):
    """An offset that changes its sign is drift of errors, while scores stay the same; a wider error is drift of both."""
    noise = rng.standard_normal(1000)

    def seen(errors):
        findings = pacband.diagnose(errors, np.zeros(1000)).findings
        return next(finding.seen for finding in findings if finding.check == DRIFT)

    offset = seen(noise + np.repeat([1.0, -1.0], 500))
    assert offset.startswith("errors before row ")
    before, after = (float(each.split(",")[0]) for each in offset.split("a median of ")[1:])
    assert abs(before - 1.0) < 0.3
    assert abs(after + 1.0) < 0.3
    assert seen(noise * np.repeat([1.0, 3.0], 500)).startswith("scores before row ")


def test_dependence_that_reaches_far_is_found_without_close_neighbours(rng):
    """One row in ten of runs of 1000 rows that share an offset: neighbours differ, and blocks are alike."""
    values = np.repeat(rng.standard_normal(100), 100) * 0.3 + rng.standard_normal(10_000)
    dependence, _ = order_of(values)
    assert dependence.p_value < 1e-6


def test_what_is_seen_is_stated_with_the_rows_it_is_worth(rng):
    dependence, _ = order_of(series(rng, 2000, 0.9))
    assert " depend on the rows before: the rank correlation with the previous row is 0." in dependence.seen
    worth = int(dependence.effect.split("about ")[1].split()[0])
    assert 50 <= worth <= 400  # 2000·(1 − ρ)/(1 + ρ) is 105 for errors, and more for their sizes
    assert "draws=pacband.draws.Spaced(a)" in dependence.advice


def test_few_rows_and_equal_scores_say_nothing():
    assert check_order({"scores": np.zeros(50)}, {"scores": np.zeros(50)}) is None
    assert check_order({"scores": None, "errors": None}, {}) is None
    assert centred_ranks(np.ones(500)) is None
