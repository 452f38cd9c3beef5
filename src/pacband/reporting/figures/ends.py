"""A prediction between its certified ends, as the figures of bands and tubes draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pacband.core import look
from pacband.core.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_ends"]


def draw_ends(
    ax: Axes, x: Floats, prediction: Floats, lower: Floats | None, upper: Floats | None, *, name: str
) -> None:
    """Draw the prediction, the ends that are bounded, and the area between them. The legend calls the ends `name`."""
    if lower is not None and upper is not None:
        ax.fill_between(x, lower, upper, color=look.BAND, alpha=0.13, linewidth=0)
    for end in (lower, upper):
        if end is not None:
            ax.plot(x, end, color=look.BAND, linewidth=1.6, label=name)
            name = "_"
    ax.plot(x, prediction, color=look.INK, linewidth=1.2, label="prediction")
