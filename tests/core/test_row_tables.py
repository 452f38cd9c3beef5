"""Some rows of tables of every kind, and of the values that belong to rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from pacband.core.row_tables import take_parameters, take_rows

ROWS = np.array([2, 0])


@pytest.mark.parametrize(
    "table",
    [np.arange(6.0).reshape(3, 2), pd.DataFrame({"a": [0.0, 2.0, 4.0], "b": [1.0, 3.0, 5.0]}, index=[7, 7, 8]), pl.DataFrame({"a": [0.0, 2.0, 4.0], "b": [1.0, 3.0, 5.0]}), [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], csr_matrix(np.arange(6.0).reshape(3, 2))],
    ids=["array", "pandas", "polars", "list", "sparse"],
)  # fmt: skip
def test_rows_keep_their_kind(table):
    taken = take_rows(table, ROWS)
    assert type(taken) is type(table)
    np.testing.assert_array_equal(taken.toarray() if hasattr(taken, "toarray") else np.asarray(taken), [[4, 5], [0, 1]])


def test_only_values_of_all_rows_are_indexed():
    given = {
        "array": np.arange(3),
        "series": pd.Series([5, 6, 7]),
        "list": ["a", "b", "c"],
        "two": np.arange(2),
        "number": np.float64(3.0),
        "scalar": np.array(3.0),
        "text": "abc",
        "mapping": {0: 1, 1: 2, 2: 3},
        "none": None,
        "function": len,
    }
    found = take_parameters(given, 3, ROWS)
    assert found["array"].tolist() == [2, 0]
    assert found["series"].tolist() == [7, 5]
    assert found["list"] == ["c", "a"]
    for name in ("two", "number", "scalar", "text", "mapping", "none", "function"):
        assert found[name] is given[name]
