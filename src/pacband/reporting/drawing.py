"""Numbers onto axes: one function for each kind of figure. Nothing is computed here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv, betaln, xlog1py, xlogy

from pacband.core.look import BAND, INK, LIMIT, MUTED, POINT, SURFACE, THIRD, dress, legend, plain_text
from pacband.core.wording import figure as said
from pacband.core.wording import percent, round_up
from pacband.reporting.alternatives import PlanMap
from pacband.reporting.bins import Density, Slicing
from pacband.reporting.candidates import rank_candidates, sharpness_name
from pacband.reporting.numbers import BandNumbers, ScaleNumbers, ScoreNumbers, WidthNumbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pacband.certificate import Certificate, FamilyCertificate
    from pacband.certification.curve import Curve

__all__ = [
    "draw_band",
    "draw_curve",
    "draw_family",
    "draw_plan",
    "draw_scale",
    "draw_scores",
    "draw_slice_widths",
    "draw_slices",
    "draw_violation",
    "draw_widths",
]

MOST_BARS = 20


def draw_band(ax: Axes, numbers: BandNumbers, *, y_name: str = "y") -> None:
    """Draw rows, the prediction and the band around it."""
    _cloud(ax, numbers.points, numbers.density, "rows")
    lower, upper = numbers.lower, numbers.upper
    if lower is not None and upper is not None:
        ax.fill_between(numbers.x, lower, upper, color=BAND, alpha=0.13, linewidth=0)
    label = "certified band"
    for end in (lower, upper):
        if end is not None:
            ax.plot(numbers.x, end, color=BAND, linewidth=1.6, label=label)
            label = "_"
    ax.plot(numbers.x, numbers.prediction, color=INK, linewidth=1.2, label="prediction")
    ax.set_ylim(numbers.y_range)
    dress(
        ax,
        title=f"The band over {'data' if numbers.points or numbers.density else 'x'}",
        x=_short(numbers.x_name),
        y=_short(y_name),
    )
    legend(ax, columns=3)


def draw_widths(ax: Axes, numbers: WidthNumbers) -> None:
    """Draw half-widths in their order over the errors of the same rows."""
    _cloud(ax, numbers.points, numbers.density, "size of the error")
    ax.plot(numbers.share, numbers.half_width, color=BAND, linewidth=2, label="half-width of the band")
    ax.set_ylim(numbers.y_range)
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(_percent_format)
    dress(
        ax,
        title="From the narrowest band to the widest",
        x="rows, in the order of their width",
        y="half-width, |error|",
    )
    legend(ax)


def draw_scores(ax: Axes, numbers: ScoreNumbers) -> None:
    """Draw the histogram of scores, and γ̄ in it."""
    centres, width = (numbers.edges[1:] + numbers.edges[:-1]) / 2, np.diff(numbers.edges)
    over = centres > numbers.gamma
    for part, colour in ((~over, BAND), (over, LIMIT)):
        ax.bar(centres[part], numbers.shares[part], width[part] * 0.92, color=colour, alpha=0.85, linewidth=0)
    if math.isfinite(numbers.gamma):
        ax.axvline(numbers.gamma, color=LIMIT, linewidth=1.6)
        near_end = numbers.gamma > 0.6 * numbers.edges[-1] + 0.4 * numbers.edges[0]
        ax.annotate(
            f"bound γ̄ = {round_up(numbers.gamma, 4):g}",
            (numbers.gamma, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-5 if near_end else 5, -2),
            textcoords="offset points",
            ha="right" if near_end else "left",
            va="top",
            fontsize=9,
            color=LIMIT,
        )
    ax.yaxis.set_major_formatter(_percent_format)
    dress(ax, title="Scores, and the bound on them", x=f"score: {numbers.name}", y="share of rows")


def draw_violation(ax: Axes, single: Certificate) -> None:
    """Draw the Beta law of the true violation probability, with ε and the mean."""
    a, b = single.rank, single.n_samples - single.rank + 1
    low, high = betaincinv(a, b, 1e-5), max(betaincinv(a, b, 1 - 1e-5), single.eps * 1.08)
    x = np.linspace(max(0.0, low - 0.03 * (high - low)), high, 300)
    pdf = _beta_density(x, a, b)
    ax.fill_between(x, pdf, color=BAND, alpha=0.13, linewidth=0)
    ax.plot(x, pdf, color=BAND, linewidth=1.8)
    ax.axvline(single.eps, color=LIMIT, linewidth=1.6)
    top = float(pdf[np.isfinite(pdf)].max())
    ax.set_ylim(0, 1.12 * top)
    mean = single.expected_violation
    ax.plot([mean, mean], [0, float(_beta_density(mean, a, b))], color=INK, linewidth=1, linestyle=(0, (3, 2)))
    middle = (x[0] + x[-1]) / 2
    _note(ax, single.eps, f"ε = {said(single.eps)}", LIMIT, left=single.eps > middle)
    ax.annotate(f"to expect: {percent(mean)}", (mean, 1.08 * top), ha="center", va="center", fontsize=9, color=INK)
    ax.set_yticks([])
    ax.xaxis.set_major_formatter(_percent_format)
    dress(ax, title="Where the true violation lies", x="share of future errors beyond the bound", y="", grid="")


def draw_plan(ax: Axes, numbers: PlanMap) -> None:
    """Draw the violation to expect against N, a line for each δ, and this certificate on its own."""
    for place, (delta, sizes, violation) in enumerate(numbers.lines):
        mine = delta == numbers.delta
        ax.plot(sizes, violation, color=BAND if mine else POINT, linewidth=2 if mine else 1, zorder=3 if mine else 2)
        # Each name at a height of its own, so that names stay apart where lines are close.
        height = (0.62 - 0.13 * place) * numbers.eps
        at = int(np.argmin(np.abs(violation - height)))
        ax.annotate(
            f"δ = {delta:g}",
            (sizes[at], violation[at]),
            fontsize=8.5,
            color=BAND if mine else MUTED,
            ha="center",
            va="center",
            bbox={"boxstyle": "round,pad=0.2", "fc": SURFACE, "ec": "none"},
            zorder=5,
        )
    ax.axhline(numbers.eps, color=LIMIT, linewidth=1.4)
    ax.annotate(
        f"ε = {said(numbers.eps)}: the most that was promised",
        (numbers.n_range[0], numbers.eps),
        xytext=(3, 4),
        textcoords="offset points",
        fontsize=9,
        color=LIMIT,
    )
    here = numbers.rank / (numbers.n_samples + 1)
    ax.plot([numbers.n_samples], [here], "o", color=BAND, markersize=9, zorder=6, markeredgecolor=SURFACE)
    ax.annotate(
        f"N = {numbers.n_samples:,}, r = {numbers.rank:,}",
        (numbers.n_samples, here),
        xytext=(10, -10),
        textcoords="offset points",
        fontsize=9,
        color=INK,
        fontweight="bold",
        zorder=6,
    )
    ax.set_xscale("log")
    ax.set_ylim(0, 1.16 * numbers.eps)
    ax.set_xlim(*numbers.n_range)
    ax.yaxis.set_major_formatter(_percent_format)
    ax.xaxis.set_major_formatter(_count_format)
    expected = "violation to expect, r/(N + 1)" if numbers.beforehand else "r/(N + 1), if chosen beforehand"
    dress(ax, title="What the samples bought", x="calibration samples N", y=expected)


def draw_family(ax: Axes, family: FamilyCertificate) -> None:
    """Draw the sharpness of every candidate, the sharpest on top."""
    size, shown = family.sharpness, rank_candidates(family, MOST_BARS)
    tall = max((size[name] for name in shown if math.isfinite(size[name])), default=1.0)
    for place, name in enumerate(reversed(shown)):
        value, mine = size[name], name == family.best
        ax.barh(
            place,
            value if math.isfinite(value) else tall,
            0.7,
            color=BAND if mine else POINT,
            alpha=1.0 if mine else 0.55,
        )
        ax.annotate(
            f"{value:.4g}",
            (value if math.isfinite(value) else tall, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=INK if mine else MUTED,
            fontweight="bold" if mine else "normal",
        )
    ax.set_yticks(range(len(shown)), [_short(name) for name in reversed(shown)])
    n_more = len(size) - len(shown)
    more = f" ({n_more} {'wider' if family.certificate.side == 'both' else 'larger'} ones not shown)" if n_more else ""
    ax.margins(x=0.15)
    dress(ax, title="Candidates, the sharpest on top", x=f"{sharpness_name(family)}{more}", grid="x")


def draw_slices(ax: Axes, slicing: Slicing, eps: float, *, title: str = "") -> None:
    """Draw the share of rows outside the band, slice by slice, with exact 95 % intervals and ε."""
    parts = slicing.slices
    for weak, colour, label in ((False, BAND, "share, 95 % interval"), (True, LIMIT, "beyond ε")):
        at = [k for k, part in enumerate(parts) if part.weak is weak]
        if at:
            share = np.array([parts[k].violation for k in at])
            ends = np.array([(parts[k].low, parts[k].high) for k in at]).T
            ax.errorbar(
                at,
                share,
                np.abs(ends - share),
                fmt="D" if weak else "o",
                color=colour,
                markersize=5,
                linewidth=1.6,
                label=label,
            )
    ax.axhline(eps, color=LIMIT, linewidth=1.2, linestyle=(0, (4, 2)), label=f"ε = {said(eps)}")
    ax.set_ylim(0, max(1.25 * eps, 1.1 * max(part.high for part in parts)))
    _name_slices(ax, slicing)
    ax.yaxis.set_major_formatter(_percent_format)
    dress(ax, title=title or f"Rows outside by {_short(slicing.feature)}", x=_short(slicing.feature), y="rows outside")
    legend(ax, columns=3)


def draw_slice_widths(ax: Axes, slicing: Slicing) -> None:
    """Draw the mean half-width of every slice."""
    widths = [part.half_width for part in slicing.slices]
    ax.bar(range(len(widths)), widths, 0.7, color=BAND, alpha=0.75, linewidth=0)
    _name_slices(ax, slicing)
    dress(ax, title=f"By {_short(slicing.feature)}", y="half-width")


def draw_scale(ax: Axes, numbers: ScaleNumbers) -> None:
    """Draw the mean error size against σ̂, bin by bin, and the proportion that a perfect σ̂ would keep."""
    ends = np.array([numbers.scale.min(), numbers.scale.max()])
    ax.plot(ends, ends * numbers.ratio, color=THIRD, linewidth=1.4, linestyle=(0, (4, 2)), label="in proportion")
    ax.plot(numbers.scale, numbers.error, "o", color=BAND, markersize=6, label="tenths of the rows")
    if ends[0] > 0 and ends[1] / ends[0] > 8 and numbers.error.min() > 0:
        ax.set_xscale("log")
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.1 * max(float(numbers.error.max()), float(ends[1] * numbers.ratio)))
    dress(ax, title="Does σ̂ follow the error?", x="mean σ̂", y="mean |error|")
    legend(ax)


def draw_curve(ax: Axes, curve: Curve, single: Certificate, chosen_before: tuple[Any, Any] | None) -> None:
    """Draw γ̄ against ε for all ε at once, beside what a choice beforehand would give."""
    levels, gammas = np.array(curve.levels), np.array(curve.gammas)
    known = np.isfinite(gammas)
    ax.step(levels[known], gammas[known], where="post", color=BAND, linewidth=2, label="any ε")
    if chosen_before is not None:
        ax.plot(*chosen_before, color=POINT, linewidth=1.2, linestyle=(0, (4, 2)), label="settled first")
    if math.isfinite(single.gamma):
        ax.plot(
            [single.eps], [single.gamma], "o", color=LIMIT, markersize=7, markeredgecolor=SURFACE, label="certified"
        )
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(_percent_format)
    dress(
        ax,
        title="Choose ε afterwards",
        x="ε, the share of errors that may exceed the bound",
        y="bound γ̄(ε)",
        grid="both",
    )
    legend(ax, columns=3)


def _cloud(ax: Axes, points: Any, grid: Density | None, label: str) -> None:
    """Few rows as points; many as a density, an image of fixed size."""
    if points is not None:
        ax.scatter(points[0], points[1], s=7, color=POINT, alpha=0.45, linewidths=0, label=label)
    if grid is None:
        return
    shade = np.sqrt(grid.counts.T / max(1.0, float(grid.counts.max())))
    rgba = np.zeros((*shade.shape, 4))
    rgba[..., :3] = [int(POINT[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    rgba[..., 3] = np.where(shade > 0, 0.12 + 0.78 * shade, 0.0)
    extent = (grid.x_edges[0], grid.x_edges[-1], grid.y_edges[0], grid.y_edges[-1])
    ax.imshow(rgba, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=1)
    ax.scatter([], [], s=30, marker="s", color=POINT, alpha=0.6, linewidths=0, label=f"{label}, density")


def _beta_density(x: Any, a: int, b: int) -> Any:
    return np.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


def _note(ax: Axes, x: float, text: str, colour: str, *, left: bool) -> None:
    ax.annotate(
        text,
        (x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-5 if left else 5, -2),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        fontsize=9,
        color=colour,
    )


def _name_slices(ax: Axes, slicing: Slicing) -> None:
    names = [_short(part.label, 18) for part in slicing.slices]
    long = max(len(name) for name in names) > 5 or len(names) > 8
    ax.set_xticks(
        range(len(names)), names, rotation=35 if long else 0, ha="right" if long else "center", rotation_mode="anchor"
    )


def _short(text: str, most: int = 28) -> str:
    """Cut long names, and draw every character as it is."""
    return plain_text(text if len(text) <= most else f"{text[: most - 1]}…")


def _percent_format(value: float, _: Any = None) -> str:
    return f"{100 * value:.6g} %"


def _count_format(value: float, _: Any = None) -> str:
    for unit, suffix in ((1e9, " bn"), (1e6, " M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{suffix}"
    return f"{value:g}"
