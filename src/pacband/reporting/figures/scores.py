"""The scores and the bound on them: a histogram, with γ̄ marked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.certificate import AnyCertificate
from pacband.core import look
from pacband.core.arrays import Floats
from pacband.core.wording import bound, percent, significant
from pacband.draws import Draws
from pacband.reporting.figures.figure import Caption, FigureInput, RowsFigure, json_fields, name_sample
from pacband.reporting.figures.violation import draw_violation, violation_numbers
from pacband.reporting.rows import SAMPLE, Rows, read_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURE", "ScoreNumbers", "caption_scores", "draw_scores", "plot_scores", "score_numbers"]

TITLE = "Scores, and the bound on them"
N_BINS = 60


@dataclass(frozen=True)
class ScoreNumbers:
    """A histogram of scores, as shares of all rows; `beyond` of the scores are larger than its last edge."""

    name: str
    edges: Floats
    shares: Floats
    gamma: float
    beyond: int
    n_rows: int
    sample: str


def score_numbers(certificate: AnyCertificate, rows: Rows) -> ScoreNumbers:
    """Return a histogram of the scores, from the smallest score to a little more than γ̄.

    If every group has its own bound, scores are divided by the bound of their group. With one side, a bound may be
    negative: then the bound of the group is subtracted.
    """
    basis, single = certificate.basis, certificate.single
    name = {"both": "|error|", "upper": "error", "lower": "−error", "own": "your own"}[basis.scoring.side]
    name = name if basis.scale_kind == "none" else f"{name} / σ̂(x)"
    name = basis.about.in_unit(name) if basis.bound_in_unit and single is not None else name
    if single is not None:
        scores, gamma = rows.all_scores, single.gamma
    elif (rows.gamma < 0.0).any():
        scores, gamma, name = rows.score - rows.gamma, 0.0, f"{name}, less the bound of the group"
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            scores, gamma, name = rows.score / rows.gamma, 1.0, f"{name}, over the bound of the group"
    finite = scores if len(scores) <= SAMPLE else rows.score
    finite = finite[np.isfinite(finite)]
    low = min(0.0, float(finite.min())) if len(finite) else 0.0
    typical = float(np.quantile(finite, 0.999)) if len(finite) else 1.0
    reach = abs(gamma) or -low
    high = max(gamma + 0.25 * reach, min(typical, gamma + reach)) if math.isfinite(gamma) else typical
    high = high if high > low else low + 1.0
    counts, edges = np.histogram(scores, bins=N_BINS, range=(low, high))
    return ScoreNumbers(
        name=name,
        edges=edges,
        shares=counts / len(scores),
        gamma=gamma,
        beyond=int(len(scores) - counts.sum()),
        n_rows=len(scores),
        sample=name_sample(rows) if len(scores) < rows.n_rows else "",
    )


def draw_scores(numbers: ScoreNumbers, ax: Axes | None = None) -> Axes:
    """Draw the histogram, and γ̄ as a line."""
    ax = look.axes_of(ax)
    centres, width = (numbers.edges[1:] + numbers.edges[:-1]) / 2, np.diff(numbers.edges)
    over = centres > numbers.gamma
    for part, colour in ((~over, look.BAND), (over, look.LIMIT)):
        ax.bar(centres[part], numbers.shares[part], width[part] * 0.92, color=colour, alpha=0.85, linewidth=0)
    if math.isfinite(numbers.gamma):
        ax.axvline(numbers.gamma, color=look.LIMIT, linewidth=1.6)
        near_end = numbers.gamma > 0.6 * numbers.edges[-1] + 0.4 * numbers.edges[0]
        look.label_line(ax, numbers.gamma, f"bound γ̄ = {bound(numbers.gamma)}", look.LIMIT, left=near_end)
    ax.yaxis.set_major_formatter(look.format_percent)
    look.style_axes(ax, title=TITLE, x=f"score: {look.short_text(numbers.name, 60)}", y="share of rows")
    return ax


def caption_scores(numbers: ScoreNumbers) -> Caption:
    """Write the caption."""
    score = "score lies" if numbers.beyond == 1 else "scores lie"
    beyond = f" {numbers.beyond:,} {score} outside the figure." if numbers.beyond else ""
    every = " drawn" if numbers.sample else ""
    bars = zip(numbers.edges[:-1].tolist(), numbers.edges[1:].tolist(), numbers.shares.tolist(), strict=True)
    return Caption(
        TITLE,
        f"Histogram of {numbers.n_rows:,} scores with the bound at {bound(numbers.gamma)}.",
        f"There is one score for every row{every}. Scores to the right of the line exceed the bound."
        f"{beyond}{numbers.sample}",
        tuple(
            ((low + high) / 2, share, f"{significant(low, 3)} to {significant(high, 3)}: {percent(share)} of rows")
            for low, high, share in bars
        ),
    )


def _report_numbers(basis: FigureInput) -> ScoreNumbers:
    return score_numbers(basis.certificate, basis.rows)


FIGURE = RowsFigure(
    numbers=_report_numbers,
    draw=draw_scores,
    caption=caption_scores,
    to_dict=json_fields("name", "edges", "shares", "gamma", "beyond", "n_rows"),
)


def plot_scores(
    certificate: AnyCertificate,
    y: Any,
    y_pred: Any = None,
    scale: Any = None,
    *,
    groups: Any = None,
    draws: Draws | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution of the scores with γ̄ marked and, on a new figure, the Beta law of the true violation.

    The law holds for a bound that was chosen beforehand. It is left out if the bound was given, if candidates share δ,
    and if every group has its own bound. Then the scores are divided by the bound of their group. `draws` are the units
    of the rows, if the certificate makes a promise about units: the scores are those of draws.

    Examples
    --------
    >>> import pacband
    >>> X, y = pacband.datasets.paper_sample(2065, random_state=0)
    >>> predicted = pacband.datasets.paper_predictor(X)
    >>> cert = pacband.certify(y, predicted)
    >>> ax = pacband.plot_scores(cert, y, predicted)
    """
    rows = read_rows(certificate, y, y_pred, scale, groups=groups, draws=draws)
    law = violation_numbers(certificate) if ax is None else None
    if law is not None:
        ax, right = look.new_axes(columns=2)[0]
        draw_violation(law, right)
    return draw_scores(score_numbers(certificate, rows), ax)
