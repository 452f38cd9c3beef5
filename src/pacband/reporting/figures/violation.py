"""Where the true violation lies: its Beta law over calibration draws, with ε and the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv, betaln, xlog1py, xlogy

from pacband.certificate import AnyCertificate
from pacband.core import look
from pacband.core.arrays import Floats
from pacband.core.wording import figure, percent
from pacband.reporting.candidates import expects_violation
from pacband.reporting.figures.figure import Caption, CertificateFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURE", "ViolationNumbers", "caption_violation", "draw_violation", "violation_numbers"]

TITLE = "Where the true violation lies"
# The figure leaves out this probability at either end.
TAIL = 1e-5


@dataclass(frozen=True)
class ViolationNumbers:
    """The density of Beta(a, b), a = r and b = N − r + 1: its mean and its central 95 % interval, and ε."""

    a: int
    b: int
    eps: float
    x: Floats
    density: Floats
    mean: float
    density_at_mean: float
    interval: tuple[float, float]


def violation_numbers(certificate: AnyCertificate) -> ViolationNumbers | None:
    """Return the law; None if there is none.

    It is that of one bound of independent draws, which was neither given nor chosen by its score.
    """
    single = certificate.single
    if single is None or not expects_violation(certificate):
        return None
    a, b = single.chosen_rank, single.n_samples - single.chosen_rank + 1
    low, high = betaincinv(a, b, TAIL), max(betaincinv(a, b, 1 - TAIL), single.eps * 1.08)
    x = np.linspace(max(0.0, low - 0.03 * (high - low)), high, 300)
    mean = single.expected_violation
    return ViolationNumbers(
        a=a,
        b=b,
        eps=single.eps,
        x=x,
        density=_beta_density(x, a, b),
        mean=mean,
        density_at_mean=float(_beta_density(mean, a, b)),
        interval=single.violation_interval(0.95),
    )


def draw_violation(numbers: ViolationNumbers, ax: Axes | None = None) -> Axes:
    """Draw the density, with ε and the mean."""
    ax = look.axes_of(ax)
    ax.fill_between(numbers.x, numbers.density, color=look.BAND, alpha=0.13, linewidth=0)
    ax.plot(numbers.x, numbers.density, color=look.BAND, linewidth=1.8)
    ax.axvline(numbers.eps, color=look.LIMIT, linewidth=1.6)
    top = float(numbers.density[np.isfinite(numbers.density)].max())
    ax.set_ylim(0, 1.12 * top)
    mean = numbers.mean
    ax.plot([mean, mean], [0, numbers.density_at_mean], color=look.INK, linewidth=1, linestyle=(0, (3, 2)))
    look.label_line(
        ax, numbers.eps, f"ε = {figure(numbers.eps)}", look.LIMIT, left=numbers.eps > (numbers.x[0] + numbers.x[-1]) / 2
    )
    ax.annotate(
        f"mean: {percent(mean)}", (mean, 1.08 * top), ha="center", va="center", fontsize=look.SMALL, color=look.INK
    )
    ax.set_yticks([])
    ax.xaxis.set_major_formatter(look.format_percent)
    look.style_axes(ax, title=TITLE, x="share of future errors beyond the bound", y="", grid="")
    return ax


def caption_violation(numbers: ViolationNumbers) -> Caption:
    """Write the caption."""
    low, high = map(percent, numbers.interval)
    return Caption(
        TITLE,
        f"The Beta({numbers.a}, {numbers.b}) density of the true violation. Its mean is {percent(numbers.mean)}, its "
        f"central 95 % interval is {low} to {high}, and ε = {figure(numbers.eps)} is far in its tail.",
        "Over calibration draws, the true share of errors beyond the bound follows Beta(r, N − r + 1): in 95 of 100 "
        f"draws it is between {low} and {high}.",
    )


def _beta_density(x: Any, a: int, b: int) -> Any:
    return np.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


FIGURE = CertificateFigure(numbers=violation_numbers, draw=draw_violation, caption=caption_violation)
