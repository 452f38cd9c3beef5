"""Tables of any library as one matrix of numbers, and the views of it that different models take.

Numbers stay numbers, with NaN where they are missing. Categories become codes 0, 1, …, with NaN where they are missing
or new. Columns that say nothing, all missing or constant, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

from pacband._arrays import Floats, name_rows
from pacband.exceptions import InvalidInput

__all__ = ["TableReader", "encoded", "scaled"]

Column: TypeAlias = npt.NDArray[Any]

# Rarer categories share one indicator column.
_MOST_INDICATORS = 20


class TableReader(BaseEstimator):
    """Turn a table into a float matrix, the same way at every call.

    Attributes
    ----------
    kept_ : tuple of int
        The columns of the table that are columns of the matrix.
    categories_ : dict of int to ndarray
        The sorted categories of those among them that are not numbers.
    categorical_ : tuple of int
        Where these are in the matrix.

    Examples
    --------
    >>> reader = TableReader().fit(np.array([["a", 1.0], ["b", 2.0], ["a", None]], dtype=object))
    >>> reader.transform(np.array([["b", 3.0], ["c", None]], dtype=object))
    array([[ 1.,  3.],
           [nan, nan]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which columns there are, and their categories."""
        self.kept_: tuple[int, ...] = ()
        self.categories_: dict[int, Column] = {}
        self.names_: list[str] = []
        for k, (name, column) in enumerate(_columns(X)):
            self.names_.append(name)
            known = column[~_missing(column)]
            levels = np.unique(known) if len(known) else known
            if len(levels) == 0 or (len(levels) == 1 and len(known) == len(column)):
                continue
            self.kept_ += (k,)
            if column.dtype.kind != "f":
                self.categories_[k] = levels.astype(str)
        if not self.names_:
            raise InvalidInput(f"X must have at least one column, got shape {np.shape(X)}.")
        self.categorical_ = tuple(i for i, k in enumerate(self.kept_) if k in self.categories_)
        return self

    def transform(self, X: Any) -> Floats:
        """Return the matrix, of a single column of zeros where no column says anything."""
        columns = [column for _, column in _columns(X)]
        if len(columns) != len(self.names_):
            raise InvalidInput(f"X must have the {len(self.names_)} columns of the fit, got {len(columns)}.")
        if not self.kept_:
            return np.zeros((len(columns[0]), 1))
        return np.column_stack([self._numbers(k, columns[k]) for k in self.kept_])

    def _numbers(self, k: int, column: Column) -> Floats:
        if k not in self.categories_:
            return column if column.dtype.kind == "f" else _as_floats(self.names_[k], column)
        levels = self.categories_[k]
        missing = _missing(column)
        texts = np.where(missing, "", column).astype(str)
        codes = np.minimum(np.searchsorted(levels, texts), len(levels) - 1)
        return np.where(missing | (levels[codes] != texts), np.nan, codes.astype(np.float64))


def encoded(categorical: tuple[int, ...]) -> Any:
    """Return the view for forests: numbers as they are, gaps and all, and a column a category."""
    if not categorical:
        return "passthrough"
    return ColumnTransformer([("category", _indicators(), list(categorical))], remainder="passthrough")


def scaled(categorical: tuple[int, ...], n_columns: int, *, n_quantiles: int | None = None) -> Any:
    """Return the view for linear models and distances: no gaps, numbers of one size, a column a category.

    Parameters
    ----------
    categorical : tuple of int
        Which columns are categories.
    n_columns : int
        How many columns there are.
    n_quantiles : int, optional
        Use the ranks of the numbers, from this many quantiles, instead of their standard scores.
    """
    numeric = [k for k in range(n_columns) if k not in categorical]
    scaler = StandardScaler() if n_quantiles is None else QuantileTransformer(n_quantiles=n_quantiles)
    gaps = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return ColumnTransformer(
        [("number", make_pipeline(gaps, scaler), numeric), ("category", _indicators(), list(categorical))]
    )


def _indicators() -> Any:
    return OneHotEncoder(handle_unknown="ignore", max_categories=_MOST_INDICATORS, sparse_output=False)


def _columns(X: Any) -> Iterator[tuple[str, Column]]:
    """Yield every column with its name: floats where all values are numbers, else objects, texts or None."""
    if issparse(X):
        raise InvalidInput(f"X must be a dense table, got a sparse {type(X).__name__}; X.toarray() makes it dense.")
    if isinstance(X, (list, tuple)):
        array = np.asarray(X)
        X = array if array.dtype.kind in "fiub" else np.asarray(X, dtype=object)
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise InvalidInput(f"X must have shape (n, columns), got {X.shape}.")
        for k in range(X.shape[1]):
            yield f"x{k}", _settled(f"x{k}", X[:, k])
        return
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidInput(f"X must be an array or a dataframe, got {type(X).__name__}.")
    for series in frame.iter_columns():
        name = str(series.name)
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            yield name, _as_floats(name, series.cast(nw.Float64).to_numpy())
        else:
            yield name, _settled(name, np.array([*series.to_list(), None], dtype=object)[:-1], str(series.dtype))


def _settled(name: str, column: Column, kind: str | None = None) -> Column:
    if column.dtype.kind in "mM" or (kind or "").startswith(("Date", "Time", "Duration")):
        raise InvalidInput(
            f"column {name!r} must hold numbers, texts or booleans, got {kind or column.dtype}; turn times into "
            "numbers first, such as the days since a date."
        )
    if column.dtype.kind in "fiub":
        return _as_floats(name, column)
    missing = _missing(column)
    values = column[~missing]
    if all(isinstance(value, (int, float, np.number, np.bool_)) for value in values):
        return _as_floats(name, np.where(missing, np.nan, column))
    texts = np.full(len(column), None, dtype=object)
    texts[~missing] = [str(value) for value in values]
    return texts


def _missing(column: Column) -> npt.NDArray[np.bool_]:
    # NaN, NaT and None alike are what does not equal itself, or None; pandas.NA answers neither and is found by name.
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.array(
        [
            value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)
            for value in column
        ],
        dtype=bool,
    )


def _as_floats(name: str, column: Column) -> Floats:
    try:
        numbers = np.where(_missing(column), np.nan, column).astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"column {name!r} held numbers in the fit, and holds others now.") from None
    if np.isinf(numbers).any():
        raise InvalidInput(
            f"column {name!r} must be finite or missing: it is infinite in {name_rows(np.isinf(numbers))}."
        )
    return numbers
