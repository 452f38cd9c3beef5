"""Every engine, dtype, rank and tie pattern gives the certificate that numpy gives, to the last bit."""

from decimal import Decimal
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pacband
from pacband.exceptions import InvalidInput, NotEnoughSamples
from support.jobs import JOBS, PROMISE, N, by_arrays, stated, table
from support.tables import ALL, IN_PROCESS, LAZY, collected, dask_frame, libraries, write_parquet


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("library", IN_PROCESS)
def test_every_library_gives_the_certificate_of_arrays(library, job, rng, in_engine, tmp_path):
    frame = table(rng)
    found = pacband.certify_frame(IN_PROCESS[library](frame, tmp_path), **{"target": "y", **JOBS[job]}, **PROMISE)
    assert stated(found) == stated(by_arrays(frame, JOBS[job]))


@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("job", ["groups", *(pytest.param(job, marks=pytest.mark.verify) for job in ("family", "pair", "upper"))])  # fmt: skip
def test_spark_gives_the_certificate_of_arrays(job, rng, limit, tmp_path, spark):
    limit(sample=300)
    frame = table(rng)
    native = spark.read.parquet(write_parquet(frame, tmp_path))
    found = pacband.certify_frame(native, target="y", **JOBS[job], **PROMISE)
    assert stated(found) == stated(by_arrays(frame, JOBS[job]))
    cert = found if job == "groups" else found.certificate if job == "family" else found
    bands = pacband.apply_frame(cert, native)
    assert bands.count() == N
    near = pacband.apply_frame(cert, frame)
    got = pd.DataFrame([row.asDict() for row in bands.collect()])
    assert sorted(got["lower"]) == sorted(near["lower"])
    assert sorted(got["upper"]) == sorted(near["upper"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("job", ["pair", "upper", "family", "groups"])
def test_dask_gives_the_certificate_of_arrays(job, rng, limit):
    limit(sample=300)
    frame = table(rng)
    native = dask_frame(frame, npartitions=3)
    found = pacband.certify_frame(native, target="y", **JOBS[job], **PROMISE)
    assert stated(found) == stated(by_arrays(frame, JOBS[job]))
    cert = found.certificate if job == "family" else found
    bands = pacband.apply_frame(cert, native)
    assert type(bands) is type(native)
    pd.testing.assert_frame_equal(
        bands.compute()[["lower", "upper"]], pacband.apply_frame(cert, frame)[["lower", "upper"]]
    )


@pytest.mark.parametrize("job", ["outputs", "family above", "weights", "floor"])
def test_dask_gives_the_certificate_of_arrays_for_all_jobs(job, rng, limit):
    limit(sample=300)
    frame = table(rng)
    native = dask_frame(frame, npartitions=2)
    options = {"target": "y", **JOBS[job], **PROMISE}
    found = pacband.certify_frame(native, **options)
    assert stated(found) == stated(by_arrays(frame, JOBS[job]))
    cert = found.certificate if "candidates" in JOBS[job] else found
    assert pacband.check_frame(cert, native) == pacband.check_frame(cert, frame)
    names = ["lower_1", "upper_1"] if job == "outputs" else ["lower", "upper"]
    assert collected(pacband.apply_frame(cert, native))[names].equals(pacband.apply_frame(cert, frame)[names])


@pytest.mark.parametrize("dtype", ["float32", "int16", "int64", "uint8", "bool", "Int64", "Float32", "decimal"])
@pytest.mark.parametrize("library", ["pandas", "polars", "polars lazy", "pyarrow", "duckdb"])
def test_numbers_of_every_type_are_computed_in_float64(library, dtype, rng, in_engine, tmp_path):
    frame = table(rng, 2000)[["y", "p", "s"]]
    if dtype == "decimal":
        frame["y"] = frame["y"].round(4)
        numbers = frame["y"].to_numpy(dtype=np.float64)
        frame["y"] = pd.array(
            [Decimal(f"{value:.4f}") for value in frame["y"]], dtype=pd.ArrowDtype(pa.decimal128(12, 4))
        )
    else:
        frame["y"] = (frame["y"] * 3).round().abs().astype("int64" if dtype.lower() != "float32" else "float64")
        frame["y"] = (frame["y"] > 1 if dtype == "bool" else frame["y"]).astype(dtype)
        numbers = frame["y"].to_numpy(dtype=np.float64)
    found = pacband.certify_frame(
        IN_PROCESS[library](frame, tmp_path), target="y", prediction="p", scale="s", **PROMISE
    )
    expected = pacband.certify(numbers, frame["p"].to_numpy(), frame["s"].to_numpy(), **PROMISE)
    assert stated(found) == stated(expected)


@pytest.mark.parametrize("library", ["polars lazy", "duckdb"])
def test_infinite_predictions_count_as_violations_where_declared(library, rng, in_engine, tmp_path):
    frame = table(rng)
    frame.loc[5::40, "p"] = np.nan
    frame.loc[6::40, "p"] = -np.inf
    for side in ("both", "upper"):
        options = {"nonfinite": "violate", "side": side, **PROMISE}
        found = pacband.certify_frame(
            IN_PROCESS[library](frame, tmp_path), target="y", prediction="p", scale="s", **options
        )
        assert stated(found) == stated(pacband.certify(frame["y"], frame["p"], frame["s"], **options))
        bands = pacband.apply_frame(found, IN_PROCESS[library](frame, tmp_path))
        ends = (bands.collect() if library == "polars lazy" else bands.pl())["upper"].to_numpy()
        assert np.isinf(ends[5])


@pytest.mark.parametrize("library", ["pandas", "polars", "polars lazy", "duckdb", "dask"])
def test_booleans_with_gaps_count_as_violations_where_declared(library, rng):
    frame = pd.DataFrame(
        {"y": rng.integers(0, 2, 500).astype(float), "p": pd.array(rng.random(500) < 0.5, dtype="boolean")}
    )
    frame.loc[::100, "p"] = pd.NA
    options = {"target": "y", "prediction": "p", "nonfinite": "violate", **PROMISE}
    expected = pacband.certify(
        frame["y"], frame["p"].astype("Float64").to_numpy(float, na_value=np.nan), nonfinite="violate", **PROMISE
    )
    assert stated(pacband.certify_frame(ALL[library](frame), **options)) == stated(expected)
    assert stated(pacband.certify(frame["y"], frame["p"], nonfinite="violate", **PROMISE)) == stated(expected)


def test_the_columns_stay_with_the_certificate(rng, tmp_path):
    frame = table(rng)
    cert = pacband.certify_frame(frame, target="y", prediction="p", scale=("s", "up"), group="site", **PROMISE)
    again = pacband.load(cert.save(tmp_path / "cert.json"))
    assert again == cert
    assert again.groups["north"].columns.to_dict() == {
        "target": ["y"], "prediction": ["p"], "scale": [["s"], ["up"]], "group": "site",
    }  # fmt: skip
    renamed = frame.rename(columns={"p": "guess"})
    assert pacband.apply_frame(cert, renamed, prediction="guess", scale=("s", "up"), group="site").equals(
        pacband.apply_frame(cert, frame).rename(columns={"p": "guess"})
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "Y"}, "no column 'Y'. Did you mean 'y'"),
        ({"prediction": "elsewhere"}, "no column 'elsewhere'"),
        ({"prediction": "site"}, "column 'site' must be numeric, got"),
        ({"prediction": None}, "either prediction or candidates"),
        ({"scale": ("s",)}, "a scale pair must be"),
        ({"prediction": ["p", "q"]}, "the same number of columns, got 1 and 2"),
        ({"scale": ["s", "up"]}, "scale must have 1 column or 1, got 2"),
        ({"target": ""}, "target must be the name of a column"),
        ({"group": "nowhere"}, "no column 'nowhere'"),
        ({"eps": 5}, "eps must be in"),
        ({"rank": 10**6}, "rank must not exceed"),
        ({"group": "site", "rank": 3}, "group cannot be combined with candidates or rank"),
        ({"candidates": {"a": "p"}}, "not both"),
        ({"prediction": None, "candidates": {"a": "p"}, "scale": "s"}, "each has its own scale"),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "duckdb"])
