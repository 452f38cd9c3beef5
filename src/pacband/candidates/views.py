"""Views of the matrix of a `TableReader`: how its columns are converted for forests, and for distances."""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

__all__ = ["encode_categories", "scale_columns"]

# Rarer categories share one indicator column.
_MOST_INDICATORS = 20


def encode_categories(categorical: tuple[int, ...]) -> Any:
    """Return the view for forests: one indicator column for each category; numbers stay as they are, with NaN.

    Parameters
    ----------
    categorical : tuple of int
        Which columns are categories.
    """
    if not categorical:
        return "passthrough"
    return ColumnTransformer([("category", _indicators(), list(categorical))], remainder="passthrough")


def scale_columns(
    categorical: tuple[int, ...], n_columns: int, *, n_quantiles: int | None = None, seed: int = 0
) -> Any:
    """Return the view for linear models and distances: numbers of one size, no NaN, one column for each category.

    Parameters
    ----------
    categorical : tuple of int
        Which columns are categories.
    n_columns : int
        The number of columns.
    n_quantiles : int, optional
        Use the ranks of the numbers, from this many quantiles, instead of their standard scores.
    seed : int
        Seeds the draw of rows from which the quantiles of many rows are taken.
    """
    numeric = [k for k in range(n_columns) if k not in categorical]
    scaler = (
        StandardScaler() if n_quantiles is None else QuantileTransformer(n_quantiles=n_quantiles, random_state=seed)
    )
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return ColumnTransformer(
        [("number", make_pipeline(imputer, scaler), numeric), ("category", _indicators(), list(categorical))]
    )


def _indicators() -> Any:
    return OneHotEncoder(handle_unknown="ignore", max_categories=_MOST_INDICATORS, sparse_output=False)
