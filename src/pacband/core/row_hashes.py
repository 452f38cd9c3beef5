"""Has the model seen these rows? Rows are compared by 64-bit fingerprints, in any kind of table.

Numbers are compared as float32, so that a copy of fewer bits is still known, and texts by their one spelling
(`pacband.core.cells`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import name_rows
from pacband.core.cells import canonical, number
from pacband.exceptions import ReusedData

__all__ = [
    "Chance",
    "Fingerprints",
    "chance_of_repeats",
    "equal_pairs",
    "refuse_copies",
    "refuse_reused_rows",
    "row_bits",
    "row_fingerprints",
]

Fingerprints: TypeAlias = npt.NDArray[np.uint64]

# Where rows can repeat by chance, so many times the estimate are let pass, for columns are not independent, and so many
# rows besides.
_GENEROUS, _SPARE = 10.0, 3
# How much likelier y agrees where X does, at most.
_CONCENTRATED = 5.0
# By rounding to float32, values of a continuum agree in this share of pairs, at most; and rows of one column and y in
# none of so many pairs, but for a probability of 1e-6.
_ROUNDED, _FEW_PAIRS = 1e-6, 5e7
# A table of at most so many different rows, each so many times on average, is a table of few kinds of rows.
_FEW_ROWS, _TIMES = 100, 10
# So many kinds of rows, at most, that come so often in training are states that rows are in, such as all zeros where a
# machine is at rest: nobody copies a single row so often.
_STATES, _OFTEN = 3, 20
# The columns that are left out in turn, at most.
_MOST_COLUMNS = 100
# Fewer rows than this do not show by themselves how often rows agree by chance; the training rows do.
_ROWS_TO_JUDGE = 200


def row_fingerprints(X: Any, y: Any) -> Fingerprints | None:
    """Return one fingerprint for every row (x, y), or None where the container is unknown to us.

    Equal rows have equal fingerprints; rows that differ by more than the rounding to float32, but for a chance of 2⁻⁶⁴
    a pair, do not.
    """
    bits = _table_bits(X, y)
    return None if bits is None else _mixed_columns([*bits[0], *bits[1]])


def row_bits(X: Any, y: Any) -> tuple[Fingerprints, Fingerprints] | None:
    """Return X and y in 8 bytes a cell, to use in their place in all functions here; None for unknown containers."""
    bits = _table_bits(X, y)
    return None if bits is None else (np.column_stack(bits[0]), np.column_stack(bits[1]))


@dataclass(frozen=True)
class Chance:
    """How often rows that were drawn independently agree in x and y.

    Attributes
    ----------
    rate : float
        The probability that two rows agree, at most; infinite where all may.
    spare : int
        Rows to let pass besides. It is zero where a column shows that independent rows never agree.
    """

    rate: float
    spare: int

    def most(self, n_training: int, n_calibration: int) -> float:
        """Return how many calibration rows may agree with a training row by chance, at most."""
        return min(float(n_calibration), n_training * n_calibration * self.rate + self.spare)


def chance_of_repeats(*tables: tuple[Any, Any]) -> Chance | None:
    """Return how often rows agree by chance, from rows (X, y) that may hold copies; None for unknown containers.

    Copies multiply all pairs of rows alike, but for those that agree in everything. So the pairs that agree in *almost*
    everything show how many agree in everything by chance. With q(c) the share of pairs that agree in column c,

    * of the pairs that agree in X and not in y, about one in (1 − q(y))/q(y) would have agreed in y as well;
    * of the pairs that agree in X but for column c, about one in (1 − q(c))/q(c) would have agreed in c as well, and
      so in y, if y follows from X.

    The larger of both, times a factor for columns that depend on each other, is the estimate; each count is taken at
    its upper limit of confidence. Where a column of X is a continuum, its values come once but for copies, and the
    chance is nil; so it is where y is one, though X repeats. A column of X is no continuum where X repeats and y does
    not, such as the place of a station. Columns that say the level of one category, one each, are one column here.
    """
    found = [_table_bits(*table) for table in tables]
    parts = [bits for bits in found if bits is not None]
    if len(parts) < len(found) or len({(len(x), len(y)) for x, y in parts}) != 1:
        return None
    x_columns = _levels_joined([np.concatenate(column) for column in zip(*(x for x, _ in parts), strict=True)])
    y_columns = [np.concatenate(column) for column in zip(*(y for _, y in parts), strict=True)]
    n = len(x_columns[0])
    if n < 2:
        return None
    pairs = n * (n - 1) // 2
    hashes = [_mixed(column ^ np.uint64(place)) for place, column in enumerate(x_columns)]
    whole_x, whole_y = _summed(hashes), _mixed_columns(y_columns)
    whole = _mixed_columns([whole_x, whole_y])
    _, times = np.unique(whole, return_counts=True)
    if len(times) <= min(_FEW_ROWS, n / _TIMES) and (len(times) == 1 or np.var(times) > np.mean(times) / 10):
        # Few kinds of rows. Copies of each would come equally often; draws do not.
        return Chance(math.inf, 0)
    agree, agree_x = equal_pairs(whole), equal_pairs(whole_x)
    agree_y = equal_pairs(whole_y) - agree
    nil = Chance(0.0, 0 if pairs < _FEW_PAIRS else _SPARE)
    varies = agree_x > agree
    if varies and any(_is_continuum(column) for column in y_columns) and agree_y <= _ROUNDED * pairs:
        return nil
    own_pairs = [equal_pairs(column) - agree_x for column in x_columns]
    lone = len(x_columns) == 1
    rare = agree_x - agree <= _ROUNDED * pairs
    if rare and any(own <= _ROUNDED * pairs and _is_continuum(x) for own, x in zip(own_pairs, x_columns, strict=True)):
        return nil
    y_odds = _odds(_upper(agree_y) / pairs)
    by_column = 0.0
    for column, own, here in list(zip(x_columns, own_pairs, hashes, strict=True))[:_MOST_COLUMNS]:
        odds = _odds(1.0 / _grid_points(column) if lone else _upper(own) / pairs)
        others = pairs - agree_x if lone else _upper(equal_pairs(whole_x - here) - agree_x)
        by_column = max(by_column, others * odds)
    if varies:
        by_column *= min(1.0, _CONCENTRATED * y_odds)
    by_y = _upper(agree_x - agree) * y_odds if varies else 0.0
    return Chance(_GENEROUS * max(by_y, by_column) / pairs, _SPARE)


def refuse_reused_rows(
    training: Fingerprints | None,
    calibration: Fingerprints | None,
    table: tuple[Any, Any],
    *,
    fitted: tuple[Any, Any] | None = None,
) -> None:
    """Raise `ReusedData` where calibration rows were used in training.

    Tables with repeated rows have some in common by chance. How many is estimated from the calibration rows (X, y),
    `table`, together with the rows `fitted` on where these are at hand.

    Few rows alone do not show it. Then the fingerprints of the training rows do: by Good and Turing, a fresh row is one
    of them with a probability of about p, the share of training rows that are not the only one of their kind; five
    standard deviations above that are let pass. Rows may also have been repeated on purpose, so that p is taken to be
    above one half only for coarse tables, where less than a fifth of the rows are distinct. Without repeats not one row
    passes, nor does the training set itself. Rows in a state that comes often, as all zeros where a machine is at rest,
    do not count.
    """
    if training is None or calibration is None:
        return
    seen = _seen(calibration, training)
    if not seen.any():
        return
    few = fitted is None and len(calibration) < _ROWS_TO_JUDGE
    chance = None if few else chance_of_repeats(table, *([] if fitted is None else [fitted]))
    if chance is None:
        allowed = _by_good_and_turing(training, len(calibration))
    else:
        allowed = chance.most(len(training), len(calibration))
    if seen.sum() > allowed or np.array_equal(np.sort(calibration), np.sort(training)):
        raise ReusedData(
            f"calibration needs rows the model has not seen: of {len(calibration)} calibration rows, these were "
            f"also used to fit it: {name_rows(seen)}."
        )


def refuse_copies(training: Fingerprints | None, calibration: Fingerprints | None, chance: Chance | None) -> None:
    """Raise `ReusedData` where rows of one table, split at random, are copies of each other on both sides."""
    if training is None or calibration is None or chance is None:
        return
    copies = int(np.count_nonzero(_seen(calibration, training)))
    if copies > chance.most(len(training), len(calibration)):
        raise ReusedData(
            f"fit needs every row once: of the {len(calibration)} rows that it kept for calibration, {copies} are "
            "copies of rows that it trains on, in every column and in y. Drop the copies first, such as by "
            "drop_duplicates(), or pass calibration=(X_cal, y_cal) with rows that are not in X. Where rows repeat by "
            "nature, fit the model by itself, and certify it by CertifiedRegressor(model).calibrate(X_cal, y_cal)."
        )


def _seen(calibration: Fingerprints, training: Fingerprints) -> npt.NDArray[np.bool_]:
    """Whether each calibration row is a training row, but for rows in one of few states that come often."""
    kinds, times = np.unique(training, return_counts=True)
    states = kinds[times >= _OFTEN]
    seen = np.isin(calibration, kinds)
    return seen & ~np.isin(calibration, states) if len(states) <= _STATES else seen


def _by_good_and_turing(training: Fingerprints, n_calibration: int) -> float:
    _, counts = np.unique(training, return_counts=True)
    repeated = 1.0 - int(np.count_nonzero(counts == 1)) / len(training)
    if len(counts) > len(training) / 5:
        repeated = min(repeated, 0.5)
    expected = repeated * n_calibration
    return expected + 5.0 * math.sqrt(expected * (1.0 - repeated)) + 3.0 if repeated else 0.0


def _odds(share: float) -> float:
    return share / (1.0 - share) if share < 1.0 else math.inf


def _upper(count: int) -> float:
    """Return what the mean of a count is at most, at a confidence of 1 − 1e-6."""
    return count + 5.0 * math.sqrt(count) + 14.0


def _is_continuum(column: Fingerprints) -> bool:
    """Whether values are no texts, and lie on no grid: neither integers nor decimals of a few digits."""
    return not (column >> np.uint64(32)).any() and math.isinf(_grid_points(column))


def _grid_points(column: Fingerprints) -> float:
    """Return the number of points that the values lie on, of a grid or of few texts; infinite where there is none."""
    if (column >> np.uint64(32)).any():
        # Texts, or the rows of a sparse table: many different ones identify rows.
        n_values = len(np.unique(column))
        return float(n_values) if 5 * n_values < len(column) else math.inf
    values = np.unique(column.astype(np.uint32).view(np.float32).astype(np.float64))
    values = values[np.isfinite(values)]
    steps = np.diff(values)
    if len(values) < 3:
        return float(max(2, len(values)))
    if np.array_equal(values, np.round(values)) and values[-1] - values[0] < 2.0**53:
        return float((values[-1] - values[0]) / np.gcd.reduce(steps.astype(np.int64)) + 1.0)
    # Rounding to float32 moves a value by 2⁻²⁴ of its size: finer grids are none.
    least = steps.min()
    if np.abs(values).max() * 2.0**-22 > least:
        return math.inf
    return float((values[-1] - values[0]) / least + 1.0) if np.abs(steps / least % 1.0 - 0.5).min() > 0.4 else math.inf


def _levels_joined(columns: list[Fingerprints]) -> list[Fingerprints]:
    """Return the columns, with those side by side of zeros and ones, of which a row has at most one, made one."""
    joined: list[Fingerprints] = []
    taken: npt.NDArray[np.bool_] | None = None
    level = 1
    for column in columns:
        ones = column == _number_bits(1)
        has_levels = bool(ones.any()) and not column[~ones].any()
        if has_levels and taken is not None and not (taken & ones).any():
            level += 1
            taken |= ones
            joined[-1] = np.where(ones, _number_bits(level), joined[-1])
        else:
            level, taken = 1, ones if has_levels else None
            joined.append(column)
    return joined


def equal_pairs(prints: Fingerprints) -> int:
    """Return how many pairs of rows have equal fingerprints."""
    _, counts = np.unique(prints, return_counts=True)
    return int(np.sum(counts * (counts - 1)) // 2)


def _table_bits(X: Any, y: Any) -> tuple[list[Fingerprints], list[Fingerprints]] | None:
    """Return the bits of every column of X and of y."""
    try:
        found = [_bits(column) for column in _columns(X)], [_bits(column) for column in _columns(y)]
    except (TypeError, ValueError):
        return None
    return found if found[0] and found[1] and len(found[0][0]) == len(found[1][0]) else None


def _mixed_columns(columns: list[Fingerprints]) -> Fingerprints:
    state = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        state = _mixed(state ^ column)
    return state


def _summed(columns: list[Fingerprints]) -> Fingerprints:
    """Return the sum modulo 2⁶⁴, from which any column can be taken away again."""
    total = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        total += column
    return total


def _mixed(state: Fingerprints) -> Fingerprints:
    """One round of the splitmix64 finalizer."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(state ^ (state >> np.uint64(31)))


