"""The request to `certify_frame`: the terms of the promise, and the columns that are certified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pacband.certificate.family import check_candidates, split_candidate
from pacband.certification.own_scores import own_terms
from pacband.certification.terms import Terms
from pacband.certification.tolerance import ToleranceTerms, default_eps, refuse_with_tolerance
from pacband.exceptions import InvalidInput
from pacband.planning.shares import DeltaShare
from pacband.scores import ScoreRule
from pacband.scores.columns import Columns
from pacband.tables.columns import columns_of, group_columns

__all__ = ["Asked", "make_terms", "named_columns", "score_column"]


@dataclass(frozen=True)
class Asked:
    """What is asked for, and about which columns of a table.

    Attributes
    ----------
    terms : Terms or ToleranceTerms
        The terms of the promise.
    named : mapping of str to Columns
        The columns of every candidate; of a single one, under the empty name.
    shares : mapping of str to DeltaShare or None
        The share of δ of every candidate; None without candidates.
    """

    terms: Terms | ToleranceTerms
    named: Mapping[str, Columns]
    shares: Mapping[str, DeltaShare] | None

    @property
    def first(self) -> Columns:
        """The columns of the first candidate, or of the single one. Groups, runs and steps are those of all."""
        return next(iter(self.named.values()))

    @property
    def numeric(self) -> list[str]:
        """The columns of numbers. A column that several candidates have is there for each of them."""
        numeric = [name for columns in self.named.values() for name in columns.numeric]
        return numeric if self.first.step is None else [*numeric, self.first.step]

    @property
    def columns(self) -> list[str]:
        """All columns that are read, each once, with those of the draws."""
        names = [name for columns in self.named.values() for name in columns.all]
        return list(dict.fromkeys([*names, *self.terms.draws.columns]))


def make_terms(
    promised: Mapping[str, Any], scored: Mapping[str, Any], tolerance: Any, *, own: bool
) -> Terms | ToleranceTerms:
    """Check what a user passed, or raise."""
    if own:
        gauge = scored["gauge"]
        given = scored["side"] != "both" or scored["min_scale"] is not None or scored["clip"] is not None
        if given or not isinstance(gauge, str) or gauge != "max":
            raise InvalidInput("side, min_scale, gauge and clip are about errors: own scores are bounded as they are.")
        return own_terms(**promised, tolerance=tolerance)
    if tolerance is None:
        return Terms.create(**{**promised, "eps": default_eps(promised["eps"])}, **scored)
    refuse_with_tolerance(rank=promised["rank"], rule=promised["rule"], eps=promised["eps"])
    scoring = ScoreRule.create(**scored, nonfinite=promised["nonfinite"])
    return ToleranceTerms.create(
        tolerance=tolerance,
        delta=promised["delta"],
        scoring=scoring,
        n_candidates=promised["n_candidates"],
        draws=promised["draws"],
        about=promised["about"],
    )


def named_columns(
    target: Any, prediction: Any, scale: Any, group: Any, candidates: Any, *, run: Any = None, step: Any = None
) -> dict[str, Columns]:
    """Return the columns of every candidate; of a single one, under the empty name."""
    if (run is None) != (step is None):
        raise InvalidInput("run and step need each other: a row is then one step of a run.")
    for name, given in (("run", run), ("step", step)):
        if given is not None and (not isinstance(given, str) or not given):
            raise InvalidInput(f"{name} must be the name of a column, got {given!r}.")
    if not target:
        raise InvalidInput(f"target must be the name of a column, got {target!r}.")
    if (prediction is None) == (candidates is None):
        raise InvalidInput("either prediction or candidates must be given, and not both.")
    if candidates is None:
        return {"": replace(columns_of(target, prediction, scale, group), run=run, step=step)}
    if scale is not None:
        raise InvalidInput("with candidates, each has its own scale: {'name': ('prediction', 'scale')}.")
    check_candidates(candidates)
    return {
        name: replace(columns_of(target, *split_candidate(parts), of=f" of candidate {name!r}"), run=run, step=step)
        for name, parts in candidates.items()
    }


def score_column(score: Any, group: Any, *others: Any) -> dict[str, Columns]:
    """Return the column of own scores, which takes the place of the target."""
    if any(other is not None for other in others):
        raise InvalidInput("score cannot be combined with target, prediction, scale, candidates, run or step.")
    if not isinstance(score, str) or not score:
        raise InvalidInput(f"score must be the name of a column, got {score!r}.")
    return {"": Columns(target=(score,), prediction=(), **group_columns(group))}
