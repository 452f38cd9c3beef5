"""All checks together: their level in sound data, and bad arguments."""

import math

import numpy as np
import pytest
from scipy.stats import binom

import pacband
from pacband.exceptions import InvalidInput
from support.diagnosed import sound


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
