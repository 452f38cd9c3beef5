"""Calibration needs rows that the model has not seen: refuse rows that were used in training."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import name_rows
from pacband.core.row_hashes import Fingerprints, row_bits, row_fingerprints
from pacband.core.row_repeats import Chance, chance_of_repeats
from pacband.exceptions import InvalidInput, ReusedData

__all__ = ["SeenRows", "check_predicted", "read_training", "refuse_copies", "refuse_reused_rows"]

# If at most `_STATES` distinct rows occur at least `_OFTEN` times in training, they are states of a system, such as all
# zeros when a machine is at rest. Copies of a single row are not so many.
_STATES, _OFTEN = 3, 20
# Fewer calibration rows than this do not show how often rows agree by chance. Then the training rows are used.
_ROWS_TO_JUDGE = 200
# The cells that are compared with the training rows at a time. They take 64 MB.
_CELLS_COMPARED = 1 << 23


def read_training(training: Any, rows: str) -> tuple[Fingerprints, tuple[Any, Any] | None]:
    """Return the fingerprints of training rows that a user passed, and the rows, if they were passed; or raise.

    `rows` is what a pair of them is called: "(X, y)".
    """
    if isinstance(training, np.ndarray) and training.dtype == np.uint64 and training.ndim == 1:
        return training, None
    if not isinstance(training, (tuple, list)) or len(training) != 2:
        raise InvalidInput(
            f"training must be a pair {rows} of the rows fitted on, or their fingerprints (training_rows_), got "
            f"{type(training).__name__}."
        )
    found = row_fingerprints(training[0], training[1])
    if found is None:
        raise InvalidInput(f"training must be a pair {rows} of tables with as many rows each.")
    return found, (training[0], training[1])


def check_predicted(training: tuple[Any, Any], seen: Fingerprints, calibration: tuple[Any, Any]) -> None:
    """Raise unless training rows are (y_pred, y), as the calibration rows are: not (X, y), and not (y, y_pred).

    Rows in another form agree with no calibration row, so that reused rows would not be noticed. `seen` are the
    fingerprints of the training rows.
    """
    shapes = [tuple(np.shape(part)[1:]) for part in (training[0], calibration[0])]
    given, wanted = ({(): (1,)}.get(shape, shape) for shape in shapes)
    if given != wanted:
        raise InvalidInput(
            "training must be a pair (y_pred, y): the predictions of the rows fitted on, and their targets. y_pred has "
            f"shape {np.shape(calibration[0])}, got {np.shape(training[0])} in training."
        )
    rows, swapped = row_fingerprints(*calibration), row_fingerprints(training[1], training[0])
    if rows is None or swapped is None or len(np.unique(rows)) <= len(rows) / 2 or np.isin(rows, seen).any():
        return
    try:
        refuse_reused_rows(swapped, rows, calibration, fitted=(training[1], training[0]))
    except ReusedData:
        raise InvalidInput(
            "training must be a pair (y_pred, y), got (y, y_pred): in the other order, calibration rows are among them."
        ) from None
    targets, fitted = (row_fingerprints(y, y) for y in (calibration[1], training[1]))
    if targets is not None and fitted is not None and all(map(_are_measured, (calibration[1], training[1]))):
        reused = np.isin(targets, fitted)
        if reused.mean() > 0.5:
            raise InvalidInput(
                f"training must be a pair (y_pred, y): {reused.sum()} of the {len(reused)} calibration rows have a "
                "target of training, and none has its first part, which must be the predictions of the model."
            )


def _are_measured(y: Any) -> bool:
    """Return whether targets are fractions that hardly repeat, so that two rows do not share one by chance."""
    try:
        values = np.asarray(y, dtype=np.float32)
    except (TypeError, ValueError):
        return False
    return len(np.unique(values)) > 0.9 * values.size and bool(np.mean(values != np.round(values)) > 0.9)


def refuse_reused_rows(
    training: Fingerprints | None,
    calibration: Fingerprints | None,
    table: tuple[Any, Any],
    *,
    fitted: tuple[Any, Any] | None = None,
) -> None:
    """Raise `ReusedData` if calibration rows were used in training.

    Tables with repeated rows share some rows by chance. Their number is estimated from the calibration rows (X, y),
    `table`, and from the training rows (X, y), `fitted`, if they are given.

    A few calibration rows alone do not show it. Then the fingerprints of the training rows do. By Good and Turing, a
    new row equals a training row with probability about p, the share of training rows that are not the only one of
    their kind. The limit is five standard deviations above the expected number. Training rows may have been repeated on
    purpose, so p is at most one half, unless less than a fifth of the training rows are distinct.

    If training rows are all distinct, a single shared row is refused. The training set itself is refused. Rows
    in a frequent state, such as all zeros when a machine is at rest, do not count.
    """
    if training is None or calibration is None:
        return
    seen = _find_seen(calibration, training)
    if not seen.any():
        return
    few = fitted is None and len(calibration) < _ROWS_TO_JUDGE
    chance = None if few else chance_of_repeats(table, *([] if fitted is None else [fitted]))
    if chance is None:
        allowed = _limit_by_good_and_turing(training, len(calibration))
    else:
        allowed = chance.most(len(training), len(calibration))
    if seen.sum() > allowed or np.array_equal(np.sort(calibration), np.sort(training)):
        raise ReusedData(
            f"calibration needs rows the model has not seen: of {len(calibration)} calibration rows, these were "
            f"also used to fit it: {name_rows(seen)}."
        )


def refuse_copies(training: Fingerprints | None, calibration: Fingerprints | None, chance: Chance | None) -> None:
    """Raise `ReusedData` if a random split of one table put copies of the same row on both sides."""
    if training is None or calibration is None or chance is None:
        return
    copies = int(np.count_nonzero(_find_seen(calibration, training)))
    if copies > chance.most(len(training), len(calibration)):
        raise ReusedData(
            f"fit needs every row once: of the {len(calibration)} rows that it kept for calibration, {copies} are "
            "copies of rows that it trains on, in every column and in y. Drop the copies first, such as by "
            "drop_duplicates(), or pass calibration=(X_cal, y_cal) with rows that are not in X. If rows repeat by "
            "nature, fit the model by itself, and certify it by CertifiedRegressor(model).calibrate(X_cal, y_cal)."
        )


class SeenRows:
    """Counts the rows that a model was fitted on, in large batches: every comparison sorts the training rows.

    Attributes
    ----------
    n_rows : int
        How many rows the model was fitted on.
    reused : bool
        Whether they are more than chance explains.
    """

    def __init__(self, training: Fingerprints | None) -> None:
        self._training = training
        self._waiting: list[tuple[Fingerprints, Fingerprints]] = []
        self._sorted: Fingerprints | None = None
        self.n_rows, self.reused = 0, False

    def add(self, X: Any, y: Any) -> None:
        """Add some rows. They are compared when there are enough of them."""
        if self._training is None or not len(self._training) or (bits := row_bits(X, y)) is None:
            return
        self._waiting.append(bits)
        if sum(part.size for rows in self._waiting for part in rows) >= _CELLS_COMPARED:
            self.compare()

    def find(self, X: Any, y: Any) -> int:
        """Return how many of a few rows the model was fitted on; 0 if they are no more than chance explains.

        The training rows are sorted once, so that this is quick for one row after another. Counts nothing.
        """
        if self._training is None or not len(self._training) or (rows := row_fingerprints(X, y)) is None:
            return 0
        if self._sorted is None:
            self._sorted = np.sort(self._training)
        places = np.searchsorted(self._sorted, rows).clip(max=len(self._sorted) - 1)
        found = int(np.count_nonzero(self._sorted[places] == rows))
        if found:
            try:
                refuse_reused_rows(self._training, rows, (X, y))
            except ReusedData:
                return found
        return 0

    def compare(self) -> None:
        """Compare the rows that were added since the last comparison."""
        if not self._waiting or self._training is None:
            return
        X, y = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        self._waiting = []
        rows = row_fingerprints(X, y)
        assert rows is not None  # they are arrays
        self.n_rows += int(np.isin(rows, self._training).sum())
        try:
            refuse_reused_rows(self._training, rows, (X, y))
        except ReusedData:
            self.reused = True


def _find_seen(calibration: Fingerprints, training: Fingerprints) -> npt.NDArray[np.bool_]:
    """Return which calibration rows are training rows, without rows in one of a few frequent states."""
    kinds, times = np.unique(training, return_counts=True)
    states = kinds[times >= _OFTEN]
    seen = np.isin(calibration, kinds)
    return seen & ~np.isin(calibration, states) if len(states) <= _STATES else seen


def _limit_by_good_and_turing(training: Fingerprints, n_calibration: int) -> float:
    """Return how many of so many new rows may equal a training row by chance."""
    _, counts = np.unique(training, return_counts=True)
    repeated = 1.0 - int(np.count_nonzero(counts == 1)) / len(training)
    if len(counts) > len(training) / 5:
        repeated = min(repeated, 0.5)
    expected = repeated * n_calibration
    return expected + 5.0 * math.sqrt(expected * (1.0 - repeated)) + 3.0 if repeated else 0.0
