"""From the narrowest band to the widest: half-widths in increasing order, and the errors of the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pacband.certificate.about import About
from pacband.core import look
from pacband.core.arrays import Floats
from pacband.core.wording import bound, percent
from pacband.reporting.figures.cloud import Cloud, draw_cloud, gather_points
from pacband.reporting.figures.figure import Caption, FigureInput, RowsFigure, json_fields, name_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURE", "WidthNumbers", "caption_widths", "draw_widths", "width_numbers"]

TITLE = "From the narrowest band to the widest"
N_SHARES = 201
# The name and the sign of the error on the side of a bound that has one.
_ONE_SIDE = {"upper": ("error", 1.0), "lower": ("−error", -1.0)}


@dataclass(frozen=True)
class WidthNumbers:
    """Rows sorted by their half-width: the share of rows up to here, the half-width, and the errors of the same rows.

    `violations` are the rows outside the band, and `cloud` the others. `error` names the error: its size, or with one
    side, the error on that side.
    """

    share: Floats
    half_width: Floats
    cloud: Cloud
    violations: Cloud
    y_range: tuple[float, float]
    error: str
    sample: str
    about: About


def width_numbers(basis: FigureInput) -> WidthNumbers | None:
    """Return the half-widths in increasing order; None if all are the same."""
    rows = basis.rows
    known = np.isfinite(rows.half_width) & np.isfinite(rows.error)
    name, sign = _ONE_SIDE.get(basis.certificate.basis.scoring.side, ("|error|", 0.0))
    width, error = rows.half_width[known], sign * rows.error[known] if sign else np.abs(rows.error[known])
    if not len(width) or width.max() - width.min() <= 1e-9 * abs(float(width.max())):
        return None
    order = np.argsort(width, kind="stable")
    share = (np.arange(len(order)) + 0.5) / len(order)
    outside = rows.outside[known][order]
    grid = np.linspace(0, len(order) - 1, min(len(order), N_SHARES)).astype(int)
    low, high = float(np.quantile(error, 0.001)), float(np.quantile(error, 0.999))
    y_range = min(0.0, float(width.min()), low) * 1.05, max(0.0, float(width.max()), high) * 1.05
    return WidthNumbers(
        share=share[grid],
        half_width=width[order][grid],
        cloud=gather_points(share[~outside], error[order][~outside], y_range=y_range),
        violations=gather_points(share[outside], error[order][outside], y_range=y_range),
        y_range=y_range,
        error=name,
        sample=name_sample(rows),
        about=basis.certificate.about,
    )


def draw_widths(numbers: WidthNumbers) -> Axes:
    """Draw the half-widths over the errors."""
    ax = look.axes_of(None)
    draw_cloud(ax, numbers.cloud, numbers.error)
    if numbers.violations.n_points:
        draw_cloud(ax, numbers.violations, "outside", colour=look.LIMIT)
    ax.plot(numbers.share, numbers.half_width, color=look.BAND, linewidth=2, label="half-width of the band")
    ax.set_ylim(numbers.y_range)
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(look.format_percent)
    look.style_axes(
        ax,
        title=TITLE,
        x="rows, sorted by their half-width",
        y=look.short_text(numbers.about.in_unit(f"half-width, {numbers.error}"), 40),
    )
    look.add_legend(ax, columns=2)
    return ax


def caption_widths(numbers: WidthNumbers) -> Caption:
    """Write the caption."""
    shares, widths = numbers.share[::4].tolist(), numbers.half_width[::4].tolist()
    return Caption(
        TITLE,
        f"Half-widths in increasing order, from {bound(widths[0])} to {bound(widths[-1])}, over the "
        f"values of {numbers.error}.",
        f"With a good σ̂, the errors stay below the line and equally close to it everywhere.{numbers.sample}",
        tuple(
            (share, width, f"{percent(share)} of rows: half-width up to {bound(width)}")
            for share, width in zip(shares, widths, strict=True)
        ),
    )


FIGURE = RowsFigure(
    numbers=width_numbers, draw=draw_widths, caption=caption_widths, to_dict=json_fields("share", "half_width")
)
