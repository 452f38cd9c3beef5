"""The picture of the landing page: rows, a model, and its certified band."""

from __future__ import annotations

from typing import Any

import numpy as np

import pacband
from pacband.core import look
from pacband.core.wording import bound
from pacband.reporting.figures.figure import Caption

EPS, DELTA = 0.05, 1e-6


def draw() -> tuple[Any, Caption]:
    """Draw fresh rows of the paper's example, and the band that was certified on other rows."""
    X, y = pacband.datasets.paper_sample(3000, random_state=0)
    predict, size = pacband.datasets.paper_predictor, pacband.datasets.paper_scale
    certificate = pacband.certify(y, predict(X), size(X), eps=EPS, delta=DELTA)
    X, y = pacband.datasets.paper_sample(1000, random_state=1)
    ends = certificate.interval(predict(X), size(X))
    inside = (y >= ends[:, 0]) & (y <= ends[:, 1])
    grid = np.linspace(X.min(), X.max(), 400)[:, None]
    lower, upper = certificate.interval(predict(grid), size(grid)).T
    ax = look.axes_of(None, 3.2, width=5.4)
    ax.fill_between(grid[:, 0], lower, upper, color=look.BAND, alpha=0.16, linewidth=0)
    ax.plot(X[inside, 0], y[inside], ".", color=look.POINT, markersize=2.6, label="fresh rows")
    ax.plot(X[~inside, 0], y[~inside], "o", color=look.LIMIT, markersize=3.6, label="beyond the band")
    ax.plot(grid[:, 0], predict(grid), color=look.BAND, linewidth=1.6, label="model and certified band")
    look.style_axes(ax, x="input x", y="target y")
    look.add_legend(ax, columns=3)
    outside = int(np.count_nonzero(~inside))
    words = (
        f"The band was certified on 3,000 rows: with confidence 99.9999 %, at least 95 % of future rows are inside. Of "
        f"these 1,000 fresh rows, {outside} are outside."
    )
    return ax, Caption("A certified band", f"{words} The bound is {bound(certificate.gamma)} times the scale.", words)
