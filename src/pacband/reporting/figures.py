"""The figures, for notebooks and papers: each draws on axes you give, or on a new figure, and returns the axes.

A new figure belongs to no window and to no global state of matplotlib; `plot_band(...).figure.savefig("band.pdf")`
saves it, and a notebook shows `plot_band(...).figure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.certificate import AnyCertificate, Certificate, FamilyCertificate, GroupCertificate
from pacband.core.arrays import as_numbers
from pacband.core.look import axes_of, new_figure
from pacband.exceptions import InvalidInput
from pacband.planning import Plan, Share
from pacband.reporting import drawing
from pacband.reporting.alternatives import plan_map
from pacband.reporting.bins import mark_weak, slice_rows
from pacband.reporting.candidates import chosen_beforehand, single_of
from pacband.reporting.numbers import band_numbers, score_numbers
from pacband.reporting.rows import read_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_band", "plot_family", "plot_plan", "plot_scores", "plot_slices"]


def plot_band(
    certificate: AnyCertificate,
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    x: Any = None,
    groups: Any = None,
    x_name: str | None = None,
    y_name: str = "y",
    ax: Axes | None = None,
) -> Axes:
    """Draw the certified band over rows: against a feature `x`, or against the prediction.

    Up to 800 rows are points; more are a density. The band is the mean of neighbouring rows.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        What is drawn.
    y, y_pred, scale, groups
        Rows, as the certificate takes them; for a family, those of its best candidate.
    x : array-like of shape (n,), optional
        One feature.
    x_name, y_name : str
        How the axes are called.
    ax : matplotlib Axes, optional
        Where to draw.

    Examples
    --------
    >>> import pacband
    >>> X, y = pacband.datasets.paper_sample(2065, random_state=0)
    >>> predicted, scale = pacband.datasets.paper_predictor(X), pacband.datasets.paper_scale(X)
    >>> cert = pacband.certify(y, predicted, scale)
    >>> ax = pacband.plot_band(cert, y, predicted, scale, x=X[:, 0], x_name="x")
    >>> ax.figure.savefig("band.png")  # doctest: +SKIP
    """
    axes = axes_of(ax)
    features = None if x is None else as_numbers("x", x)
    rows = read_rows(certificate, y, y_pred, scale, X=features, groups=groups, feature_names=None)
    column = None if features is None else rows.features["x"]
    numbers = band_numbers(rows, x=column, x_name=x_name or ("prediction T(x)" if x is None else "x"))
    if numbers is None:
        raise InvalidInput("there is no row with a finite x and prediction to draw.")
    drawing.draw_band(axes, numbers, y_name=y_name)
    return axes


def plot_scores(
    certificate: AnyCertificate, y: Any, y_pred: Any, scale: Any = None, *, groups: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw the distribution of the scores with γ̄ marked and, on a new figure, the Beta law of the true violation.

    The law is that of a bound chosen beforehand; it is left out where candidates share δ. With bounds for groups,
    scores are drawn relative to the bound of their own group.

    Examples
    --------
    >>> import pacband
    >>> X, y = pacband.datasets.paper_sample(2065, random_state=0)
    >>> predicted = pacband.datasets.paper_predictor(X)
    >>> cert = pacband.certify(y, predicted)
    >>> ax = pacband.plot_scores(cert, y, predicted)
    """
    rows = read_rows(certificate, y, y_pred, scale, groups=groups)
    grouped = isinstance(certificate, GroupCertificate)
    if ax is None and not grouped and chosen_beforehand(certificate):
        pair = new_figure(columns=2)[0]
        axes: Axes = pair[0]
        drawing.draw_violation(pair[1], single_of(certificate))
    else:
        axes = axes_of(ax)
    drawing.draw_scores(axes, score_numbers(certificate, rows))
    return axes


