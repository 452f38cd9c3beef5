"""The operating characteristic of an acceptance plan: the probability of acceptance against the true violation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pacband.core import look
from pacband.core.arrays import Floats
from pacband.core.wording import percent
from pacband.exceptions import InvalidInput
from pacband.planning import AcceptancePlan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AcceptanceNumbers", "acceptance_numbers", "draw_acceptance", "plot_acceptance"]

N_POINTS = 200


@dataclass(frozen=True)
class AcceptanceNumbers:
    """The probability of acceptance at violation probabilities p, and the plan itself."""

    plan: AcceptancePlan
    p: Floats
    accepted: Floats


def acceptance_numbers(plan: AcceptancePlan) -> AcceptanceNumbers:
    """Return the operating characteristic from p = 0 to where a model is hardly ever accepted."""
    p = np.linspace(0.0, min(1.0, 1.8 * plan.eps), N_POINTS)
    return AcceptanceNumbers(plan, p, np.array([plan.accept_probability(each) for each in p.tolist()]))


def draw_acceptance(numbers: AcceptanceNumbers, ax: Axes | None = None) -> Axes:
    """Draw the curve, and the two points that the plan keeps."""
    ax, plan = look.axes_of(ax), numbers.plan
    ax.plot(numbers.p, numbers.accepted, color=look.BAND, linewidth=2, zorder=3)
    good, bad = plan.accept_probability(plan.eps_good), plan.accept_probability(plan.eps)
    points = (
        (plan.eps_good, good, look.THIRD, f"good: p = {percent(plan.eps_good)}", (13, 2), "center"),
        (plan.eps, bad, look.LIMIT, f"bad: p = {percent(plan.eps)}", (9, 14), "bottom"),
    )
    for p, accepted, colour, name, offset, edge in points:
        ax.plot([p, p], [0.0, accepted], color=colour, linewidth=1, linestyle=(0, (3, 2)), zorder=2)
        ax.plot([p], [accepted], "o", color=colour, markersize=8, markeredgecolor=look.SURFACE, zorder=4, clip_on=False)
        ax.annotate(
            f"{name}\n{_accepted(accepted)}",
            (p, accepted),
            xytext=offset,
            textcoords="offset points",
            fontsize=look.SMALL,
            color=colour,
            va=edge,
            zorder=5,
        )
    ax.set_xlim(0.0, float(numbers.p[-1]))
    ax.set_ylim(0.0, 1.06)
    ax.xaxis.set_major_formatter(look.format_percent)
    ax.yaxis.set_major_formatter(look.format_percent)
    title = f"Accept if at most {plan.max_violations:,} of {plan.n_samples:,} violate"
    look.style_axes(ax, title=title, x="true violation probability p", y="probability of acceptance", grid="both")
    return ax


def _accepted(probability: float) -> str:
    return f"accepted with {percent(probability) if probability >= 1e-4 else f'probability {probability:.2g}'}"


def plot_acceptance(plan: AcceptancePlan, *, ax: Axes | None = None) -> Axes:
    """Draw the operating characteristic of an acceptance plan: B(c; N, p) against p.

    Examples
    --------
    >>> import pacband
    >>> ax = pacband.plot_acceptance(pacband.plan_acceptance(0.05, 0.05, eps_good=0.01))
    """
    if not isinstance(plan, AcceptancePlan):
        raise InvalidInput(f"plan must be an acceptance plan, got {type(plan).__name__}.")
    return draw_acceptance(acceptance_numbers(plan), look.axes_of(ax))
