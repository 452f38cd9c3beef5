"""A member of a family: a predictor T and its scale σ̂, of whatever kind they are.

T is a scikit-learn estimator, anything with ``predict``, or a function. σ̂ is None (one for every x), "std" (the
predictor's own ``predict(X, return_std=True)``), an estimator whose ``predict`` gives σ̂, or a function. A scale
may give a pair (σ̂⁻, σ̂⁺).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from pacband.exceptions import InvalidInput

__all__ = ["Member", "Progress", "fit_members", "predict_members", "speaks_std"]

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True)
class Member:
    """A pair (T, σ̂)."""

    predictor: Any
    scale: Any = None

    def __post_init__(self) -> None:
        if not callable(getattr(self.predictor, "predict", self.predictor)):
            raise InvalidInput(f"an estimator must have a predict method or be a function, got {self.predictor!r}.")
        if isinstance(self.scale, str) and self.scale == "std":
            if not speaks_std(self.predictor):
                raise InvalidInput(
                    f"scale='std' needs predict(X, return_std=True), which {self.predictor!r} does not have."
                )
        elif self.scale is not None and not callable(getattr(self.scale, "predict", self.scale)):
            raise InvalidInput(f"scale must be None, 'std', an estimator or a function, got {self.scale!r}.")

    def fitted(self, X: Any, y: Any) -> Member:
        """Return this pair fitted on (X, y); functions and frozen estimators stay as they are."""
        return Member(_fit(self.predictor, X, y), _fit(self.scale, X, y))

    @property
    def trainable(self) -> bool:
        """Whether fitting would change anything: not for functions and frozen estimators."""
        return any(
            hasattr(part, "fit") and not isinstance(part, FrozenEstimator) for part in (self.predictor, self.scale)
        )

    def check_fitted(self) -> None:
        """Raise scikit-learn's NotFittedError where a part still has to be fitted."""
        for part in (self.predictor, self.scale):
            if isinstance(part, BaseEstimator):
                check_is_fitted(part)

    def predict(self, X: Any) -> Any:
        """Return T(x)."""
        return _call(self.predictor, X)

    def predict_with_scale(self, X: Any) -> tuple[Any, Any]:
        """Return T(x) and σ̂(x), None where σ̂ is one."""
        if isinstance(self.scale, str):
            prediction, std = self.predictor.predict(X, return_std=True)
            return prediction, std
        return self.predict(X), _call(self.scale, X)


def speaks_std(predictor: Any) -> bool:
    """Whether a predictor gives a scale of its own, by ``predict(X, return_std=True)``."""
    try:
        return "return_std" in inspect.signature(predictor.predict).parameters
    except (AttributeError, TypeError, ValueError):
        return False


def fit_members(members: Mapping[str, Member], X: Any, y: Any) -> dict[str, Member]:
    """Fit every member; models that can share work across hyper-parameters (``fit_grid``) are fitted together."""
    fitted: dict[str, Member] = {}
    for names in _sharing(members, "fit_grid"):
        first = members[names[0]].predictor
        if len(names) == 1:
            fitted[names[0]] = members[names[0]].fitted(X, y)
            continue
        models = first.fit_grid(X, y, [members[name].predictor.get_params(deep=False) for name in names])
        for name, model in zip(names, models, strict=True):
            fitted[name] = Member(model, _fit(members[name].scale, X, y))
    return {name: fitted[name] for name in members}


def predict_members(
    members: Mapping[str, Member], X: Any, progress: Progress | None = None
) -> dict[str, tuple[Any, Any]]:
    """Return (T, σ̂) of every member on the same rows, sharing work where the models can (``predict_grid``)."""
    columns: dict[str, tuple[Any, Any]] = {}
    for names in _sharing(members, "predict_grid"):
        report = _steps(progress, len(columns), len(names), len(members))
        if len(names) == 1:
            columns[names[0]] = members[names[0]].predict_with_scale(X)
        else:
            models = [members[name].predictor for name in names]
            for name, (prediction, std) in zip(names, models[0].predict_grid(models, X, progress=report), strict=True):
                scale = members[name].scale
                columns[name] = prediction, std if scale == "std" else _call(scale, X)
        report(1, 1)
    return {name: columns[name] for name in members}


def _sharing(members: Mapping[str, Member], method: str) -> list[list[str]]:
    """Return the names in lots: models of one type that has this method together, all others alone."""
    lots: dict[Any, list[str]] = {}
    for name, member in members.items():
        kind = type(member.predictor)
        lots.setdefault(kind if hasattr(kind, method) else name, []).append(name)
    return list(lots.values())


def _steps(progress: Progress | None, done: int, here: int, members: int) -> Progress:
    """Return a callback that turns the progress of one lot into that of the whole, in hundredths of a member."""

    def report(step: int, of: int) -> None:
        if progress is not None:
            progress(100 * done + 100 * here * step // of, 100 * members)

    return report


def _fit(part: Any, X: Any, y: Any) -> Any:
    if not hasattr(part, "fit"):
        return part
    return clone(part, safe=False).fit(X, y)


def _call(part: Any, X: Any) -> Any:
    if part is None:
        return None
    return part.predict(X) if hasattr(part, "predict") else part(X)
