"""Choose ε afterwards: the bound for all ε at once, beside the bound if one ε had been chosen beforehand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.certificate import Certificate
from pacband.certification.curve import Curve, curve_of_scores
from pacband.core import look
from pacband.core.arrays import Floats
from pacband.core.wording import bound, figure, round_up
from pacband.exceptions import NotEnoughSamples
from pacband.planning.ranks import choose_rank
from pacband.reporting.figures.figure import Caption, FigureInput, RowsFigure
from pacband.selection.ranked import Ranked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURE", "CurveNumbers", "candidate_curve", "caption_curve", "curve_numbers", "draw_curve"]

TITLE = "Choose ε afterwards"
# With more scores than this, a curve has so many levels instead of all.
LONG_CURVE, CURVE_LEVELS = 20_000, 60


@dataclass(frozen=True)
class CurveNumbers:
    """The curve, the certified point (ε, γ̄), the bounds (ε, γ̄) of every ε chosen beforehand, and the name of γ̄."""

    curve: Curve
    eps: float
    gamma: float
    beforehand: tuple[Floats, Floats]
    name: str


def curve_numbers(basis: FigureInput) -> CurveNumbers | None:
    """Return the curve; None for fresh rows, for groups, and for too few samples."""
    single = basis.certificate.single
    if basis.ranked is None or single is None:
        return None
    curve = candidate_curve(single, basis.ranked)
    if curve is None:
        return None
    beforehand = _bounds_beforehand(single, curve, basis.ranked)
    return CurveNumbers(curve, single.eps, single.gamma, beforehand, _bound_name(single))


def candidate_curve(single: Certificate, scores: Floats | Ranked) -> Curve | None:
    """Return the curve of this candidate, at its share of δ; None for too few samples.

    The candidate may have been chosen by its scores. With confidence 1 − δ the curves of all candidates hold, so that
    the curve of the chosen one holds as well.
    """
    grid = None
    if len(scores) > LONG_CURVE:
        grid = np.unique([*np.geomspace(max(1e-5, 40.0 / len(scores)), 0.5, CURVE_LEVELS), single.eps])
    try:
        return curve_of_scores(
            scores,
            delta=single.delta,
            share=single.share,
            eps=None if grid is None else tuple(grid.tolist()),
            scoring=single.basis.scoring,
            n_outputs=single.n_outputs,
            n_steps=single.n_steps,
            scale_kind=single.scale_kind,
        )
    except NotEnoughSamples:
        return None


def _bound_name(single: Certificate) -> str:
    """Return what the bound is called: with the target, and with the unit if the bound is in it."""
    about = single.about
    name = "bound γ̄(ε)" if about.target is None else f"bound γ̄(ε) for {about.target}"
    return about.in_unit(name) if single.basis.bound_in_unit else name


def _bounds_beforehand(single: Certificate, curve: Curve, ranked: Ranked) -> tuple[Floats, Floats]:
    """Return γ̄ at every ε, if this ε alone had been certified."""
    levels, gammas = [], []
    for eps in np.geomspace(max(1e-9, 0.5 * curve.smallest_eps), 0.5, 60).tolist():
        try:
            rank = choose_rank(curve.n_samples, eps, single.delta, single.share)
        except NotEnoughSamples:
            continue
        levels.append(eps)
        gammas.append(ranked.largest(rank))
    return np.array(levels), np.array(gammas)


def draw_curve(numbers: CurveNumbers) -> Axes:
    """Draw γ̄ against ε."""
    ax = look.axes_of(None)
    levels, gammas = np.array(numbers.curve.levels), np.array(numbers.curve.gammas)
    known = np.isfinite(gammas)
    ax.step(levels[known], gammas[known], where="post", color=look.BAND, linewidth=2, label="any ε")
    ax.plot(*numbers.beforehand, color=look.POINT, linewidth=1.2, linestyle=(0, (4, 2)), label="one ε, chosen before")
    if math.isfinite(numbers.gamma):
        here = [numbers.eps], [numbers.gamma]
        ax.plot(*here, "o", color=look.LIMIT, markersize=7, markeredgecolor=look.SURFACE, label="certified")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(look.format_percent)
    x_name = "ε, the share of errors that may exceed the bound"
    look.style_axes(ax, title=TITLE, x=x_name, y=look.short_text(numbers.name, 40), grid="both")
    look.add_legend(ax, columns=3)
    return ax


def caption_curve(numbers: CurveNumbers) -> Caption:
    """Write the caption."""
    curve = numbers.curve
    thin = slice(None, None, max(1, len(curve.levels) // 80))
    return Caption(
        TITLE,
        f"The bound against ε for every ε at once, from {round_up(curve.smallest_eps, 3):g} on, with the certified "
        f"point at ε = {figure(numbers.eps)}.",
        "The solid line holds for every ε at once: you may look at it first, and then choose any point of it.",
        tuple(
            (eps, gamma, f"ε = {round_up(eps, 3):g}: bound {bound(gamma)}")
            for eps, gamma in zip(curve.levels[thin], curve.gammas[thin], strict=True)
            if math.isfinite(gamma)
        ),
    )


def _to_dict(numbers: CurveNumbers | None) -> dict[str, Any] | None:
    return None if numbers is None else numbers.curve.to_dict()


FIGURE = RowsFigure(numbers=curve_numbers, draw=draw_curve, caption=caption_curve, to_dict=_to_dict)
