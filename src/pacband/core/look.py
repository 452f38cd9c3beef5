"""How every figure looks: colours that colour-blind readers can distinguish, also in print, and thin axes.

The colours are those of Okabe and Ito, darker where text has the colour. Each colour has a role. On a page every role
is a CSS variable of the same name, so that figures follow a dark page.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

from pacband.core.extras import require
from pacband.core.wording import compact
from pacband.exceptions import InvalidInput, PacbandError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BAND", "COLOURS", "GRID", "INK", "LIMIT", "MUTED", "POINT", "SMALL", "SURFACE", "THIRD", "add_legend", "axes_of",
    "default_settings", "figure_of", "format_count", "format_percent", "label_line", "new_axes", "plain_text",
    "short_text", "style_axes",
]  # fmt: skip

COLOURS = {
    "ink": "#1b1f24", "muted": "#59636e", "grid": "#dde2e8", "band": "#0072b2", "limit": "#c04a00", "third": "#007d5c",
    "point": "#6e7781", "surface": "#ffffff",
}  # fmt: skip
INK, MUTED, GRID, BAND, LIMIT, THIRD, POINT, SURFACE = COLOURS.values()

# Inches, and sizes of type in points.
WIDTH = 4.6
TITLE, LABEL, SMALL = 10.5, 9.5, 9.0
# The most letters of all ticks along the width of a figure.
_TICK_LETTERS = 48
# Settings of matplotlib that do not change how a figure looks.
_OTHER_SETTINGS = (
    "backend", "date.epoch", "docstring", "figure.max_open", "interactive", "timezone", "tk.", "toolbar", "webagg."
)  # fmt: skip
# The settings belong to the whole process: one report at a time changes them and restores them.
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def default_settings() -> Iterator[None]:
    """Draw with matplotlib's own defaults, and ignore a ``matplotlibrc`` in the working directory."""
    try:
        matplotlib = require("matplotlib", purpose="a figure")
    except UnicodeDecodeError as error:
        raise PacbandError(f"matplotlib cannot read its settings, a file matplotlibrc: {error}.") from None
    with _ONE_AT_A_TIME, matplotlib.rc_context():
        with warnings.catch_warnings():
            # Reading a deprecated setting warns.
            warnings.simplefilter("ignore")
            default = matplotlib.rcParamsDefault.items()
            matplotlib.rcParams.update({name: value for name, value in default if not name.startswith(_OTHER_SETTINGS)})
        yield


def new_axes(
    height: float = 3.0, *, width: float = WIDTH, rows: int = 1, columns: int = 1, ratios: Sequence[float] | None = None
) -> Any:
    """Return the axes of a new figure, as an array of (rows, columns). The figure has no window and no global state."""
    figure = require("matplotlib.figure", purpose="a figure").Figure(
        figsize=(width * columns, height), layout="constrained"
    )
    return figure.subplots(rows, columns, squeeze=False, height_ratios=ratios, sharex=rows > 1)


