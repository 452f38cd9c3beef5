"""Files as tables of an engine: DuckDB in this process, or a Dask or Spark cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pacband.exceptions import InvalidInput
from pacband.frames.connection import glob_escaped, quoted
from pacband.frames.files import Files, open_files

__all__ = ["TABLES", "check_output", "labels_of", "opened", "with_labels"]

# What rows can be written to, by their names.
TABLES = (".csv", ".txt", ".parquet", ".pq")


@contextmanager
def opened(
    paths: Sequence[str],
    numeric: Sequence[str],
    *,
    also: Sequence[str] | None = None,
    engine: str = "duckdb",
    address: str | None = None,
    threads: int | None = None,
    output: str | None = None,
) -> Iterator[Any]:
    """Yield the table in files; what cannot be read is said in one sentence.

    Parameters
    ----------
    paths : sequence of str
        Names, globs, directories, or ``-`` for standard input.
    numeric : sequence of str
        The columns to read as numbers.
    also : sequence of str, optional
        The only other columns to read; by default all.
    engine : {"duckdb", "dask", "spark"}
        Where the table is.
    address : str, optional
        The scheduler or master of a cluster.
    threads : int, optional
        How many DuckDB reads with.
    output : str, optional
        What `write_table` is going to write.
    """
    only = None if also is None else [*numeric, *also]
    with open_files(paths) as files, files.writing(output), files.reading():
        if engine == "duckdb":
            table = files.relation(numeric, only=only, threads=threads)
            if "*" in table.columns:
                raise InvalidInput("a column is called '*', which stands for all columns: give it another name.")
            yield table
        else:
            with {"dask": _dask, "spark": _spark}[engine](files, numeric, only, address) as table:
                yield table


def _cluster_files(
    files: Files, numeric: Sequence[str], only: Sequence[str] | None
) -> tuple[Sequence[str], list[str] | None]:
    """Return the Parquet files for a cluster to read, and which of their columns; None is all.

    They are the user's, where every engine reads those in the same way. All others are converted by DuckDB first, so
    that there is one set of rules: CSV, columns of several types or from names of directories, names that Spark skips.
    """
    hidden = any(os.path.basename(path)[0] in "._" or ":" in path for path in files.paths)
    if files.parquet is not None and only is not None and files.parquet.is_uniform(only) and not hidden:
        return files.paths, list(dict.fromkeys(only))
    return [files.converted(numeric, only=only)], None


@contextmanager
def _dask(files: Files, numeric: Sequence[str], only: Sequence[str] | None, address: str | None) -> Iterator[Any]:
    import dask
    import dask.dataframe as dd

    found, columns = _cluster_files(files, numeric, only)
    paths = [glob_escaped(path) for path in found]
    # Names of directories make no columns here, and columns no index.
    read: Any = partial(dd.read_parquet, paths, columns=columns, index=False, dataset={"partitioning": None})
    if address is None:
        # Threads of this process: nothing listens to anybody.
        with dask.config.set(scheduler="threads"):
            yield read()
        return
    from distributed import Client

    try:
        client: Any = Client(address)  # type: ignore[no-untyped-call]
    except OSError:
        raise InvalidInput(f"there is no Dask scheduler at {address}.") from None
    with client:
        try:
            yield read()
        except FileNotFoundError as error:
            raise InvalidInput(_unseen(error.filename or str(error))) from None


@contextmanager
def _spark(files: Files, numeric: Sequence[str], only: Sequence[str] | None, address: str | None) -> Iterator[Any]:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    found, columns = _cluster_files(files, numeric, only)
    paths = [re.sub(r"([\\*?\[\]{}])", r"\\\1", path) for path in found]
    builder = SparkSession.builder.master(address or "local[*]").appName("pacband")
    if address is None:
        # A session of this machine alone listens on loopback and keeps quiet.
        for name, value in (("driver.host", "127.0.0.1"), ("driver.bindAddress", "127.0.0.1"), ("ui.enabled", "false")):
            builder = builder.config(f"spark.{name}", value)
    session = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR").getOrCreate()
    try:
        table = session.read.parquet(*paths)
        yield table if columns is None else table.select(*(f"`{name.replace('`', '``')}`" for name in columns))
    except (PySparkException, Py4JJavaError) as error:
        message = str(error)
        if "FileNotFoundException" in message:
            raise InvalidInput(_unseen(paths[0])) from None
        raise InvalidInput(f"{files.found[0].shown}: {message.splitlines()[0]}") from None
    finally:
        session.stop()


def _unseen(path: str) -> str:
    return (
        f"a worker of the cluster does not see {path}. Every worker must see the files, and TMPDIR, where CSV files "
        "are converted first."
    )


def with_labels(relation: Any, group: str | None, labels: Sequence[Any]) -> Any:
    """Return the relation with groups of the certificate's type: in a CSV file every label is a text."""
    if group is None or group not in relation.columns or not labels:
        return relation
    kinds = {str: "varchar", bool: "boolean", int: "bigint"}
    kind = kinds.get(type(labels[0]), "double")
    return relation.project(f"* replace (try_cast({quoted(group)} as {kind}) as {quoted(group)})")


def check_output(output: str | None, *inputs: str, kinds: tuple[str, ...] = ()) -> None:
    """Raise before any work where the output cannot be written, is of no known kind, or would overwrite an input."""
    if output is None or output == "-":
        return
    suffix = os.path.splitext(output)[1].lower()
    if kinds and suffix not in kinds:
        raise InvalidInput(f"{output}: the name must end in {', '.join(kinds)}, got {suffix or 'none of them'}.")
    folder = os.path.dirname(os.path.realpath(output))
    if not os.path.isdir(folder):
        raise InvalidInput(f"{output}: there is no directory {folder}.")
    if not os.access(folder, os.W_OK) or (os.path.exists(output) and not os.access(output, os.W_OK)):
        raise InvalidInput(f"{output} cannot be written to.")
    if os.path.isdir(output):
        raise InvalidInput(f"{output} is a directory.")
    for path in inputs:
        if os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise InvalidInput(f"the output {output} is an input as well: choose another name.")


def labels_of(certificate: Any) -> list[Any]:
    """Return the labels of a group certificate; none of others."""
    return list(getattr(certificate, "groups", []))
