"""What a certificate gives to its successor in a chain: its draws, the next place, and the δ of the whole chain."""

from __future__ import annotations

from pacband.certificate import AnyCertificate
from pacband.certification.terms import check_draws
from pacband.draws import DrawKind, Draws, Units, Weighted
from pacband.draws.declaring import declare
from pacband.draws.kinds import RowDraws, SpacedDraws, UnitDraws, WeightedDraws
from pacband.exceptions import InvalidInput

__all__ = ["chain_delta", "drawn_as", "next_generation", "same_draws"]


def same_draws(kind: DrawKind, draws: Draws | None) -> Draws:
    """Return the draws of the successor, or raise unless they are what the predecessor promises about."""
    if draws is None and isinstance(kind, (RowDraws, SpacedDraws)):
        return declare(kind)
    given = check_draws(draws).kind
    if isinstance(kind, UnitDraws) and isinstance(draws, Units) and draws.kind.within == kind.within:
        # The successor calls its units as the predecessor does. Its seed may be another.
        return Units(draws.labels, kind.within, name=kind.unit, random_state=draws.kind.seed)
    if draws is not None and (given == kind or (isinstance(kind, WeightedDraws) and isinstance(draws, Weighted))):
        return draws
    raise InvalidInput(
        f"the successor needs the draws of its predecessor: {kind.description}; got: {given.description}."
    )


def drawn_as(kind: DrawKind, draws: Draws) -> Draws:
    """Return draws with the seed and the bound of another certificate: if its rows are the same, so are its draws."""
    if isinstance(kind, UnitDraws) and isinstance(draws, Units):
        return declare(kind, draws.labels)
    if isinstance(kind, WeightedDraws) and isinstance(draws, Weighted) and kind.interval == draws.kind.interval:
        return declare(kind, *draws.row_values)
    return draws


def next_generation(before: AnyCertificate) -> int:
    """Return the place of the successor in its chain."""
    return next(iter(before.parts.values())).generation + 1


def chain_delta(before: AnyCertificate) -> float:
    """Return the δ of the whole chain: the first certificate has half of it."""
    part = next(iter(before.parts.values()))
    delta = part.chain_delta or 2.0 * part.delta
    if delta >= 1.0:
        raise InvalidInput(f"a chain needs a first certificate with delta below 1/2, got {part.delta:g}.")
    return delta
