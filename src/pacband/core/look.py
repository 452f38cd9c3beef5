"""One look for every figure: colours that differ for colour-blind eyes and in print, thin axes, room for the data.

Colours are those of Okabe and Ito, darkened where they carry text. Each has a role, and in a page every role is a
CSS variable of the same name, so that figures follow the page into the dark.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

from pacband.core.extras import require
from pacband.exceptions import InvalidInput, PacbandError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BAND",
    "COLOURS",
    "GRID",
    "INK",
    "LIMIT",
    "MUTED",
    "POINT",
    "SURFACE",
    "THIRD",
    "axes_of",
    "dress",
    "figure_of",
    "house_style",
    "legend",
    "new_figure",
    "plain_text",
]

INK = "#1b1f24"
MUTED = "#59636e"
GRID = "#dde2e8"
BAND = "#0072b2"
LIMIT = "#c04a00"
THIRD = "#007d5c"
POINT = "#6e7781"
SURFACE = "#ffffff"
COLOURS = {
    "ink": INK,
    "muted": MUTED,
    "grid": GRID,
    "band": BAND,
    "limit": LIMIT,
    "third": THIRD,
    "point": POINT,
    "surface": SURFACE,
}

WIDTH = 4.6
# Settings of matplotlib that are not about how a figure looks.
_NO_LOOK = (
    "backend", "date.epoch", "docstring", "figure.max_open", "interactive", "timezone", "tk.", "toolbar", "webagg."
)  # fmt: skip
# The settings are those of the whole process: one report at a time changes them and puts them back.
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def house_style() -> Iterator[None]:
    """Draw with matplotlib's own defaults, whatever a ``matplotlibrc`` in the working directory says."""
    try:
        matplotlib = require("matplotlib", purpose="a figure")
    except UnicodeDecodeError as error:
        raise PacbandError(f"matplotlib cannot read its settings, a file matplotlibrc: {error}.") from None
    with _ONE_AT_A_TIME, matplotlib.rc_context():
        with warnings.catch_warnings():
            # Some settings are deprecated, and say so when they are read.
            warnings.simplefilter("ignore")
            default = matplotlib.rcParamsDefault.items()
            matplotlib.rcParams.update({name: value for name, value in default if not name.startswith(_NO_LOOK)})
        yield


def plain_text(text: str) -> str:
    """Return a name as matplotlib draws it: dollar signs are no mathematics, and every character can be drawn."""
    drawn = "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)
    return drawn.replace("$", r"\$")


def new_figure(height: float = 3.0, *, rows: int = 1, columns: int = 1, ratios: Sequence[float] | None = None) -> Any:
    """Return the axes of a new figure that belongs to no window and no global state."""
    figure = require("matplotlib.figure", purpose="a figure").Figure(
        figsize=(WIDTH * columns, height), layout="constrained"
    )
    return figure.subplots(rows, columns, squeeze=False, height_ratios=ratios, sharex=rows > 1)


def axes_of(ax: Axes | None, height: float = 3.0) -> Axes:
    """Return the axes a user gave, or those of a new figure."""
    if ax is None:
        axes: Axes = new_figure(height)[0, 0]
        return axes
    if not hasattr(ax, "plot"):
        raise InvalidInput(f"ax must be matplotlib axes, got {type(ax).__name__}.")
    return ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure that axes belong to."""
    return cast("Figure", ax.figure)


def dress(ax: Axes, *, title: str = "", x: str = "", y: str = "", grid: Literal["x", "y", "both", ""] = "y") -> None:
    """Put on titles, thin axes and a faint grid."""
    ax.set_title(title, loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=8)
    ax.set_xlabel(x, fontsize=9.5, color=MUTED)
    ax.set_ylabel(y, fontsize=9.5, color=MUTED)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GRID)
    ax.tick_params(which="both", colors=MUTED, labelsize=9, length=0)
    ax.minorticks_off()
    if grid:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.patch.set_visible(False)


def legend(ax: Axes, *, columns: int = 2, **options: Any) -> None:
    """Put a legend above the data, under the title."""
    ax.legend(
        **{
            "loc": "lower left",
            "bbox_to_anchor": (0.0, 1.0),
            "ncols": columns,
            "frameon": False,
            "fontsize": 9,
            "labelcolor": MUTED,
            "handlelength": 1.6,
            "columnspacing": 1.2,
            "borderaxespad": 0.2,
            "handletextpad": 0.5,
            **options,
        }
    )
    lines = -(-len(ax.get_legend_handles_labels()[1]) // columns)
    ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=10.5, color=INK, fontweight="bold", pad=10 + 14 * lines)
