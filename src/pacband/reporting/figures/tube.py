"""The tube around one predicted run: the prediction, the certified bounds of every step, and what came true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pacband.certificate import AnyCertificate, Certificate, FamilyCertificate
from pacband.core import look
from pacband.core.arrays import Floats, as_numbers
from pacband.exceptions import InvalidInput
from pacband.reporting.figures.ends import draw_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TubeNumbers", "draw_tube", "plot_tube", "tube_numbers"]


@dataclass(frozen=True)
class TubeNumbers:
    """One output of one run, step by step. An end of the tube is None if that side is not bounded."""

    steps: Floats
    prediction: Floats
    lower: Floats | None
    upper: Floats | None
    y: Floats | None

    @property
    def outside(self) -> npt.NDArray[np.bool_]:
        """Which steps of the run are outside."""
        beyond = np.zeros(len(self.steps), dtype=bool)
        if self.y is not None:
            beyond |= False if self.lower is None else self.y < self.lower
            beyond |= False if self.upper is None else self.y > self.upper
        return beyond


def tube_numbers(
    certificate: Certificate, y_pred: Any, scale: Any = None, *, y: Any = None, run: int = 0, output: int = 0,
    steps: Any = None,
) -> TubeNumbers:  # fmt: skip
    """Return the tube around a run, and the run itself if it is known."""
    tube = certificate.tube(y_pred, scale)
    ends = tube if tube.ndim == 4 else tube[:, :, None]
    n_runs, n_steps, n_outputs, _ = ends.shape
    for name, place, n in (("run", run, n_runs), ("output", output, n_outputs)):
        if isinstance(place, bool) or not isinstance(place, (int, np.integer)) or not 0 <= place < n:
            raise InvalidInput(f"{name} must be one of 0 to {n - 1}, got {place!r}.")
    at = np.arange(n_steps, dtype=np.float64) if steps is None else as_numbers("steps", steps).astype(np.float64)
    if at.shape != (n_steps,):
        raise InvalidInput(f"steps must have one number for each of {n_steps} steps, got shape {at.shape}.")

    def one(name: str, values: Any) -> Floats:
        array = as_numbers(name, values, runs=True).astype(np.float64)
        array = array[:, :, None] if array.ndim == 2 else array
        if array.shape != ends.shape[:3]:
            raise InvalidInput(f"{name} must have the shape of the predicted runs, got {array.shape}.")
        return np.asarray(array[run, :, output])

    low, high = ends[run, :, output, 0], ends[run, :, output, 1]
    return TubeNumbers(
        steps=at,
        prediction=one("y_pred", y_pred),
        lower=low if np.isfinite(low).any() else None,
        upper=high if np.isfinite(high).any() else None,
        y=None if y is None else one("y", y),
    )


def draw_tube(numbers: TubeNumbers, ax: Axes | None = None, *, x_name: str = "step t", y_name: str = "y") -> Axes:
    """Draw the tube, the prediction, and the run with its steps outside."""
    ax = look.axes_of(ax)
    from matplotlib.ticker import MaxNLocator

    draw_ends(ax, numbers.steps, numbers.prediction, numbers.lower, numbers.upper, name="certified tube")
    columns = 2
    if numbers.y is not None:
        columns = 3
        ax.plot(numbers.steps, numbers.y, "o", color=look.POINT, markersize=3.2, label="run")
        if numbers.outside.any():
            beyond = numbers.outside
            ax.plot(numbers.steps[beyond], numbers.y[beyond], "o", color=look.LIMIT, markersize=4.2, label="outside")
            columns = 4
    if (numbers.steps == np.floor(numbers.steps)).all():
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    look.style_axes(ax, title="A predicted run and its tube", x=look.short_text(x_name), y=look.short_text(y_name, 36))
    look.add_legend(ax, columns=columns)
    return ax


def plot_tube(
    certificate: AnyCertificate,
    y_pred: Any,
    scale: Any = None,
    *,
    y: Any = None,
    run: int = 0,
    output: int = 0,
    steps: Any = None,
    x_name: str = "step t",
    y_name: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the certified tube around one predicted run; with `y`, what came true.

    Parameters
    ----------
    certificate : Certificate or FamilyCertificate
        A promise about runs. Of one group, pass ``certificate.groups[name]``.
    y_pred : array-like of shape (n, H) or (n, H, k)
        Predicted runs.
    scale : array-like, optional
        Their σ̂, if one was used at calibration.
    y : array-like of the shape of `y_pred`, optional
        What came true. Steps outside the tube are marked.
    run, output : int
        Which run and which output is drawn.
    steps : array-like of shape (H,), optional
        Where the steps are on the horizontal axis, such as times. By default they are counted from 0.
    x_name, y_name : str
        The labels of the axes; by default that of y is the target and the unit that the certificate is about.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> drift = np.random.default_rng(0).standard_normal((500, 20, 1)).cumsum(axis=1)
    >>> growth = np.broadcast_to(np.sqrt(np.arange(1, 21)), (500, 20))
    >>> cert = pacband.certify(drift, 0 * drift, growth, eps=0.1, delta=0.01)
    >>> ax = pacband.plot_tube(cert, 0 * drift, growth, y=drift, run=3)
    >>> ax.figure.savefig("tube.png")  # doctest: +SKIP
    """
    if not isinstance(certificate, (Certificate, FamilyCertificate)):
        raise InvalidInput(
            f"a tube is drawn for one certificate, got {type(certificate).__name__}: of groups, pass that of one group."
        )
    ax = look.axes_of(ax)
    numbers = tube_numbers(certificate.single, y_pred, scale, y=y, run=run, output=output, steps=steps)
    return draw_tube(numbers, ax, x_name=x_name, y_name=y_name or certificate.about.axis)
