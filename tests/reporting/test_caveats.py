"""What breaks each assumption of a promise."""

from pathlib import Path

import numpy as np
import pytest

import pacband
from pacband.draws import Spaced, Units, Weighted
from pacband.reporting.caveats import caveats_of

FILES = Path(__file__).parents[1] / "files"
N = 2000


@pytest.mark.parametrize(
    ("draws", "words"),
    [
        (None, "for several measurements of one unit"),
        (Units(np.repeat(np.arange(500), 4), name="pump"), "if pumps depend on each other"),
        (Spaced(4), "if rows that are 4 apart depend on each other."),
        (Spaced(8, 0.1), "depend on each other more than declared."),
        (Weighted(np.ones(N), at_most=1.0), "another distribution than before at the same inputs"),
    ],
)
def test_every_assumption_says_what_breaks_it(rng, draws, words):
    y = rng.standard_normal(N)
    cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=draws)
    found = caveats_of(cert.basis)
    assert [caveat.assumption for caveat in found] == list(cert.assumptions)
    assert words in found[0].breaker
    assert all(caveat.breaker.startswith("It does not hold") for caveat in found)


def test_a_tolerance_has_a_breaker_of_its_own(rng):
    y = rng.standard_normal(N)
    cert = pacband.certify_tolerance(y, 0 * y, tolerance=3.0, delta=0.05)
    assert "the tolerance was chosen after looking" in caveats_of(cert.basis)[2].breaker


@pytest.mark.parametrize("name", ["single.json", "units.json", "spaced.json", "runs.json"])
def test_files_of_earlier_versions_have_breakers_though_their_words_differ(name):
    assert all(caveat.breaker for caveat in caveats_of(pacband.load(FILES / name).basis))
