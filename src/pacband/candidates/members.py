"""A member of a family: a predictor T and its scale σ̂, of whatever kind they are.

T is a scikit-learn estimator, anything with ``predict``, or a function. σ̂ is None (one for every x), "std" (the
predictor's own ``predict(X, return_std=True)``), an estimator whose ``predict`` gives σ̂, or a function. A scale
may give a pair (σ̂⁻, σ̂⁺). A scale with a method ``used_with`` is told which predictor it belongs to (`BaseScale`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias

from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from pacband.exceptions import InvalidInput
from pacband.scale.base import fit_scale
from pacband.scale.crossfit import Predictor, predictions
from pacband.scale.std import has_return_std

__all__ = ["Member", "Progress", "fit_members", "has_return_std", "predict_members"]

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True)
class Member:
    """A pair (T, σ̂)."""

    predictor: Any
    scale: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.predictor, type):
            name = self.predictor.__name__
            raise InvalidInput(f"an estimator must be an instance, {name}(), got the class {name}.")
        if not callable(getattr(self.predictor, "predict", self.predictor)):
            raise InvalidInput(f"an estimator must have a predict method or be a function, got {self.predictor!r}.")
        if isinstance(self.scale, str) and self.scale == "std":
            if not has_return_std(self.predictor):
                raise InvalidInput(
                    f"scale='std' needs predict(X, return_std=True), which {self.predictor!r} does not have."
                )
        elif self.scale is not None and not callable(getattr(self.scale, "predict", self.scale)):
            raise InvalidInput(f"scale must be None, 'std', an estimator or a function, got {self.scale!r}.")

    @property
    def trainable(self) -> bool:
        """Whether fitting would change anything: not for functions and frozen estimators."""
        return any(
            hasattr(part, "fit") and not isinstance(part, FrozenEstimator) for part in (self.predictor, self.scale)
        )

    def copied(self) -> Member:
        """Return a copy of this fitted pair; scikit-learn's NotFittedError where a part still has to be fitted."""
        for part in (self.predictor, self.scale):
            if isinstance(part, BaseEstimator):
                check_is_fitted(part)
        return Member(_copy(self.predictor), _copy(self.scale))

    def predict(self, X: Any) -> Any:
        """Return T(x)."""
        return predictions(self.predictor, X)

    def predict_with_scale(self, X: Any) -> tuple[Any, Any]:
        """Return T(x) and σ̂(x), None where σ̂ is one."""
        if isinstance(self.scale, str):
            prediction, std = self.predictor.predict(X, return_std=True)
            return prediction, std
        return self.predict(X), _scale_at(self.scale, X)


def fit_members(members: Mapping[str, Member], X: Any, y: Any) -> dict[str, Member]:
    """Fit every member on the same rows; functions and frozen estimators stay as they are.

    Work is shared where it can be: a predictor that several members hold is fitted once, and cross-fitted once for
    all their scales; models that share work across hyper-parameters (``fit_grid``) are fitted together.
    """
    owners: dict[int, Predictor] = {}
    for names in _sharing(members, "fit_grid"):
        models = _distinct(members, names)
        if len(models) > 1:
            fitted = models[0].fit_grid(X, y, [model.get_params(deep=False) for model in models])
        else:
            fitted = [Predictor(models[0]).fitted(X, y)]
        owners.update((id(model), Predictor(model, known)) for model, known in zip(models, fitted, strict=True))
    result = {}
    for name, member in members.items():
        owner = owners[id(member.predictor)]
        result[name] = Member(owner.fitted(X, y), fit_scale(member.scale, owner, X, y))
    return result


def predict_members(
    members: Mapping[str, Member], X: Any, progress: Progress | None = None
) -> dict[str, tuple[Any, Any]]:
    """Return (T, σ̂) of every member on the same rows, sharing work where the models can (``predict_grid``)."""
    columns: dict[str, tuple[Any, Any]] = {}
    for names in _sharing(members, "predict_grid"):
        report = _steps(progress, len(columns), len(names), len(members))
        models = _distinct(members, names)
        first = models[0]
        if len(models) > 1:
            answers = first.predict_grid(models, X, progress=report)
        elif any(isinstance(members[name].scale, str) for name in names):
            answers = [first.predict(X, return_std=True)]
        else:
            answers = [(predictions(first, X), None)]
        of = {id(model): answer for model, answer in zip(models, answers, strict=True)}
        for name in names:
            scale, (prediction, std) = members[name].scale, of[id(members[name].predictor)]
            columns[name] = prediction, std if isinstance(scale, str) else _scale_at(scale, X)
        report(1, 1)
    return {name: columns[name] for name in members}


def _sharing(members: Mapping[str, Member], method: str) -> list[list[str]]:
    """Return the names in lots: models of one type that has this method together, else those of one predictor."""
    lots: dict[Any, list[str]] = {}
    for name, member in members.items():
        kind = type(member.predictor)
        lots.setdefault(kind if _shares(kind, method) else id(member.predictor), []).append(name)
    return list(lots.values())


def _shares(kind: type, method: str) -> bool:
    """Whether the shared method stands for this class's own `predict`: not where a subclass has overridden it."""
    owner = next((base for base in kind.__mro__ if method in vars(base)), None)
    return owner is not None and kind.predict is owner.predict  # type: ignore[attr-defined]


def _distinct(members: Mapping[str, Member], names: Iterable[str]) -> list[Any]:
    """Return the predictors of these members, each once."""
    return list({id(members[name].predictor): members[name].predictor for name in names}.values())


def _steps(progress: Progress | None, done: int, here: int, members: int) -> Progress:
    """Return a callback that turns the progress of one lot into that of the whole, in hundredths of a member."""

    def report(step: int, of: int) -> None:
        if progress is not None:
            progress(100 * done + 100 * here * step // of, 100 * members)

    return report


def _copy(part: Any) -> Any:
    if not hasattr(part, "fit"):
        return part
    try:
        return deepcopy(part)
    except Exception:  # a third party's object may refuse in any way: then it is used as it is
        return part


def _scale_at(scale: Any, X: Any) -> Any:
    return None if scale is None else predictions(scale, X)
