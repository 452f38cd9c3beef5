"""The columns of a model, with types where rows show them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

import pacband
from pacband import CertifiedRegressor
from pacband.delivery.columns import column_names, input_types
from pacband.draws import Units
from support.estimators import MODEL_PROMISE, draw, line

N = 600


@pytest.fixture(scope="module")
def table():
    rows, y = draw(np.random.default_rng(0), N)
    return rows.assign(machine=np.arange(N) // 3), y


@pytest.fixture(scope="module")
def model(table):
    return CertifiedRegressor(line(), **MODEL_PROMISE).fit(*table)


def test_names_are_those_of_the_fit_and_arrays_have_none(model, table):
    assert column_names(model) == ["x", "site", "machine"]
    array = CertifiedRegressor(LinearRegression(), **MODEL_PROMISE).fit(table[0][["x"]].to_numpy(), table[1])
    assert column_names(array) is None
    assert input_types(array) == ["any"]
    assert input_types(array, table[0][["x"]].to_numpy()) == ["double"]
    # Integers in an array may be floats in the next.
    assert input_types(array, [[1], [2]]) == ["any"]


def test_without_rows_no_type_is_stated(model):
    assert input_types(model) == ["any"] * 3


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_rows_show_the_types(model, table, library):
    # In an order of their own, with a column that the model does not read.
    rows = library(table[0][["machine", "x", "site"]].assign(note="n"))
    assert input_types(model, rows) == ["double", "string", "long"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pd.Series([1, 2], dtype="int32"), "long"),
        (pd.Series([1, 2], dtype="uint64"), "any"),
        (pd.Series([1, None], dtype="Int64"), "any"),
        (pd.Series([1.5, None], dtype="float32"), "double"),
        (pd.Series([True, False]), "boolean"),
        (pd.Series([True, None], dtype="boolean"), "any"),
        (pd.Series(["a", None]), "string"),
        (pd.Series(["a", 1], dtype=object), "any"),
        (pd.Series(["a", "b"], dtype="category"), "any"),
        (pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"])), "any"),
        (pd.Series(["a", "b"], dtype="string[pyarrow]").convert_dtypes(dtype_backend="pyarrow"), "any"),
    ],
)
def test_types_of_columns(model, cells, expected):
    rows = pd.DataFrame({"x": [0.5, 1.0], "site": cells, "machine": [1, 2]})
    assert input_types(model, rows)[1] == expected


def test_the_column_of_units_is_no_input(table):
    model = CertifiedRegressor(line(), **MODEL_PROMISE, draws=Units("machine")).fit(*table)
    assert column_names(model) == ["x", "site"]
    assert input_types(model, table[0]) == ["double", "string"]


def test_rows_of_another_table_are_refused(model, table):
    with pytest.raises(pacband.InvalidInput, match="'site' is missing"):
        input_types(model, table[0][["x", "machine"]])
    with pytest.raises(
        pacband.InvalidInput, match="X must be a dataframe, because the model was fitted on one, got nd"
    ):
        input_types(model, table[0].to_numpy())
