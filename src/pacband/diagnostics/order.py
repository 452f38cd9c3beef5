"""Are the rows independent and from one distribution? Checks of the order of the scores.

Both checks use ranks, so that they assume no distribution: in sound data every order of the scores is equally likely.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import chdtrc, kolmogorov, ndtri
from scipy.stats import rankdata

from pacband.core.arrays import Floats
from pacband.core.wording import figure, percent
from pacband.diagnostics.diagnosis import Finding

__all__ = ["check_drift", "check_serial_dependence"]

# With more lags or fewer rows, the test rejects sound data too often at levels near 0.001.
_LAGS = 3
FEWEST_ROWS = 100


def check_serial_dependence(scores: Floats) -> Finding | None:
    """Check whether neighbouring scores are correlated: the Ljung-Box test on normal scores of the ranks, 3 lags."""
    z = _normal_scores(scores)
    if z is None:
        return None
    n = len(z)
    correlations = _autocorrelations(z)[1 : _LAGS + 1]
    statistic = n * (n + 2) * float(np.sum(correlations**2 / (n - np.arange(1, _LAGS + 1))))
    effective = n / max(1.0, 1.0 + 2.0 * _sum_of_first_correlations(z))
    return Finding(
        check="serial dependence",
        seen=f"scores depend on the rows before: the rank correlation with the previous row is {correlations[0]:.2f}",
        p_value=float(chdtrc(_LAGS, statistic)),
        effect=(
            f"The promise needs independent rows. These {n} rows are worth about {round(effective)} independent rows, "
            "so that the promise fails more often than δ."
        ),
        advice=(
            "Use rows that are far enough apart (one for each machine, day or trial), or certify with fewer rows and "
            "document it."
        ),
    )


def check_drift(scores: Floats, rows: npt.NDArray[np.int64] | None = None) -> Finding | None:
    """Check whether scores change from the first row to the last.

    The statistic is the largest partial sum of the normal scores of the ranks. In sound data, it is that of a Brownian
    bridge. `rows` are the row numbers in the table if some rows were left out.
    """
    z = _normal_scores(scores)
    if z is None:
        return None
    n = len(z)
    sums = np.abs(np.cumsum(z)) / math.sqrt(float(np.sum(z**2)))
    at = int(np.argmax(sums)) + 1
    before, after = float(np.median(scores[:at])), float(np.median(scores[at:])) if at < n else math.nan
    row = at if rows is None or at == n else int(rows[at])
    return Finding(
        check="drift",
        seen=f"scores before row {row} have a median of {figure(before)}, later scores a median of {figure(after)}",
        p_value=float(kolmogorov(sums[at - 1])),
        effect=(
            "The rows are not from one distribution: future rows may be like the last rows rather than like all rows."
        ),
        advice=(
            f"Find out what changed near row {row} (after {percent(at / n)} of the rows), and calibrate on later rows."
        ),
    )


def _normal_scores(scores: Floats) -> Floats | None:
    """Return the centred normal quantiles of the ranks; None if there are too few rows or all scores are equal."""
    n = len(scores)
    if n < FEWEST_ROWS or scores.min() == scores.max():
        return None
    z = ndtri(rankdata(scores) / (n + 1))
    return np.asarray(z - z.mean())


def _autocorrelations(z: Floats) -> Floats:
    n = len(z)
    size = next_fast_len(2 * n, real=True)
    products = irfft(np.abs(rfft(z, size)) ** 2, size)[:n]
    return np.asarray(products / products[0])


def _sum_of_first_correlations(z: Floats) -> float:
    """Return the sum of the autocorrelations before the first one below the noise, two standard errors."""
    correlations = _autocorrelations(z)[1:]
    noise = 2.0 / math.sqrt(len(z))
    below = np.flatnonzero(correlations < noise)
    return float(correlations[: below[0] if len(below) else len(correlations)].sum())
