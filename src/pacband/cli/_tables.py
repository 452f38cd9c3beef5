"""Files as tables of an engine: DuckDB in this process, or a Dask or Spark cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pacband._cells import TEXT_TYPES, matching, spelled, spelled_sql
from pacband._labels import listed
from pacband.exceptions import InvalidInput
from pacband.frames.files import Files, open_files, quoted

__all__ = ["TABLES", "check_output", "labels_of", "match_labels", "opened", "with_labels", "without_labels"]

# What rows can be written to, by their names.
TABLES = (".csv", ".txt", ".parquet", ".pq")
# Where the user's column of groups waits while the labels stand in its place.
_KEPT = "pacband kept group"


@contextmanager
def opened(
    paths: Sequence[str],
    numeric: Sequence[str],
    *,
    engine: str = "duckdb",
    address: str | None = None,
    threads: int | None = None,
) -> Iterator[Any]:
    """Yield the table in files, these columns as numbers; what cannot be read is said in one sentence."""
    with open_files(paths) as files:
        if engine == "duckdb":
            with files.reading():
                yield files.relation(numeric, threads=threads)
        elif engine == "dask":
            with _dask(files, numeric, address) as table:
                yield table
        else:
            with _spark(files, numeric, address) as table:
                yield table


@contextmanager
def _dask(files: Files, numeric: Sequence[str], address: str | None) -> Iterator[Any]:
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client, LocalCluster

    paths = [os.path.abspath(path) for path in files.paths]
    try:
        client: Any = Client(address or LocalCluster(processes=False, dashboard_address=None))  # type: ignore[no-untyped-call]
    except OSError:
        raise InvalidInput(f"there is no Dask scheduler at {address}.") from None
    with client:
        if files.kind == "parquet":
            yield dd.read_parquet(paths)
        else:
            types = {name: "float64" if name in set(numeric) else "string" for name in files.header}
            try:
                # Before its third release pandas read floats to the last bit only where it was asked to.
                exact = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
                yield dd.read_csv(paths, sep=files.delimiter, dtype=types, **exact)
            except ValueError as error:
                raise InvalidInput(f"{files.paths[0]}: {str(error).splitlines()[-1]}") from None


@contextmanager
def _spark(files: Files, numeric: Sequence[str], address: str | None) -> Iterator[Any]:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col

    builder = SparkSession.builder.master(address or "local[*]").appName("pacband")
    if address is None:
        # A session of this machine alone listens on loopback and keeps quiet.
        for name, value in (("driver.host", "127.0.0.1"), ("driver.bindAddress", "127.0.0.1"), ("ui.enabled", "false")):
            builder = builder.config(f"spark.{name}", value)
    session = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR").getOrCreate()
    paths = [os.path.abspath(path) for path in files.paths]
    try:
        if files.kind == "parquet":
            yield session.read.parquet(*paths)
        else:
            texts = session.read.csv(paths, header=True, sep=files.delimiter)
            wanted = set(numeric)
            yield texts.select(
                *(
                    col(f"`{name}`").cast("double").alias(name) if name in wanted else col(f"`{name}`")
                    for name in files.header
                )
            )
    except PySparkException as error:
        raise InvalidInput(f"{files.paths[0]}: {str(error).splitlines()[0]}") from None
    finally:
        session.stop()


def with_labels(relation: Any, group: str | None, labels: Sequence[Any], *, keep: bool = False) -> Any:
    """Return the relation with the groups as the certificate has them; raise where a row has none of its labels.

    In a CSV file every label is a text, and a column of pandas with gaps holds 1.0 for 1. Where both the column and the
    labels are texts they match exactly; else by their one spelling (`pacband._cells`), and never by rounding. With
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
            f"column {group!r} holds {held}, and the labels of the certificate, {listed(list(labels))}, cannot be told "
            "apart in it: use a table with the labels as they were certified."
        )
    if kinds == {bool}:
        keys |= {"1": True, "0": False}
    key = spelled_sql(column, held)
    known = ", ".join(_literal(str(text)) for text in keys)
    unseen = relation.filter(f"{key} not in ({known})").project(f"{column} as g").distinct().limit(6).fetchall()
    if unseen:
        raise InvalidInput(
            f"column {group!r} has labels without a certificate: {listed([row[0] for row in unseen])}. "
            f"Certified are {listed(list(labels))}."
        )
    if kinds == {str}:
        others = {text: label for text, label in keys.items() if text != label}
        cases = "".join(f"when {_literal(str(text))} then {_literal(label)} " for text, label in others.items())
        value = f"case {key} {cases}else {key} end" if others else key
    else:
        kind = {frozenset([bool]): "boolean", frozenset([int]): "bigint"}.get(frozenset(kinds), "double")
        value = f"cast({key} as {kind})"
    kept = f", {column} as {quoted(_KEPT)}" if keep else ""
    return relation.project(f"* replace ({value} as {column}){kept}")


def without_labels(relation: Any, group: str | None) -> Any:
    """Return the relation with the user's own column in place of the labels."""
    if group is None or _KEPT not in relation.columns:
        return relation
    return relation.project(f"* exclude ({quoted(_KEPT)}) replace ({quoted(_KEPT)} as {quoted(group)})")


def match_labels(certificate: Any, groups: Any) -> Any:
    """Return the groups of rows in memory as the certificate has them, as `with_labels` does in a table."""
    labels = labels_of(certificate)
    if groups is None or not labels:
        return groups
    import numpy as np

    match = matching(labels, exact_texts=True)
    return np.fromiter((match(cell) for cell in groups), dtype=object, count=len(groups))


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


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
