"""A fingerprint of a set of scores: the same in any order, in any number of parts, and on any engine.

With e the binary exponent of γ̄ and u(q) = min((q·2¹⁵⁻ᵉ)², 2³⁶), it is the SHA-256 of N and Σ ±⌊u(q)⌋ modulo 2⁶⁴. The
sign is that of q. Every step is a correctly rounded operation or a sum of integers, and has the same result on any
engine. (Without the square, errors that are few round numbers with the same sum would have the same fingerprint.)

It distinguishes data sets. It does not protect against someone who wants to forge one.
`pacband.selection.expressions.fingerprint_terms` is the same for engines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats, blocks

__all__ = [
    "CUT", "fingerprint", "fingerprint_total", "fingerprint_totals", "fingerprint_unit", "may_be_chance", "seal",
    "shows_reuse",
]  # fmt: skip

CUT = 2.0**36
# Σu(q) of other scores than few round numbers is a multiple of this with a probability of 1e-6.
_ROUND = 1 << 20
# Other rows have the same Σq² of whole numbers with a probability of about 1/√(2πΣq²) at most: 1 % here.
_FEW = 1600


def fingerprint_unit(gamma: float) -> float:
    """Return 2¹⁵⁻ᵉ, the power of two that brings γ̄ between 2¹⁴ and 2¹⁵; e is 0 if γ̄ is zero or infinite."""
    exponent = math.frexp(gamma)[1] if math.isfinite(gamma) else 0
    return math.ldexp(1.0, 15 - max(exponent, -1000))


def fingerprint_total(scores: Floats, unit: float) -> int:
    """Return Σ ±⌊u(q)⌋. The totals of parts add up to the total of all scores."""
    total = 0
    with np.errstate(over="ignore"):
        for rows in blocks(len(scores)):
            square = scores[rows] * unit
            np.multiply(square, square, out=square)
            if square.max() > CUT:
                np.minimum(square, CUT, out=square)
            np.floor(square, out=square)
            if scores[rows].min() < 0.0:
                np.copysign(square, scores[rows], out=square)
            # Exact in float64: 2¹⁴ integers of at most 2³⁶.
            total += int(square.sum())
    return total


def fingerprint_totals(scores: Floats, units: Floats, codes: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Return Σ ±⌊u(q)⌋ of every group modulo 2⁶⁴; `units` has one unit a group, `codes` the group of every row."""
    totals = np.zeros(len(units), dtype=np.int64)
    with np.errstate(over="ignore"):
        for rows in blocks(len(scores)):
            square = scores[rows] * units[codes[rows]]
            np.multiply(square, square, out=square)
            np.minimum(square, CUT, out=square)
            np.floor(square, out=square)
            # One pass over the rows for all groups. Sums beyond 2⁶³ wrap round: `seal` takes them modulo 2⁶⁴.
            np.add.at(totals, codes[rows], np.copysign(square, scores[rows]).astype(np.int64))
    return totals


def seal(n_samples: int, total: int) -> str:
    """Return the fingerprint of N scores with this total."""
    return sha256(f"{n_samples} {total % 2**64}".encode()).hexdigest()[:32]


def may_be_chance(total: int) -> bool:
    """Return whether other rows may well have the same total: the scores are few round numbers.

    Such are tests that pass or fail: as many tests with as many failures have the same total.

    Examples
    --------
    >>> [may_be_chance(fingerprint_total(np.array(scores), 2.0**15)) for scores in ([0.0, 1.0], [0.2, 0.7])]
    [True, False]
    """
    step = total & -total
    return total == 0 or (step >= _ROUND and abs(total) < _FEW * step)


def shows_reuse(compared: Iterable[tuple[str, int, int]]) -> bool:
    """Return whether every fingerprint is that of N scores with this total, and chance does not explain all of them."""
    found = list(compared)
    same = all(digest == seal(n_samples, total) for digest, n_samples, total in found)
    return same and not all(may_be_chance(total) for _, _, total in found)


def fingerprint(scores: Floats, gamma: float) -> str:
    """Return the fingerprint of scores whose bound is γ̄.

    Examples
    --------
    >>> scores = np.array([0.5, 2.0, 1.0])
    >>> fingerprint(scores, 1.0) == fingerprint(scores[::-1], 1.0)
    True
    """
    return seal(len(scores), fingerprint_total(scores, fingerprint_unit(gamma)))
