"""Every column is of one kind, and every cell is read by itself."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from pacband.core.column_kinds import Column, column_kinds, is_frame, table_columns
from pacband.exceptions import InvalidInput


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_kinds_of_columns(library):
    frame = library.DataFrame({"n": [1, 2], "t": ["a", "b"], "f": [0.5, float("nan")], "b": [True, False]})
    assert column_kinds(frame) == {"n": "number", "t": "category", "f": "number", "b": "number"}
    assert is_frame(frame)
    assert not is_frame(frame.to_numpy())


def test_columns_of_mixed_cells_are_categories_and_a_file_keeps_texts_only():
    frame = pd.DataFrame({"mixed": np.array(["a", 1], dtype=object), "gaps": np.array(["a", np.nan], dtype=object)})
    assert column_kinds(frame) == {"mixed": "category", "gaps": "category"}
    assert column_kinds(frame, texts_only=True) == {"gaps": "category"}


def test_cells_are_read_by_themselves():
    column = Column("x", np.array(["1.0", 2, "", None], dtype=object))
    assert column.floats() == pytest.approx([1.0, 2.0, np.nan, np.nan], nan_ok=True)
    assert column.texts().tolist() == ["1", "2", None, None]


def test_cells_that_are_no_numbers_are_refused_with_their_rows():
    message = "column 'x' held numbers in the fit, and now holds 'much' in 1 row, row 1 .* correct these cells"
    with pytest.raises(InvalidInput, match=message):
        Column("x", np.array(["1", "much"], dtype=object)).floats()
    with pytest.raises(InvalidInput, match="column 'x' must be finite or missing: it is infinite in 1 row, row 0"):
        Column("x", np.array([np.inf, 1.0])).floats()


def test_times_sparse_tables_and_vectors_are_refused():
    times = pd.DataFrame({"t": [datetime.datetime(2024, 1, 1)]})
    with pytest.raises(InvalidInput, match="column 't' must hold numbers, texts or booleans, got Datetime"):
        next(table_columns(times)).floats()
    with pytest.raises(InvalidInput, match="X must be a dense table"):
        next(table_columns(csr_array((2, 2))))
    with pytest.raises(InvalidInput, match=r"X must have shape \(n, columns\), got \(3,\)"):
        next(table_columns(np.zeros(3)))
