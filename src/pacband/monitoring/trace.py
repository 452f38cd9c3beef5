"""A short summary of a long stream: the number of violations at evenly spaced rows, at most a few hundred of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["Trace"]

_MOST = 256


class Trace:
    """The number of violations after every k·stride rows. The stride doubles as the stream grows.

    The trace does not depend on how the stream was cut into batches.
    """

    __slots__ = ("_points", "_text")

    def __init__(self, points: list[tuple[int, int]] | None = None) -> None:
        self._points = list(points or [])
        self._text: str | None = None

    @property
    def points(self) -> list[tuple[int, int]]:
        """Pairs (rows, violations)."""
        return list(self._points)

    def encode(self) -> str:
        """Return the points as text, '256:11 512:20'. A schema checks one text faster than many numbers."""
        if self._text is None:
            self._text = " ".join(f"{rows}:{violations}" for rows, violations in self._points)
        return self._text

    @classmethod
    def decode(cls, text: str) -> Trace:
        """Return the trace of a text from `encode`."""
        pairs = (point.split(":") for point in text.split())
        return cls([(int(rows), int(violations)) for rows, violations in pairs])

    def leads_to(self, rows: int, violations: int) -> bool:
        """Return whether the points can belong to a stream that now has these numbers of rows and violations."""
        points = [(0, 0), *self._points, (rows, violations)]
        return all(0 <= after[1] - before[1] <= after[0] - before[0] for before, after in pairwise(points))

    def extend(self, rows: int, violations: int, new_rows: int, positions: npt.NDArray[np.int64]) -> None:
        """Add `new_rows` rows, with violations at `positions`, to a stream that has `rows` and `violations`."""
        total = rows + new_rows
        self._text = None
        stride = _stride(total)
        if stride > _stride(rows):
            self._points = [point for point in self._points if point[0] % stride == 0]
        if rows // stride == total // stride:
            return
        marks = np.arange(rows // stride + 1, total // stride + 1) * stride
        counts = violations + np.searchsorted(positions, marks - rows)
        self._points += zip(marks.tolist(), counts.tolist(), strict=True)


def _stride(rows: int) -> int:
    """Return the smallest power of two that divides this number of rows into at most `_MOST` pieces."""
    return 1 << max(0, (rows - 1) // _MOST).bit_length()
