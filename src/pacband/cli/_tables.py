"""Files as tables of an engine: DuckDB in this process, or a Dask or Spark cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pacband.exceptions import InvalidInput
from pacband.frames.files import Files, open_files, quoted

__all__ = ["labels_of", "opened", "with_labels"]


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


def with_labels(relation: Any, group: str | None, labels: Sequence[Any]) -> Any:
    """Return the relation with groups of the certificate's type: in a CSV file every label is a text."""
    if group is None or group not in relation.columns or not labels:
        return relation
    kinds = {str: "varchar", bool: "boolean", int: "bigint"}
    kind = kinds.get(type(labels[0]), "double")
    return relation.project(f"* replace (try_cast({quoted(group)} as {kind}) as {quoted(group)})")


def labels_of(certificate: Any) -> list[Any]:
    """Return the labels of a group certificate; none of others."""
    return list(getattr(certificate, "groups", []))
