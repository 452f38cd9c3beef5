"""What a user asks for, checked: the promise (ε, δ), the way to the rank, and the rule that scores rows.

The ranks follow from the terms and from numbers of rows alone: they are settled before any score is looked at, be
the rows in arrays or in an engine far away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Self

import numpy as np

from pacband.certificate import Certificate
from pacband.certificate.single import issue
from pacband.core.checks import check_probability
from pacband.core.labels import Label
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import plan
from pacband.scores import ScoreRule
from pacband.scores.columns import Columns
from pacband.selection import Measured

__all__ = ["Terms", "delta_shares", "rounded_down"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The options of every `certify` function."""

    eps: float
    delta: float
    rank: int | None
    rule: str
    scoring: ScoreRule

    @classmethod
    def create(
        cls,
        *,
        eps: float,
        delta: float,
        rank: int | None,
        rule: str,
        side: str,
        min_scale: Any,
        nonfinite: str,
        gauge: Any,
    ) -> Self:
        """Check what a user passed, or raise."""
        return cls(
            eps=check_probability("eps", eps),
            delta=check_probability("delta", delta),
            rank=rank,
            rule=rule,
            scoring=ScoreRule.create(side=side, gauge=gauge, min_scale=min_scale, nonfinite=nonfinite),
        )

    def single_rank(self, n_samples: int, n_candidates: int = 1) -> int:
        """Return the rank of one of n_F candidates with an even share of δ."""
        settled = plan(
            self.eps, self.delta, n_samples=n_samples, rank=self.rank, n_candidates=n_candidates, rule=self.rule
        )
        return settled.rank

    def family_ranks(self, n_samples: int, shares: Mapping[str, float | None]) -> dict[str, int]:
        """Return the rank of every candidate, each from its share of δ."""
        # What δ alone cannot carry, no share of it can.
        self.single_rank(n_samples)
        return {name: self._rank_of(name, share, n_samples, len(shares)) for name, share in shares.items()}

    def group_ranks(self, counts: Mapping[Label, int], n_candidates: int = 1) -> dict[Label, int]:
        """Return the rank within every group, each at an even share of δ."""
        ranks = {}
        # Many groups have as many rows as others.
        rank_of = cache(lambda n_samples: self.single_rank(n_samples, n_candidates * len(counts)))
        for label, n_samples in counts.items():
            try:
                ranks[label] = rank_of(n_samples)
            except NotEnoughSamples as error:
                raise error.within(f"group {label!r}") from None
        return ranks

    def certificate(
        self,
        measured: Measured,
        rank: int,
        *,
        n_outputs: int,
        scale_kind: str,
        n_candidates: int = 1,
        weight: float | None = None,
        columns: Columns | None = None,
    ) -> Certificate:
        """Issue the certificate of scores that were measured at this rank."""
        return issue(
            measured,
            n_outputs=n_outputs,
            rule=self.scoring,
            scale_kind=scale_kind,
            eps=self.eps,
            delta=self.delta,
            rank=rank,
            n_candidates=n_candidates,
            weight=weight,
            columns=columns,
        )

    def _rank_of(self, name: str, share: float | None, n_samples: int, n_candidates: int) -> int:
        if share is None:
            return self.single_rank(n_samples, n_candidates)
        delta = rounded_down(Fraction(self.delta) * Fraction(share))
        try:
            return plan(self.eps, delta, n_samples=n_samples, rank=self.rank, rule=self.rule).rank
        except NotEnoughSamples as error:
            raise error.within(f"candidate {name!r} with weight {share:g}") from None


def delta_shares(weights: Mapping[str, float] | Iterable[float] | None, names: list[str]) -> dict[str, float | None]:
    """Return the share of δ of every candidate; None is the even share."""
    if weights is None:
        return dict.fromkeys(names)
    keys, given = _named_weights(weights, names)
    if sorted(map(str, keys)) != sorted(names) or set(keys) != set(names) or len(given) != len(names):
        by_position = "" if keys is names else ", matched by name: pass a list to match by position"
        raise InvalidInput(f"weights must have one value for each of {names}, got {weights!r}{by_position}.")
    if not all(isinstance(weight, (int, float, np.number)) for weight in given):
        raise InvalidInput(f"weights must be numbers, got {weights!r}.")
    values = {name: float(weight) for name, weight in zip(keys, given, strict=True)}
    if not all(0.0 < value <= 1.0 for value in values.values()) or abs(sum(values.values()) - 1.0) > 1e-9:
        raise InvalidInput(f"weights must be positive and sum to 1, got {weights!r}.")
    total = sum(map(Fraction, values.values()), Fraction(0))
    return {name: rounded_down(Fraction(value) / total) for name, value in values.items()}


def _named_weights(weights: Any, names: list[str]) -> tuple[list[Any], list[Any]]:
    """Return names and weights; whatever has names of its own (a mapping, a pandas Series) is matched by these."""
    if hasattr(weights, "keys") and hasattr(weights, "items"):
        pairs = list(weights.items())
        return [key for key, _ in pairs], [weight for _, weight in pairs]
    if isinstance(weights, (Set, str)) or not isinstance(weights, Iterable):
        raise InvalidInput(f"weights must be a mapping or a sequence, got {weights!r}.")
    return names, list(weights)


def rounded_down(share: Fraction) -> float:
    """The float next below, so that the shares never sum to more than one."""
    value = float(share)
    return value if Fraction(value) <= share else math.nextafter(value, 0.0)
