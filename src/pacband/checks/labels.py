"""Do rows with the same label resemble each other? A check that works in any order of the rows.

The rows of one machine, patient or day may share an offset, or a size of errors. Then they are fewer independent draws
than they seem, and new machines are worse than the rows promise. The check compares the variance between labels with
the variance within labels, on ranks of scores and of signed errors, because offsets of machines show in signed errors.

Numbers may be labels (a machine's number) or inputs (a number of rooms). Errors change gradually with an input. So
labels that are numbers are compared in pairs of neighbours, 1 with 2, 3 with 4: what changes gradually cancels, and the
offsets of machines do not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pacband.checks.columns import Labels
from pacband.checks.cures import label_cure
from pacband.checks.finding import Finding, Kind
from pacband.checks.tails import f_tail
from pacband.core.arrays import Floats

__all__ = ["check_labels", "resemblance"]

# A smaller intra-class correlation is not reported.
_WEAK = 0.05


def check_labels(column: str, labels: Labels, series: Mapping[str, Floats | None]) -> Finding | None:
    """Check whether rows of one label resemble each other.

    Parameters
    ----------
    column : str
        The name of the column.
    labels : Labels
        Its labels.
    series : mapping of str to array
        Centred ranks of "scores" and of "errors", in the order of the rows. Those that say nothing are None.

    Returns
    -------
    Finding or None
        None if no series says anything. The p-value shares the level among the series.
    """
    known = labels.codes >= 0
    codes = labels.codes[known]
    pairs = codes // 2 if labels.ordered else np.zeros(len(codes), dtype=np.intp)
    found = {name: resemblance(z[known], codes, pairs) for name, z in series.items() if z is not None}
    if not found:
        return None
    best = max(found, key=lambda name: (-found[name][1], found[name][0]))
    correlation, p_value = found[best]
    n, n_labels = len(codes), labels.n_labels
    worth = max(n_labels, round(n / (1.0 + (n / n_labels - 1.0) * max(0.0, correlation))))
    return Finding(
        code=Kind.SHARED_LABELS,
        check=f"dependence within {column}",
        seen=f"rows of one {column} resemble each other: intra-class correlation {correlation:.2f} of {best}",
        p_value=min(1.0, len(found) * p_value) if correlation >= _WEAK else 1.0,
        effect=(
            f"If new values of {column} are to come, these {n} rows with {n_labels} values of it are worth about "
            f"{min(worth, n)} independent rows, so that the promise fails more often than δ."
        ),
        advice=label_cure(column),
        column=column,
        explains_order=labels.together,
    )


def resemblance(z: Floats, codes: npt.NDArray[np.intp], strata: npt.NDArray[np.intp]) -> tuple[float, float]:
    """Return the intra-class correlation of labels within strata, and the p-value of an F test on ranks.

    With S the sum, n the number of rows of a label or of a stratum, the sum of squares between labels is
    Σ S²/n over labels − Σ S²/n over strata, with as many degrees of freedom as labels − strata. If rows are independent
    given the stratum, its mean is that within labels; if a variable of variance τ² is added to every label, the mean
    grows by n₀τ².

    Examples
    --------
    >>> codes = np.repeat(np.arange(100), 5)
    >>> offset = np.random.default_rng(0).standard_normal(100)[codes]
    >>> correlation, p_value = resemblance(offset - offset.mean(), codes, np.zeros(500, dtype=np.intp))
    >>> correlation, p_value
    (1.0, 0.0)
    """
    sizes = np.bincount(codes).astype(np.float64)
    of_label = np.zeros(len(sizes), dtype=np.intp)
    of_label[codes] = strata
    label_squares = np.bincount(codes, z) ** 2 / np.maximum(sizes, 1.0)
    stratum_sizes = np.bincount(strata).astype(np.float64)
    stratum_squares = np.bincount(strata, z) ** 2 / np.maximum(stratum_sizes, 1.0)
    between_df = int(np.count_nonzero(sizes) - np.count_nonzero(stratum_sizes))
    within_df = int(len(z) - np.count_nonzero(sizes))
    if between_df < 1 or within_df < 1:
        return 0.0, 1.0
    between = float(label_squares.sum() - stratum_squares.sum()) / between_df
    within = max(0.0, float(z @ z - label_squares.sum())) / within_df
    shared = np.bincount(of_label, sizes**2, minlength=len(stratum_sizes)) / np.maximum(stratum_sizes, 1.0)
    n0 = (len(z) - float(shared.sum())) / between_df
    if within <= 1e-12 * between:
        return 1.0, 0.0
    correlation = (between - within) / (between + (n0 - 1.0) * within)
    return correlation, f_tail(between / within, between_df, within_df)
