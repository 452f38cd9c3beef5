"""Rows of one label that resemble each other."""

import numpy as np
import pytest
from scipy.stats import binom, f_oneway

from pacband.checks import labels as home
from pacband.checks.columns import read_labels
from pacband.checks.labels import check_labels, resemblance
from pacband.checks.tails import f_tail
from pacband.checks.transforms import centred_ranks
from support.clean_rows import machines
from support.twins import put_in_place


def finding_of(table, column="machine", name="machine"):
    error = table["y"].to_numpy() - table["p"].to_numpy()
    ranks = {"scores": centred_ranks(np.abs(error)), "errors": centred_ranks(error)}
    return check_labels(name, read_labels(table[column].to_numpy()), ranks)


def test_it_is_the_analysis_of_variance(rng):
    """With one stratum the ratio is that of scipy's one-way analysis of variance."""
    codes = rng.integers(0, 30, 600)
    z = rng.standard_normal(600)
    z -= z.mean()
    _, p_value = resemblance(z, codes, np.zeros(600, dtype=np.intp))
    assert p_value == pytest.approx(f_oneway(*(z[codes == code] for code in range(30))).pvalue, rel=0.02)


@pytest.mark.parametrize("correlation", [0.5, 0.94])
@pytest.mark.parametrize("shuffled", [False, True])
def test_machines_are_found_in_any_order(rng, correlation, shuffled):
    """200 machines of 50 rows. The correlation of ranks is that of the errors, within .1."""
    finding = finding_of(machines(rng, 200, 50, correlation, shuffled=shuffled))
    assert finding.p_value < 1e-12
    assert float(finding.seen.split("correlation ")[1].split()[0]) == pytest.approx(correlation, abs=0.1)
    assert finding.seen.startswith("rows of one machine resemble each other: intra-class correlation 0.")
    assert "draws=pacband.draws.Units('machine') if new ones are to come" in finding.advice
    assert "group='machine'" in finding.advice
    assert finding.explains_order is not shuffled


def test_machines_that_differ_in_the_size_of_errors_are_found(rng):
    table = machines(rng, 100, 20, 0.0, shuffled=True)
    size = np.exp(rng.standard_normal(100))[table["machine"]]
    assert finding_of(table.assign(y=table["p"] + size * (table["y"] - table["p"]))).p_value < 1e-12


def sizes(rng, runs, strata_of):
    """The p-values of labels that have nothing to do with the values, of many sizes."""
    found = []
    for _ in range(runs):
        n = int(rng.choice([200, 600]))
        codes = np.unique(rng.geometric(rng.choice([0.02, 0.1]), n), return_inverse=True)[1]
        z = centred_ranks(rng.standard_cauchy(n))
        found.append(resemblance(z, codes, strata_of(codes))[1])
    return np.array(found)


@pytest.mark.parametrize("strata_of", [lambda codes: np.zeros(len(codes), dtype=np.intp), lambda codes: codes // 2])
def test_the_size_holds_in_the_tail(rng, strata_of):
    """Over 2000 tables: p-values below .002 and .02 at most that often; false alarm 1e-6."""
    found = sizes(rng, 2000, strata_of)
    for level in (0.002, 0.02):
        assert np.count_nonzero(found <= level) <= binom.ppf(1 - 1e-6, 2000, level)


def test_the_wrong_twin_with_three_times_the_degrees_of_freedom_accuses_sound_rows(rng, monkeypatch):
    put_in_place(monkeypatch, f_tail, lambda ratio, between, within: f_tail(ratio, 3 * between, within))
    found = sizes(rng, 1000, lambda codes: np.zeros(len(codes), dtype=np.intp))
    assert np.count_nonzero(found <= 0.02) > binom.ppf(1 - 1e-6, 1000, 0.02)


def test_an_input_that_errors_depend_on_is_no_label(rng, monkeypatch):
    """Errors grow with the number of rooms: neighbouring numbers differ little. Without pairs it would be a finding."""
    rooms = rng.integers(1, 60, 4000)
    noise = (1.0 + rooms / 20.0) * rng.standard_normal(4000)
    ranks = {"scores": centred_ranks(np.abs(noise))}
    labels = read_labels(rooms)
    assert check_labels("rooms", labels, ranks).p_value > 1e-4
    unpaired = type(labels)(labels.codes, labels.n_labels, False)
    monkeypatch.setattr(home, "_WEAK", 0.0)
    assert check_labels("rooms", labels, ranks).p_value > 1e-4
    assert check_labels("rooms", unpaired, ranks).p_value < 1e-12


def test_nothing_to_compare_is_no_finding():
    assert resemblance(np.zeros(10), np.arange(10), np.zeros(10, dtype=np.intp)) == (0.0, 1.0)
    labels = read_labels(np.repeat(np.arange(20), 25))
    assert check_labels("machine", labels, {"scores": None}) is None
