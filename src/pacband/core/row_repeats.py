"""How often do independent rows of a table agree by chance? An estimate that works even for tables with copies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.row_hashes import Fingerprints, equal_pairs, mix_bits, mix_columns, number_bits, table_bits

__all__ = ["Chance", "chance_of_repeats"]

# If rows can agree by chance, the limit is `_FACTOR` times the estimate, because columns are not independent, plus
# `_SPARE` rows.
_FACTOR, _SPARE = 10.0, 3
# If X agrees, y agrees more often than usual, but at most by this factor.
_CONCENTRATED = 5.0
# Rounding to float32 makes values of a continuous column agree in at most this share of pairs. In this many pairs, rows
# of one column and y agree by rounding with probability at most 1e-6.
_ROUNDED, _FEW_PAIRS = 1e-6, 5e7
# A table has few kinds of rows if it has at most `_FEW_ROWS` different rows, each `_TIMES` times on average.
_FEW_ROWS, _TIMES = 100, 10
# At most this many columns are left out in turn.
_MOST_COLUMNS = 100


@dataclass(frozen=True)
class Chance:
    """How often independent rows agree in x and y.

    Attributes
    ----------
    rate : float
        An upper bound for the probability that two rows agree; infinite if all rows may agree.
    spare : int
        Rows that are allowed in addition. It is zero if a column shows that independent rows never agree.
    """

    rate: float
    spare: int

    def most(self, n_first: int, n_second: int) -> float:
        """Return an upper bound for the rows of a second table that agree by chance with a row of a first table."""
        return min(float(n_second), n_first * n_second * self.rate + self.spare)


def chance_of_repeats(*tables: tuple[Any, Any]) -> Chance | None:
    """Estimate how often independent rows agree by chance. Return None if the type of a table is unknown.

    The tables (X, y) may contain copies of rows. Copies multiply all numbers of pairs by about the same factor, except
    the number of pairs that agree in everything. So the pairs that agree in *almost* everything show how many pairs
    agree in everything by chance. With q(c) the share of pairs that agree in column c:

    * For every (1 − q(y))/q(y) pairs that agree in X and not in y, about one pair agrees in both X and y.
    * For every (1 − q(c))/q(c) pairs that agree in X except for column c, about one pair agrees in c as well, and so
      in y, if y is a function of X.

    The estimate is the larger of both, times a factor for columns that depend on each other. Each count is replaced by
    its upper confidence limit.

    If a column of X is continuous, its values repeat only in copies, and the chance is zero. The same holds if y is
    continuous, even if X repeats. A column of X does not count as continuous if X repeats and y does not, such as the
    place of a station. Indicator columns of one category count as one column here.
    """
    found = [table_bits(*table) for table in tables]
    parts = [bits for bits in found if bits is not None]
    if len(parts) < len(found) or len({(len(x), len(y)) for x, y in parts}) != 1:
        return None
    x_columns = _join_indicators([np.concatenate(column) for column in zip(*(x for x, _ in parts), strict=True)])
    y_columns = [np.concatenate(column) for column in zip(*(y for _, y in parts), strict=True)]
    n = len(x_columns[0])
    if n < 2:
        return None
    pairs = n * (n - 1) // 2
    hashes = [mix_bits(column ^ np.uint64(place)) for place, column in enumerate(x_columns)]
    whole_x, whole_y = _sum_columns(hashes), mix_columns(y_columns)
    whole = mix_columns([whole_x, whole_y])
    _, times = np.unique(whole, return_counts=True)
    if len(times) <= min(_FEW_ROWS, n / _TIMES) and (len(times) == 1 or np.var(times) > np.mean(times) / 10):
        # There are few kinds of rows. If they were copies, each kind would come equally often; draws do not.
        return Chance(math.inf, 0)
    agree, agree_x = equal_pairs(whole), equal_pairs(whole_x)
    agree_y = equal_pairs(whole_y) - agree
    never = Chance(0.0, 0 if pairs < _FEW_PAIRS else _SPARE)
    varies = agree_x > agree
    if varies and any(_is_continuous(column) for column in y_columns) and agree_y <= _ROUNDED * pairs:
        return never
    own_pairs = [equal_pairs(column) - agree_x for column in x_columns]
    single = len(x_columns) == 1
    rare = agree_x - agree <= _ROUNDED * pairs
    if rare and any(own <= _ROUNDED * pairs and _is_continuous(x) for own, x in zip(own_pairs, x_columns, strict=True)):
        return never
    y_odds = _odds(_upper_limit(agree_y) / pairs)
    by_column = 0.0
    for column, own, here in list(zip(x_columns, own_pairs, hashes, strict=True))[:_MOST_COLUMNS]:
        odds = _odds(1.0 / _grid_points(column) if single else _upper_limit(own) / pairs)
        others = pairs - agree_x if single else _upper_limit(equal_pairs(whole_x - here) - agree_x)
        by_column = max(by_column, others * odds)
    if varies:
        by_column *= min(1.0, _CONCENTRATED * y_odds)
    by_y = _upper_limit(agree_x - agree) * y_odds if varies else 0.0
    return Chance(_FACTOR * max(by_y, by_column) / pairs, _SPARE)


def _odds(share: float) -> float:
    return share / (1.0 - share) if share < 1.0 else math.inf


def _upper_limit(count: int) -> float:
    """Return an upper limit for the mean of a count, with confidence 1 − 1e-6."""
    return count + 5.0 * math.sqrt(count) + 14.0


def _is_continuous(column: Fingerprints) -> bool:
    """Return whether values are numbers on no grid: neither integers nor decimals of a few digits."""
    return not (column >> np.uint64(32)).any() and math.isinf(_grid_points(column))


def _grid_points(column: Fingerprints) -> float:
    """Return the number of points of the values' grid, or of different texts; infinite without a grid."""
    if (column >> np.uint64(32)).any():
        # Texts, or the rows of a sparse table. If there are many different ones, they identify rows.
        n_values = len(np.unique(column))
        return float(n_values) if 5 * n_values < len(column) else math.inf
    values = np.unique(column.astype(np.uint32).view(np.float32).astype(np.float64))
    values = values[np.isfinite(values)]
    steps = np.diff(values)
    if len(values) < 3:
        return float(max(2, len(values)))
    if np.array_equal(values, np.round(values)) and values[-1] - values[0] < 2.0**53:
        return float((values[-1] - values[0]) / np.gcd.reduce(steps.astype(np.int64)) + 1.0)
    # Rounding to float32 moves a value by up to 2⁻²⁴ of its size. A finer grid cannot be recognised.
    least = steps.min()
    if np.abs(values).max() * 2.0**-22 > least:
        return math.inf
    return float((values[-1] - values[0]) / least + 1.0) if np.abs(steps / least % 1.0 - 0.5).min() > 0.4 else math.inf


def _join_indicators(columns: list[Fingerprints]) -> list[Fingerprints]:
    """Join neighbouring columns of zeros and ones into one, if every row has at most one 1 among them."""
    joined: list[Fingerprints] = []
    taken: npt.NDArray[np.bool_] | None = None
    level = 1
    for column in columns:
        ones = column == number_bits(1)
        is_indicator = bool(ones.any()) and not column[~ones].any()
        if is_indicator and taken is not None and not (taken & ones).any():
            level += 1
            taken |= ones
            joined[-1] = np.where(ones, number_bits(level), joined[-1])
        else:
            level, taken = 1, ones if is_indicator else None
            joined.append(column)
    return joined


def _sum_columns(columns: list[Fingerprints]) -> Fingerprints:
    """Return the sum of columns modulo 2⁶⁴. Subtracting a column leaves it out again."""
    total = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        total += column
    return total
