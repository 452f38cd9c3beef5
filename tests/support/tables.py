"""One table in the kinds of tables of every library, and back."""

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

CHANGED = "rows changed between two readings"


def write_parquet(frame, folder):
    """Write a table of pandas to a Parquet file; return its path."""
    path = str(folder / "table.parquet")
    frame.to_parquet(path, index=False)
    return path


def dask_frame(frame, npartitions=3):
    """Return a table of pandas as one of Dask; skip the test where Dask is not installed."""
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=npartitions)


LAZY = {
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": lambda frame: duckdb.from_df(frame),
    "dask": dask_frame,
}
ALL = LAZY | {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}
# These need no other process; some need a folder to write to.
IN_PROCESS = {
    "pandas": lambda frame, folder: frame,
    "pandas nullable": lambda frame, folder: frame.convert_dtypes(),
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "polars lazy": lambda frame, folder: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame, folder: pa.Table.from_pandas(frame),
    "pyarrow dataset": lambda frame, folder: pyarrow.dataset.dataset(write_parquet(frame, folder)),
    "duckdb": lambda frame, folder: duckdb.from_df(frame),
    "duckdb parquet": lambda frame, folder: duckdb.read_parquet(write_parquet(frame, folder)),
}


def libraries(names):
    """Return these libraries to try; Dask, which takes a hundred times as long as the others, in the long studies."""
    return [pytest.param(name, marks=pytest.mark.verify) if name == "dask" else name for name in names]


def collected(native):
    """Return a table of any library as one of pandas."""
    if isinstance(native, pl.LazyFrame):
        return native.collect().to_pandas()
    if isinstance(native, duckdb.DuckDBPyRelation):
        return native.df()
    if isinstance(native, (pl.DataFrame, pa.Table)):
        return native.to_pandas()
    return native.compute() if hasattr(native, "compute") else native


def changing(frames):
    """Return a lazy table of polars whose rows are those of the next frame in every pass."""
    passes = iter(frames)

    def read(rows):
        return next(passes)

    return pl.DataFrame(schema=frames[0].schema).lazy().map_batches(read, schema=frames[0].schema)
