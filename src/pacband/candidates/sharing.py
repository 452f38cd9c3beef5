"""Models that share work: what they promise, and which members of a family are fitted or evaluated together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from pacband.core.progress import Progress

__all__ = ["Group", "SharesWork", "groups_that_share"]


class SharesWork(Protocol):
    """A class whose models are faster together than one by one, with the same results.

    `fit_grid` stands for `fit`, `predict_grid` for `predict`. A class may have only one of them. A subclass that
    overrides `fit` inherits a `fit_grid` that does not call it, so its models are fitted one by one; likewise for
    `predict`.
    """

    def fit_grid(self, X: Any, y: Any, grid: Sequence[Mapping[str, Any]]) -> list[Self]:
        """Return, for each set of parameters, what `fit` of a clone with these parameters returns."""

    @staticmethod
    def predict_grid(members: Sequence[Any], X: Any, *, progress: Progress | None = None) -> list[tuple[Any, Any]]:
        """Return, for each fitted model, what its ``predict(X, return_std=True)`` returns.

        Calls `progress` with (done, total), in units of its own.
        """


@dataclass(frozen=True)
class Group:
    """Members whose predictors share work.

    Attributes
    ----------
    models : list
        The predictors, each once.
    positions : dict of str to int
        For the name of each member, where its predictor is in `models`.
    """

    models: list[Any]
    positions: dict[str, int]


def groups_that_share(predictors: Mapping[str, Any], method: Literal["fit_grid", "predict_grid"]) -> list[Group]:
    """Return the members in groups that share work; a predictor that shares none is a group of one model.

    Parameters
    ----------
    predictors : mapping of str to estimator or function
        The predictor of each member. Several members may have the same object.
    method : str
        The method of `SharesWork` that is to be called.

    Examples
    --------
    >>> from pacband import LocalRidge
    >>> near, far = LocalRidge(decay=5.0), LocalRidge(decay=1.0)
    >>> groups = groups_that_share({"near": near, "far": far, "near, scaled": near, "abs": abs}, "fit_grid")
    >>> [group.positions for group in groups]
    [{'near': 0, 'far': 1, 'near, scaled': 0}, {'abs': 0}]
    """
    groups: dict[Any, Group] = {}
    # Predictors are compared by identity: equal declarations are different models, and some cannot be hashed.
    positions: dict[int, int] = {}
    for name, predictor in predictors.items():
        kind = type(predictor)
        group = groups.setdefault(kind if _shares_work(kind, method) else id(predictor), Group([], {}))
        if id(predictor) not in positions:
            positions[id(predictor)] = len(group.models)
            group.models.append(predictor)
        group.positions[name] = positions[id(predictor)]
    return list(groups.values())


def _shares_work(kind: type, method: str) -> bool:
    """Whether the class has the method, and does not override, below it, what the method stands for."""
    owner = next((base for base in kind.__mro__ if method in vars(base)), None)
    single = method.removesuffix("_grid")
    return owner is not None and getattr(kind, single, None) is getattr(owner, single, None)
