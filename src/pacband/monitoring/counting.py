"""From the rows of a stream to its draws. What is not counted yet is held from one batch to the next.

The result does not depend on how the stream is cut into batches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.core.labels import Label
from pacband.draws import Draws
from pacband.exceptions import CertificateError, InvalidInput
from pacband.judging.judge import Judge, Judged

__all__ = ["Counted", "Counting", "EveryRow", "SpacedRows"]

# For every group that has new draws, whether each of them is a violation; and its new rows without a label.
Counted: TypeAlias = dict[Label | None, tuple[npt.NDArray[np.bool_], int]]


class Counting(ABC):
    """Makes draws of the rows of a stream."""

    @abstractmethod
    def count(self, judged: Judged, draws: Draws | None, complete: Any) -> Counted:
        """Return the draws that some rows complete. If an error is raised, nothing has changed."""

    def finish(self) -> Counted:
        """Return the draws that are still held: the stream has ended."""
        return {}

    @property
    def open_units(self) -> tuple[Label, ...]:
        """The units that are held."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return what is held, as JSON-ready values; nothing for rows."""
        return {}

    def restore(self, content: Mapping[str, Any] | None) -> None:
        """Set what is held, from `to_dict`."""
        if content is not None:
            raise CertificateError("it holds rows back, but every row of its certificate is a draw.")

    @abstractmethod
    def merged(self, parts: Sequence[Self]) -> Self:
        """Return what several monitors hold together, or raise if they cannot be merged."""


class EveryRow(Counting):
    """Every fresh row is a draw of the future distribution. So it is for weighted draws as well."""

    def count(self, judged: Judged, draws: Draws | None, complete: Any) -> Counted:
        """Return all rows."""
        _refuse_complete(complete)
        if draws is not None:
            raise InvalidInput("draws were given, but every fresh row is a draw of this certificate.")
        violated = judged.by_part(judged.violated)
        without = zip(judged.labels, judged.unlabelled.tolist(), strict=True)
        return {label: (violated[label], n_rows) for label, n_rows in without}

    def merged(self, parts: Sequence[Self]) -> Self:
        """Return a new one: nothing is held."""
        return type(self)()


class SpacedRows(Counting):
    """Every gap-th row of the stream is a draw. The rows come in the order of time, each of them once.

    A draw without a label is not counted, and the next draw is the one after it.
    """

    def __init__(self, gap: int, judge: Judge) -> None:
        self.gap, self._judge = gap, judge
        # Rows since the last draw.
        self._offset = 0

    def count(self, judged: Judged, draws: Draws | None, complete: Any) -> Counted:
        """Return the draws among some rows, or raise if other draws are declared."""
        _refuse_complete(complete)
        self._judge.draws_of(draws)
        rows = np.arange(judged.n_rows) if judged.rows is None else judged.rows
        counted = (rows + self._offset + 1) % self.gap == 0
        n_draws, self._offset = divmod(self._offset + judged.n_rows, self.gap)
        return {None: (judged.violated[counted], n_draws - int(np.count_nonzero(counted)))}

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows since the last draw."""
        return {"held": {"rows": self._offset}}

    def restore(self, content: Mapping[str, Any] | None) -> None:
        """Set the number of rows since the last draw."""
        if content is None or content.keys() != {"rows"} or content["rows"] >= self.gap:
            raise CertificateError(f"it must hold back fewer rows than the gap, {self.gap}, got {content!r}.")
        self._offset = content["rows"]

    def merged(self, parts: Sequence[Self]) -> Self:
        """Raise: rows of two monitors may be close to each other in time."""
        raise InvalidInput(
            f"monitors of a series cannot be merged: rows of different monitors may be less than {self.gap} apart."
        )


def _refuse_complete(complete: Any) -> None:
    """Raise if units are declared complete where draws are no units."""
    if complete is not None:
        raise InvalidInput("complete was given, but this certificate makes no promise about units.")
