"""The ways in: a table as arrays of any library, as a frame of any library, or as files; and the commands on each.

Every answer is made of plain values that can be compared: floats as hexadecimal texts, labels as lower-case texts.
"""

import contextlib
import csv
import io
import json
import math
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

import pacband

PROMISE = {"eps": 0.1, "delta": 0.05}
COMMANDS = ("certify", "apply", "check", "report", "diagnose", "monitor")


class Refused(Exception):
    """A way in refused the table."""


# --- what is compared ---------------------------------------------------------------------------------------------


def text(label):
    """Return a label as a file may spell it."""
    return str(label).lower()


def stated(certificate):
    """Return what a certificate states: of each group γ̄, N and the fingerprint of the scores."""
    parts = getattr(certificate, "groups", None) or {"": certificate}
    return {text(label): (part.gamma.hex(), part.n_samples, part.data_digest) for label, part in parts.items()}


def ends(lower, upper):
    return [(float(low).hex(), float(high).hex()) for low, high in zip(lower, upper, strict=True)]


def counted(verdict):
    """Return the rows and violations of each group, from the JSON of a verdict."""
    return {text(count["label"]): (count["n_samples"], count["violations"]) for count in verdict["counts"]}


def reported(summary):
    """Return what a report says of its rows."""
    return summary["rows"]["n_rows"], summary["rows"]["n_violations"], summary["verdict"]["state"]


def found(diagnosis):
    """Return what a diagnosis found, and how sure it is."""
    return [(finding["check"], finding["p_value"]) for finding in diagnosis["findings"]]


# --- arrays -------------------------------------------------------------------------------------------------------


def lists(column):
    return column.to_pylist()


def masked(column):
    values = [0 if value is None else value for value in column.to_pylist()]
    return np.ma.array(values, mask=[value is None for value in column.to_pylist()])


ARRAYS = {
    "lists": lists,
    "objects": lambda column: np.array([*column.to_pylist(), None], dtype=object)[:-1],
    "numpy": lambda column: column.to_numpy(),
    "masked arrays": masked,
    "pandas series": lambda column: column.to_pandas(),
    "pandas arrow series": lambda column: column.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas nullable series": lambda column: column.to_pandas().convert_dtypes(),
    "polars series": pl.Series,
    "pyarrow arrays": lambda column: column,
}


def by_arrays(convert, case, command, certificate, folder):
    """Run a command on the columns by themselves."""
    columns = {role: convert(case.table.column(name)) for role, name in case.names.items()}
    y, p, s, g = (columns.get(role) for role in ("target", "prediction", "scale", "group"))
    try:
        if command == "certify":
            if g is None:
                return stated(pacband.certify(y, p, s, **PROMISE, **case.options))
            return stated(pacband.certify_groups(y, p, g, s, **PROMISE, **case.options))
        if command == "apply":
            band = certificate.interval(p, s) if g is None else certificate.interval(p, g, s)
            return ends(*band.T)
        if command == "check":
            return counted(pacband.check(certificate, y, p, s, groups=g).to_dict())
        if command == "report":
            return reported(pacband.report(certificate, y, p, s, groups=g).to_dict())
        if command == "diagnose":
            return found(pacband.diagnose(y, p, s, groups=g, **PROMISE, **case.options).to_dict())
        monitor = pacband.Monitor(certificate)
        monitor.update(y, p, s, groups=g)
    except pacband.exceptions.PacbandError as error:
        raise Refused(str(error)) from None
    return monitor.n_rows, monitor.n_violations, monitor.n_unlabelled


def expected(case, command, certificate, folder):
    """Return what float64 arrays give, converted by Python."""
    roles = [role for role in case.names if role != "group" and (role != "target" or command != "apply")]
    plain = {role: pa.chunked_array([case.column(role)]) for role in roles}
    labels = {} if case.labels() is None else {"group": pa.chunked_array([case.labels()])}
    table = pa.table(plain | labels)
    return by_arrays(
        lambda column: column.to_numpy(),
        type(case)(table, names={role: role for role in table.column_names}, options=case.options),
        command,
        certificate,
        folder,
    )


# --- frames -------------------------------------------------------------------------------------------------------


def dask(table, folder):
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(), npartitions=3)


def dask_of(table, folder):
    import dask.dataframe as dd

    return dd.read_parquet(saved(table, folder))


def dask_arrow(table, folder):
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=3)


def saved(table, folder):
    """Write a Parquet file, with the usual statistics: they leave NaN out, and engines plan by them."""
    pq.write_table(table, folder / "engine.parquet")
    return str(folder / "engine.parquet")


