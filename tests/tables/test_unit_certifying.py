"""The certificate and the verdict of units in engines are those of arrays, to the last bit."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.draws import Units
from pacband.exceptions import InvalidInput, NotEnoughSamples
from support.jobs import JOBS, PROMISE, stated, unit_table
from support.tables import IN_PROCESS, LAZY, dask_frame, write_parquet

ENGINES = ["polars lazy", "duckdb", "duckdb parquet"]
COLUMNS = {"target": "y", "prediction": "p"}


@pytest.mark.parametrize("within", ["all", 0.9, 0.34])
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("library", ENGINES)
def test_every_engine_gives_the_certificate_of_arrays(library, job, within, rng, tmp_path, monkeypatch):
    frame, options = unit_table(rng), {"target": "y", **JOBS[job], "draws": Units("machine", within), **PROMISE}
    expected = pacband.certify_frame(frame, **options)
    # The rows stay where they are.
    monkeypatch.setattr("pacband.tables.lazy_certifying.read_whole", None)
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
    frame, options = unit_table(rng), {"target": "y", **JOBS[job], "draws": Units("machine"), **PROMISE}
    found = pacband.certify_frame(dask_frame(frame), **options)
    expected = pacband.certify_frame(frame, **options)
    assert stated(found) == stated(expected)
    if job != "family":
        assert pacband.check_frame(found, dask_frame(frame)) == pacband.check_frame(expected, frame)


@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_spark_gives_the_certificate_of_arrays(rng, tmp_path, spark):
    frame, options = unit_table(rng), {"target": "y", **JOBS["groups"], "draws": Units("machine"), **PROMISE}
    native = spark.read.parquet(write_parquet(frame, tmp_path))
    found = pacband.certify_frame(native, **options)
    assert stated(found) == stated(pacband.certify_frame(frame, **options))
    assert pacband.check_frame(found, native).reused
    with pytest.raises(InvalidInput, match="use DuckDB or polars"):
        pacband.certify_frame(native, **options | {"draws": Units("machine", 0.9)})


@pytest.mark.parametrize("library", ["polars lazy", "duckdb"])
def test_candidates_in_parts_and_infinite_errors(library, rng, limit):
    limit(together=2)
    frame = unit_table(rng)
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
    frame = unit_table(rng)
    frame["size"] = (frame["y"] - frame["p"]).abs()
    for options in ({**COLUMNS, "tolerance": 2.0, "delta": 0.01}, {"score": "size", **PROMISE}):
        found = pacband.certify_frame(LAZY[library](frame), **options, draws=Units("machine"))
        assert stated(found) == stated(pacband.certify_frame(frame, **options, draws=Units("machine")))


def test_what_an_engine_cannot_do_is_refused_with_one_that_can(rng):
    frame = unit_table(rng)
    native = dask_frame(frame)
    for within in (0.9, "one"):
        with pytest.raises(InvalidInput, match="needs the rows of a unit in order: use DuckDB or polars"):
            pacband.certify_frame(native, **COLUMNS, draws=Units("machine", within), **PROMISE)
    cert = pacband.certify_frame(frame, **COLUMNS, draws=Units("machine", 0.9), **PROMISE)
    with pytest.raises(InvalidInput, match="this one is of dask"):
        pacband.check_frame(cert, native)


def test_too_few_units_and_labels_that_are_none_are_refused(rng):
    frame = unit_table(rng, n_units=20)
    with pytest.raises(NotEnoughSamples, match=r"each machine is one draw.*got n_samples=20") as caught:
        pacband.certify_frame(duckdb.from_df(frame), **COLUMNS, eps=0.05, delta=0.05, draws=Units("machine"))
    assert caught.value.needed == 59
    frame["machine"] = pd.Timestamp("2026-01-01")
    with pytest.raises(InvalidInput, match="must hold the labels of units: strings, numbers or booleans, got Date"):
        pacband.certify_frame(duckdb.from_df(frame), **COLUMNS, draws=Units("machine"))
    with pytest.raises(InvalidInput, match="the table is empty"):
        pacband.certify_frame(duckdb.from_df(unit_table(rng)[:0]), **COLUMNS, draws=Units("machine"))
    with pytest.raises(InvalidInput, match="at most 24 decimals in an engine, got 1e-30"):
        pacband.certify_frame(duckdb.from_df(unit_table(rng)), **COLUMNS, draws=Units("machine", 1e-30), **PROMISE)


def test_units_that_depend_on_each_other_are_noticed(rng):
    """Machines of one site resemble each other: the screen of DuckDB reads the column of sites."""
    machine = rng.permutation(np.repeat(np.arange(2000), 5))
    site, own = rng.standard_normal(40), rng.standard_normal(2000)
    frame = pd.DataFrame({"machine": machine, "site": [f"s{k}" for k in machine % 40], "p": 0.0})
    options = {**COLUMNS, "eps": 0.1, "delta": 0.01, "draws": Units("machine")}
    sound = frame.assign(y=own[machine] + rng.standard_normal(len(machine)))
    pacband.certify_frame(duckdb.from_df(sound), **options)
    for native in (alike := sound.assign(y=sound["y"] + 3 * site[machine % 40]), duckdb.from_df(alike)):
        with pytest.warns(pacband.PromiseWarning, match="rows of one site resemble each other"):
            pacband.certify_frame(native, **options)
