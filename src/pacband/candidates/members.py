"""A member of a family: a predictor T and its scale σ̂.

T is a scikit-learn estimator, any object with ``predict``, or a function. σ̂ is None (σ̂ = 1), "std" (the
predictor's own ``predict(X, return_std=True)``), an estimator whose ``predict`` returns σ̂, or a function. A scale
may return a pair (σ̂⁻, σ̂⁺). A scale with a method ``used_with`` receives the predictor it belongs to (`BaseScale`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from pacband.candidates.fit_params import FitParams
from pacband.candidates.sharing import groups_that_share
from pacband.core.progress import Progress
from pacband.exceptions import InvalidInput
from pacband.scale.base import fit_scale
from pacband.scale.crossfit import Predictor, predictions
from pacband.scale.std import has_return_std

__all__ = [
    "Member",
    "copy_fitted",
    "copy_unfitted",
    "fit_members",
    "has_return_std",
    "is_refittable",
    "predict_members",
]


@dataclass(frozen=True)
class Member:
    """A pair (T, σ̂)."""

    predictor: Any
    scale: Any = None

    def __post_init__(self) -> None:
        for what, part in (("an estimator", self.predictor), ("scale", self.scale)):
            if isinstance(part, type):
                raise InvalidInput(f"{what} must be an instance, {part.__name__}(), got the class {part.__name__}.")
        if not callable(getattr(self.predictor, "predict", self.predictor)):
            raise InvalidInput(f"an estimator must have a predict method or be a function, got {self.predictor!r}.")
        if self.uses_std:
            if not has_return_std(self.predictor):
                raise InvalidInput(
                    f"scale='std' needs predict(X, return_std=True), which {self.predictor!r} does not have."
                )
        elif self.scale is not None and not callable(getattr(self.scale, "predict", self.scale)):
            raise InvalidInput(f"scale must be None, 'std', an estimator or a function, got {self.scale!r}.")

    @property
    def uses_std(self) -> bool:
        """Whether σ̂ is the predictor's own ``predict(X, return_std=True)``."""
        return isinstance(self.scale, str) and self.scale == "std"

    @property
    def trainable(self) -> bool:
        """Whether fitting changes a part: functions and frozen estimators stay as they are."""
        return is_refittable(self.predictor) or is_refittable(self.scale)

    def check_fitted(self) -> None:
        """Raise scikit-learn's NotFittedError if a part is not fitted."""
        if isinstance(self.predictor, BaseEstimator):
            check_is_fitted(self.predictor)
        if isinstance(self.scale, BaseEstimator):
            check_is_fitted(self.scale, msg=_fit_the_scale(self.scale))

    def predict(self, X: Any) -> Any:
        """Return T(x)."""
        return predictions(self.predictor, X)

    def predict_with_scale(self, X: Any) -> tuple[Any, Any]:
        """Return T(x) and σ̂(x); None stands for σ̂ = 1."""
        if self.uses_std:
            prediction, std = self.predictor.predict(X, return_std=True)
            return prediction, std
        return self.predict(X), self.evaluate_scale(X)

    def evaluate_scale(self, X: Any, std: Any = None) -> Any:
        """Return σ̂(x): `std` if the scale is the predictor's own, None for σ̂ = 1."""
        if self.uses_std:
            return std
        return None if self.scale is None else predictions(self.scale, X)


def is_refittable(part: Any) -> bool:
    """Whether a predictor or scale is changed by a fit: not if it is a function, "std" or frozen."""
    return hasattr(part, "fit") and not isinstance(part, FrozenEstimator)


def copy_unfitted(members: Mapping[str, Member]) -> dict[str, Member]:
    """Return the members with a copy of every part that a fit leaves as it is, such as a frozen estimator."""
    return _copy_members(members, lambda part: not is_refittable(part))


def copy_fitted(members: Mapping[str, Member]) -> dict[str, Member]:
    """Return fitted members with a copy of every part. Raises NotFittedError if a part is not fitted."""
    for member in members.values():
        member.check_fitted()
    return _copy_members(members, lambda part: True)