def spark(table, folder):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    quiet = {"driver.host": "127.0.0.1", "driver.bindAddress": "127.0.0.1", "ui.enabled": "false", "log.level": "ERROR"}
    for name, value in {**quiet, "sql.shuffle.partitions": "2"}.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate().read.parquet(saved(table, folder))


FRAMES = {
    "pandas": lambda table, folder: table.to_pandas(),
    "pandas of objects": lambda table, folder: table.to_pandas().astype(object),
    "pandas of arrow": lambda table, folder: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas nullable": lambda table, folder: table.to_pandas().convert_dtypes(),
    "polars": lambda table, folder: pl.from_arrow(table),
    "polars lazy": lambda table, folder: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table, folder: table,
    "duckdb": lambda table, folder: duckdb.connect().from_arrow(table),
    "duckdb of parquet": lambda table, folder: duckdb.connect().read_parquet(saved(table, folder)),
    "polars of parquet": lambda table, folder: pl.scan_parquet(saved(table, folder), glob=False),
    "arrow dataset": lambda table, folder: pyarrow.dataset.dataset(saved(table, folder)),
    "dask": dask,
    "dask of arrow": dask_arrow,
    "dask of parquet": dask_of,
    "spark": spark,
}


def by_frames(convert, case, command, certificate, folder):
    """Run a command on a table."""
    try:
        table = convert(case.table, folder)
        names = dict(case.names)
        if command == "certify":
            return stated(pacband.certify_frame(table, **names, **PROMISE, **case.options))
        target = names.pop("target")
        if command == "check":
            return counted(pacband.check_frame(certificate, table, target=target, **names).to_dict())
        bands = pacband.apply_frame(certificate, table, **names, names=("low end", "high end"))
    except pacband.exceptions.PacbandError as error:
        raise Refused(str(error)) from None
    return ends(*(values_of(bands, name) for name in ("low end", "high end")))


def values_of(table, name):
    """Return a column of a table of any library, in the order of its rows."""
    if isinstance(table, duckdb.DuckDBPyRelation):
        place = table.columns.index(name)
        return [row[place] for row in table.fetchall()]
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if hasattr(table, "compute"):
        table = table.compute()
    if hasattr(table, "toPandas"):
        return [row[name] for row in table.collect()]
    column = table[name]
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else column.to_list()


# --- files --------------------------------------------------------------------------------------------------------


