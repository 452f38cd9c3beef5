"""A profile of the error over the steps of a run: predictions further ahead have larger errors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pacband.core.arrays import Floats, as_numbers, refuse_nonfinite
from pacband.core.checks import check_choice, check_positive
from pacband.exceptions import InvalidInput
from pacband.scores import ScoreRule, spread_of

__all__ = ["HorizonScale"]


class HorizonScale:
    """A profile σ̂_t over the H steps of runs, learnt from training runs: alone, or times another scale.

    σ̂_t is the root mean square of the errors at step t. With another scale s, it is that of the errors divided by s,
    and σ̂ = s·σ̂_t. So a run that is harder than others has a wider tube of the same shape.

    The profile decides only how wide the tube is at each step. The promise holds with any profile, as long as no
    calibration run was used to learn it. A bad profile makes the tube wider.

    Parameters
    ----------
    floor : float
        The smallest σ̂_t, as a share of the largest: positive also where the training errors are zero, as at a step
        whose value is known.
    outputs : {"each", "together"}
        For several outputs: a profile for each, or one for all of them, as an ellipsoid needs.

    Attributes
    ----------
    profile_ : ndarray of shape (H,) or (H, k)
        σ̂_t > 0.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> from pacband.scale import HorizonScale
    >>> rng = np.random.default_rng(0)
    >>> error = rng.standard_normal((600, 25)).cumsum(axis=1)  # of runs that drift away from their prediction
    >>> scale = HorizonScale().fit(error[:100], np.zeros((100, 25)))
    >>> scale.profile_[[0, 8, 24]].round(1)
    array([1. , 2.4, 4.8])
    >>> y, y_pred = error[100:, :, None], np.zeros((500, 25, 1))
    >>> profiled = pacband.certify(y, y_pred, scale.predict(y_pred), eps=0.1, delta=0.01)
    >>> round(float(profiled.bound(scale.profile_).mean()), 1)  # the mean half-width of the tube
    9.2
    >>> round(pacband.certify(y, y_pred, eps=0.1, delta=0.01).bound(), 1)  # without a profile
    10.4
    """

    def __init__(self, *, floor: float = 0.01, outputs: str = "each") -> None:
        self.floor = floor
        self.outputs = outputs

    def fit(self, y: Any, y_pred: Any, scale: Any = None) -> Self:
        """Learn the profile from training runs and their predictions.

        Parameters
        ----------
        y, y_pred : array-like of shape (n, H) or (n, H, k)
            Training runs and their predictions. If the predictor was fitted on these runs, let the predictions be
            out-of-fold: errors on the own training runs are too small, though not equally at all steps.
        scale : array-like of shape (n,), (n, H) or (n, H, k), optional
            Another scale of the same runs. `predict` then needs it too.
        """
        floor = check_positive("floor", self.floor)
        if floor > 1.0:
            raise InvalidInput(f"floor must be a share of at most 1, got {self.floor!r}.")
        check_choice("outputs", self.outputs, ("each", "together"))
        target, prediction = _as_runs("y", y), _as_runs("y_pred", y_pred)
        if target.shape != prediction.shape:
            raise InvalidInput(f"y and y_pred must have the same shape, got {target.shape} and {prediction.shape}.")
        error = np.abs(target - prediction) / _other(scale, target.shape)
        largest = float(error.max())
        # Dividing by the largest keeps the squares of any finite errors finite.
        together = (0, 2) if self.outputs == "together" else 0
        profile = np.sqrt(np.mean((error / (largest or 1.0)) ** 2, axis=together, keepdims=True))[0] * largest
        self.profile_ = np.maximum(profile, floor * profile.max()) if largest else np.ones_like(profile)
        self._shape, self._scaled = target.shape[1:], scale is not None
        if self.profile_.shape[1] == 1:
            self.profile_ = self.profile_[:, 0]
        return self

    def predict(self, y_pred: Any, scale: Any = None) -> Floats:
        """Return σ̂ of predicted runs, of shape (n, H) or (n, H, k), for `certify` and `tube`.

        Parameters
        ----------
        y_pred : array-like of shape (n, H) or (n, H, k)
            The predicted runs. Only their shape matters.
        scale : array-like, optional
            The other scale of these runs, if `fit` was given one.
        """
        if not hasattr(self, "profile_"):
            raise InvalidInput("this HorizonScale has no profile yet: call fit with training runs first.")
        prediction = _as_runs("y_pred", y_pred)
        if prediction.shape[1:] != self._shape:
            steps, outputs = self._shape
            raise InvalidInput(
                f"the profile is for runs of {steps} steps and {outputs} output(s), got y_pred of shape "
                f"{prediction.shape}."
            )
        if (scale is not None) != self._scaled:
            given = "with" if self._scaled else "without"
            raise InvalidInput(f"the profile was learnt {given} another scale: predict {given} it, too.")
        profile = self.profile_[:, None] if self.profile_.ndim == 1 else self.profile_
        together = self.outputs == "together"
        shape = (*prediction.shape[:2], 1) if together else prediction.shape
        found = np.asarray(profile * _other(scale, shape) * np.ones((len(prediction), 1, 1)))
        return found[..., 0] if found.shape[2] == 1 else found

    def __repr__(self) -> str:
        return f"HorizonScale(floor={self.floor!r}, outputs={self.outputs!r})"


def _as_runs(name: str, value: Any) -> Floats:
    array = as_numbers(name, value, runs=True).astype(np.float64)
    if array.ndim == 1:
        raise InvalidInput(f"{name} must be runs, of shape (n, H) or (n, H, k), got shape {array.shape}.")
    refuse_nonfinite(name, array)
    return array[:, :, None] if array.ndim == 2 else array


def _other(scale: Any, shape: tuple[int, ...]) -> Any:
    """Return the other scale, or one; raise unless it is positive and fits runs of this shape."""
    if scale is None:
        return 1.0
    if isinstance(scale, tuple):
        raise InvalidInput("a profile is symmetric: the other scale cannot be a pair (lower, upper).")
    (part,) = spread_of(ScoreRule(), scale, shape).block(slice(None))
    return part
