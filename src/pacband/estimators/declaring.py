"""The candidates of a family, as the user declares them: by name, over a grid of parameters, or "auto"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from pacband.candidates.members import Member, has_return_std
from pacband.certificate.family import check_candidates, split_candidate
from pacband.exceptions import InvalidInput

__all__ = ["declare_candidates", "grid_candidates", "is_auto"]


def is_auto(candidate: Any) -> bool:
    """Whether a candidate is the automatic family."""
    return isinstance(candidate, str) and candidate == "auto"


def declare_candidates(candidates: Any) -> dict[str, Member]:
    """Return the candidates as members, or raise unless they are a mapping of names, or "auto"."""
    named = {"auto": "auto"} if is_auto(candidates) else candidates
    if not isinstance(named, Mapping) or not named:
        raise InvalidInput(
            "candidates must be a non-empty mapping of names to estimators or (estimator, scale), or 'auto', "
            f"got {candidates!r}."
        )
    check_candidates(named)
    return {name: _member(candidate) for name, candidate in named.items()}


def grid_candidates(
    estimator: Any, param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]], scale: Any
) -> dict[str, Any]:
    """Return one candidate for every point of a grid, by names such as "alpha=0.1, decay=1"."""
    if is_auto(scale):
        scale = "std" if has_return_std(estimator) else None
    candidates: dict[str, Any] = {}
    for point in ParameterGrid(param_grid):
        name = ", ".join(f"{parameter}={value}" for parameter, value in point.items())
        if name in candidates:
            # Long values, such as matrices, may be shortened to the same words.
            name = f"{name} #{len(candidates) + 1}"
        candidates[name] = (clone(estimator).set_params(**point), scale)
    return candidates


def _member(candidate: Any) -> Member:
    if is_auto(candidate):
        # Imported here because it loads modules that other families do not need.
        from pacband.candidates.automatic import Automatic

        return Member(Automatic())
    return Member(*split_candidate(candidate, "estimator"))