def plot_family(certificate: FamilyCertificate, *, ax: Axes | None = None) -> Axes:
    """Draw what the best candidate of a family minimises, for every candidate: `FamilyCertificate.sharpness`.

    It is the mean half-width of the band; for one-sided certificates, the mean distance from y to the bound.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> y = np.random.default_rng(0).standard_normal(500)
    >>> family = pacband.certify_family(y, {"zero": np.zeros(500), "half": y / 2}, delta=0.01)
    >>> ax = pacband.plot_family(family)
    """
    if not isinstance(certificate, FamilyCertificate):
        raise InvalidInput(f"certificate must be a FamilyCertificate, got {type(certificate).__name__}.")
    axes = axes_of(ax, 1.1 + 0.27 * min(len(certificate.candidates), drawing.MOST_BARS))
    drawing.draw_family(axes, certificate)
    return axes


def plot_plan(plan: Plan | Certificate | FamilyCertificate, *, ax: Axes | None = None) -> Axes:
    """Draw where a plan or a certificate stands: the violation to expect against N, for several δ.

    Examples
    --------
    >>> import pacband
    >>> ax = pacband.plot_plan(pacband.plan(eps=0.05, delta=1e-6))
    """
    if isinstance(plan, FamilyCertificate):
        plan = plan.certificate
    if not isinstance(plan, (Plan, Certificate)):
        raise InvalidInput(f"plan must be a plan or the certificate of one bound, got {type(plan).__name__}.")
    axes = axes_of(ax)
    share = plan.share if isinstance(plan, Certificate) else Share(plan.n_candidates)
    drawing.draw_plan(axes, plan_map(plan.eps, plan.delta, plan.n_samples, plan.rank, share))
    return axes


def plot_slices(
    certificate: AnyCertificate,
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    by: Any,
    name: str = "x",
    groups: Any = None,
    n_bins: int = 8,
    level: float = 0.01,
    ax: Axes | None = None,
) -> Axes:
    """Draw where the model is weak: the share of rows outside the band in every slice, with exact 95 % intervals.

    On a new figure the mean half-width of every slice stands above.

    Parameters
    ----------
    certificate, y, y_pred, scale, groups
        As in `plot_band`.
    by : array-like of shape (n,)
        What to slice by: numbers are cut into `n_bins` parts with as many rows each, labels are taken as they are.
    name : str
        How it is called.
    level : float
        Slices are marked where the share is beyond ε with a p-value of at most `level`/(number of slices).
    ax : matplotlib Axes, optional
        Where to draw.

    Examples
    --------
    >>> import pacband
    >>> X, y = pacband.datasets.paper_sample(2065, random_state=0)
    >>> predicted = pacband.datasets.paper_predictor(X)
    >>> cert = pacband.certify(y, predicted)
    >>> ax = pacband.plot_slices(cert, y, predicted, by=abs(X[:, 0]), name="|x|")
    """
    column = by if isinstance(by, np.ndarray) and by.ndim == 1 else _one_column(by)
    rows = read_rows(certificate, y, y_pred, scale, X=column[:, None], feature_names=[name], groups=groups)
    eps = single_of(certificate).eps
    cut = slice_rows(name, rows.features[name], rows.outside, rows.half_width, n_bins=n_bins)
    if cut is None:
        raise InvalidInput(f"{name} has one value only: there is nothing to slice by.")
    slicing = mark_weak(cut, eps=eps, level=level / n_bins)
    axes = axes_of(ax) if ax is not None else draw_slicing(slicing, eps)
    if ax is not None:
        drawing.draw_slices(axes, slicing, eps)
    return axes


def draw_slicing(slicing: Any, eps: float) -> Axes:
    """Return new axes with the share of rows outside; the half-widths stand above where they differ."""
    widths = [part.half_width for part in slicing.slices]
    if not np.isfinite(widths).all() or max(widths) - min(widths) <= 1e-9 * max(widths):
        axes = axes_of(None)
        drawing.draw_slices(axes, slicing, eps)
        return axes
    upper, lower = new_figure(3.9, rows=2, ratios=(1, 2))[:, 0]
    drawing.draw_slices(lower, slicing, eps, title=" ")
    drawing.draw_slice_widths(upper, slicing)
    return lower  # type: ignore[no-any-return]


def _one_column(values: Any) -> Any:
    import narwhals as nw

    native = nw.from_native(values, allow_series=True, pass_through=True)
    column = native.to_numpy() if isinstance(native, nw.Series) else np.asarray(values)
    if column.ndim != 1:
        raise InvalidInput(f"by must have one value per row, got shape {column.shape}.")
    return column
