"""Rows that cannot be scored are refused by engines as by arrays, and named."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pacband
from pacband.exceptions import InvalidInput, InvalidScale
from support.jobs import PROMISE, N, stated, table
from support.tables import ALL, IN_PROCESS, dask_frame

BAD = {
    "nan in y": (lambda frame: frame.assign(y=frame["y"].where(frame.index != 4321)), InvalidInput, "'y'.*1 row, row 4321"),
    "infinite y": (lambda f: f.assign(y=f["y"].where(f.index < 5000, np.inf)), InvalidInput, "'y'.*1000 rows, the first 5000"),
    "nan in p": (lambda f: f.assign(p=f["p"].where(f.index != 4321)), InvalidInput, "'p' must be finite.*row 4321"),
    "zero scale": (lambda f: f.assign(s=f["s"].where(f.index != 4321, 0.0)), InvalidScale, "'s'.*1 row, row 4321.*min_scale"),
    "negative scale": (lambda f: f.assign(s=f["s"].where(f.index != 4321, -1.0)), InvalidScale, "row 4321"),
    "nan scale": (lambda f: f.assign(s=f["s"].where(f.index != 4321)), InvalidScale, "row 4321"),
    "infinite scale": (lambda f: f.assign(s=f["s"].where(f.index != 4321, np.inf)), InvalidScale, "row 4321"),
    "overflow": (lambda f: f.assign(y=f["y"].where(f.index != 4321, 1e308), p=f["p"].where(f.index != 4321, -1e308)), InvalidInput, "overflows float64 in 1 row, row 4321"),
}  # fmt: skip


@pytest.mark.parametrize("library", ["polars lazy", "duckdb", "pandas"])
@pytest.mark.parametrize("case", BAD)
def test_rows_that_cannot_be_scored_are_named(case, library, rng, in_engine, tmp_path):
    spoil, error, message = BAD[case]
    frame = IN_PROCESS[library](spoil(table(rng)), tmp_path)
    if library == "pandas":
        message = "4321|5000|overflow"
    with pytest.raises(error, match=message):
        pacband.certify_frame(frame, target="y", prediction="p", scale="s", **PROMISE)


def test_large_integers_are_refused_by_engines_too(rng, in_engine):
    frame = table(rng)
    frame["y"] = 2**53 + 1 + np.arange(N)
    with pytest.raises(InvalidInput, match=r"beyond 2\*\*53"):
        pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", **PROMISE)


OFFSET = 17 * 10**17

WIDE = {
    "duckdb hugeint": lambda y: _duck(y, "hugeint"),
    "duckdb uhugeint": lambda y: _duck(y, "uhugeint"),
    "duckdb ubigint": lambda y: _duck(y, "ubigint"),
    "duckdb decimal": lambda y: _duck(y, "decimal(30, 0)"),
    "duckdb decimal with places": lambda y: _duck(y, "decimal(38, 4)"),
    "polars lazy Int64": lambda y: _polars(y, pl.Int64).lazy(),
    "polars lazy Int128": lambda y: _polars(y, pl.Int128).lazy(),
    "polars lazy Decimal": lambda y: _polars(y, pl.Decimal(30, 0)).lazy(),
    "polars Int128": lambda y: _polars(y, pl.Int128),
    "polars Decimal": lambda y: _polars(y, pl.Decimal(30, 0)),
    "pyarrow decimal128": lambda y: pa.table({"y": pa.array([Decimal(v) for v in y], pa.decimal128(30, 0)), "p": np.full(len(y), 1.7e18)}),
    "pandas decimal128": lambda y: _pandas(pd.array([Decimal(v) for v in y], dtype=pd.ArrowDtype(pa.decimal128(30, 0)))),
    "pandas Int64 with gaps": lambda y: _pandas(pd.array([*y[:-1], None], dtype="Int64")),
    "dask decimal128": lambda y: dask_frame(WIDE["pandas decimal128"](y), npartitions=2),
    "dask Int64": lambda y: dask_frame(_pandas(pd.array(y, dtype="Int64")), npartitions=2),
}  # fmt: skip


def _duck(y, kind):
    return duckdb.from_df(_pandas([str(v) for v in y])).project(f"y::{kind} as y, p")


def _polars(y, kind):
    return pl.DataFrame({"y": pl.Series([str(v) for v in y]), "p": np.full(len(y), 1.7e18)}).with_columns(
        pl.col("y").cast(kind)
    )


def _pandas(y):
    return pd.DataFrame({"y": y, "p": np.full(len(y), 1.7e18)})


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize("kind", WIDE)
def test_numbers_that_float64_cannot_tell_apart_are_refused(kind, near, rng, limit):
    if not near:
        limit(sample=50)
    y = [OFFSET + int(error) for error in rng.integers(-100, 100, 500)]
    native = WIDE[kind](y)
    with pytest.raises(InvalidInput, match=r"column 'y' has integers beyond 2\*\*53"):
        pacband.certify_frame(native, target="y", prediction="p", nonfinite="violate", **PROMISE)
    cert = pacband.certify(np.arange(500.0), np.zeros(500), **PROMISE)
    with pytest.raises(InvalidInput, match=r"column 'y' has integers beyond 2\*\*53"):
        pacband.apply_frame(cert, native, prediction="y")
    with pytest.raises(InvalidInput, match=r"column 'y' has integers beyond 2\*\*53"):
        pacband.check_frame(cert, native, target="y", prediction="p")


@pytest.mark.parametrize("kind", [name for name in WIDE if name != "pandas Int64 with gaps"])
def test_the_same_types_hold_smaller_numbers(kind, rng):
    y = [int(value) for value in rng.integers(0, 1000, 500)]
    expected = pacband.certify(np.array(y), np.full(500, 1.7e18), **PROMISE)
    assert stated(pacband.certify_frame(WIDE[kind](y), target="y", prediction="p", **PROMISE)) == stated(expected)


@pytest.mark.parametrize("edge", [2**53, -(2**53)])
def test_the_last_integer_that_float64_holds_is_taken_everywhere(edge, limit):
    limit(sample=300)
    step = 1 if edge > 0 else -1
    for beyond in (0, step):
        frame = pd.DataFrame({"y": np.full(1000, edge + beyond), "p": float(edge)})
        for make in ALL.values():
            if beyond:
                with pytest.raises(InvalidInput, match="beyond"):
                    pacband.certify_frame(make(frame), target="y", prediction="p", **PROMISE)
            else:
                assert pacband.certify_frame(make(frame), target="y", prediction="p", **PROMISE).gamma == 0.0
