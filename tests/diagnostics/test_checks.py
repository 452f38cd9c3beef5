"""All checks together: their level in sound data, and bad arguments."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import pacband
from pacband.exceptions import InvalidInput
from support.clean_rows import KINDS, clean_table, machines, series
from support.diagnosed import checks, sound


def false_findings(rng, runs, n, draw, level=0.05):
    return sum(bool(pacband.diagnose(**sound(rng, n, draw(n)), level=level).findings) for _ in range(runs))


@pytest.mark.parametrize("n", [100, 600])
def test_sound_data_raise_findings_at_most_at_the_stated_level(rng, n):
    """At level .05 over 400 data sets with exponential tails, where Fisher's test is exact."""
    assert false_findings(rng, 400, n, lambda n: rng.laplace(size=n)) <= binom.ppf(1 - 1e-6, 400, 0.05)


@pytest.mark.verify
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("tails", ["normal", "exponential", "uniform"])
def test_sound_data_over_many_simulations(rng, n, tails):
    draw = {"normal": rng.standard_normal, "exponential": lambda n: rng.laplace(size=n), "uniform": rng.random}[tails]
    assert false_findings(rng, 2500, n, draw, level=0.05) <= 0.05 * 2500
    assert false_findings(rng, 2500, n, draw, level=0.01) <= binom.ppf(1 - 1e-3, 2500, 0.01)


def accused(rng, runs, sizes):
    """Return how many clean tables, of every kind, with labels of many sizes and in any order, are called unsound."""
    wrong = 0
    for run in range(runs):
        labels, ordered = int(rng.choice([6, 20, 60, 200, 1000])), bool(rng.integers(2))
        table = clean_table(rng, int(rng.choice(sizes)), KINDS[run % len(KINDS)], labels=labels, ordered=ordered)
        groups = rng.integers(0, 4, len(table)) if run % 2 else None
        wrong += not pacband.diagnose(table["y"], table["p"], X=table.drop(columns=["y", "p"]), groups=groups).sound
    return wrong


def test_clean_tables_are_called_sound(rng):
    """At level .01, with false alarm 1e-6."""
    assert accused(rng, 70, [150, 400]) <= binom.ppf(1 - 1e-6, 70, 0.01)


@pytest.mark.verify
def test_clean_tables_over_many_simulations(rng):
    """At most 1 % of 2800 clean tables are called unsound, up to the chance of 1e-3."""
    assert accused(rng, 2800, [150, 400, 1000, 3000]) <= binom.ppf(1 - 1e-3, 2800, 0.01)


def test_draws_are_judged_as_declared(rng):
    """Rows of one machine are alike; machines are not, and a gap that is too small is seen."""
    table = machines(rng, 200, 20, 0.9, shuffled=False)
    y, p = table["y"].to_numpy(), table["p"].to_numpy()
    assert checks(pacband.diagnose(y, p)) == ["serial dependence"]
    units = pacband.draws.Units(table["machine"].to_numpy())
    assert pacband.diagnose(y, p, X=table[["machine"]], draws=units, eps=0.1, delta=0.01).sound
    noise = series(rng, 20_000, 0.9)
    assert pacband.diagnose(noise, 0 * noise, draws=pacband.draws.Spaced(100), eps=0.1, delta=0.01).sound
    assert "serial dependence" in checks(pacband.diagnose(noise, 0 * noise, draws=pacband.draws.Spaced(2)))
    x = rng.random(4000)
    shifted = pacband.draws.Weighted(2 * x, at_most=2.0)
    assert pacband.diagnose(x * rng.standard_normal(4000), 0 * x, draws=shifted).sound


def test_labels_and_dates_of_a_dataframe_are_tried(rng):
    table = machines(rng, 100, 20, 0.5, shuffled=True)
    (finding,) = pacband.diagnose(table["y"], table["p"], X=table[["machine"]]).findings
    assert finding.check == "dependence within machine"
    when = pd.date_range("2024", periods=2000, freq="h")
    late = pd.DataFrame({"y": series(rng, 2000, 0.9), "p": 0.0, "when": when}).sample(frac=1.0, random_state=0)
    diagnosis = pacband.diagnose(late["y"], late["p"], X=late[["when"]])
    assert [finding.name for finding in diagnosis.findings] == ["serial dependence along when"]


def test_few_rows_infinite_scores_and_several_outputs_are_taken(rng):
    assert pacband.diagnose([1.0, 2.0], [0.0, 0.0]).sound
    assert pacband.diagnose(np.zeros(200), np.zeros(200)).findings[0].check == "tied scores"
    broken = np.zeros(300)
    broken[7] = math.nan
    assert pacband.diagnose(rng.standard_normal(300), broken, nonfinite="violate").n_rows == 300
    both = rng.standard_normal((300, 2))
    assert pacband.diagnose(both, np.zeros((300, 2)), scale=np.ones((300, 2))).sound


def test_arguments_are_checked(rng):
    y = rng.standard_normal(20)
    for options, message in [
        ({"training": (y, y)}, "but not X"),
        ({"X": y, "training": y}, r"must be a pair \(X, y\)"),
        ({"X": y[:5]}, "y and X must have one length, got 20 and 5"),
        ({"groups": [1, 2]}, "y and groups must have one length, got 20 and 2"),
        ({"level": 2}, r"level must be in \(0, 1\)"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            pacband.diagnose(y, y, **options)