def axes_of(ax: Axes | None, height: float = 3.0, *, width: float = WIDTH) -> Axes:
    """Return the axes that a user gave, or those of a new figure."""
    if ax is None:
        axes: Axes = new_axes(height, width=width)[0, 0]
        return axes
    if not hasattr(ax, "plot"):
        raise InvalidInput(f"ax must be matplotlib axes, got {type(ax).__name__}.")
    return ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure that axes belong to."""
    return cast("Figure", ax.figure)


def style_axes(
    ax: Axes, *, title: str = "", x: str = "", y: str = "", grid: Literal["x", "y", "both", ""] = "y"
) -> None:
    """Set the title and labels, thin axes and a faint grid."""
    _set_title(ax, title, pad=8)
    ax.set_xlabel(x, fontsize=LABEL, color=MUTED)
    ax.set_ylabel(y, fontsize=LABEL, color=MUTED)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GRID)
    ax.tick_params(which="both", colors=MUTED, labelsize=SMALL, length=0)
    ax.minorticks_off()
    for axis in (ax.xaxis, ax.yaxis):
        _name_ticks(axis)
    if grid:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.patch.set_visible(False)


def add_legend(ax: Axes, *, columns: int = 2) -> None:
    """Add a legend above the data and under the title."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        labelcolor=MUTED,
        handlelength=1.6,
        columnspacing=1.2,
        borderaxespad=0.2,
        handletextpad=0.5,
    )
    lines = -(-len(ax.get_legend_handles_labels()[1]) // columns)
    _set_title(ax, ax.get_title(loc="left"), pad=10 + 14 * lines)


def label_line(ax: Axes, x: float, text: str, colour: str, *, left: bool) -> None:
    """Write a text beside the upper end of a vertical line at `x`."""
    ax.annotate(
        text,
        (x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(-5 if left else 5, -2),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top",
        fontsize=SMALL,
        color=colour,
        # No line of the grid goes through the text.
        bbox={"facecolor": SURFACE, "edgecolor": "none", "pad": 1.0},
    )


def plain_text(text: str) -> str:
    """Return a name that matplotlib draws as it is: dollar signs start no formula, and every character can be drawn."""
    drawn = "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)
    return drawn.replace("$", r"\$")


def short_text(text: str, most: int = 28) -> str:
    """Return `plain_text` of a name, cut to at most so many characters. A unit at its end is kept if it is short."""
    if len(text) <= most:
        return plain_text(text)
    name, unit = text, ""
    if ", in " in text and len(text) - text.rindex(", in ") <= most - 10:
        name, unit = text[: text.rindex(", in ")], text[text.rindex(", in ") :]
    return plain_text(f"{name[: most - len(unit) - 1]}…{unit}")


def format_percent(value: float, _: Any = None) -> str:
    """Return the label of a tick: a share in percent."""
    return f"{100 * value:.6g} %"


def format_count(value: float, _: Any = None) -> str:
    """Return the label of a tick: a number of rows."""
    return f"{value / 1e3:g}k" if 1e3 <= value < 1e6 else compact(value, 6)


def _name_ticks(axis: Any) -> None:
    """Print very large and very small ticks in words: matplotlib prints a factor such as "1e7" over the legend."""
    from matplotlib.ticker import ScalarFormatter

    if type(axis.get_major_formatter()) is not ScalarFormatter or axis.get_scale() != "linear":
        return

    class PlainFormatter(ScalarFormatter):
        """Numbers as matplotlib prints them, and as `compact` does where matplotlib would take out a factor."""

        def format_ticks(self, values: Any) -> list[str]:
            size = max((abs(float(value)) for value in values), default=0.0)
            plain = size == 0.0 or 1e-4 <= size < 1e6
            names = list(super().format_ticks(values)) if plain else _compact_names(values, size)
            # Side by side, long names leave room for some of the ticks only.
            every = 1 + sum(map(len, names)) // _TICK_LETTERS if axis.axis_name == "x" else 1
            return [name.replace("-", "−") if k % every == 0 else "" for k, name in enumerate(names)]

        def get_offset(self) -> str:
            return ""

    formatter = PlainFormatter(useOffset=False)
    formatter.set_scientific(False)
    axis.set_major_formatter(formatter)


def _compact_names(values: Any, size: float) -> list[str]:
    """Return the names of ticks, which differ."""
    # Ticks are multiples of the step between them: what is smaller is a rounding error.
    exact = [0.0 if abs(value) < 1e-9 * size else float(value) for value in values]
    names = [compact(value, 6, size=size) for value in exact]
    return names if len(set(names)) == len(names) else [compact(value, 15, size=size) for value in exact]


def _set_title(ax: Axes, title: str, *, pad: float) -> None:
    ax.set_title(title, loc="left", fontsize=TITLE, color=INK, fontweight="bold", pad=pad)
