"""Does σ̂ follow the error? The mean size of the error against the mean σ̂, in bins of σ̂."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pacband.certificate.about import About
from pacband.core import look
from pacband.core.arrays import Floats
from pacband.core.wording import significant
from pacband.reporting.figures.bins import bin_means, equal_bins, mean
from pacband.reporting.figures.figure import Caption, FigureInput, RowsFigure, json_fields, name_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURE", "ScaleNumbers", "caption_scale", "draw_scale", "scale_numbers"]

TITLE = "Does σ̂ follow the error?"
N_BINS = 10


@dataclass(frozen=True)
class ScaleNumbers:
    """Rows in bins of σ̂: the mean σ̂ and the mean |error| of every bin, and their ratio over all rows.

    With a good σ̂ the two are proportional.
    """

    scale: Floats
    error: Floats
    ratio: float
    sample: str
    about: About

    @property
    def unevenness(self) -> float:
        """The largest factor between |error|/σ̂ of a bin and of all rows."""
        relative = self.error / (self.scale * self.ratio)
        return float(np.maximum(relative, 1.0 / np.maximum(relative, 1e-300)).max())


def scale_numbers(basis: FigureInput) -> ScaleNumbers | None:
    """Return the mean size of the error in bins of σ̂; None if σ̂ is the same for all rows, or if there is none."""
    rows = basis.rows
    if rows.scale is None:
        return None
    known = np.isfinite(rows.error) & np.isfinite(rows.scale)
    scale, error = rows.scale[known], np.abs(rows.error[known])
    if len(scale) < 5 * N_BINS or scale.max() - scale.min() <= 1e-9 * scale.max() or not error.any():
        return None
    order, starts = equal_bins(scale, N_BINS)
    return ScaleNumbers(
        scale=bin_means(scale, order, starts),
        error=bin_means(error, order, starts),
        ratio=mean(error) / mean(scale),
        sample=name_sample(rows),
        about=basis.certificate.about,
    )


def draw_scale(numbers: ScaleNumbers) -> Axes:
    """Draw a point for every bin, and the line on which a perfect σ̂ would have all points."""
    ax = look.axes_of(None)
    ends = np.array([numbers.scale.min(), numbers.scale.max()])
    ax.plot(ends, ends * numbers.ratio, color=look.THIRD, linewidth=1.4, linestyle=(0, (4, 2)), label="in proportion")
    ax.plot(numbers.scale, numbers.error, "o", color=look.BAND, markersize=6, label="tenths of the rows")
    if ends[0] > 0 and ends[1] / ends[0] > 8 and numbers.error.min() > 0:
        ax.set_xscale("log")
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, 1.1 * max(float(numbers.error.max()), float(ends[1] * numbers.ratio)))
    look.style_axes(ax, title=TITLE, x="mean σ̂", y=look.short_text(numbers.about.in_unit("mean |error|"), 40))
    look.add_legend(ax)
    return ax


def caption_scale(numbers: ScaleNumbers) -> Caption:
    """Write the caption."""
    return Caption(
        TITLE,
        "Mean size of the error against mean σ̂ in ten bins. The ratio of a bin differs from that of all rows by a "
        f"factor of at most {numbers.unevenness:.3g}.",
        f"If the points are on the line, σ̂ is right up to a factor. The bound contains this factor.{numbers.sample}",
        tuple(
            (size, error, f"σ̂ = {significant(size, 4)}: mean |error| {significant(error, 4)}")
            for size, error in zip(numbers.scale.tolist(), numbers.error.tolist(), strict=True)
        ),
    )


FIGURE = RowsFigure(
    numbers=scale_numbers, draw=draw_scale, caption=caption_scale, to_dict=json_fields("scale", "error", "ratio")
)
