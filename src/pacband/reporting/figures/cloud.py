"""Rows behind a figure: few rows as points, many as a density of fixed size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pacband.core import look
from pacband.core.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Cloud", "Density", "draw_cloud", "gather_points"]

MOST_POINTS = 800
GRID_SHAPE = (90, 60)


@dataclass(frozen=True)
class Density:
    """Counts of points on a grid of (x, y)."""

    x_edges: Floats
    y_edges: Floats
    counts: Floats


@dataclass(frozen=True)
class Cloud:
    """Points, or their density if there are many: one of the two is None."""

    points: tuple[Floats, Floats] | None
    density: Density | None

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return len(self.points[0]) if self.points is not None else int(self.density.counts.sum()) if self.density else 0


def gather_points(x: Floats, y: Floats, *, y_range: tuple[float, float]) -> Cloud:
    """Return the points, or count them on a grid. The grid leaves out what is above or below the range."""
    if len(x) <= MOST_POINTS:
        return Cloud((x, y), None)
    counts, x_edges, y_edges = np.histogram2d(x, y, bins=GRID_SHAPE, range=((x.min(), x.max()), y_range))
    return Cloud(None, Density(x_edges, y_edges, counts))


def draw_cloud(ax: Axes, cloud: Cloud, label: str, *, colour: str = look.POINT) -> None:
    """Draw points as markers, and a density as an image. Rows in a colour of their own are drawn to be seen."""
    marked = colour != look.POINT
    if cloud.points is not None:
        size, alpha = (14, 1.0) if marked else (7, 0.45)
        ax.scatter(
            *cloud.points, s=size, color=colour, alpha=alpha, linewidths=0, label=label, zorder=4 if marked else 1
        )
    if cloud.density is None:
        return
    grid = cloud.density
    shade = np.sqrt(grid.counts.T / max(1.0, float(grid.counts.max())))
    rgba = np.zeros((*shade.shape, 4))
    rgba[..., :3] = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    faintest = 0.4 if marked else 0.12
    rgba[..., 3] = np.where(shade > 0, faintest + (0.9 - faintest) * shade, 0.0)
    extent = (grid.x_edges[0], grid.x_edges[-1], grid.y_edges[0], grid.y_edges[-1])
    ax.imshow(rgba, extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=1)
    ax.scatter([], [], s=30, marker="s", color=colour, alpha=0.6, linewidths=0, label=f"{label}, density")
