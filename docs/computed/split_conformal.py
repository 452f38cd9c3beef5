"""Split conformal prediction and a certificate: the law of the true violation over calibrations, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

import pacband
from pacband.core import look
from pacband.core.wording import percent
from pacband.planning.costs import split_conformal_rank
from pacband.reporting.figures.figure import Caption

N, EPS, DELTA = 1000, 0.05, 1e-6
SIZES = (20, 59, 100, 1_000, 10_000, 100_000)


def too_large(n: int, eps: float = EPS) -> float:
    """Return the probability that the true violation of split conformal prediction exceeds ε.

    For continuous scores the violation follows Beta(r, N − r + 1) with r = ⌊ε(N + 1)⌋, and P(violation > ε) is the
    binomial tail B(r − 1; N, ε).
    """
    return pacband.attained_delta(n, split_conformal_rank(n, eps), eps)


def in_the_worst(n: int, eps: float = EPS, share: float = 0.01) -> float:
    """Return the true violation that split conformal prediction exceeds in so many of all calibrations."""
    rank = split_conformal_rank(n, eps)
    return float(beta.isf(share, rank, n - rank + 1))


def draw() -> tuple[Any, Caption]:
    """Draw both laws, and the part of the first that lies beyond ε."""
    conformal, certified = split_conformal_rank(N, EPS), pacband.max_rank(N, EPS, DELTA)
    x = np.linspace(0.005, 0.085, 600)
    ax = look.axes_of(None, 3.0, width=5.4)
    laws = {}
    for rank, colour in ((certified, look.BAND), (conformal, look.LIMIT)):
        laws[rank] = beta(rank, N - rank + 1)
        ax.plot(x, laws[rank].pdf(x), color=colour, linewidth=1.8)
    ax.fill_between(x, laws[certified].pdf(x), color=look.BAND, alpha=0.13, linewidth=0)
    beyond = x[x >= EPS]
    ax.fill_between(beyond, laws[conformal].pdf(beyond), color=look.LIMIT, alpha=0.25, linewidth=0)
    top = max(law.pdf(x).max() for law in laws.values())
    ax.set_ylim(0, 1.18 * top)
    ax.axvline(EPS, color=look.INK, linewidth=1.2, linestyle=(0, (3, 2)))
    share = percent(too_large(N))
    notes = (
        (0.0205, 1.05, look.BAND, "certificate, δ = 1e-6", "center"),
        (0.0582, 0.66, look.LIMIT, f"split conformal:\n{share} lie beyond ε", "left"),
        (0.0505, 1.12, look.INK, f"ε = {100 * EPS:g} %", "left"),
    )
    for at, height, colour, text, side in notes:
        ax.annotate(text, (at, height * top), ha=side, va="center", fontsize=look.SMALL, color=colour)
    ax.set_yticks([])
    ax.xaxis.set_major_formatter(look.format_percent)
    look.style_axes(ax, x="true share of future errors beyond the bound, of one calibration", y="", grid="")
    words = (
        f"{N:,} calibration rows, ε = {100 * EPS:g} %. Split conformal prediction takes the error of rank {conformal}: "
        f"in {share} of all calibrations, more than {100 * EPS:g} % of future errors exceed its bound. A certificate "
        f"with δ = 1e-6 takes rank {certified}: this happens in at most one of a million calibrations."
    )
    return ax, Caption("Where the true violation lies", words, words)


def markdown() -> str:
    """Return how often split conformal prediction at 95 % exceeds 5 %, and by how much, for some N."""
    lines = [
        "| calibration rows N | calibrations with V > 5 % | 99 % quantile of V |",
        "|---:|---:|---:|",
    ]
    cells = ((f"{n:,}", percent(too_large(n)), percent(in_the_worst(n))) for n in SIZES)
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in cells)])
