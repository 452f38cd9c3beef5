"""The band over data: rows, the prediction and the certified band around it, against a feature or the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.certificate import AnyCertificate
from pacband.core import look
from pacband.core.arrays import Floats, as_numbers
from pacband.core.wording import bound, significant
from pacband.draws import Draws
from pacband.exceptions import InvalidInput
from pacband.reporting.figures.bins import bin_means, equal_bins, finite_mean
from pacband.reporting.figures.cloud import Cloud, draw_cloud, gather_points
from pacband.reporting.figures.ends import draw_ends
from pacband.reporting.figures.figure import Caption, FigureInput, RowsFigure, json_fields, name_sample
from pacband.reporting.rows import Rows, read_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURE", "BandNumbers", "band_numbers", "caption_band", "draw_band", "plot_band"]

N_BINS = 120
PREDICTION = "prediction T(x)"


@dataclass(frozen=True)
class BandNumbers:
    """The band against a feature or the prediction: means over bins of neighbouring rows.

    `lower` or `upper` is None if the band is not bounded on this side. `violations` are the rows outside, and `cloud`
    the others. With `of_errors`, the prediction is subtracted from all of them: it depends on more than `x`, so that no
    one band over `x` contains the rows.
    """

    x_name: str
    y_name: str
    x: Floats
    prediction: Floats
    lower: Floats | None
    upper: Floats | None
    cloud: Cloud
    violations: Cloud
    y_range: tuple[float, float]
    mean_half_width: float | None
    n_outputs: int
    of_errors: bool
    sample: str

    @property
    def title(self) -> str:
        """What the figure shows."""
        return "The errors and their band" if self.of_errors else "The band over data"

    @property
    def n_violations(self) -> int:
        """How many of the rows that the figure shows are outside."""
        return self.violations.n_points


def band_numbers(rows: Rows, *, x: Any = None, x_name: str = PREDICTION, y_name: str = "y") -> BandNumbers | None:
    """Return the band against `x`, or against the prediction; None if no row is finite."""
    at = rows.prediction if x is None else np.asarray(x, dtype=np.float64)
    known = np.isfinite(at) & np.isfinite(rows.prediction) & np.isfinite(rows.y)
    if not known.any():
        return None
    at, prediction, outside = at[known], rows.prediction[known], rows.outside[known]
    order, starts = equal_bins(at, N_BINS)
    of_errors = x is not None and _depends_on_more(prediction, rows.half_width[known], order)
    origin = prediction if of_errors else np.zeros_like(prediction)
    y = rows.y[known] - origin
    lower, upper = (bin_means(end[known] - origin, order, starts) for end in (rows.lower, rows.upper))
    ends = [end for end in (lower, upper) if end is not None]
    low, high = (float(np.quantile(y, q)) for q in (0.0005, 0.9995))
    low, high = min([low, *(float(end.min()) for end in ends)]), max([high, *(float(end.max()) for end in ends)])
    margin = 0.05 * (high - low) or 0.5
    y_range = low - margin, high + margin
    return BandNumbers(
        x_name=x_name,
        y_name=f"error of {y_name}" if of_errors else y_name,
        x=bin_means(at, order, starts),
        prediction=bin_means(prediction - origin, order, starts),
        lower=lower,
        upper=upper,
        cloud=gather_points(at[~outside], y[~outside], y_range=y_range),
        violations=gather_points(at[outside], y[outside], y_range=y_range),
        y_range=y_range,
        mean_half_width=finite_mean(rows.half_width),
        n_outputs=rows.n_outputs,
        of_errors=of_errors,
        sample=name_sample(rows),
    )


def _depends_on_more(prediction: Floats, half_width: Floats, order: Any) -> bool:
    """Whether predictions of neighbours differ by more than a quarter of the half-width, as a rule."""
    width = finite_mean(np.abs(half_width))
    steps = np.abs(np.diff(prediction[order]))
    return width is not None and len(steps) > 0 and float(np.median(steps)) > 0.25 * width


def draw_band(numbers: BandNumbers, ax: Axes | None = None) -> Axes:
    """Draw rows, those outside in the colour of the limit, the prediction and the band around it."""
    ax = look.axes_of(ax)
    draw_cloud(ax, numbers.cloud, "rows")
    if numbers.n_violations:
        draw_cloud(ax, numbers.violations, "outside", colour=look.LIMIT)
    draw_ends(ax, numbers.x, numbers.prediction, numbers.lower, numbers.upper, name="certified band")
    ax.set_ylim(numbers.y_range)
    look.style_axes(ax, title=numbers.title, x=look.short_text(numbers.x_name), y=look.short_text(numbers.y_name, 36))
    look.add_legend(ax, columns=2)
    return ax


def caption_band(numbers: BandNumbers) -> Caption:
    """Write the caption."""
    width = "" if numbers.mean_half_width is None else f"; mean half-width {bound(numbers.mean_half_width)}"
    errors = (
        f" The prediction depends on more than {numbers.x_name}, so that errors are shown." if numbers.of_errors else ""
    )
    output = " Of several outputs, the figure shows the first." if numbers.n_outputs > 1 else ""
    return Caption(
        numbers.title,
        f"Rows, prediction and certified band against {numbers.x_name}{width}.",
        f"Prediction and band are means over neighbouring rows.{errors}{output}{numbers.sample}",
        tuple(
            (x, t, f"{numbers.x_name} {significant(x, 4)}: prediction {significant(t, 4)}{_ends(numbers, k)}")
            for k, (x, t) in enumerate(zip(numbers.x.tolist(), numbers.prediction.tolist(), strict=True))
        ),
    )


def _ends(numbers: BandNumbers, k: int) -> str:
    ends = [significant(float(end[k]), 4) for end in (numbers.lower, numbers.upper) if end is not None]
    if len(ends) == 2:
        return f", band {ends[0]} to {ends[1]}"
    return f", bound {ends[0]}" if ends else ""


def _report_numbers(basis: FigureInput) -> BandNumbers | None:
    """Draw the band against the only numeric feature, as in the paper; else against the prediction.

    Own scores have no band.
    """
    if basis.certificate.basis.scoring.own:
        return None
    features = {name: column for name, column in basis.rows.features.items() if name != "group"}
    if len(features) == 1:
        ((name, column),) = features.items()
        if column.dtype.kind in "fiu":
            return band_numbers(basis.rows, x=column, x_name=name, y_name=basis.certificate.about.axis)
    return band_numbers(basis.rows, y_name=basis.certificate.about.axis)


FIGURE = RowsFigure(
    numbers=_report_numbers,
    draw=draw_band,
    caption=caption_band,
    to_dict=json_fields("x_name", "x", "prediction", "lower", "upper", "of_errors"),
)


def plot_band(
    certificate: AnyCertificate,
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    x: Any = None,
    groups: Any = None,
    draws: Draws | None = None,
    x_name: str | None = None,
    y_name: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the certified band over rows: against a feature `x`, or against the prediction.

    Up to 800 rows are drawn as points, more as a density, and rows outside in another colour. The band is the mean over
    neighbouring rows. If the prediction depends on more than `x`, the figure shows the errors y − T(x) and their band.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The promise.
    y, y_pred, scale, groups
        Rows, as the certificate takes them; for a family, those of its best candidate.
    x : array-like of shape (n,), optional
        One feature.
    draws : Units or Weighted, optional
        The units of the rows, as in `check`. Each draw is shown by the row whose score it has.
    x_name, y_name : str
        The labels of the axes; by default that of y is the target and the unit that the certificate is about.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> import pacband
    >>> X, y = pacband.datasets.paper_sample(2065, random_state=0)
    >>> predicted, scale = pacband.datasets.paper_predictor(X), pacband.datasets.paper_scale(X)
    >>> cert = pacband.certify(y, predicted, scale)
    >>> ax = pacband.plot_band(cert, y, predicted, scale, x=X[:, 0], x_name="x")
    >>> ax.figure.savefig("band.png")  # doctest: +SKIP
    """
    ax = look.axes_of(ax)
    features = None if x is None else as_numbers("x", x)
    if features is not None and features.ndim != 1:
        raise InvalidInput(f"x must have one value per row, got shape {features.shape}.")
    rows = read_rows(certificate, y, y_pred, scale, X=features, groups=groups, draws=draws)
    column = None if features is None else rows.features["x"]
    numbers = band_numbers(
        rows, x=column, x_name=x_name or (PREDICTION if x is None else "x"), y_name=y_name or certificate.about.axis
    )
    if numbers is None:
        raise InvalidInput("there is no row with a finite x and prediction to draw.")
    return draw_band(numbers, ax)
