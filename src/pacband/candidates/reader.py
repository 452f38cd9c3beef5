"""Convert a table of any library to one matrix of numbers.

Numbers stay numbers, with NaN if they are missing. Categories become codes 0, 1, …, with NaN if they are missing or
new. Columns that are constant or all missing are left out.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import beta, binom
from sklearn.base import BaseEstimator

from pacband.core.arrays import Floats
from pacband.core.callers import caller_level
from pacband.core.column_kinds import Column, Texts, table_columns
from pacband.exceptions import InvalidInput, OutOfRange, UnknownCategories

__all__ = ["TableReader"]

# The probability of a warning about a column, for rows of the distribution of the fit.
_FALSE_ALARM = 1e-6


class TableReader(BaseEstimator):
    """Convert a table to a float matrix, each cell by itself.

    Attributes
    ----------
    kept_ : tuple of int
        The columns of the table that are columns of the matrix.
    categories_ : dict of int to ndarray
        For each of them that is not a number, its sorted categories as texts (`pacband.core.cells`).
    categorical_ : tuple of int
        Where the categories are in the matrix.
    novelty_ : dict of int to float
        For each of them, an upper bound of the share of new rows with a category that is new to the fit.
    ranges_ : ndarray of shape (3, n_kept)
        For each column of the matrix its least and largest number, and an upper bound of the share of new rows beyond
        them. Categories have no range.
    names_ : list of str
        The columns of the table.

    Examples
    --------
    >>> reader = TableReader().fit(np.array([["a", 1.0], ["b", 2.0], ["a", None]], dtype=object))
    >>> reader.transform(np.array([["b", 3.0], ["c", None]], dtype=object))
    array([[ 1.,  3.],
           [nan, nan]])
    """

    def fit(self, X: Any, y: Any = None, *, kinds: Mapping[str, str] | None = None, independent: bool = True) -> Self:
        """Learn the columns, their kinds unless `kinds` gives them, their categories and ranges.

        There is no warning of ranges unless rows are `independent` draws of one distribution: all rows of a new machine
        may be beyond a range by chance.
        """
        self.kept_: tuple[int, ...] = ()
        self.categories_: dict[int, npt.NDArray[Any]] = {}
        self.novelty_: dict[int, float] = {}
        self.names_: list[str] = []
        ranges = []
        for k, column in enumerate(table_columns(X)):
            self.names_.append(column.name)
            number = (kinds or {}).get(column.name, column.kind) == "number"
            cells: Any = column.floats() if number else column.texts()
            known = cells[~np.isnan(cells) if number else ~_is_missing(cells)]
            levels, counts = np.unique(known if number else known.astype(str), return_counts=True)
            if len(levels) == 0 or (len(levels) == 1 and len(known) == len(cells)):
                continue
            self.kept_ += (k,)
            if number:
                ranges.append((levels[0], levels[-1], _bound_beyond(len(known)) if independent else 1.0))
            else:
                self.categories_[k] = levels
                self.novelty_[k] = _bound_novelty(counts)
                ranges.append((-np.inf, np.inf, 1.0))
        if not self.names_:
            raise InvalidInput(f"X must have at least one column, got shape {np.shape(X)}.")
        self.ranges_ = np.array(ranges).reshape(-1, 3).T
        self.categorical_ = tuple(i for i, k in enumerate(self.kept_) if k in self.categories_)
        return self

    def transform(self, X: Any) -> Floats:
        """Return the matrix. Warns with `UnknownCategories` or `OutOfRange` if what is new is too frequent.

        A table whose columns are all left out becomes a single column of zeros.
        """
        columns = list(table_columns(X))
        if len(columns) != len(self.names_):
            raise InvalidInput(f"X must have the {len(self.names_)} columns of the fit, got {len(columns)}.")
        if not self.kept_:
            return np.zeros((len(columns[0].cells), 1))
        matrix = np.column_stack(
            [self._encode(k, columns[k]) if k in self.categories_ else columns[k].floats() for k in self.kept_]
        )
        if hasattr(self, "ranges_"):  # not in files of earlier drafts
            self._warn_about_ranges(matrix)
        return matrix

    def _encode(self, k: int, column: Column) -> Floats:
        levels, cells = self.categories_[k], column.texts()
        missing = _is_missing(cells)
        texts = np.where(missing, "", cells).astype(str)
        codes = np.minimum(np.searchsorted(levels, texts), len(levels) - 1)
        unknown = ~missing & (levels[codes] != texts)
        self._warn_about_unknown(k, unknown, int(np.count_nonzero(~missing)), cells)
        return np.where(missing | unknown, np.nan, codes.astype(np.float64))

    def _warn_about_unknown(self, k: int, unknown: npt.NDArray[np.bool_], n_known: int, cells: Texts) -> None:
        n_unknown = int(np.count_nonzero(unknown))
        if n_unknown and binom.sf(n_unknown - 1, n_known, self.novelty_[k]) <= _FALSE_ALARM:
            shown = ", ".join(repr(str(text)) for text in dict.fromkeys(cells[unknown][:100]))
            name = self.names_[k]
            message = (
                f"column {name!r} has categories that the model was not fitted on in {n_unknown} of {n_known} rows, "
                f"far more than in the fit, such as {shown[:100]}; it was fitted on "
                f"{', '.join(map(repr, self.categories_[k].tolist()[:5]))}. If the column is spelled differently, or "
                "its distribution has changed, the promise does not hold for these rows."
            )
            warnings.warn(UnknownCategories(message, name), stacklevel=caller_level())

    def _warn_about_ranges(self, matrix: Floats) -> None:
        least, most, bounds = self.ranges_
        beyond = np.count_nonzero((matrix < least) | (matrix > most), axis=0)
        known = np.count_nonzero(~np.isnan(matrix), axis=0)
        for i in np.flatnonzero(beyond > bounds * known):
            if binom.sf(beyond[i] - 1, known[i], bounds[i]) <= _FALSE_ALARM / 2.0:
                name = self.names_[self.kept_[i]]
                message = (
                    f"column {name!r} is beyond the range that it had in the fit in {beyond[i]} of {known[i]} rows, "
                    "far more than chance explains. If its distribution has changed, as that of a date does, the "
                    "promise does not hold for these rows."
                )
                warnings.warn(OutOfRange(message, name), stacklevel=caller_level())


def _is_missing(cells: Texts) -> npt.NDArray[np.bool_]:
    return np.array([cell is None for cell in cells], dtype=bool)


def _bound_novelty(counts: npt.NDArray[np.intp]) -> float:
    """Return an upper bound of the share of new rows whose category was not seen.

    By Good and Turing, this share is about the share of rows whose category occurred once. That count is a sum of
    almost independent indicators: five standard deviations and ten more rows exceed its random error.
    """
    once = int(np.count_nonzero(counts == 1))
    return min(1.0, (once + 5.0 * math.sqrt(once) + 10.0) / int(counts.sum()))


def _bound_beyond(n_known: int) -> float:
    """Return an upper bound of the share of new rows below the least, or above the largest, of n numbers.

    The share of a continuous distribution beyond the range of a sample has the law Beta(2, n − 1), whatever the
    distribution is. With ties it is smaller.
    """
    return float(beta.isf(_FALSE_ALARM / 2.0, 2, n_known - 1)) if n_known > 1 else 1.0
