"""What a promise costs: the rank, the expected violation and the width that N samples allow, for many δ and N.

Split conformal prediction at level 1 − ε takes the ⌈(N + 1)(1 − ε)⌉-th smallest score. Counted from the largest, that
is the rank ⌊ε(N + 1)⌋. Its violation is at most ε on average over calibrations, but above ε in 48 % of them if
N = 1000 and ε = 0.05. A certificate with a small δ takes a smaller rank, so its band is wider. For Gaussian errors, a
band with violation v has the half-width z(v) = −Φ⁻¹(v/2) standard deviations. The relative width is

    z(r/(N + 1)) / z(⌊ε(N + 1)⌋/(N + 1)).

Its denominator changes with N. Bands of different N are compared by z(r/(N + 1)) / z(ε): the width over that of the
band that leaves out exactly a share ε, which no finite sample reaches for sure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from pacband.core.checks import check_probability
from pacband.core.wording import card, figure, percent
from pacband.exceptions import InvalidInput
from pacband.planning.limits import check_eps, check_n_samples, check_share
from pacband.planning.plans import Plan, min_samples
from pacband.planning.solving import largest_rank

__all__ = ["DELTAS", "HEADER", "PlanCost", "PlanTable", "more_samples", "plan_table", "split_conformal_rank"]

DELTAS = (0.1, 0.05, 0.01, 1e-3, 1e-6, 1e-9)
# What `more_samples` looks at: so many times the samples of the plan.
_TIMES = (1, 2, 5, 10, 100)
# And no more than this, since larger numbers take seconds.
_MOST_SAMPLES = 10**9
HEADER = ("samples N", "δ", "rank r", "expected violation", "width", "over split")
_NOTHING = "–"


@dataclass(frozen=True, slots=True)
class PlanCost:
    """What one δ costs with N samples; a row of `PlanTable`.

    Attributes
    ----------
    n_samples : int
        The number N of calibration samples.
    delta : float
        The probability δ that the promise may fail.
    rank : int or None
        The largest valid rank; None if N samples cannot promise this.
    expected_violation : float or None
        r/(N + 1), the mean of the true violation over calibrations.
    width : float or None
        The width of the band at its expected violation, over that of the band that leaves out exactly a share ε, for
        Gaussian errors. It compares rows with different N. None if N samples cannot promise this.
    relative_width : float or None
        The width of the band over that of split conformal prediction with the same samples, for Gaussian errors, each
        at its expected violation. None if either band does not exist.
    needed : int
        The smallest number of samples that can promise this ε at this δ.
    """

    n_samples: int
    delta: float
    rank: int | None
    expected_violation: float | None
    width: float | None
    relative_width: float | None
    needed: int

    @property
    def cells(self) -> tuple[str, str, str, str, str, str]:
        """N, δ, rank, expected violation, width and relative width as texts."""
        start = f"{self.n_samples:,}", figure(self.delta)
        if self.expected_violation is None:
            return *start, f"needs {self.needed:,} samples", _NOTHING, _NOTHING, _NOTHING
        violation = percent(self.expected_violation)
        return *start, f"{self.rank:,}", violation, _times(self.width), _times(self.relative_width)


@dataclass(frozen=True, slots=True)
class PlanTable:
    """What each δ costs; made by `plan_table`.

    Attributes
    ----------
    eps : float
        The share ε of future errors that may exceed the bound.
    n_candidates : int
        The number n_F of candidates that share δ.
    rows : tuple of PlanCost
        One row for each N and δ, in the order in which they were given.
    """

    eps: float
    n_candidates: int
    rows: tuple[PlanCost, ...]

    @property
    def explanation(self) -> str:
        """What the columns mean, in words."""
        each = f", shared by {self.n_candidates} candidates" if self.n_candidates > 1 else ""
        return (
            f"At most {percent(self.eps)} of future errors may exceed the bound (ε = {figure(self.eps)}); this fails "
            f"with probability at most δ{each}. The score of rank r from the top is the bound. The expected violation "
            "r/(N + 1) is the share of errors beyond the bound, on average over calibrations. The width is that of the "
            "band over the narrowest that leaves out a share ε, for Gaussian errors; the last column is the width over "
            "that of split conformal prediction with the same samples."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON-ready values."""
        return {"eps": self.eps, "n_candidates": self.n_candidates, "rows": [asdict(row) for row in self.rows]}

    def __str__(self) -> str:
        lines = [HEADER, *(row.cells for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        cells = ("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([*cells, self.explanation])

    def _repr_html_(self) -> str:
        rows = [(f"N = {n}, δ = {delta}", _in_words(*rest)) for n, delta, *rest in (row.cells for row in self.rows)]
        return card("pacband plan table", self.explanation, rows)


def plan_table(
    n_samples: int | Iterable[int],
    *,
    eps: float = 0.05,
    deltas: float | Iterable[float] = DELTAS,
    n_candidates: int = 1,
) -> PlanTable:
    r"""Return what each δ costs with N samples: the rank, the expected violation, and the width.

    A smaller δ needs a smaller rank r, with n_F·B(r − 1; N, ε) ≤ δ, and so a wider band. The relative width is
    z(r/(N + 1)) / z(⌊ε(N + 1)⌋/(N + 1)) with z(v) = −Φ⁻¹(v/2): the certified band over that of split conformal
    prediction with the same samples, for Gaussian errors, each at its expected violation. With errors that have heavier
    tails it is larger. To compare different N, read the width z(r/(N + 1)) / z(ε), which is near 1 for many samples.

    Parameters
    ----------
    n_samples : int or iterable of int
        The number N of calibration samples, or several such numbers.
    eps : float in (0, 1)
        The share of future errors that may exceed the bound.
    deltas : float or iterable of float in (0, 1)
        The probabilities that the promise may fail.
    n_candidates : int
        The number n_F of candidates certified at once; each gets δ/n_F.

    Returns
    -------
    PlanTable
        With `rows`; `str` is the table as text, `to_dict` as JSON-ready values. A δ that N samples cannot promise has a
        row without a rank, which states how many samples are `needed`.

    Examples
    --------
    >>> table = plan_table(120, eps=0.1)
    >>> [(row.delta, row.rank) for row in table.rows]
    [(0.1, 8), (0.05, 7), (0.01, 5), (0.001, 3), (1e-06, None), (1e-09, None)]
    >>> round(table.rows[1].relative_width, 3), table.rows[4].needed
    (1.15, 132)
    """
    eps = check_eps(eps)
    sizes = [check_n_samples(n) for n in _several("n_samples", n_samples)]
    chosen = [check_probability("delta", delta) for delta in _several("deltas", deltas)]
    shares = [check_share(delta, n_candidates) for delta in chosen]
    needed = [min_samples(eps, delta, n_candidates=n_candidates) for delta in chosen]
    rows = tuple(
        _cost(n, eps, delta, largest_rank(n, eps, share.budget(delta)), least)
        for n in sizes
        for delta, share, least in zip(chosen, shares, needed, strict=True)
    )
    return PlanTable(eps, shares[0].n_candidates, rows)


def more_samples(plan: Plan) -> PlanTable:
    """Return what more samples would buy at the ε and δ of a plan: N, 2N, 5N, 10N and 100N samples.

    Examples
    --------
    >>> from pacband.planning import plan
    >>> [(row.n_samples, row.rank) for row in more_samples(plan(0.1, 0.05)).rows]
    [(29, 1), (58, 2), (145, 9), (290, 21), (2900, 264)]
    """
    sizes = [times * plan.n_samples for times in _TIMES]
    shown = [n for n in sizes if n <= max(plan.n_samples, _MOST_SAMPLES)]
    return plan_table(shown, eps=plan.eps, deltas=plan.delta, n_candidates=plan.n_candidates)


def split_conformal_rank(n_samples: int, eps: float) -> int:
    """Return ⌊ε(N + 1)⌋ for the decimal ε that the user wrote; 0 if split conformal prediction has no finite band."""
    return int(Fraction(repr(eps)) * (n_samples + 1))


def _cost(n_samples: int, eps: float, delta: float, rank: int, needed: int) -> PlanCost:
    if rank == 0:
        return PlanCost(n_samples, delta, None, None, None, None, needed)
    conformal = split_conformal_rank(n_samples, eps)
    violation = rank / (n_samples + 1)
    half_width = _half_width(violation)
    beside = half_width / _half_width(conformal / (n_samples + 1)) if conformal else None
    return PlanCost(n_samples, delta, rank, violation, half_width / _half_width(eps), beside, needed)


def _half_width(violation: float) -> float:
    """Return z(v) = Φ⁻¹(1 − v/2)."""
    return -NormalDist().inv_cdf(violation / 2)


def _times(width: float | None) -> str:
    return _NOTHING if width is None else f"× {width:.2f}"


def _several(name: str, values: Any) -> list[Any]:
    """Return the values as a list, or one value as a list of one."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    listed = list(values)
    if not listed:
        raise InvalidInput(f"{name} must have at least one value, got none.")
    return listed


def _in_words(rank: str, violation: str, width: str, beside: str) -> str:
    if violation == _NOTHING:
        return rank
    return f"rank {rank}, expected violation {violation}, width {width}, over split conformal {beside}"
