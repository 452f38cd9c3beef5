"""What the figures show, as numbers: each of a size that does not depend on how many rows there are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certificate import AnyCertificate, GroupCertificate
from pacband.core.arrays import Floats
from pacband.reporting.bins import Density, Slicing, density, mark_weak, slice_rows
from pacband.reporting.candidates import single_of
from pacband.reporting.rows import SAMPLE, Rows

__all__ = [
    "BandNumbers",
    "ScaleNumbers",
    "ScoreNumbers",
    "WidthNumbers",
    "band_numbers",
    "scale_numbers",
    "score_numbers",
    "slice_numbers",
    "width_numbers",
]

MOST_POINTS = 800


@dataclass(frozen=True)
class BandNumbers:
    """The band over data, against a feature or the prediction: means of rows that are neighbours there."""

    x_name: str
    x: Floats
    prediction: Floats
    lower: Floats | None
    upper: Floats | None
    points: tuple[Floats, Floats] | None
    density: Density | None
    y_range: tuple[float, float]


@dataclass(frozen=True)
class WidthNumbers:
    """Rows in the order of their half-width: the half-width, and the size of the error beside it."""

    share: Floats
    half_width: Floats
    points: tuple[Floats, Floats] | None
    density: Density | None
    y_range: tuple[float, float]


@dataclass(frozen=True)
class ScoreNumbers:
    """A histogram of scores, as shares of all rows; `beyond` of them lie to the right of it."""

    name: str
    edges: Floats
    shares: Floats
    gamma: float
    beyond: int
    n_rows: int


@dataclass(frozen=True)
class ScaleNumbers:
    """Rows in bins of σ̂: its mean, and the mean size of the error. A good σ̂ makes them proportional."""

    scale: Floats
    error: Floats
    ratio: float

    @property
    def unevenness(self) -> float:
        """The largest factor by which error/σ̂ of a bin departs from its mean over all rows."""
        relative = self.error / (self.scale * self.ratio)
        return float(np.maximum(relative, 1.0 / np.maximum(relative, 1e-300)).max())


def band_numbers(
    rows: Rows, *, x: Any = None, x_name: str = "prediction T(x)", n_bins: int = 120
) -> BandNumbers | None:
    """Return the band against `x`, or against the prediction; None where no row is finite."""
    at = rows.prediction if x is None else np.asarray(x, dtype=np.float64)
    known = np.isfinite(at) & np.isfinite(rows.prediction) & np.isfinite(rows.y)
    if not known.any():
        return None
    at, y = at[known], rows.y[known]
    order, ends = _runs(at, n_bins)
    lower, upper = (_run_means(end[known], order, ends) for end in (rows.lower, rows.upper))
    centre = _run_means(rows.prediction[known], order, ends)
    edges = [end for end in (lower, upper) if end is not None]
    low, high = (float(np.quantile(y, q)) for q in (0.0005, 0.9995))
    low, high = min([low, *(float(end.min()) for end in edges)]), max([high, *(float(end.max()) for end in edges)])
    few = len(y) <= MOST_POINTS
    return BandNumbers(
        x_name=x_name,
        x=_run_means(at, order, ends),
        prediction=centre,
        lower=lower,
        upper=upper,
        points=(at, y) if few else None,
        density=None if few else density(at, y, y_range=_widened(low, high)),
        y_range=_widened(low, high),
    )


def width_numbers(rows: Rows) -> WidthNumbers | None:
    """Return half-widths in their order; None where all are the same."""
    known = np.isfinite(rows.half_width) & np.isfinite(rows.error)
    width, error = rows.half_width[known], np.abs(rows.error[known])
    if not len(width) or width.max() - width.min() <= 1e-9 * abs(float(width.max())):
        return None
    order = np.argsort(width, kind="stable")
    share = (np.arange(len(order)) + 0.5) / len(order)
    grid = np.linspace(0, len(order) - 1, min(len(order), 201)).astype(int)
    top = max(float(width.max()), float(np.quantile(error, 0.999))) * 1.05
    few = len(order) <= MOST_POINTS
    return WidthNumbers(
        share=share[grid],
        half_width=width[order][grid],
        points=(share, error[order]) if few else None,
        density=None if few else density(share, error[order], y_range=(0.0, top)),
        y_range=(0.0, top),
    )


def score_numbers(certificate: AnyCertificate, rows: Rows, n_bins: int = 60) -> ScoreNumbers:
    """Return a histogram of the scores, from the smallest to a little beyond γ̄.

    Scores under different bounds, those of groups, are taken relative to their own.
    """
    single = single_of(certificate)
    name = "|error|" if single.side == "both" else "error" if single.side == "upper" else "−error"
    name = name if single.scale_kind == "none" else f"{name} / σ̂(x)"
    scores, gamma = rows.scores, single.gamma
    if isinstance(certificate, GroupCertificate):
        with np.errstate(divide="ignore", invalid="ignore"):
            scores, gamma, name = rows.score / rows.gamma, 1.0, f"{name}, over the bound of the group"
    finite = scores if len(scores) <= SAMPLE else rows.score
    finite = finite[np.isfinite(finite)]
    low = min(0.0, float(finite.min())) if len(finite) else 0.0
    typical = float(np.quantile(finite, 0.999)) if len(finite) else 1.0
    high = max(1.25 * gamma, min(typical, 2.0 * gamma)) if math.isfinite(gamma) else typical
    high = high if high > low else low + 1.0
    counts, edges = np.histogram(scores, bins=n_bins, range=(low, high))
    return ScoreNumbers(name, edges, counts / len(scores), gamma, int(len(scores) - counts.sum()), len(scores))


def scale_numbers(rows: Rows, n_bins: int = 10) -> ScaleNumbers | None:
    """Return the mean error size in bins of σ̂; None without a scale that varies."""
    if rows.scale is None:
        return None
    known = np.isfinite(rows.error) & np.isfinite(rows.scale)
    scale, error = rows.scale[known], np.abs(rows.error[known])
    if len(scale) < 5 * n_bins or scale.max() - scale.min() <= 1e-9 * scale.max() or not error.any():
        return None
    order, ends = _runs(scale, n_bins)
    return ScaleNumbers(_run_means(scale, order, ends), _run_means(error, order, ends), _mean(error) / _mean(scale))


def slice_numbers(rows: Rows, eps: float, *, most: int = 4, level: float = 0.01) -> tuple[Slicing, ...]:
    """Return the slicings that tell most, at most so many; weak slices are wrong with probability `level` in all."""
    columns, outside = {**rows.features, "prediction T(x)": rows.prediction}, rows.outside
    slicings = [
        slicing
        for name, column in columns.items()
        if (slicing := slice_rows(name, column, outside, rows.half_width)) is not None
    ]
    tests = sum(len(slicing.slices) for slicing in slicings)
    # Features that were looked at and are not shown count as well.
    ranked = sorted(slicings, key=lambda slicing: (slicing.feature != "group", -slicing.telling))[:most]
    return tuple(mark_weak(slicing, eps=eps, level=level / tests) for slicing in ranked)


def _runs(values: Floats, n_bins: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the sorting order, and where runs of as many rows each start."""
    order = np.argsort(values, kind="stable")
    return order, np.unique(np.linspace(0, len(values), min(n_bins, len(values)) + 1).astype(int)[:-1])


def _run_means(values: Floats, order: npt.NDArray[np.intp], starts: npt.NDArray[np.intp]) -> Any:
    """Return the means over runs, or None where they are infinite: a side that is not bounded."""
    sizes = np.diff([*starts, len(values)])
    # Divided first, for the sum of large values may overflow.
    means = np.add.reduceat(values[order] / np.repeat(sizes, sizes), starts)
    return means if np.isfinite(means).any() else None


def _mean(values: Floats) -> float:
    return float((values / len(values)).sum())


def _widened(low: float, high: float) -> tuple[float, float]:
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin
