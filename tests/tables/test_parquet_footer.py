"""The columns in the footer of a Parquet file."""

import duckdb
import pandas as pd
import pytest

from pacband.tables.parquet_footer import columns_end, read_footer

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("library", ["pyarrow", "duckdb", "polars"])
def test_the_columns_of_a_footer_end_where_the_row_groups_begin(rows, library):
    # The rest of a footer differs between files with the same columns, the columns never do.
    wide = pd.concat([rows.add_suffix(f" {k}") for k in range(20)], axis=1).assign(text="é", whole=1, yes=True)
    cut = []
    for name, part in (("a.parquet", wide), ("b.parquet", wide[:7])):
        if library == "pyarrow":
            part.to_parquet(name)
        elif library == "duckdb":
            duckdb.from_df(part).write_parquet(name)
        else:
            pytest.importorskip("polars").from_pandas(part).write_parquet(name)
        footer = read_footer(name, name)
        end = columns_end(footer)
        # After the version and the columns comes the number of rows: field 3, an int64.
        assert footer[end] == 0x16
        cut.append(footer[:end])
    assert cut[0] == cut[1]
    assert b"text" in cut[0]