def fit_members(
    members: Mapping[str, Member],
    X: Any,
    y: Any,
    clusters: Any = None,
    parameters: Mapping[str, FitParams] | None = None,
) -> dict[str, Member]:
    """Fit every member on the same rows; functions and frozen estimators stay as they are.

    A predictor that several members have is fitted once, and cross-fitted once for all their scales. Predictors that
    share work (`SharesWork`) are fitted together. Predictors are cross-fitted with rows of one cluster in one fold.
    `parameters` are what the `fit` of each member gets for these rows. One predictor has the same in every member.
    """
    fitted: dict[str, Member] = {}
    found = parameters or {}
    for group in groups_that_share(_predictors(members), "fit_grid"):
        own = {k: found.get(name, FitParams()).predictor for name, k in group.positions.items()}
        owners = _fit_models(group.models, X, y, clusters, own)
        for name, k in group.positions.items():
            scale = fit_scale(members[name].scale, owners[k], X, y, found.get(name, FitParams()).scale)
            fitted[name] = Member(owners[k].fitted(X, y), scale)
    return {name: fitted[name] for name in members}


def predict_members(
    members: Mapping[str, Member], X: Any, progress: Progress | None = None
) -> dict[str, tuple[Any, Any]]:
    """Return (T, σ̂) of every member on the same rows.

    A predictor that several members have is evaluated once. Predictors that share work (`SharesWork`) are evaluated
    together.
    """
    columns: dict[str, tuple[Any, Any]] = {}
    for group in groups_that_share(_predictors(members), "predict_grid"):
        names = list(group.positions)
        report = _report_of_group(progress, len(columns), len(names), len(members))
        needs_std = any(members[name].uses_std for name in names)
        answers = _predict_models(group.models, X, needs_std, report)
        for name, k in group.positions.items():
            prediction, std = answers[k]
            columns[name] = prediction, members[name].evaluate_scale(X, std)
        report(1, 1)
    return {name: columns[name] for name in members}


def _predictors(members: Mapping[str, Member]) -> dict[str, Any]:
    return {name: member.predictor for name, member in members.items()}


def _fit_models(
    models: list[Any], X: Any, y: Any, clusters: Any, parameters: Mapping[int, Mapping[str, Any]]
) -> list[Predictor]:
    """Fit the models of a group, which are of one class if there are several. Parameters make each fit its own."""
    if len(models) == 1 or any(parameters.values()):
        return [Predictor(model, clusters=clusters, parameters=parameters[k]) for k, model in enumerate(models)]
    fitted = models[0].fit_grid(X, y, [model.get_params(deep=False) for model in models])
    return [Predictor(model, fit, clusters) for model, fit in zip(models, fitted, strict=True)]


def _predict_models(models: list[Any], X: Any, needs_std: bool, report: Progress) -> list[tuple[Any, Any]]:
    """Return T(x) and the standard deviation, if it is needed, of the models of a group."""
    if len(models) > 1:
        found: list[tuple[Any, Any]] = type(models[0]).predict_grid(models, X, progress=report)
        return found
    return [models[0].predict(X, return_std=True) if needs_std else (predictions(models[0], X), None)]


def _report_of_group(progress: Progress | None, done: int, here: int, total: int) -> Progress:
    """Return a callback that converts the progress of one group to that of all, in hundredths of a member."""

    def report(step: int, n_steps: int) -> None:
        if progress is not None:
            progress(100 * done + 100 * here * step // n_steps, 100 * total)

    return report


def _fit_the_scale(scale: BaseEstimator) -> str:
    """Return the words for a scale that is not fitted: how to fit it on the rows that the predictor was fitted on."""
    name = type(scale).__name__
    model = "model" if "estimator" in scale.get_params(deep=False) else ""
    return (
        f"the scale {name} is not fitted: calibrate fits nothing. Fit it on the rows that the model was fitted on, "
        f"scale={name}({model}).fit(X_train, y_train), or let fit(X, y) fit both on one part of the rows and calibrate "
        "on the other."
    )


def _copy_members(members: Mapping[str, Member], is_copied: Callable[[Any], bool]) -> dict[str, Member]:
    """Return the members with a copy of some parts. What several members or parts have in common is copied once.

    A certificate is then about the copies, whatever happens to the originals later.
    """
    parts = {id(part): part for member in members.values() for part in (member.predictor, member.scale)}
    copies, memo = dict(parts), dict[int, Any]()
    for key, part in parts.items():
        if not is_copied(part) or not hasattr(part, "predict"):  # a function, "std" or None
            continue
        known = {*memo, id(memo)}  # under its own id, the memo keeps what it has seen alive
        try:
            copies[key] = deepcopy(part, memo)
        except Exception:  # a third party's object may raise any error: then the object itself is used
            for half_made in memo.keys() - known:
                del memo[half_made]
    return {name: Member(copies[id(member.predictor)], copies[id(member.scale)]) for name, member in members.items()}
