"""A short memory of a long stream: violations counted at evenly spaced rows, never more than a few hundred of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["Trace"]

_MOST = 256


class Trace:
    """How many violations there were after every k·stride rows; the stride doubles as the stream grows.

    It depends on the stream alone and not on how it was cut into batches.
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
        """Return the points as text, '256:11 512:20': one value, which is checked and read at once."""
        if self._text is None:
            self._text = " ".join(f"{rows}:{violations}" for rows, violations in self._points)
        return self._text

    @classmethod
    def decode(cls, text: str) -> Trace:
        """Undo `encode`."""
        pairs = (point.split(":") for point in text.split())
        return cls([(int(rows), int(violations)) for rows, violations in pairs])

    def leads_to(self, rows: int, violations: int) -> bool:
        """Whether the points can be those of a stream that now has so many rows and violations."""
        points = [(0, 0), *self._points, (rows, violations)]
        return all(0 <= after[1] - before[1] <= after[0] - before[0] for before, after in pairwise(points))

    def extend(self, rows: int, violations: int, new_rows: int, positions: npt.NDArray[np.int64]) -> None:
        """Note `new_rows` that come after so many rows with so many violations, and are violations at `positions`."""
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
    """Return the smallest power of two that cuts so many rows into few enough pieces."""
    return 1 << max(0, (rows - 1) // _MOST).bit_length()
