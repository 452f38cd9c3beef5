"""Files as tables of an engine: DuckDB in this process, or a Dask or Spark cluster."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pacband.core.cells import TEXT_TYPES, short_texts, spelled, spelled_sql
from pacband.core.labels import listed
from pacband.exceptions import InvalidInput
from pacband.tables.connection import literal, quoted
from pacband.tables.files import Files, open_files

__all__ = ["labels_of", "opened", "with_labels", "without_labels"]

# Where the user's column of groups waits while the labels stand in its place.
_KEPT = "pacband kept group"


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
    """Yield the table in files. An error states in one sentence what cannot be read.

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
    paths = [glob.escape(path) for path in found]
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


def with_labels(relation: Any, group: str | None, labels: Sequence[Any], *, keep: bool = False) -> Any:
    """Return the relation with the groups as the certificate has them; raise where a row has none of its labels.

    In a CSV file every label is a text, and a column of pandas with gaps holds 1.0 for 1. Where both the column and the
    labels are texts they match exactly; else by their one spelling (`pacband.core.cells`), and never by rounding. With
    `keep`, `without_labels` gives the column back as it was.
    """
    if group is None or group not in relation.columns or not labels:
        return relation
    column, held = quoted(group), str(relation.types[relation.columns.index(group)])
    kinds = {type(label) for label in labels}
    if kinds == {str} and held.startswith(TEXT_TYPES):
        return relation
    keys = {spelled(label): label for label in labels}
    if len(keys) < len(labels) or None in keys or (str in kinds and len(kinds) > 1):
        raise InvalidInput(
            f"column {group!r} holds {held}, and the labels of the certificate, {listed(labels)}, cannot be told "
            "apart in it: use a table with the labels as they were certified."
        )
    if kinds == {bool}:
        keys |= {"1": True, "0": False}
    keys = short_texts(labels) | keys
    key = spelled_sql(column, held)
    known = ", ".join(literal(str(text)) for text in keys)
    unseen = relation.filter(f"{key} not in ({known})").project(f"{column} as g").distinct().limit(6).fetchall()
    if unseen:
        from pacband.certificate.certified_labels import refuse_labels

        refuse_labels([row[0] for row in unseen], labels, f"column {group!r}")
    if kinds == {str}:
        others = {text: label for text, label in keys.items() if text != label}
        cases = "".join(f"when {literal(str(text))} then {literal(label)} " for text, label in others.items())
        value = f"case {key} {cases}else {key} end" if others else key
    else:
        kind = {frozenset([bool]): "boolean", frozenset([int]): "bigint"}.get(frozenset(kinds), "double")
        value = f"cast({key} as {kind})"
        others = {text: label for text, label in keys.items() if type(label) is float and float(str(text)) != label}
        if others:
            cases = "".join(f"when {literal(str(text))} then {label!r}::double " for text, label in others.items())
            value = f"case {key} {cases}else {value} end"
    kept = f", {column} as {quoted(_KEPT)}" if keep else ""
    return relation.project(f"* replace ({value} as {column}){kept}")


def without_labels(relation: Any, group: str | None) -> Any:
    """Return the relation with the user's own column in place of the labels."""
    if group is None or _KEPT not in relation.columns:
        return relation
    return relation.project(f"* exclude ({quoted(_KEPT)}) replace ({quoted(_KEPT)} as {quoted(group)})")


def labels_of(certificate: Any) -> list[Any]:
    """Return the labels of a group certificate; none of others."""
    return list(getattr(certificate, "groups", []))
