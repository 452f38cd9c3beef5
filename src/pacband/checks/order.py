"""Is every row independent of the rows before, and from the same distribution as the first? Checks of the order.

Two things break the order of rows: dependence, where a row resembles its neighbours, and drift, where the distribution
changes. Either makes the largest partial sum of the ranks large. They are distinguished by cutting the rows into
`_BLOCKS` blocks. If the rows are dependent but stationary, and blocks are longer than the dependence, then every order
of the blocks is about equally likely; under drift it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.checks.cures import drift_cure, serial_cure
from pacband.checks.finding import Finding, Kind
from pacband.checks.tails import chi2_tail, kolmogorov_tail
from pacband.core.arrays import Floats
from pacband.core.wording import figure, percent

__all__ = ["DEPENDENCE", "DRIFT", "FEWEST_ROWS", "Whole", "check_order"]

# Centred ranks of rows without gaps, by name, and the number of rows of which they are the first.
Whole: TypeAlias = Callable[[], tuple[Mapping[str, Floats | None], int]]
DEPENDENCE, DRIFT = "serial dependence", "drift"
# With more lags or fewer rows, the test rejects sound data too often at levels near 0.001.
_LAGS = 3
FEWEST_ROWS = 100
_BLOCKS, _ORDERS = 20, 999
# A p-value above this is no reason to look closer.
_SUSPICIOUS, _CERTAIN = 0.01, 1e-6


def check_order(
    series: Mapping[str, Floats | None],
    values: Mapping[str, Floats],
    *,
    partial_sums: bool = True,
    rows: npt.NDArray[np.int64] | None = None,
    along: str | None = None,
    whole: Whole | None = None,
) -> tuple[Finding, Finding] | None:
    """Check whether neighbouring rows depend on each other, and whether rows drift.

    Parameters
    ----------
    series : mapping of str to array
        Centred signs or ranks, in order: of "scores", and of "errors". Those that say nothing are None.
    values : mapping of str to array
        The scores and errors themselves, by the same names and in the same order.
    partial_sums : bool
        Whether to look at partial sums as well: they show drift, and dependence that reaches far.
    rows : array of int, optional
        The row numbers in the table, if some rows were left out.
    along : str, optional
        The column that the order is that of, if it is not the order of rows.
    whole : function, optional
        Returns centred ranks of all rows, none left out, by name, and the number of rows. A finding states numbers of
        these, so that they are true of neighbours. Without it, it states none.

    Returns
    -------
    (dependence, drift) or None
        None if there are too few rows, or if no series says anything. The p-values share the level among the series.

    Notes
    -----
    Dependence: n(n + 2) Σ r_k²/(n − k) over 3 lags is a χ² variable with 3 degrees of freedom (Ljung and Box, 1978).
    The sum over the positive r_k alone is smaller, so that the p-value is still valid.

    Drift: the largest partial sum, divided by the norm, is that of a Brownian bridge.
    """
    known = {name: z for name, z in series.items() if z is not None and len(z) >= FEWEST_ROWS}
    if not known:
        return None
    found = {name: _Order.of(z, partial_sums=partial_sums) for name, z in known.items()}
    n_series = len(found)
    name = min(found, key=lambda name: found[name].dependence)
    p_value = min(1.0, n_series * found[name].dependence)
    # The promise is about scores: what is said is about them, if it is as good as certain.
    name = "scores" if "scores" in found and found["scores"].dependence <= _CERTAIN else name
    dependence = _dependence(name, p_value, along, whole)
    name = min(found, key=lambda name: found[name].drift)
    p_value = min(1.0, n_series * found[name].drift)
    name = "scores" if "scores" in found and found["scores"].drift <= _CERTAIN else name
    return dependence, _drift(name, known[name], values[name], p_value, rows, along)


class _Order:
    """The p-values of one series."""

    def __init__(self, dependence: float, drift: float) -> None:
        self.dependence, self.drift = dependence, drift

    @classmethod
    def of(cls, z: Floats, *, partial_sums: bool) -> _Order:
        lagged = _lag_tail(z)
        if not partial_sums:
            return cls(lagged, 1.0)
        summed = kolmogorov_tail(_largest_sum(z))
        if summed > _SUSPICIOUS or not _blocks_drift(z):
            # Two tests share the level.
            return cls(min(1.0, 2.0 * min(lagged, summed)), 1.0)
        # Drift alone makes neighbours alike. Dependence must also be seen within blocks, where there is little drift.
        return cls(min(1.0, 2.0 * max(lagged, _lag_tail(z - _block_means(z)))), summed)


def _lag_tail(z: Floats) -> float:
    n = len(z)
    total = float(z @ z)
    if total == 0.0:
        return 1.0
    # Rows that differ from their neighbours do not weaken the promise: only positive correlations count.
    positive = (max(0.0, float(z[:-lag] @ z[lag:]) / total) ** 2 / (n - lag) for lag in range(1, _LAGS + 1))
    return chi2_tail(n * (n + 2) * sum(positive), _LAGS)


def _largest_sum(z: Floats) -> float:
    sums = np.cumsum(z)
    return max(float(sums.max()), -float(sums.min())) / math.sqrt(float(z @ z))


def _block_of(n_rows: int) -> npt.NDArray[np.intp]:
    return np.asarray(np.arange(n_rows) * _BLOCKS // n_rows, dtype=np.intp)


def _block_means(z: Floats) -> Floats:
    """Return, for every row, the mean of its block."""
    block = _block_of(len(z))
    return np.asarray((np.bincount(block, z) / np.bincount(block))[block])


def _blocks_drift(z: Floats) -> bool:
    """Return whether the partial sums of block sums are larger than those of almost all other orders of the blocks."""
    sums = np.bincount(_block_of(len(z)), z)
    orders = np.random.default_rng(0).permuted(np.tile(sums, (_ORDERS, 1)), axis=1)
    largest = np.abs(np.cumsum(orders, axis=1)).max(axis=1)
    own = float(np.abs(np.cumsum(sums)).max())
    return (1 + int(np.count_nonzero(largest >= own * (1.0 - 1e-9)))) / (_ORDERS + 1) <= _SUSPICIOUS


def _dependence(name: str, p_value: float, along: str | None, whole: Whole | None) -> Finding:
    near = "" if along is None else f" in the order of {along}"
    seen = effect = ""
    if p_value <= _SUSPICIOUS:
        seen = f"{name} of rows that are not far from each other{near} are alike"
        worth = "These rows are worth fewer independent rows"
        ranks, n_rows = ({}, 0) if whole is None else whole()
        if (z := ranks.get(name)) is not None:
            first, share = _effective_share(z)
            worth = f"These {n_rows} rows are worth about {max(1, round(share * n_rows))} independent rows"
            if first >= 0.005:
                correlation = f"the rank correlation with the previous row is {first:.2f}"
                seen = f"{name} depend on the rows before{near}: {correlation}"
        effect = f"The promise needs independent rows. {worth}, so that the promise fails more often than δ."
    return Finding(
        code=Kind.SERIAL_DEPENDENCE,
        check=DEPENDENCE,
        seen=seen,
        p_value=p_value,
        effect=effect,
        advice=serial_cure(),
        column=along,
    )


def _drift(
    name: str,
    z: Floats,
    values: Floats,
    p_value: float,
    rows: npt.NDArray[np.int64] | None,
    along: str | None,
) -> Finding:
    n = len(z)
    seen = effect = ""
    row = 0
    if p_value <= _SUSPICIOUS:
        at = min(n - 1, int(np.argmax(np.abs(np.cumsum(z)))) + 1)
        row = at if rows is None else int(rows[at])
        where = f"row {row}" if along is None else f"row {row} in the order of {along}"
        before, after = float(np.median(values[:at])), float(np.median(values[at:]))
        seen = (
            f"{name} before {where}, after {percent(at / n)} of the rows, have a median of {figure(before)}, later "
            f"{name} a median of {figure(after)}"
        )
        effect = (
            "The rows are not from one distribution: future rows may be like the last rows rather than like all rows."
        )
    return Finding(
        code=Kind.DRIFT,
        check=DRIFT,
        seen=seen,
        p_value=p_value,
        effect=effect,
        advice=drift_cure(row),
        column=along,
    )


def _effective_share(z: Floats) -> tuple[float, float]:
    """Return the correlation with the row before, and how many independent rows one row is worth.

    It is 1/(1 + 2 Σ r_k), over the lags before the first r_k below two standard errors.
    """
    n = len(z)
    size = 1 << (2 * n - 1).bit_length()
    products = np.fft.irfft(np.abs(np.fft.rfft(z, size)) ** 2, size)[:n]
    correlations = (products / products[0])[1:]
    below = np.flatnonzero(correlations < 2.0 / math.sqrt(n))
    total = float(correlations[: below[0] if len(below) else n].sum())
    return float(correlations[0]), 1.0 / max(1.0, 1.0 + 2.0 * total)