def cell(value, *, true="True"):
    """Return a cell of a CSV file that means the value and no other."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return true if value else true.replace("True", "False").replace("true", "false")
    return repr(value) if isinstance(value, float) else format(value, "f") if isinstance(value, Decimal) else str(value)


def write_csv(table, path, *, delimiter=",", start="", line="\n", true="True"):
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(start)
        rows = csv.writer(file, delimiter=delimiter, lineterminator=line)
        rows.writerow(table.column_names)
        columns = [column.to_pylist() for column in table.columns]
        rows.writerows([cell(value, true=true) for value in row] for row in zip(*columns, strict=True))
    return [str(path)]


def csv_file(table, folder):
    return write_csv(table, folder / "rows.csv")


def csv_elsewhere(table, folder):
    """As spreadsheets of some countries write it: a mark at the start, semicolons, CRLF."""
    return write_csv(table, folder / "rows.csv", delimiter=";", start="\ufeff", line="\r\n", true="true")


def csv_packed(table, folder):
    import gzip

    csv_file(table, folder)
    packed = folder / "rows.csv.gz"
    packed.write_bytes(gzip.compress((folder / "rows.csv").read_bytes()))
    return [str(packed)]


def csv_parts(table, folder):
    third = max(1, len(table) // 3)
    pieces = [table.slice(0, third), table.slice(third, third), table.slice(2 * third)]
    return [path for k, piece in enumerate(pieces) for path in write_csv(piece, folder / f"part{k}.csv")]


def csv_among_keys(table, folder):
    """In folders that are called as partitions are."""
    inner = folder / "s=3" / "p=0"
    inner.mkdir(parents=True)
    return write_csv(table, inner / "rows [1].csv")


def standard_input(table, folder):
    csv_file(table, folder)
    return ["-"]


def parquet_file(table, folder):
    pq.write_table(table, folder / "rows.parquet")
    return [str(folder / "rows.parquet")]


def parquet_parts(table, folder):
    """In files each of which has the narrowest types that hold its numbers, as pandas writes month after month."""
    parts = folder / "parts"
    parts.mkdir()
    size = max(1, len(table) // 4)
    for k in range(4):
        piece = table.slice(k * size, size if k < 3 else None)
        for name in piece.column_names:
            column = piece.column(name)
            values = column.to_pylist()
            if (
                k == 0
                and pa.types.is_floating(column.type)
                and all(v is not None and math.isfinite(v) and v == int(v) and abs(v) < 2**53 for v in values)
            ):
                place = piece.column_names.index(name)
                piece = piece.set_column(place, name, pa.array([int(v) for v in values], pa.int64()))
        pq.write_table(piece, parts / f"part{k}.parquet")
    return [str(parts)]


def parquet_among_keys(table, folder):
    inner = folder / "run=7" / "month=3"
    inner.mkdir(parents=True)
    pq.write_table(table, inner / "rows[1].parquet")
    return [str(folder / "run=7" / "month=3" / "rows[1].parquet")]


def json_lines(table, folder):
    """A row an object: numbers as numbers, also decimals, and what JSON has no word for as Python writes it."""
    with open(folder / "rows.jsonl", "w", encoding="utf-8") as file:
        for row in table.to_pylist():
            cells = (f"{json.dumps(name)}: {_json(value)}" for name, value in row.items())
            file.write("{" + ", ".join(cells) + "}\n")
    return [str(folder / "rows.jsonl")]


def _json(value):
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value, default=str)


FILES = {
    "csv": csv_file,
    "csv from elsewhere": csv_elsewhere,
    "csv packed": csv_packed,
    "csv parts": csv_parts,
    "csv among keys": csv_among_keys,
    "standard input": standard_input,
    "parquet": parquet_file,
    "parquet parts": parquet_parts,
    "parquet among keys": parquet_among_keys,
    "json lines": json_lines,
}
TEXTS = {"csv", "csv from elsewhere", "csv packed", "csv parts", "csv among keys", "standard input", "json lines"}


def shell(*arguments, stdin=b""):
    """Run the command line in this process; return its exit code, stdout and stderr."""
    from pacband.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    into = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["pacband", *map(str, arguments)], into
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                code = 0
            except SystemExit as exit_:
                code = exit_.code or 0
    finally:
        sys.argv, sys.stdin = before
    return code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def by_files(write, case, command, certificate, folder):
    """Run a command from the shell."""
    paths = write(case.table, folder)
    stdin = (folder / "rows.csv").read_bytes() if paths == ["-"] else b""
    names = [part for role, name in case.names.items() for part in (f"--{role}", name)]
    promise = [part for name, value in PROMISE.items() for part in (f"--{name}", value)]
    options = [part for key, value in case.options.items() for part in (f"--{key.replace('_', '-')}", value)]
    saved = folder / "certificate.json"
    certificate.save(saved)

    def run(*arguments):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}
        code, out, err = shell(*arguments, stdin=stdin)
        if code == 2 and not out:  # `check` prints its verdict on rows that cannot test the promise
            after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}
            assert after == before, "a refusal leaves everything as it was"
            # With --json, an error is one line of JSON.
            assert err.startswith("pacband: ") or json.loads(err)["error"]["exit_code"] == 2, err
            assert err.count("\n") == 1, err
            raise Refused(err)
        assert code in (0, 1) or (command == "check" and "cannot test the promise" in err), (code, out, err)
        return out

    if command == "certify":
        out = folder / "made.json"
        run("certify", *paths, *names, *promise, *options, "-o", out)
        return stated(pacband.load(out))
    if command == "apply":
        out = folder / "bands.parquet"
        named = [
            part
            for role in ("prediction", "scale", "group")
            if role in case.names
            for part in (f"--{role}", case.names[role])
        ]
        run("apply", saved, *paths, *named, "-o", out, "--lower", "low end", "--upper", "high end")
        bands = pq.read_table(out)
        assert bands.column_names == [*case.table.column_names, "low end", "high end"]
        return ends(bands.column("low end").to_pylist(), bands.column("high end").to_pylist())
    if command == "check":
        return counted(json.loads(run("check", saved, *paths, *names, "--json")))
    if command == "report":
        out = folder / "report.json"
        run("report", saved, *paths, *names, "-o", out)
        return reported(json.loads(out.read_text()))
    if command == "diagnose":
        return found(json.loads(run("diagnose", *paths, *names, *promise, *options, "--json")))
    out = run("monitor", saved, *paths, *names, "--state", folder / "state.json", "--batch-size", 10**6, "--json")
    last = json.loads(out.strip().splitlines()[-1])
    return last["rows"], last["violations"], last["unlabelled"]
