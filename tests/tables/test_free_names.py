"""Names that no column of a table has."""

import duckdb
import pytest

from pacband.tables.free_names import free_names


@pytest.mark.parametrize("columns", [["y"], ["_", "__", "___0"], ["_0", "_1", "__0"]])
def test_no_name_is_that_of_a_column(columns):
    relation = duckdb.sql("select " + ", ".join(f'1 as "{name}"' for name in columns))
    names = free_names(relation, 3)
    assert len({*names, *columns}) == 3 + len(columns)
    assert free_names(relation, 0) == []
