"""What a promise assumes, and what breaks each assumption."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from pacband.certificate.promise import Promise

__all__ = ["Caveat", "caveats_of"]

_SEEN = "It does not hold if anything was fitted, tuned, selected or stopped early on these rows."
_TRIED = "It does not hold if several were tried and the best was kept, unless all of them were counted as candidates."
_FITTED_TOLERANCE = (
    "It does not hold if the tolerance was chosen after looking at these errors. Then choose from a bound that holds "
    "for every ε at once."
)


@dataclass(frozen=True)
class Caveat:
    """An assumption of the promise, and what breaks it."""

    assumption: str
    breaker: str


def caveats_of(basis: Promise) -> tuple[Caveat, ...]:
    """Return the assumptions of a promise: about the draws, about the model, about what was chosen, and others.

    What breaks them follows from the promise. The sentences of a file may be those of an earlier version.
    """
    breakers = basis.draws.breaker, _SEEN, _FITTED_TOLERANCE if basis.bound_given else _TRIED
    pairs = zip_longest(basis.assumptions, breakers[: len(basis.assumptions)], fillvalue="")
    return tuple(Caveat(assumption, breaker) for assumption, breaker in pairs)
