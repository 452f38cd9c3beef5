"""What the samples allow: r/(N + 1) against N for several δ, and the place of a plan or certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.certificate import AnyCertificate, Certificate, FamilyCertificate
from pacband.core import look
from pacband.core.arrays import Floats
from pacband.core.wording import figure, percent
from pacband.exceptions import InvalidInput
from pacband.planning import DeltaShare, Plan
from pacband.planning.ranks import choose_samples
from pacband.reporting.alternatives import DELTA_CHOICES
from pacband.reporting.figures.figure import Caption, CertificateFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURE", "PlanNumbers", "caption_plan", "draw_plan", "plan_numbers", "plot_plan"]

TITLE = "What the samples allow"
# The upper end of the figure, in ε, and the width of a letter, as a part of the axes.
TOP, LETTER = 1.16, 0.019


@dataclass(frozen=True)
class PlanNumbers:
    """r/(N + 1) against N, a line (δ, N, r/(N + 1)) for every δ, and the (N, r) of a plan or certificate.

    If the bound is chosen beforehand, r/(N + 1) is the expected violation.
    """

    eps: float
    delta: float
    n_samples: int
    rank: int
    n_range: tuple[float, float]
    lines: tuple[tuple[float, Floats, Floats], ...]
    beforehand: bool

    @property
    def expected_violation(self) -> float:
        """r/(N + 1)."""
        return self.rank / (self.n_samples + 1)


def plan_numbers(plan: Plan | Certificate) -> PlanNumbers:
    """Return the lines around a plan or certificate.

    A line joins the points (N, r/(N + 1)) where N is the smallest for its rank: the upper ends of the steps.
    """
    eps, delta, n_samples = plan.eps, plan.delta, plan.n_samples
    share = plan.share if isinstance(plan, Certificate) else DeltaShare(plan.n_candidates)
    smallest = choose_samples(eps, delta, share, rank=1)
    most = 20 * max(n_samples, smallest)
    # The line of a δ within two powers of ten would run into the line of this one.
    deltas = [other for other in DELTA_CHOICES if abs(math.log10(other / delta)) >= 2.0]
    ranks = np.unique(np.geomspace(1, max(2.0, eps * most), 40).round()).astype(int)
    lines = []
    for each in sorted([*deltas, delta], reverse=True):
        sizes = np.array([choose_samples(eps, each, share, rank=rank) for rank in ranks.tolist()], dtype=np.float64)
        kept = sizes <= 1.5 * most
        if kept.any():
            lines.append((each, sizes[kept], ranks[kept] / (sizes[kept] + 1.0)))
    n_range = (0.7 * min(smallest, n_samples), most)
    rank = plan.chosen_rank if isinstance(plan, Certificate) else plan.rank
    return PlanNumbers(eps, delta, n_samples, rank, n_range, tuple(lines), beforehand=share.fraction >= 1)


def label_places(numbers: PlanNumbers) -> list[tuple[float, float]]:
    """Return where the label of every line is: on the line, away from other labels, from the point and from the axes.

    If there is no such place, a label may be over another one. Lengths are parts of the axes, for figures of the size
    of the report.
    """
    x, y = _position(numbers, numbers.n_samples, numbers.expected_violation)
    # The point, and what is written below or above it, to the right or to the left.
    width = 0.05 + LETTER * len(_name(numbers))
    left, near, away = (x + 0.05 - width, 0.06, 0.18) if _is_far(numbers) else (x, 0.0, 0.12)
    bottom, top = (y + near, y + away) if _is_low(numbers) else (y - away, y - near)
    taken = [(x - 0.03, x + 0.03, y - 0.05, y + 0.05), (left, left + width, bottom, top)]
    places = []
    for k, (delta, sizes, violations) in enumerate(numbers.lines):
        half = 0.5 * LETTER * len(f"δ = {delta:g}") + 0.01
        # Between the ranks, a line is straight in the figure.
        steps = np.linspace(0, len(sizes) - 1, 12 * len(sizes))
        n = np.exp(np.interp(steps, np.arange(len(sizes)), np.log(sizes)))
        violation = np.interp(steps, np.arange(len(sizes)), violations)
        x, y = _position(numbers, n, violation)
        free = (x > half + 0.01) & (x < 0.99 - half) & (y > 0.05) & (y < 0.82)
        for left, right, bottom, top in taken:
            free &= (x + half < left) | (x - half > right) | (y + 0.04 < bottom) | (y - 0.04 > top)
        # Every label has its own height, as far as there is room.
        distance = np.abs(violation - (0.62 - 0.13 * k) * numbers.eps) + np.where(free, 0.0, 2.0 * numbers.eps)
        at = int(np.argmin(distance))
        taken.append((x[at] - half, x[at] + half, y[at] - 0.04, y[at] + 0.04))
        places.append((float(n[at]), float(violation[at])))
    return places


def _position(numbers: PlanNumbers, n: Any, violation: Any) -> tuple[Any, Any]:
    """Return places as parts of the axes."""
    low, high = np.log(numbers.n_range)
    return (np.log(n) - low) / (high - low), violation / (TOP * numbers.eps)


def _is_far(numbers: PlanNumbers) -> bool:
    """Whether the point is so far to the right that its label is on its left."""
    return bool(_position(numbers, numbers.n_samples, 0.0)[0] + 0.05 + LETTER * len(_name(numbers)) > 1)


def _is_low(numbers: PlanNumbers) -> bool:
    """Whether the point is so near the axis that its label is above it."""
    return bool(_position(numbers, numbers.n_samples, numbers.expected_violation)[1] < 0.2)


def _name(numbers: PlanNumbers) -> str:
    return f"N = {numbers.n_samples:,}, r = {numbers.rank:,}"


def draw_plan(numbers: PlanNumbers, ax: Axes | None = None) -> Axes:
    """Draw a line for every δ, ε, and the point of the plan or certificate."""
    ax = look.axes_of(ax)
    for (delta, sizes, violation), place in zip(numbers.lines, label_places(numbers), strict=True):
        mine = delta == numbers.delta
        ax.plot(
            sizes,
            violation,
            color=look.BAND if mine else look.POINT,
            linewidth=2 if mine else 1,
            zorder=3 if mine else 2,
        )
        ax.annotate(
            f"δ = {delta:g}",
            place,
            fontsize=8.5,
            color=look.BAND if mine else look.MUTED,
            ha="center",
            va="center",
            bbox={"boxstyle": "round,pad=0.2", "fc": look.SURFACE, "ec": "none"},
            zorder=5,
        )
    ax.axhline(numbers.eps, color=look.LIMIT, linewidth=1.4)
    ax.annotate(
        f"ε = {figure(numbers.eps)}: the promised maximum",
        (numbers.n_range[0], numbers.eps),
        xytext=(3, 4),
        textcoords="offset points",
        fontsize=look.SMALL,
        color=look.LIMIT,
    )
    here = (numbers.n_samples, numbers.expected_violation)
    ax.plot(*[[value] for value in here], "o", color=look.BAND, markersize=9, zorder=6, markeredgecolor=look.SURFACE)
    ax.annotate(
        _name(numbers),
        here,
        xytext=(10, (12 if _is_far(numbers) else 6) if _is_low(numbers) else (-22 if _is_far(numbers) else -10)),
        textcoords="offset points",
        ha="right" if _is_far(numbers) else "left",
        fontsize=look.SMALL,
        color=look.INK,
        fontweight="bold",
        # No line runs through the letters.
        bbox={"boxstyle": "round,pad=0.1", "fc": look.SURFACE, "ec": "none"},
        zorder=5,
    )
    ax.set_xscale("log")
    ax.set_ylim(0, TOP * numbers.eps)
    ax.set_xlim(*numbers.n_range)
    ax.yaxis.set_major_formatter(look.format_percent)
    ax.xaxis.set_major_formatter(look.format_count)
    expected = "expected violation, r/(N + 1)" if numbers.beforehand else "r/(N + 1), if chosen beforehand"
    look.style_axes(ax, title=TITLE, x="calibration samples N", y=expected)
    return ax


def caption_plan(numbers: PlanNumbers) -> Caption:
    """Write the caption."""
    expected = "expected violation" if numbers.beforehand else "r/(N + 1)"
    subject = "The expected violation, rank over N plus one," if numbers.beforehand else "Rank over N plus one"
    return Caption(
        TITLE,
        f"{subject} rises with the number of samples towards ε = {figure(numbers.eps)}. For this certificate, with "
        f"N = {numbers.n_samples:,} and rank {numbers.rank:,}, it is {percent(numbers.expected_violation)}.",
        "The closer the point is to ε, the sharper is the bound.",
        tuple(
            (n, violation, f"δ = {delta:g}: {int(n):,} samples, {expected} {percent(violation)}")
            for delta, sizes, violations in numbers.lines
            for n, violation in zip(sizes.tolist(), violations.tolist(), strict=True)
        ),
    )


def _report_numbers(certificate: AnyCertificate) -> PlanNumbers | None:
    # The rank of a given bound follows from the scores: no plan gives it. Nor does a plan know dependent draws.
    single = certificate.single
    if single is None or single.bound_given or not single.basis.draws.independent:
        return None
    return plan_numbers(single)


FIGURE = CertificateFigure(numbers=_report_numbers, draw=draw_plan, caption=caption_plan)


def plot_plan(plan: Plan | Certificate | FamilyCertificate, *, ax: Axes | None = None) -> Axes:
    """Draw the expected violation against N, for several δ, and the place of a plan or certificate.

    Examples
    --------
    >>> import pacband
    >>> ax = pacband.plot_plan(pacband.plan(eps=0.05, delta=1e-6))
    """
    if isinstance(plan, FamilyCertificate):
        plan = plan.certificate
    if not isinstance(plan, (Plan, Certificate)):
        raise InvalidInput(f"plan must be a plan or the certificate of one bound, got {type(plan).__name__}.")
    return draw_plan(plan_numbers(plan), look.axes_of(ax))
