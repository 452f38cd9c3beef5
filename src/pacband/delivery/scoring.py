"""A fitted model as a server calls it: a table in, a table out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.delivery.columns import column_names
from pacband.estimators.columns import as_columns, band_names, pick_columns
from pacband.estimators.grouping import match_groups

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["Scorer", "output_names"]


def output_names(model: Certified) -> list[str]:
    """Return the names of the columns of a band; with several outputs they are numbered."""
    certificate: Any = model.certificate_
    return band_names(None if certificate.n_outputs == 1 else certificate.n_outputs)


class Scorer:
    """Predicts the rows of pandas tables with a fitted model.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> from pacband import CertifiedRegressor, datasets
    >>> X, y = datasets.paper_sample(5000, random_state=0)
    >>> model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, y)
    >>> Scorer(model).predict(pd.DataFrame({"x": [0.5, 1.0]})).round(1)
       prediction  lower  upper
    0        10.3   -2.7   23.4
    1        15.9    2.8   28.9
    """

    def __init__(self, model: Certified) -> None:
        self.model = model

    def predict(self, table: Any) -> Any:
        """Return a table with prediction, lower and upper for every row, and the index of `table`.

        A model that was fitted on an array takes the columns by their position, any other by their names. A label of a
        group that is spelled differently, such as "1" for 1, is that of the certificate.
        """
        names = column_names(self.model)
        if names is None:
            values = _as_array(table)
            bands = as_columns(table, self.model.predict(values), self.model.predict_interval(values))
        else:
            # A copy, because labels are replaced in place.
            rows = pick_columns(table, names).copy()
            match_groups(self.model, rows)
            bands = self.model.predict_interval(rows, output="frame")
        bands.columns = output_names(self.model)
        return bands


def _as_array(table: Any) -> Any:
    """Return the cells as an array: of floats, or of objects if a column holds anything else.

    Rows are contiguous, as in most arrays. Sums over columns depend on it in their last bit.
    """
    numeric = all(dtype.kind in "fiub" for dtype in table.dtypes)
    return np.ascontiguousarray(table.to_numpy(dtype="float64" if numeric else object, na_value=float("nan")))
