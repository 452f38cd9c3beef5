"""Were the rows independent, and of one distribution? What the order of the scores tells.

Both checks look at ranks, so that no distribution is assumed: in sound data every order of the scores is as
likely as any other.
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

# With more lags, or fewer rows, the test rejects sound data too often at levels near 0.001.
_LAGS = 3
FEWEST_ROWS = 100


def check_serial_dependence(scores: Floats) -> Finding | None:
    """Do neighbouring scores resemble each other? The Ljung-Box test on normal scores of the ranks, over 3 lags."""
    z = _normal_scores(scores)
    if z is None:
        return None
    n = len(z)
    correlations = _autocorrelations(z)[1 : _LAGS + 1]
    statistic = n * (n + 2) * float(np.sum(correlations**2 / (n - np.arange(1, _LAGS + 1))))
    worth = n / max(1.0, 1.0 + 2.0 * _sum_of_initial_run(z))
    return Finding(
        check="serial dependence",
        seen=f"scores resemble those of the rows before: a rank correlation of {correlations[0]:.2f} with the last row",
        p_value=float(chdtrc(_LAGS, statistic)),
        effect=(
            f"The promise is made for independent rows; these {n} are worth about {round(worth)} of them, so that it "
            "fails more often than δ."
        ),
        advice="Keep rows far enough apart (one a machine, a day, a trial), or certify with fewer and say so.",
    )


def check_drift(scores: Floats, rows: npt.NDArray[np.int64] | None = None) -> Finding | None:
    """Do scores change from the first row to the last? The largest partial sum of the ranks against a bridge.

    `rows` are the numbers of the rows in their table where some were left out; by default none was.
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
        seen=f"scores before row {row} have a median of {figure(before)}, those after of {figure(after)}",
        p_value=float(kolmogorov(sums[at - 1])),
        effect="Rows are not of one distribution: future rows may resemble the last ones rather than all of them.",
        advice=f"Find out what changed near row {row} ({percent(at / n)} of the way); calibrate on rows since then.",
    )


def _normal_scores(scores: Floats) -> Floats | None:
    """Normal quantiles of the ranks, centred; None where there are too few rows or all scores are equal."""
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


def _sum_of_initial_run(z: Floats) -> float:
    """The sum of autocorrelations up to where they first fall into the noise: what repetition there is."""
    correlations = _autocorrelations(z)[1:]
    noise = 2.0 / math.sqrt(len(z))
    quiet = np.flatnonzero(correlations < noise)
    return float(correlations[: quiet[0] if len(quiet) else len(correlations)].sum())