def test_what_is_asked_wrongly_is_said(library, change, message, rng, tmp_path):
    native = IN_PROCESS[library](table(rng), tmp_path)
    with pytest.raises(InvalidInput, match=message):
        pacband.certify_frame(native, **{"target": "y", "prediction": "p", **PROMISE, **change})


def test_too_few_rows_in_a_group_are_named(rng, in_engine, tmp_path):
    frame = table(rng)
    frame.loc[:2, "site"] = "lonely"
    with pytest.raises(NotEnoughSamples, match="group 'lonely'"):
        pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", group="site", **PROMISE)


@pytest.mark.parametrize("kind", [int, float, bool])
def test_groups_of_every_type_of_label(kind, rng, in_engine):
    frame = table(rng)
    frame["site"] = (frame["site"] == "north").astype(kind)
    expected = pacband.certify_groups(frame["y"], frame["p"], frame["site"], **PROMISE)
    for native in (duckdb.from_df(frame), pl.from_pandas(frame).lazy()):
        found = pacband.certify_frame(native, target="y", prediction="p", group="site", **PROMISE)
        assert stated(found) == stated(expected)
        assert all(type(label) is kind for label in found.groups)


def test_many_groups_in_the_same_passes(rng, in_engine):
    frame = table(rng, 20_000)
    frame["site"] = rng.integers(0, 40, len(frame))
    expected = pacband.certify_groups(frame["y"], frame["p"], frame["site"], frame["s"], **PROMISE)
    passes = []
    found = pacband.certify_frame(
        duckdb.from_df(frame), target="y", prediction="p", scale="s", group="site", **PROMISE,
        progress=lambda done, total: passes.append((done, total)),
    )  # fmt: skip
    assert stated(found) == stated(expected)
    assert 1 <= len(passes) <= 16
    assert all(done <= total for done, total in passes)


