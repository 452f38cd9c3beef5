"""What a promise assumes, and what breaks each assumption."""

from __future__ import annotations

from dataclasses import dataclass

from pacband.certificate.promise import ASSUMPTIONS, GIVEN_BOUND, OWN_SCORES, Promise

__all__ = ["Caveat", "caveats_of"]

BREAKERS = dict(
    zip(
        (*ASSUMPTIONS, *OWN_SCORES, GIVEN_BOUND),
        (
            "It does not hold for time series, under drift, for several measurements of one unit, or for a population "
            "that was not sampled.",
            "It does not hold if anything was fitted, tuned, selected or stopped early on these rows.",
            "It does not hold if several were tried and the best was kept, unless all of them were counted as "
            "candidates.",
            "It does not hold for time series, under drift, for several measurements of one unit, or for a population "
            "that was not sampled.",
            "It does not hold if anything was fitted, tuned, selected or stopped early on these rows.",
            "It does not hold if the tolerance was chosen after looking at these errors. Then choose from a bound that "
            "holds for every ε at once.",
        ),
        strict=True,
    )
)


@dataclass(frozen=True)
class Caveat:
    """An assumption of the promise, and what breaks it."""

    assumption: str
    breaker: str


def caveats_of(basis: Promise) -> tuple[Caveat, ...]:
    """Return the assumptions of a promise."""
    return tuple(Caveat(assumption, BREAKERS.get(assumption, "")) for assumption in basis.assumptions)
