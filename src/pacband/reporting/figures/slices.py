"""Where is the model weak? The share of rows outside the band, and its half-width, in slices of a feature."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.certificate import AnyCertificate
from pacband.certificate.about import About
from pacband.core import look
from pacband.core.checks import check_probability
from pacband.core.wording import bound, figure, percent
from pacband.draws import Draws
from pacband.exceptions import InvalidInput
from pacband.judging.counts import exact_interval, exceedance
from pacband.reporting.figures.cuts import N_BINS, Cut, cut_rows
from pacband.reporting.figures.figure import Caption, FigureInput, RowsFigure, json_value, name_sample
from pacband.reporting.rows import Rows, read_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURE", "Slice", "SliceNumbers", "caption_slices", "draw_slices", "plot_slices", "slice_numbers"]

MOST_FIGURES = 4
# The probability that any slice is marked although no slice exceeds ε, at most.
LEVEL = 0.01
_NOTHING = About()


@dataclass(frozen=True)
class Slice:
    """Rows of one slice: how many, how many outside the band, the exact 95 % interval of their share, and more.

    `weak` marks a slice whose share exceeds ε by more than chance. `half_width` is the mean half-width of the band.
    """

    label: str
    n_rows: int
    n_violations: int
    low: float
    high: float
    half_width: float
    weak: bool

    @property
    def violation(self) -> float:
        """The share of rows outside the band."""
        return self.n_violations / self.n_rows


@dataclass(frozen=True)
class SliceNumbers:
    """The slices of one feature."""

    feature: str
    slices: tuple[Slice, ...]
    eps: float
    sample: str
    about: About

    @property
    def widths_differ(self) -> bool:
        """Whether the mean half-width is finite everywhere, and not the same in all slices."""
        widths = [part.half_width for part in self.slices]
        return bool(np.isfinite(widths).all()) and max(widths) - min(widths) > 1e-9 * max(widths)


def slice_numbers(rows: Rows, eps: float, *, about: About = _NOTHING, level: float = LEVEL) -> tuple[SliceNumbers, ...]:
    """Return the features over which the share of rows outside varies most; `level` holds for all slices together."""
    columns = {**rows.features, "prediction T(x)": rows.prediction}
    found = (cut_rows(name, column, rows.outside, rows.half_width) for name, column in columns.items())
    cuts = [cut for cut in found if cut is not None]
    # Features that are not shown count as well: they were looked at.
    n_tests = sum(len(cut.labels) for cut in cuts)
    shown = sorted(cuts, key=lambda cut: (cut.feature != "group", -cut.chi2_per_df))[:MOST_FIGURES]
    return tuple(_mark_weak(cut, eps, level / n_tests, about, name_sample(rows)) for cut in shown)


def _mark_weak(cut: Cut, eps: float, level: float, about: About, sample: str = "") -> SliceNumbers:
    """Mark the slices whose share of rows outside exceeds ε with a p-value of at most `level`."""
    slices = tuple(
        Slice(label, n, k, *exact_interval(k, n), width, exceedance(k, n, eps) <= level)
        for label, n, k, width in zip(cut.labels, cut.n_rows, cut.n_violations, cut.half_width, strict=True)
    )
    return SliceNumbers(cut.feature, slices, eps, sample, about)


def draw_slices(numbers: SliceNumbers, ax: Axes | None = None) -> Axes:
    """Draw the shares; on a new figure, the half-widths are above them if they differ."""
    if ax is not None or not numbers.widths_differ:
        ax = look.axes_of(ax)
        _draw_shares(ax, numbers, f"Rows outside by {look.short_text(numbers.feature)}")
        return ax
    upper, lower = look.new_axes(3.9, rows=2, ratios=(1, 2))[:, 0]
    _draw_shares(lower, numbers, " ")
    _draw_widths(upper, numbers)
    return lower  # type: ignore[no-any-return]


def _draw_shares(ax: Axes, numbers: SliceNumbers, title: str) -> None:
    parts = numbers.slices
    for weak, colour, label in ((False, look.BAND, "share, 95 % interval"), (True, look.LIMIT, "beyond ε")):
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
    ax.axhline(numbers.eps, color=look.LIMIT, linewidth=1.2, linestyle=(0, (4, 2)), label=f"ε = {figure(numbers.eps)}")
    ax.set_ylim(0, max(1.25 * numbers.eps, 1.1 * max(part.high for part in parts)))
    _label_slices(ax, numbers)
    ax.yaxis.set_major_formatter(look.format_percent)
    look.style_axes(ax, title=title, x=look.short_text(numbers.feature), y="rows outside")
    look.add_legend(ax, columns=3)


def _draw_widths(ax: Axes, numbers: SliceNumbers) -> None:
    widths = [part.half_width for part in numbers.slices]
    ax.bar(range(len(widths)), widths, 0.7, color=look.BAND, alpha=0.75, linewidth=0)
    _label_slices(ax, numbers)
    name = numbers.about.in_unit("half-width")
    # The axes are low: beside a long unit, the name alone.
    name = name if len(name) <= 20 else "half-width"
    look.style_axes(ax, title=f"By {look.short_text(numbers.feature)}", y=look.plain_text(name))


def _label_slices(ax: Axes, numbers: SliceNumbers) -> None:
    names = [look.short_text(part.label, 27) for part in numbers.slices]
    long = max(len(name) for name in names) > 5 or len(names) > 8
    ax.set_xticks(
        range(len(names)), names, rotation=35 if long else 0, ha="right" if long else "center", rotation_mode="anchor"
    )


def caption_slices(numbers: SliceNumbers) -> Caption:
    """Write the caption."""
    weak = [part.label for part in numbers.slices if part.weak]
    listed = ", ".join(weak) if len(weak) <= 3 else f"{len(weak)} of {len(numbers.slices)} slices"
    found = f"Beyond ε by more than chance: {listed}." if weak else "In no slice do the rows prove a share beyond ε."
    return Caption(
        f"Half-width and rows outside by {numbers.feature}",
        f"Half-width and share of rows outside the band in {len(numbers.slices)} slices of {numbers.feature}. {found}",
        f"{found}{numbers.sample}",
        tuple(
            (
                place,
                part.violation,
                f"{part.label}: {part.n_violations:,} of {part.n_rows:,} rows outside, {percent(part.violation)} "
                f"({percent(part.low)} to {percent(part.high)}); half-width {bound(part.half_width)}",
            )
            for place, part in enumerate(numbers.slices)
        ),
    )


def _report_numbers(basis: FigureInput) -> tuple[SliceNumbers, ...]:
    return slice_numbers(basis.rows, basis.certificate.eps, about=basis.certificate.about)


def _to_dict(numbers: tuple[SliceNumbers, ...] | None) -> list[dict[str, Any]]:
    return [
        {
            "feature": each.feature,
            "slices": [json_value({**asdict(part), "violation": part.violation}) for part in each.slices],
        }
        for each in numbers or ()
    ]


FIGURE = RowsFigure(numbers=_report_numbers, draw=draw_slices, caption=caption_slices, to_dict=_to_dict)


def plot_slices(
    certificate: AnyCertificate,
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    by: Any,
    name: str = "x",
    groups: Any = None,
    draws: Draws | None = None,
    n_bins: int = N_BINS,
    level: float = LEVEL,
    ax: Axes | None = None,
) -> Axes:
    """Draw where the model is weak: the share of rows outside the band in every slice, with exact 95 % intervals.

    On a new figure the mean half-width of every slice is above the shares.

    Parameters
    ----------
    certificate, y, y_pred, scale, groups, draws
        As in `plot_band`.
    by : array-like of shape (n,)
        What to slice by: numbers are cut into `n_bins` parts with equally many rows, labels are used as they are.
    name : str
        The name of `by`.
    n_bins : int
        The number of slices of numbers, at most.
    level : float
        Slices are marked if the share exceeds ε with a p-value of at most `level` over the number of slices.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> import pacband
    >>> X, y = pacband.datasets.paper_sample(2065, random_state=0)
    >>> predicted = pacband.datasets.paper_predictor(X)
    >>> cert = pacband.certify(y, predicted)
    >>> ax = pacband.plot_slices(cert, y, predicted, by=abs(X[:, 0]), name="|x|")
    """
    column = by if isinstance(by, np.ndarray) and by.ndim == 1 else _one_column(by)
    rows = read_rows(certificate, y, y_pred, scale, X=column[:, None], feature_names=[name], groups=groups, draws=draws)
    cut = cut_rows(name, rows.features[name], rows.outside, rows.half_width, n_bins=n_bins)
    if cut is None:
        raise InvalidInput(f"{name} has one value only: there is nothing to slice by.")
    return draw_slices(
        _mark_weak(cut, certificate.eps, check_probability("level", level) / len(cut.labels), certificate.about), ax
    )


def _one_column(values: Any) -> Any:
    import narwhals as nw

    native = nw.from_native(values, allow_series=True, pass_through=True)
    column = native.to_numpy() if isinstance(native, nw.Series) else np.asarray(values)
    if column.ndim != 1:
        raise InvalidInput(f"by must have one value per row, got shape {column.shape}.")
    return column
