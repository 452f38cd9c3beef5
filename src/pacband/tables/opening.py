"""Open files as a table of an engine: DuckDB in this process, Dask or Spark."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pacband.core.extras import require
from pacband.core.number_formats import SAY_HOW
from pacband.exceptions import InvalidInput
from pacband.tables.dialects import FIND, Dialect
from pacband.tables.files import Files, open_files

__all__ = ["open_table"]


@contextmanager
def open_table(
    paths: Sequence[str],
    numeric: Sequence[str],
    *,
    also: Sequence[str] | None = None,
    labels: Sequence[str] = (),
    others: bool = False,
    shown: bool = False,
    engine: str = "duckdb",
    address: str | None = None,
    threads: int | None = None,
    output: str | None = None,
    dialect: Dialect = FIND,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[Any]:
    """Yield the table in files. An error states in one sentence which file cannot be read, and why.

    Parameters
    ----------
    paths : sequence of str
        Names, globs, directories, or ``-`` for standard input.
    numeric : sequence of str
        The columns to read as numbers.
    also : sequence of str, optional
        The only other columns to read, with the texts of the file. By default all columns are read.
    labels : sequence of str
        Columns of groups, units and runs: they have the texts of the file. In the other columns, numbers are texts in
        the plain format, if all cells that were looked at are numbers.
    others : bool
        Whether DuckDB shall offer the columns beside `numeric` and `also` as well, where all files agree about them. It
        reads none of them before it is asked to.
    shown : bool
        Whether people will read the other columns as numbers. Columns whose numbers have two meanings are left out.
    engine : {"duckdb", "dask", "spark"}
        The library that holds the table.
    address : str, optional
        The address of the cluster: Dask's scheduler or Spark's master.
    threads : int, optional
        The number of threads that DuckDB reads with.
    output : str, optional
        The file that `write_table` will write. The other columns have the texts of the file, to be copied.
    dialect, note
        As in `open_files`.
    """
    only = None if also is None else [*numeric, *also]
    with open_files(paths, dialect, note=note) as files, files.writing(output), files.reading():
        if shown and (unclear := files.format.unclear.difference(numeric, labels)):
            only = [name for name in files.header if name not in unclear]
            note(f"Left out {', '.join(sorted(unclear))}: the numbers have two meanings. {SAY_HOW}")
        surveyed = files.format.columns.difference(labels, also or ()) if output is None else ()
        if engine == "duckdb":
            if others and only is not None:
                only = [*only, *files.plain_columns]
            table = files.relation(numeric, surveyed=surveyed, only=only, threads=threads)
            if "*" in table.columns:
                raise InvalidInput("a column is called '*', which stands for all columns: give it another name.")
            yield table
        else:
            convert = partial(files.converted, numeric, surveyed=surveyed, only=only)
            with {"dask": _dask, "spark": _spark}[engine](files, convert, only, address) as table:
                yield table


def _cluster_files(
    files: Files, convert: Callable[[], str], only: Sequence[str] | None
) -> tuple[Sequence[str], list[str] | None]:
    """Return the Parquet files that a cluster reads, and which of their columns; None is all.

    These are the user's files, where every engine reads them in the same way. DuckDB converts all others first, so that
    all engines follow one set of rules: CSV files, columns of several types, columns that come from names of
    directories, and file names that Spark skips.
    """
    hidden = any(os.path.basename(path)[0] in "._" or ":" in path for path in files.paths)
    if files.parquet is not None and only is not None and files.parquet.is_uniform(only) and not hidden:
        return files.paths, list(dict.fromkeys(only))
    return [convert()], None


@contextmanager
def _dask(files: Files, convert: Callable[[], str], only: Sequence[str] | None, address: str | None) -> Iterator[Any]:
    dask, dd = require("dask"), require("dask.dataframe")
    found, columns = _cluster_files(files, convert, only)
    paths = [glob.escape(path) for path in found]
    # Names of directories become no columns here, and no column becomes the index.
    read: Any = partial(dd.read_parquet, paths, columns=columns, index=False, dataset={"partitioning": None})
    if address is None:
        # In threads of this process, which open no network port.
        with dask.config.set(scheduler="threads"):
            yield read()
        return
    try:
        client = require("distributed").Client(address)
    except OSError:
        raise InvalidInput(f"there is no Dask scheduler at {address}.") from None
    with client:
        try:
            yield read()
        except FileNotFoundError as error:
            raise InvalidInput(_not_visible(error.filename or str(error))) from None


@contextmanager
def _spark(files: Files, convert: Callable[[], str], only: Sequence[str] | None, address: str | None) -> Iterator[Any]:
    java_error, spark_error = require("py4j.protocol").Py4JJavaError, require("pyspark.errors").PySparkException
    found, columns = _cluster_files(files, convert, only)
    paths = [re.sub(r"([\\*?\[\]{}])", r"\\\1", path) for path in found]
    builder = require("pyspark.sql").SparkSession.builder.master(address or "local[*]").appName("pacband")
    if address is None:
        # A session on this machine alone listens on the loopback interface only.
        for name, value in (("driver.host", "127.0.0.1"), ("driver.bindAddress", "127.0.0.1"), ("ui.enabled", "false")):
            builder = builder.config(f"spark.{name}", value)
    session = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR").getOrCreate()
    try:
        table = session.read.parquet(*paths)
        yield table if columns is None else table.select(*(f"`{name.replace('`', '``')}`" for name in columns))
    except (spark_error, java_error) as error:
        message = str(error)
        if "FileNotFoundException" in message:
            raise InvalidInput(_not_visible(paths[0])) from None
        raise InvalidInput(f"{files.found[0].shown}: {message.splitlines()[0]}") from None
    finally:
        session.stop()


def _not_visible(path: str) -> str:
    return (
        f"a worker of the cluster cannot read {path}. Every worker must be able to read the files, and TMPDIR, where "
        "CSV files are converted first."
    )
