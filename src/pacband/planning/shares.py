"""How one δ is shared: evenly, by weights, over groups, and along a chain of certificates.

If certificate j fails with a probability of at most δ·w_j, and the w_j sum to at most one, then all certificates hold
together with confidence 1 − δ (union bound). Every share is an exact fraction: before and after a fit, the same number
decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

from pacband.exceptions import InvalidInput

__all__ = ["WHOLE", "DeltaShare", "rounded_down", "rounded_up", "successor_delta", "weighted_shares"]


@dataclass(frozen=True, slots=True)
class DeltaShare:
    """The part of δ that one certificate may use: a weight, or the even part of n_F candidates.

    Attributes
    ----------
    n_candidates : int
        The number n_F of certificates that share δ.
    weight : float or None
        The part of this one; None is 1/n_F.
    """

    n_candidates: int = 1
    weight: float | None = None

    @property
    def fraction(self) -> Fraction:
        """The part, exactly."""
        return Fraction(1, self.n_candidates) if self.weight is None else Fraction(self.weight)

    def budget(self, delta: float) -> Fraction:
        """Return the failure probability that the certificate may have, exactly."""
        return Fraction(delta) * self.fraction

    def own_delta(self, delta: float) -> float:
        """Return the budget as a float, rounded down."""
        return rounded_down(self.budget(delta))

    def among(self, n_groups: int) -> DeltaShare:
        """Return the even part of this share that each of several groups may use.

        Examples
        --------
        >>> DeltaShare(3).among(4)
        DeltaShare(n_candidates=12, weight=None)
        """
        if n_groups == 1:
            return self
        if self.weight is not None:
            raise InvalidInput("weights cannot be combined with groups: every group of a candidate has an even share.")
        return DeltaShare(self.n_candidates * n_groups)


WHOLE = DeltaShare()


def weighted_shares(weights: Mapping[str, float] | Iterable[float] | None, names: list[str]) -> dict[str, DeltaShare]:
    """Return the share of every candidate: even, or by weights that are positive and sum to one.

    The sum may differ from one by rounding: weights are divided by their sum, and rounded down.

    Examples
    --------
    >>> weighted_shares(None, ["a", "b"])["b"].fraction
    Fraction(1, 2)
    >>> weighted_shares({"b": 0.25, "a": 0.75}, ["a", "b"])["b"].fraction
    Fraction(1, 4)
    """
    if weights is None:
        return dict.fromkeys(names, DeltaShare(len(names)))
    keys, given = _named_weights(weights, names)
    if sorted(map(str, keys)) != sorted(names) or set(keys) != set(names) or len(given) != len(names):
        by_position = "" if keys is names else ", matched by name: pass a list to match by position"
        raise InvalidInput(f"weights must have one value for each of {names}, got {weights!r}{by_position}.")
    if not all(isinstance(weight, Real) for weight in given):
        raise InvalidInput(f"weights must be numbers, got {weights!r}.")
    values = {name: float(weight) for name, weight in zip(keys, given, strict=True)}
    if not all(0.0 < value <= 1.0 for value in values.values()) or abs(sum(values.values()) - 1.0) > 1e-9:
        raise InvalidInput(f"weights must be positive and sum to 1, got {weights!r}.")
    total = sum(map(Fraction, values.values()), Fraction(0))
    return {name: DeltaShare(len(names), rounded_down(Fraction(value) / total)) for name, value in values.items()}


def successor_delta(chain_delta: float, generation: int) -> Fraction:
    """Return the δ of the k-th certificate of a chain, k ≥ 2: Δ/(2k(k − 1)), where Δ is the δ of the whole chain.

    The first certificate of a chain has δ = Δ/2. Since 1/2 + 1/6 + 1/12 + … = 1, the others together have no more than
    Δ/2: all certificates hold together with confidence 1 − Δ, however long the chain becomes.
    """
    return Fraction(chain_delta) / 2 / (generation * (generation - 1))


def rounded_down(value: Fraction) -> float:
    """Return the largest float that is at most this value: rounded shares never sum to more than one."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)


def rounded_up(value: Fraction) -> float:
    """Return the smallest float that is at least this value."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def _named_weights(weights: Any, names: list[str]) -> tuple[list[Any], list[Any]]:
    """Return names and weights. What has names of its own (a mapping, a pandas Series) is matched by these."""
    if hasattr(weights, "keys") and hasattr(weights, "items"):
        pairs = list(weights.items())
        return [key for key, _ in pairs], [weight for _, weight in pairs]
    if isinstance(weights, (Set, str)) or not isinstance(weights, Iterable):
        raise InvalidInput(f"weights must be a mapping or a sequence, got {weights!r}.")
    return names, list(weights)
