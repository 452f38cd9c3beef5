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
    """What one draw is called, what a test on fresh data counts, and what each draw adds to its probability of error.

    Attributes
    ----------
    noun : str
        "row", "run", "machine".
    tested : str
        "rows", "runs", "machines", "rows that are 24 apart".
    dependence : float
        β(a) of a series whose mixing was declared; else zero.
    """

    noun: str = "row"
    tested: str = "rows"
    dependence: float = 0.0


ROW_WORDS = DrawWords()


def draw_words(basis: Promise) -> DrawWords:
    """Return the words for the draws of a promise. If the promise is about whole runs, a row of the arrays is a run."""
    kind = basis.draws
    if basis.n_steps is None or isinstance(kind, UnitDraws):
        return DrawWords(kind.noun, kind.tested, kind.dependence(1))
    return DrawWords(kind.noun.replace("row", "run"), kind.tested.replace("rows", "runs"), kind.dependence(1))
