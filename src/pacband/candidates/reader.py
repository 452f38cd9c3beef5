"""Tables of any library as one matrix of numbers, and the views of it that different models take.

Numbers stay numbers, with NaN where they are missing. Categories become codes 0, 1, …, with NaN where they are missing
or new. Columns that say nothing, all missing or constant, are left out.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

from pacband.core.arrays import Floats
from pacband.core.column_kinds import Column, Texts, table_columns
from pacband.exceptions import InvalidInput, UnknownCategories

__all__ = ["TableReader", "encoded", "scaled"]

# The probability of a warning of unknown categories, for rows of the distribution of the fit.
_NEVER = 1e-6
# Rarer categories share one indicator column.
_MOST_INDICATORS = 20


class TableReader(BaseEstimator):
    """Turn a table into a float matrix, every cell by itself.

    Attributes
    ----------
    kept_ : tuple of int
        The columns of the table that are columns of the matrix.
    categories_ : dict of int to ndarray
        The sorted categories of those among them that are not numbers, by their one text (`pacband.core.cells`).
    categorical_ : tuple of int
        Where these are in the matrix.
    novelty_ : dict of int to float
        For each of these, the share of new rows, at most, that bring a category which the fit has not seen.

    Examples
    --------
    >>> reader = TableReader().fit(np.array([["a", 1.0], ["b", 2.0], ["a", None]], dtype=object))
    >>> reader.transform(np.array([["b", 3.0], ["c", None]], dtype=object))
    array([[ 1.,  3.],
           [nan, nan]])
    """

    def fit(self, X: Any, y: Any = None, *, kinds: Mapping[str, str] | None = None) -> Self:
        """Learn which columns there are, their kinds unless `kinds` names them, and their categories."""
        self.kept_: tuple[int, ...] = ()
        self.categories_: dict[int, npt.NDArray[Any]] = {}
        self.novelty_: dict[int, float] = {}
        self.names_: list[str] = []
        for k, column in enumerate(table_columns(X)):
            self.names_.append(column.name)
            number = (kinds or {}).get(column.name, column.kind) == "number"
            cells: Any = column.floats() if number else column.texts()
            known = cells[~np.isnan(cells) if number else ~_gaps(cells)]
            levels, counts = np.unique(known if number else known.astype(str), return_counts=True)
            if len(levels) == 0 or (len(levels) == 1 and len(known) == len(cells)):
                continue
            self.kept_ += (k,)
            if not number:
                self.categories_[k] = levels
                self.novelty_[k] = _novelty(counts)
        if not self.names_:
            raise InvalidInput(f"X must have at least one column, got shape {np.shape(X)}.")
        self.categorical_ = tuple(i for i, k in enumerate(self.kept_) if k in self.categories_)
        return self

    def transform(self, X: Any) -> Floats:
        """Return the matrix, of a single column of zeros where no column says anything."""
        columns = list(table_columns(X))
        if len(columns) != len(self.names_):
            raise InvalidInput(f"X must have the {len(self.names_)} columns of the fit, got {len(columns)}.")
        if not self.kept_:
            return np.zeros((len(columns[0].cells), 1))
        return np.column_stack(
            [self._codes(k, columns[k]) if k in self.categories_ else columns[k].floats() for k in self.kept_]
        )

    def _codes(self, k: int, column: Column) -> Floats:
        levels, cells = self.categories_[k], column.texts()
        missing = _gaps(cells)
        texts = np.where(missing, "", cells).astype(str)
        codes = np.minimum(np.searchsorted(levels, texts), len(levels) - 1)
        unknown = ~missing & (levels[codes] != texts)
        self._warn_of_unknown(k, unknown, int(np.count_nonzero(~missing)), cells)
        return np.where(missing | unknown, np.nan, codes.astype(np.float64))

    def _warn_of_unknown(self, k: int, unknown: npt.NDArray[np.bool_], n_known: int, cells: Texts) -> None:
        n_unknown = int(np.count_nonzero(unknown))
        if n_unknown and binom.sf(n_unknown - 1, n_known, self.novelty_[k]) <= _NEVER:
            shown = ", ".join(repr(str(text)) for text in dict.fromkeys(cells[unknown][:100]))
            warnings.warn(
                f"column {self.names_[k]!r} has categories that the model was not fitted on in {n_unknown} of "
                f"{n_known} rows, far more than in the fit, such as {shown[:100]}; it was fitted on "
                f"{', '.join(map(repr, self.categories_[k].tolist()[:5]))}. Is the column spelled otherwise, or the "
                "distribution another? Then the promise does not hold for these rows.",
                UnknownCategories,
                stacklevel=2,
            )


def _gaps(cells: Texts) -> npt.NDArray[np.bool_]:
    return np.array([cell is None for cell in cells], dtype=bool)


def _novelty(counts: npt.NDArray[np.intp]) -> float:
    """Return the share of fresh rows, at most, whose category was not seen.

    By Good and Turing it is about the share of rows whose category came once. That number is a sum of almost
    independent counts: five standard deviations and ten rows more are beyond its chance error.
    """
    once = int(np.count_nonzero(counts == 1))
    return min(1.0, (once + 5.0 * math.sqrt(once) + 10.0) / int(counts.sum()))


def encoded(categorical: tuple[int, ...]) -> Any:
    """Return the view for forests: numbers as they are, gaps and all, and a column a category."""
    if not categorical:
        return "passthrough"
    return ColumnTransformer([("category", _indicators(), list(categorical))], remainder="passthrough")


def scaled(categorical: tuple[int, ...], n_columns: int, *, n_quantiles: int | None = None, seed: int = 0) -> Any:
    """Return the view for linear models and distances: no gaps, numbers of one size, a column a category.

    Parameters
    ----------
    categorical : tuple of int
        Which columns are categories.
    n_columns : int
        How many columns there are.
    n_quantiles : int, optional
        Use the ranks of the numbers, from this many quantiles, instead of their standard scores.
    seed : int
        Seeds the draw of rows that the quantiles of many rows are taken from.
    """
    numeric = [k for k in range(n_columns) if k not in categorical]
    scaler = (
        StandardScaler() if n_quantiles is None else QuantileTransformer(n_quantiles=n_quantiles, random_state=seed)
    )
    gaps = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return ColumnTransformer(
        [("number", make_pipeline(gaps, scaler), numeric), ("category", _indicators(), list(categorical))]
    )


def _indicators() -> Any:
    return OneHotEncoder(handle_unknown="ignore", max_categories=_MOST_INDICATORS, sparse_output=False)
