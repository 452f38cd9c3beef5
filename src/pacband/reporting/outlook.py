"""How many of the next rows exceed the bound, at most: the number and the words for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pacband.certificate import AnyCertificate, GroupCertificate, Promise
from pacband.core.wording import confidence
from pacband.draws.kinds import SpacedDraws, UnitDraws
from pacband.exceptions import InvalidInput

__all__ = ["DEFAULT_ROWS", "Outlook", "outlook_of"]

DEFAULT_ROWS = 1000


@dataclass(frozen=True)
class Outlook:
    """At most `violations` of the next `n_future` draws exceed the bound, with confidence 1 − δ.

    If every group has its own bound, the rows are those of one group, whichever it is, and `violations` is the largest
    number over the groups.
    """

    n_future: int
    violations: int
    delta: float
    grouped: bool
    draws: str = "rows"

    def __str__(self) -> str:
        group = " of any one group" if self.grouped else ""
        exceed = "exceed" if self.violations != 1 else "exceeds"
        window = f"the next {self.n_future:,} {self.draws}{group}"
        return f"With confidence {confidence(self.delta)}, at most {self.violations:,} of {window} {exceed} the bound."

    def to_dict(self) -> dict[str, Any]:
        """Return the outlook as JSON-ready values."""
        return {**asdict(self), "text": str(self)}


def outlook_of(certificate: AnyCertificate, n_future: int | None) -> Outlook | None:
    """Return the outlook over so many rows; by default over 1,000 for one bound, and none for groups and curves.

    By default there is none, either, if the declared dependence of so many draws uses up δ.
    """
    grouped = isinstance(certificate, GroupCertificate)
    if n_future is None:
        if grouped or not certificate.basis.eps_was_chosen:
            return None
        try:
            return outlook_of(certificate, DEFAULT_ROWS)
        except InvalidInput:
            return None
    found = certificate.outlook(n_future)
    violations = found if isinstance(found, int) else max(found.values())
    return Outlook(n_future, violations, certificate.delta, grouped, _name_draws(certificate.basis))


def _name_draws(basis: Promise) -> str:
    kind, many = basis.draws, "rows" if basis.n_steps is None else "runs"
    if isinstance(kind, SpacedDraws):
        return f"{many}, {kind.gap} apart,"
    if isinstance(kind, UnitDraws):
        return f"{many}, one of every {kind.noun}," if kind.within == "one" else kind.plural
    return many