def test_the_fingerprint_of_an_engine_would_see_a_changed_row(rng, in_engine):
    # A wrong twin: one score of many, changed in its ninth digit.
    frame = table(rng)
    one = pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", **PROMISE)
    frame.loc[11, "y"] += 1e-6
    other = pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", **PROMISE)
    assert one.data_digest != other.data_digest
    assert SimpleNamespace(**stated(one)).gamma == SimpleNamespace(**stated(other)).gamma


def test_candidates_are_counted_and_not_declared(rng):
    with pytest.raises(InvalidInput, match="n_candidates is their number, 2"):
        pacband.certify_frame(table(rng), target="y", candidates={"a": "p", "b": "q"}, n_candidates=100, **PROMISE)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("library", libraries(LAZY))
def test_many_candidates_come_in_parts_and_give_the_certificate_of_arrays(library, weights, rng, limit):
    limit(sample=100, together=4)
    frame = pd.DataFrame(rng.standard_normal((1000, 10)), columns=[f"p{k}" for k in range(10)])
    frame["y"], frame["s"] = 0.0, rng.uniform(0.5, 2.0, 1000)
    options = {"candidates": {f"m{k}": (f"p{k}", "s") if k % 2 else f"p{k}" for k in range(10)}, "side": "upper"}
    if weights:
        options["weights"] = {f"m{k}": (k + 1) / 55 for k in range(10)}
    found = pacband.certify_frame(LAZY[library](frame), target="y", eps=0.2, delta=0.01, **options)
    assert stated(found) == stated(pacband.certify_frame(frame, target="y", eps=0.2, delta=0.01, **options))


@pytest.mark.parametrize("weights", [None, {"plain": 0.3, "scaled": 0.7}])
@pytest.mark.parametrize("library", ["duckdb", "polars lazy"])
def test_a_rank_may_be_larger_than_the_sample_that_a_search_starts_from(library, weights, rng, in_engine):
    frame = table(rng)
    job = {"candidates": {"plain": "p", "scaled": ("p", "s")}, "rank": 500, "weights": weights}
    found = pacband.certify_frame(LAZY[library](frame), target="y", **PROMISE, **job)
    assert stated(found) == stated(by_arrays(frame, job))
    assert {one.rank for one in found.candidates.values()} == {500}
    with pytest.raises(InvalidInput, match="rank must not exceed the number of samples, 6000, got 6001"):
        pacband.certify_frame(LAZY[library](frame), target="y", **PROMISE, **{**job, "rank": 6001})


@pytest.mark.verify
@pytest.mark.parametrize("library", ["duckdb", "polars lazy"])
def test_hundreds_of_candidates_are_certified(library, rng, limit):
    # With one expression inside the other this ended in a RecursionError.
    limit(sample=100)
    frame = pd.DataFrame(rng.standard_normal((400, 400)), columns=[f"p{k}" for k in range(400)]).assign(y=0.0)
    options = {"candidates": {f"m{k}": f"p{k}" for k in range(400)}, "target": "y", "eps": 0.2, "delta": 0.01}
    found = pacband.certify_frame(LAZY[library](frame), **options)
    assert stated(found) == stated(pacband.certify_frame(frame, **options))


def test_weights_without_candidates_are_refused(rng):
    with pytest.raises(
        InvalidInput,
        match=r"weights share δ among candidates: pass candidates with them, got weights=\{'p': 1\.0\} alone",
    ):
        pacband.certify_frame(table(rng), target="y", prediction="p", weights={"p": 1.0}, **PROMISE)


def test_a_group_that_is_no_name_is_refused(rng):
    for group in (["site", 3], 3, []):
        with pytest.raises(InvalidInput, match="group must be the name of a column, or a list of names, got"):
            pacband.certify_frame(table(rng), target="y", prediction="p", group=group, **PROMISE)


@pytest.mark.parametrize("names", [("a", "a"), ("a", "A"), ("a",), ("", "a")])
def test_the_ends_of_a_band_need_two_names(names, rng):
    frame = table(rng)
    cert = pacband.certify_frame(frame, target="y", prediction="p", **PROMISE)
    with pytest.raises(InvalidInput, match="names must be two names, not empty, that differ in more than case"):
        pacband.apply_frame(cert, frame, names=names)
