"""The confidence sequence: its ends, and its coverage at all times at once."""

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from pacband.monitoring.eprocess import prior
from pacband.monitoring.sequence import confidence_sequence
from support.violations import EPS


@pytest.mark.parametrize(("violations", "rows"), [(0, 40), (3, 40), (40, 40), (500, 10**4), (2, 10**6)])
@pytest.mark.parametrize("level", [0.9, 0.999])
def test_confidence_sequence_is_where_the_mixture_reaches_its_limit(violations, rows, level):
    mpmath.mp.dps = 40
    a, b = map(mpmath.mpf, prior(EPS))
    limit = mpmath.log(1 / (1 - mpmath.mpf(level)))

    def log_ratio(p):
        p = mpmath.mpf(p)
        grown = mpmath.log(mpmath.beta(a + violations, b + rows - violations) / mpmath.beta(a, b))
        return grown - violations * mpmath.log(p) - (rows - violations) * mpmath.log(1 - p)

    low, high = confidence_sequence(violations, rows, EPS, level)
    assert low <= violations / rows <= high
    assert low == 0.0 if violations == 0 else log_ratio(low) == pytest.approx(float(limit), abs=1e-5)
    assert high == 1.0 if violations == rows else log_ratio(high) == pytest.approx(float(limit), abs=1e-5)


def test_confidence_sequence_holds_at_all_times_at_once(rng):
    """At level .9 over 2000 rows: exact by Ville; over 400 runs a failure of this test has probability 1e-6."""
    missed = 0
    for _ in range(400):
        counts = np.cumsum(rng.random(2000) < 0.03)
        looks = np.unique(np.geomspace(1, 2000, 60).astype(int))
        ends = [confidence_sequence(int(counts[n - 1]), int(n), EPS, 0.9) for n in looks]
        missed += any(not low <= 0.03 <= high for low, high in ends)
    assert 1 <= missed <= binom.ppf(1 - 1e-6, 400, 0.1)