def _columns(table: Any) -> Iterator[npt.NDArray[Any]]:
    if hasattr(table, "tocoo"):
        yield _sparse_column(table.tocoo())
        return
    if not isinstance(table, (np.ndarray, list, tuple)):
        import narwhals as nw

        frame = nw.from_native(table, allow_series=True, eager_only=True)
        series = frame.iter_columns() if isinstance(frame, nw.DataFrame) else [frame]
        yield from (column.to_numpy() for column in series)
        return
    array = np.asarray(table)
    if array.ndim not in (1, 2):
        raise ValueError(array.shape)
    yield from (array[:, j] for j in range(array.shape[1])) if array.ndim == 2 else [array]


def _sparse_column(table: Any) -> Fingerprints:
    """One column that stands for all of a sparse table: the sum, modulo 2⁶⁴, of a mix of the places and values."""
    filled = table.data != 0
    cells = _mixed(_mixed(table.col[filled].astype(np.uint64)) ^ _bits(table.data[filled]))
    column = np.zeros(table.shape[0], dtype=np.uint64)
    np.add.at(column, table.row[filled], cells)
    return column


def _bits(column: npt.NDArray[Any]) -> Fingerprints:
    if column.dtype == np.uint64:
        return column
    if column.dtype.kind in "fiub":
        return _float_bits(column)
    texts, codes = np.unique(np.array([_text(cell) for cell in column], dtype=object).astype(str), return_inverse=True)
    return np.array([_text_bits(text) for text in texts], dtype=np.uint64)[codes]


def _float_bits(column: npt.NDArray[Any]) -> Fingerprints:
    with np.errstate(over="ignore"):
        # Adding zero makes −0.0 and 0.0 one number.
        rounded = np.ascontiguousarray(column, dtype=np.float64).astype(np.float32) + np.float32(0.0)
    rounded[np.isnan(rounded)] = np.nan
    return rounded.view(np.uint32).astype(np.uint64)


def _number_bits(value: float) -> np.uint64:
    return np.uint64(_float_bits(np.array([value]))[0])


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else "" if cell is None else str(cell)


def _text_bits(text: str) -> int:
    """Return the bits of a cell of texts or objects: as a number has them, where it spells one."""
    spelled = canonical(text)
    value = math.nan if spelled is None else number(spelled)
    # "007" says 7 in a column of numbers, but is no way to write it.
    if value is not None and (spelled in (None, "true", "false") or canonical(repr(value)) == spelled):
        return int(_number_bits(value))
    return int.from_bytes(blake2b(str(spelled).encode(), digest_size=8).digest(), "little")
