"""What one draw of a promise is called, and several: a row, a run of steps, a machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pacband.draws.kinds import UnitDraws

if TYPE_CHECKING:
    from pacband.certificate.promise import Promise

__all__ = ["ROW_WORDS", "DrawWords", "draw_words"]


@dataclass(frozen=True, slots=True)
class DrawWords:
    """What one draw is called, and what a test on fresh data counts.

    Attributes
    ----------
    noun : str
        "row", "run", "machine".
    tested : str
        "rows", "runs", "machines", "rows that are 24 apart".
    """

    noun: str = "row"
    tested: str = "rows"


ROW_WORDS = DrawWords()


def draw_words(basis: Promise) -> DrawWords:
    """Return the words for the draws of a promise. If the promise is about whole runs, a row of the arrays is a run."""
    kind = basis.draws
    if basis.n_steps is None or isinstance(kind, UnitDraws):
        return DrawWords(kind.noun, kind.tested)
    return DrawWords(kind.noun.replace("row", "run"), kind.tested.replace("rows", "runs"))
