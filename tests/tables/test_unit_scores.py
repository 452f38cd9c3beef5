"""Units in engines: the certificate and the verdict of arrays, to the last bit, from one number a unit."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacband
from pacband.draws import Units
from pacband.exceptions import InvalidInput, InvalidScale, NotEnoughSamples
from support.jobs import JOBS, PROMISE, stated, table
from support.tables import IN_PROCESS, LAZY, changing, dask_frame, write_parquet

ENGINES = ["polars lazy", "duckdb", "duckdb parquet"]
COLUMNS = {"target": "y", "prediction": "p"}


def machines(rng, n_units=1500):
    """The table of all jobs, with machines of one to about ten rows, each at one site."""
    frame = table(rng)
    frame["machine"] = rng.integers(0, n_units, len(frame))
    frame["site"] = np.array(["north", "south", "west"])[frame["machine"] % 3]
    return frame


@pytest.mark.parametrize("within", ["all", 0.9, 0.34])
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("library", ENGINES)
def test_every_engine_gives_the_certificate_of_arrays(library, job, within, rng, tmp_path, monkeypatch):
    frame, options = machines(rng), {"target": "y", **JOBS[job], "draws": Units("machine", within), **PROMISE}
    expected = pacband.certify_frame(frame, **options)
    # The rows stay where they are.
    monkeypatch.setattr("pacband.tables.certifying.read_whole", None)
    native = IN_PROCESS[library](frame, tmp_path)
    found = pacband.certify_frame(native, **options)
    assert stated(found) == stated(expected)
    if "candidates" not in JOBS[job]:
        verdict = pacband.check_frame(found, native)
        assert verdict == pacband.check_frame(found, frame)
        assert verdict.reused


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("job", ["pair", "groups", pytest.param("family", marks=pytest.mark.verify)])
def test_dask_gives_the_certificate_of_arrays(job, rng):
    frame, options = machines(rng), {"target": "y", **JOBS[job], "draws": Units("machine"), **PROMISE}
    found = pacband.certify_frame(dask_frame(frame), **options)
    expected = pacband.certify_frame(frame, **options)
    assert stated(found) == stated(expected)
    if job != "family":
        assert pacband.check_frame(found, dask_frame(frame)) == pacband.check_frame(expected, frame)


@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_spark_gives_the_certificate_of_arrays(rng, tmp_path, spark):
    frame, options = machines(rng), {"target": "y", **JOBS["groups"], "draws": Units("machine"), **PROMISE}
    native = spark.read.parquet(write_parquet(frame, tmp_path))
    found = pacband.certify_frame(native, **options)
    assert stated(found) == stated(pacband.certify_frame(frame, **options))
    assert pacband.check_frame(found, native).reused
    with pytest.raises(InvalidInput, match="use DuckDB or polars"):
        pacband.certify_frame(native, **options | {"draws": Units("machine", 0.9)})


@pytest.mark.parametrize("kind", [str, float, bool, "category"])
def test_units_may_have_any_label(kind, rng):
    frame = machines(rng)
    if kind is bool:
        frame["machine"] = frame["machine"] % 2 == 0
    frame["machine"] = frame["machine"].astype(kind)
    promise = {"eps": 0.8, "delta": 0.7} if kind is bool else PROMISE
    expected = pacband.certify_frame(frame, **COLUMNS, draws=Units("machine"), **promise)
    for native in (duckdb.from_df(frame), pl.from_pandas(frame).lazy()):
        assert stated(pacband.certify_frame(native, **COLUMNS, draws=Units("machine"), **promise)) == stated(expected)


@pytest.mark.parametrize("library", ["polars lazy", "duckdb"])
def test_candidates_in_parts_and_infinite_errors(library, rng, limit):
    limit(together=2)
    frame = machines(rng)
    frame.loc[5::400, "p"] = np.nan
    options = {
        "target": "y",
        "candidates": {"plain": "p", "scaled": ("p", "s"), "other": "q"},
        "nonfinite": "violate",
        "draws": Units("machine"),
        **PROMISE,
    }
    found = pacband.certify_frame(LAZY[library](frame), **options)
    assert stated(found) == stated(pacband.certify_frame(frame, **options))


@pytest.mark.parametrize("library", ["polars lazy", "duckdb"])
def test_a_tolerance_and_own_scores_by_units(library, rng):
    frame = machines(rng)
    frame["size"] = (frame["y"] - frame["p"]).abs()
    for options in ({**COLUMNS, "tolerance": 2.0, "delta": 0.01}, {"score": "size", **PROMISE}):
        found = pacband.certify_frame(LAZY[library](frame), **options, draws=Units("machine"))
        assert stated(found) == stated(pacband.certify_frame(frame, **options, draws=Units("machine")))


@pytest.mark.parametrize("within", ["all", 0.9])
@pytest.mark.parametrize(
    ("column", "value", "message", "error"),
    [
        ("machine", np.nan, "column 'machine' must have a label in every row: it is missing in 1 row, row 7 ", InvalidInput),
        ("p", np.nan, "column 'p' must be finite: it is NaN, infinite or missing in 1 row, row 7 ", InvalidInput),
        ("y", np.inf, "column 'y' must be finite", InvalidInput),
        ("s", 0.0, "scale must be positive and finite in every row: column 's'", InvalidScale),
        ("site", None, "column 'site' must have a label in every row", InvalidInput),
        ("site", "west", "every unit must be in one group, for its rows are one draw: machine 3.0 has rows in several", InvalidInput),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_used_are_named(column, value, message, error, within, rng):
    frame = machines(rng)
    frame["machine"] = frame["machine"].astype(float)
    frame.loc[7, ["machine", "site"]] = 3.0, "north"
    frame.loc[8, ["machine", "site"]] = 3.0, "north"
    frame.loc[7, column] = value
    options = {**COLUMNS, "scale": "s", "draws": Units("machine", within), **PROMISE}
    if column == "site":
        options["group"] = "site"
    for native in (duckdb.from_df(frame), pl.from_pandas(frame).lazy()):
        with pytest.raises(error, match=message):
            pacband.certify_frame(native, **options)


def test_what_an_engine_cannot_do_is_refused_with_one_that_can(rng):
    frame = machines(rng)
    native = dask_frame(frame)
    for within in (0.9, "one"):
        with pytest.raises(InvalidInput, match="needs the rows of a unit in order: use DuckDB or polars"):
            pacband.certify_frame(native, **COLUMNS, draws=Units("machine", within), **PROMISE)
    cert = pacband.certify_frame(frame, **COLUMNS, draws=Units("machine", 0.9), **PROMISE)
    with pytest.raises(InvalidInput, match="this one is of dask"):
        pacband.check_frame(cert, native)


def test_too_few_units_and_labels_that_are_none_are_refused(rng):
    frame = machines(rng, n_units=20)
    with pytest.raises(NotEnoughSamples, match=r"each machine of a sample is one draw.*got n_samples=20") as caught:
        pacband.certify_frame(duckdb.from_df(frame), **COLUMNS, eps=0.05, delta=0.05, draws=Units("machine"))
    assert caught.value.needed == 59
    frame["machine"] = pd.Timestamp("2026-01-01")
    with pytest.raises(InvalidInput, match="must hold the labels of units: strings, numbers or booleans, got Date"):
        pacband.certify_frame(duckdb.from_df(frame), **COLUMNS, draws=Units("machine"))
    with pytest.raises(InvalidInput, match="the table is empty"):
        pacband.certify_frame(duckdb.from_df(machines(rng)[:0]), **COLUMNS, draws=Units("machine"))
    with pytest.raises(InvalidInput, match="at most 24 decimals in an engine, got 1e-30"):
        pacband.certify_frame(duckdb.from_df(machines(rng)), **COLUMNS, draws=Units("machine", 1e-30), **PROMISE)


def test_a_share_with_many_digits_is_counted_in_integers(rng):
    """⌈0.7·10⌉ = 7, while 0.7·10 rounds up in float64 for some shares: 0.07·100 > 7."""
    frame = pd.DataFrame({"machine": np.repeat(np.arange(400), 100), "y": rng.standard_normal(40_000), "p": 0.0})
    for share in (0.07, 0.29, 0.5700000000000001):
        options = {**COLUMNS, "draws": Units("machine", share), **PROMISE}
        expected = stated(pacband.certify_frame(frame, **options))
        for native in (duckdb.from_df(frame), pl.from_pandas(frame).lazy()):
            assert stated(pacband.certify_frame(native, **options)) == expected


def test_rows_that_change_between_readings_are_noticed(rng):
    """The first reading sees a bad row, and the second, which looks for it, does not."""
    frame = pl.from_pandas(machines(rng))
    bad = frame.with_columns(pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("p")).alias("p"))
    with pytest.raises(InvalidInput, match="rows changed between two readings"):
        pacband.certify_frame(changing([bad, frame, frame]), **COLUMNS, draws=Units("machine"), **PROMISE)


def test_the_wrong_twin_that_takes_the_smallest_score_is_caught(rng, monkeypatch):
    import narwhals as nw

    frame = machines(rng)
    expected = stated(pacband.certify_frame(frame, **COLUMNS, draws=Units("machine"), **PROMISE))
    monkeypatch.setattr(nw.Expr, "max", nw.Expr.min)
    found = pacband.certify_frame(duckdb.from_df(frame), **COLUMNS, draws=Units("machine"), **PROMISE)
    assert stated(found) != expected
