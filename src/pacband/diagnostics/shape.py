"""Checks of the distribution of the scores: dominating scores, ties, groups beyond the bound, and a poor scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import comb, ndtr
from scipy.stats import binom, rankdata

from pacband.checks import Finding
from pacband.checks.cures import group_cure
from pacband.checks.finding import Kind
from pacband.checks.order import FEWEST_ROWS
from pacband.core.arrays import Floats, check_lengths
from pacband.core.labels import as_labels, group_rows
from pacband.core.wording import figure, percent

__all__ = ["check_dominance", "check_groups", "check_scale", "check_ties"]

_MOST_EXCESSES = 100
# Below this share, ties are ignored. A correlation below `_WEAK` explains less than a hundredth of the variance.
_TIE_MASS = 0.01
_WEAK = 0.1


def check_dominance(scores: Floats) -> Finding | None:
    """Check whether one score, or a few, dominate the tail: Fisher's test of the largest excess in the upper tenth.

    The distribution of the largest share is exact for exponential tails. Lighter tails give fewer findings.
    """
    m = min(_MOST_EXCESSES, len(scores) // 10)
    if len(scores) < FEWEST_ROWS:
        return None
    top = np.sort(np.partition(scores, len(scores) - m - 1)[-m - 1 :])
    if math.isinf(top[-1]):
        # An infinite score marks a row that cannot be inside; it has no size.
        return None
    excesses = top[1:] - top[0]
    total = float(excesses.sum())
    if not 0.0 < total < math.inf:
        return None
    share = float(excesses[-1]) / total
    return Finding(
        code=Kind.DOMINATING_SCORES,
        check="a few scores dominate",
        harmful=False,
        seen=f"the largest score is {figure(float(top[-1]))}, and the upper tenth begins at {figure(float(top[0]))}",
        p_value=largest_share_tail(share, m),
        effect=(
            "That does not weaken the promise, which counts rows beyond the bound and not how far they are. But a "
            "bound of rank 1, and any mean of errors, depends on these few rows."
        ),
        advice=(
            "Look at these rows: a broken sensor, another unit, a different kind of input? Use enough rows for a rank "
            "above 1."
        ),
    )


def largest_share_tail(share: float, m: int) -> float:
    """Return P(the largest of m exponential variables is more than this share of their sum), by Fisher (1929)."""
    terms = np.arange(1, min(m, math.floor(1.0 / share)) + 1)
    signed = np.where(terms % 2, 1.0, -1.0) * comb(m, terms) * np.maximum(0.0, 1.0 - terms * share) ** (m - 1)
    # For a small share, the terms of the sum cancel. The probability is near one there. The first term is always an
    # upper bound.
    first = float(signed[0])
    return (
        first if first < 1e-3 else float(min(1.0, max(0.0, math.fsum(signed)))) if np.abs(signed).max() < 1e6 else 1.0
    )


def check_ties(scores: Floats, bound: float | None) -> Finding | None:
    """Check whether scores tie. Continuous scores never do, so that a finding is certain."""
    _, counts = np.unique(scores, return_counts=True)
    tied = int(counts[counts > 1].sum()) / len(scores)
    at_bound = 0 if bound is None else int(np.count_nonzero(scores == bound))
    return Finding(
        code=Kind.TIES,
        check="tied scores",
        harmful=False,
        seen=f"{percent(tied)} of the scores are shared by several rows"
        + (f", and {at_bound} rows lie on the bound" if at_bound > 1 else ""),
        p_value=0.0 if tied > _TIE_MASS else 1.0,
        effect="Ties do not weaken the promise: rows on the bound are within it. They make the bound less sharp.",
        advice="Nothing has to be done. With finer targets or predictions the bound is sharper.",
    )


def check_groups(scores: Floats, groups: Any, violated: npt.NDArray[np.bool_] | None, eps: float) -> Finding | None:
    """Check whether violations of the common bound are more frequent than ε in some group: Bonferroni over groups."""
    labels = as_labels(groups)
    check_lengths(y=scores, groups=labels)
    if violated is None:
        return None
    members = group_rows(labels)
    tails = {
        label: float(binom.sf(np.count_nonzero(violated[rows]) - 1, len(rows), eps)) for label, rows in members.items()
    }
    worst = min(tails, key=tails.__getitem__)
    rows = members[worst]
    return Finding(
        code=Kind.GROUPS,
        check="groups beyond the bound",
        seen=(
            f"in group {worst!r} {np.count_nonzero(violated[rows])} of {len(rows)} rows "
            f"({percent(float(violated[rows].mean()))}) are beyond the bound; at most {percent(eps)} are "
            "allowed overall"
        ),
        p_value=min(1.0, len(members) * tails[worst]),
        effect="A promise on average over all rows does not hold in this group.",
        advice=group_cure(),
    )


def check_scale(scores: Floats, scale: Floats) -> Finding | None:
    """Check whether scores depend on the scale. If σ̂ explains the size of errors, |y − T|/σ̂ does not depend on σ̂."""
    if len(scores) < FEWEST_ROWS or scale.min() == scale.max() or scores.min() == scores.max():
        return None
    correlation = float(np.corrcoef(rankdata(scores), rankdata(scale))[0, 1])
    tail = 2.0 * float(ndtr(-abs(correlation) * math.sqrt(len(scores) - 1)))
    where = "large: errors are smaller there" if correlation < 0.0 else "small: errors grow faster than the scale"
    return Finding(
        code=Kind.POOR_SCALE,
        check="scale and error size",
        harmful=False,
        seen=f"scores depend on the scale, with a rank correlation of {correlation:.2f}",
        p_value=tail if abs(correlation) > _WEAK else 1.0,
        effect=f"That does not weaken the promise, but bands are wider than necessary where the scale is {where}.",
        advice="Fit the scale on out-of-fold residuals (pacband.scale), or certify without a scale.",
    )
