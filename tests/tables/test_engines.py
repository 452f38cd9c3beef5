"""What tables in engines refuse and what they must carry: wide numbers, changing rows, odd names, many groups."""

import importlib
import itertools
from decimal import Decimal

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pacband
from pacband.certificate.certified_labels import locate_rows
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.selection import search as selection
from pacband.tables.engines import refuse_unless
from support.jobs import JOBS, PROMISE, N, by_arrays, stated, table

certifying = importlib.import_module("pacband.tables.certifying")
dd = pytest.importorskip("dask.dataframe")

CHANGED = "rows changed between two readings"
LAZY = {
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": lambda frame: duckdb.from_df(frame),
    "dask": lambda frame: dd.from_pandas(frame, npartitions=3),
}
ALL = LAZY | {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


def libraries(names):
    """Return these libraries to try; Dask, which takes a hundred times as long as the others, in the long studies."""
    return [pytest.param(name, marks=pytest.mark.verify) if name == "dask" else name for name in names]


def collected(native):
    """Return a table of any library as one of pandas."""
    if isinstance(native, pl.LazyFrame):
        return native.collect().to_pandas()
    if isinstance(native, duckdb.DuckDBPyRelation):
        return native.df()
    return native.compute() if isinstance(native, dd.DataFrame) else pa.Table.to_pandas(native) if isinstance(native, pa.Table) else native.to_pandas() if isinstance(native, pl.DataFrame) else native  # fmt: skip


@pytest.fixture
def far(monkeypatch):
    """Let tables in engines be too large to be brought here, and their windows too large to be fetched at once."""
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    monkeypatch.setattr(selection, "FEW", 400)


# Integers and decimals beyond 2**53.

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
    "dask decimal128": lambda y: dd.from_pandas(WIDE["pandas decimal128"](y), npartitions=2),
    "dask Int64": lambda y: dd.from_pandas(_pandas(pd.array(y, dtype="Int64")), npartitions=2),
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
def test_numbers_that_float64_cannot_tell_apart_are_refused(kind, near, rng, monkeypatch):
    if not near:
        monkeypatch.setattr(certifying, "SAMPLE", 50)
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
def test_the_last_integer_that_float64_holds_is_taken_everywhere(edge, monkeypatch):
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    step = 1 if edge > 0 else -1
    for beyond in (0, step):
        frame = pd.DataFrame({"y": np.full(1000, edge + beyond), "p": float(edge)})
        for make in ALL.values():
            if beyond:
                with pytest.raises(InvalidInput, match="beyond"):
                    pacband.certify_frame(make(frame), target="y", prediction="p", **PROMISE)
            else:
                assert pacband.certify_frame(make(frame), target="y", prediction="p", **PROMISE).gamma == 0.0


# Rows that change between two readings.


def redrawn_duckdb(rng, where):
    n = 200_000
    frame = pd.DataFrame({"y": rng.standard_normal(n), "p": 0.0, "s": 1.0, "g": rng.integers(0, 3, n)})
    connection = duckdb.connect(config={"threads": 1})
    connection.register("rows", frame)
    return connection, connection.sql(f"select * from rows {where}")


REDRAWN = {
    "half": "where random() < 0.5",
    "tenth": "where random() < 0.1",
    "sample": "using sample 20 percent",
    "rows sampled": "using sample 20 percent (bernoulli)",
}
TASKS = {
    "single": {"prediction": "p"},
    "scaled": {"prediction": "p", "scale": "s"},
    "family": {"candidates": {"a": "p", "b": ("p", "s")}},
    "one-sided": {"candidates": {"a": "p", "b": ("p", "s")}, "side": "upper"},
    "groups": {"prediction": "p", "group": "g"},
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("where", REDRAWN)
def test_a_table_that_is_drawn_anew_in_every_pass_is_refused(where, task, rng, monkeypatch):
    # Two draws of half of 200,000 rows have the same number with a probability of 0.2 %, and then the same fingerprint
    # with one below 1e-6. With groups, all three must have the same number: 1e-7.
    monkeypatch.setattr(certifying, "SAMPLE", 1000)
    monkeypatch.setattr(selection, "FEW", 2000)
    connection, relation = redrawn_duckdb(rng, REDRAWN[where])
    with connection, pytest.raises(InvalidInput, match=CHANGED):
        pacband.certify_frame(relation, target="y", **TASKS[task], **PROMISE)


def test_a_lazy_polars_table_that_is_drawn_anew_is_refused(rng, far):
    drawn = pl.DataFrame({"y": rng.standard_normal(40_000), "p": 0.0}).lazy()
    again = drawn.map_batches(lambda rows: rows.filter(pl.Series(rng.random(len(rows)) < 0.5)))
    for _ in range(3):
        with pytest.raises(InvalidInput, match=CHANGED):
            pacband.certify_frame(again, target="y", prediction="p", **PROMISE)


def changing(frames):
    """Return a lazy table whose rows are those of the next frame in every pass."""
    passes = iter(frames)

    def read(rows):
        return next(passes)

    return pl.DataFrame(schema=frames[0].schema).lazy().map_batches(read, schema=frames[0].schema)


@pytest.mark.parametrize(
    ("task", "change"),
    [
        *itertools.product(["single", "family", "groups"], ["a row more", "a row less", "another row"]),
        *itertools.product(["groups"], ["other labels", "a group more"]),
    ],
)
def test_one_changed_row_is_seen_in_every_later_pass(task, change, rng, far):
    rows = pl.from_pandas(table(rng).rename(columns={"site": "g"}))
    changed = {
        "a row more": lambda: pl.concat([rows, rows.head(1)]),
        "a row less": lambda: rows.head(N - 1),
        "another row": lambda: rows.with_columns(y=pl.when(pl.int_range(N) == 17).then(5.0).otherwise("y")),
        "other labels": lambda: rows.with_columns(g=pl.when(pl.int_range(N) == 17).then(pl.lit("north")).otherwise(pl.when(pl.col("g") == "north").then(pl.lit("west")).otherwise("g"))),
        "a group more": lambda: pl.concat([rows, rows.head(1).with_columns(g=pl.lit("moon"))]),
    }[change]()  # fmt: skip
    options = {"target": "y", **TASKS[task], **PROMISE}
    for first in range(2, 4):
        lazy = changing([*[rows] * first, *[changed] * 20])
        if (task, change, first) == ("groups", "another row", 2):
            # The first pass over groups only counts them: all scores are those of the later rows.
            found = pacband.certify_frame(lazy, **options)
            assert stated(found) == stated(pacband.certify_frame(changed, **options))
        else:
            with pytest.raises(InvalidInput, match=CHANGED):
                pacband.certify_frame(lazy, **options)


@pytest.mark.parametrize("side", ["both", "upper"])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.standard_normal(n),
        lambda rng, n: rng.integers(0, 3, n).astype(float),
        lambda rng, n: np.zeros(n),
        lambda rng, n: rng.standard_cauchy(n),
        lambda rng, n: np.where(rng.random(n) < 0.3, np.inf, rng.random(n)),
        lambda rng, n: np.where(rng.random(n) < 0.01, np.nan, -(10.0 ** rng.uniform(-320, 300, n))),
    ],
    ids=["normal", "coarse", "zero", "cauchy", "infinite", "all magnitudes"],
)
@pytest.mark.parametrize("library", libraries(LAZY))
def test_rows_that_stay_as_they_are_raise_no_alarm(library, draw, side, rng, monkeypatch):
    n = 3000
    frame = pd.DataFrame(
        {
            "y": rng.standard_normal(n),
            "p": draw(rng, n),
            "s": rng.uniform(0.5, 2.0, n),
            "g": rng.integers(0, 40, n) // 10,
        }
    )
    monkeypatch.setattr(certifying, "SAMPLE", 100)
    for few in (1000,) if library == "dask" else (1, 1000):
        monkeypatch.setattr(selection, "FEW", few)
        for task in ("family", "groups"):
            options = {**TASKS[task], "nonfinite": "violate", "side": side, "eps": 0.4, "delta": 0.1}
            found = pacband.certify_frame(LAZY[library](frame), target="y", **options)
            assert stated(found) == stated(pacband.certify_frame(frame, target="y", **options))


# Names.

NAMES = [
    "*", "**", "^a$", "^.*$", "^y|p$", "$$", "$1", "a b", " ", " a", "a.b", ".", "a`b", "`", "``", 'a"b', '"', '""', "'",
    "a'b", "a;b", ";", "--", "/*", "%", "_", "é", "名", "😀", "a\nb", "a\tb", "NULL", "select", "count(*)", "COLUMNS(*)",
    "[x]", "{x}", "x0", "c0", "g", "q0", "usable", "factor", "\\", "0", "#1", "nan", "x" * 300,
]  # fmt: skip


@pytest.fixture(scope="module")
def odd():
    """Rows whose columns have all of these names, each with the same numbers in another order."""
    rng = np.random.default_rng(7)
    numbers, labels = rng.standard_normal(300), rng.integers(0, 2, 300)
    columns = {name: np.roll(numbers, k) for k, name in enumerate(NAMES)}
    return pd.DataFrame({"y": rng.standard_normal(300), "s": rng.uniform(0.5, 2.0, 300), "k": labels, **columns})


@pytest.mark.parametrize("library", libraries(ALL))
def test_any_name_of_a_column_works(library, odd, monkeypatch):
    monkeypatch.setattr(certifying, "SAMPLE", 50)
    native = ALL[library](odd)
    for name in NAMES:
        expected = pacband.certify(odd["y"], odd[name], odd["s"], **PROMISE)
        found = pacband.certify_frame(native, target="y", prediction=name, scale="s", **PROMISE)
        assert stated(found) == stated(expected), name


@pytest.mark.parametrize("name", ["*", "^a$", "^.*$", "$$", '"', "a.b", "usable", "factor", "x0"])
@pytest.mark.parametrize("library", libraries(ALL))
def test_any_name_of_a_column_works_in_bands_checks_and_groups(library, name, odd):
    native = ALL[library](odd)
    cert = pacband.certify(odd["y"], odd[name], odd["s"], **PROMISE)
    bands = collected(pacband.apply_frame(cert, native, prediction=name, scale="s"))
    assert list(bands.columns) == [*odd.columns, "lower", "upper"]
    assert np.array_equal(bands[["lower", "upper"]].to_numpy(), cert.interval(odd[name], odd["s"]))
    assert (
        pacband.check_frame(cert, native, target="y", prediction=name, scale="s").counts[""].violations == cert.rank - 1
    )
    grouped = pacband.certify_groups(odd["y"], odd["s"], odd["k"], **PROMISE)
    renamed = ALL[library](odd[["y", "s", "k"]].rename(columns={"k": name}))
    found = pacband.certify_frame(renamed, target="y", prediction="s", group=name, **PROMISE)
    assert stated(found) == stated(grouped)
    bands = collected(pacband.apply_frame(found, renamed))
    assert list(bands.columns) == ["y", "s", name, "lower", "upper"]
    assert np.array_equal(bands[["lower", "upper"]].to_numpy(), grouped.interval(odd["s"], odd["k"]))


@pytest.mark.parametrize("library", ["polars lazy", "dask", "pandas", "polars"])
def test_names_that_differ_in_case_alone_or_are_empty_are_told_apart(library, rng, monkeypatch):
    monkeypatch.setattr(certifying, "SAMPLE", 50)
    frame = pd.DataFrame({"y": rng.standard_normal(300), "a": 0.0, "A": rng.standard_normal(300), "": 1.0})
    for name in ("a", "A", ""):
        found = pacband.certify_frame(ALL[library](frame), target="y", prediction=name, **PROMISE)
        assert stated(found) == stated(pacband.certify(frame["y"], frame[name], **PROMISE))


# Bands.


@pytest.mark.parametrize("bad", [np.nan, None, 0.0, -1.0, np.inf])
@pytest.mark.parametrize("library", ALL)
def test_a_scale_that_cannot_be_used_gets_no_band(library, bad, rng):
    frame = table(rng, 1000)
    cert = pacband.certify_frame(frame, target="y", prediction="p", scale="s", **PROMISE)
    spoilt = frame.assign(
        s=pd.array(frame["s"].where(frame.index != 17, bad), dtype="Float64" if bad is None else "float64")
    )
    with pytest.raises(InvalidScale, match="scale"):
        pacband.apply_frame(cert, ALL[library](spoilt))


@pytest.mark.parametrize("rule", [{}, {"nonfinite": "violate"}, {"min_scale": 0.7}])
@pytest.mark.parametrize("column", ["p", "s", "site"])
def test_a_row_that_is_spoilt_after_the_check_gets_no_band(column, rule, rng):
    good = pl.from_pandas(table(rng, 1000))
    bad = {"p": None, "s": None, "site": "moon"}[column]
    spoilt = good.with_columns(pl.when(pl.int_range(1000) == 17).then(pl.lit(bad)).otherwise(column).alias(column))
    cert = pacband.certify_frame(good, target="y", prediction="p", scale="s", group="site", **rule, **PROMISE)
    bands = pacband.apply_frame(cert, changing([good, good, spoilt]))
    if (column, rule) in (("p", {"nonfinite": "violate"}), ("s", {"min_scale": 0.7})):
        assert bands.collect()["upper"].is_not_null().all()
    else:
        with pytest.raises(pl.exceptions.InvalidOperationError, match=CHANGED):
            bands.collect()


def test_duckdb_and_dask_write_no_band_for_a_row_that_is_spoilt_after_the_check(rng):
    good = table(rng, 1000)
    cert = pacband.certify_frame(good, target="y", prediction="p", scale="s", **PROMISE)
    connection = duckdb.connect()
    connection.execute("create table rows as select * from good")
    bands = pacband.apply_frame(cert, connection.table("rows"))
    assert len(bands.fetchall()) == 1000
    connection.execute("update rows set s = null where rowid = 17")
    with pytest.raises(duckdb.Error, match=CHANGED):
        bands.fetchall()
    parts = iter([good, good.assign(s=np.nan)])
    lazy = dd.from_map(lambda _: next(parts), [0], meta=good)
    with pytest.raises(InvalidInput, match=CHANGED):
        pacband.apply_frame(cert, lazy).compute(scheduler="synchronous")


# What Dask is documented to do.


@pytest.mark.parametrize("job", ["outputs", "family above", "weights", "floor"])
def test_dask_gives_the_certificate_of_arrays_for_all_jobs(job, rng, monkeypatch):
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    frame = table(rng)
    native = dd.from_pandas(frame, npartitions=2)
    options = {"target": "y", **JOBS[job], **PROMISE}
    found = pacband.certify_frame(native, **options)
    assert stated(found) == stated(by_arrays(frame, JOBS[job]))
    cert = found.certificate if "candidates" in JOBS[job] else found
    assert pacband.check_frame(cert, native) == pacband.check_frame(cert, frame)
    names = ["lower_1", "upper_1"] if job == "outputs" else ["lower", "upper"]
    assert collected(pacband.apply_frame(cert, native))[names].equals(pacband.apply_frame(cert, frame)[names])


@pytest.mark.parametrize("kind", ["Int64", "int8", "float64", "boolean", "bool", "category", "string"])
def test_labels_of_every_dask_type(kind, rng, monkeypatch):
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    frame = table(rng)
    codes = frame["site"] if kind in ("category", "string") else (frame["site"] == "north").astype("int64")
    frame["site"] = codes.astype(kind)
    native = dd.from_pandas(frame, npartitions=2)
    expected = pacband.certify_frame(frame, target="y", prediction="p", group="site", **PROMISE)
    found = pacband.certify_frame(native, target="y", prediction="p", group="site", **PROMISE)
    assert stated(found) == stated(expected)
    assert list(map(type, found.groups)) == list(map(type, expected.groups))
    bands = collected(pacband.apply_frame(found, native))
    assert bands["upper"].equals(pacband.apply_frame(expected, frame)["upper"])
    assert pacband.check_frame(found, native) == pacband.check_frame(found, frame)


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("library", LAZY)
def test_a_one_sided_family_takes_predictions_that_are_no_numbers(library, side, rng, monkeypatch):
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    frame = table(rng)
    frame.loc[5::40, "p"] = np.nan
    options = {"candidates": {"a": "p", "b": ("q", "s")}, "side": side, "nonfinite": "violate", **PROMISE}
    found = pacband.certify_frame(LAZY[library](frame), target="y", **options)
    assert stated(found) == stated(pacband.certify_frame(frame, target="y", **options))


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


# Many groups, many candidates.


@pytest.mark.parametrize("kind", [str, int, float])
@pytest.mark.parametrize("library", libraries(LAZY))
def test_hundreds_of_groups_give_the_certificate_of_arrays(library, kind, rng, monkeypatch):
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    n, n_groups = 40_000, 400
    codes = rng.integers(0, n_groups, n)
    frame = pd.DataFrame({"y": rng.standard_normal(n) * (1.0 + codes), "p": 0.0, "s": rng.uniform(0.5, 2.0, n)})
    names = {
        str: [f"it's \x1f {k} 名" for k in range(n_groups)],
        int: list(range(-200, 200)),
        float: [k / 7 for k in range(n_groups)],
    }
    frame["g"] = np.array(names[kind], dtype=object if kind is str else kind)[codes]
    options = {"target": "y", "prediction": "p", "scale": "s", "group": "g", "eps": 0.3, "delta": 0.1}
    native = LAZY[library](frame)
    found = pacband.certify_frame(native, **options)
    assert stated(found) == stated(pacband.certify_frame(frame, **options))
    assert pacband.check_frame(found, native) == pacband.check_frame(found, frame)
    bands = collected(pacband.apply_frame(found, native))
    near = pacband.apply_frame(found, frame)
    assert np.array_equal(bands[["y", "lower", "upper"]].to_numpy(), near[["y", "lower", "upper"]].to_numpy())


@pytest.mark.parametrize("threads", [1, 2])
def test_duckdb_joins_many_groups_in_the_order_of_the_rows(threads, rng, tmp_path):
    n, n_groups = 300_000, 1000
    frame = pd.DataFrame(
        {"row": np.arange(n), "y": rng.standard_normal(n), "p": 0.0, "g": rng.integers(0, n_groups, n)}
    )
    cert = pacband.certify_frame(frame, target="y", prediction="p", group="g", eps=0.3, delta=0.1)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=10_000)
    connection = duckdb.connect(config={"threads": threads})
    few = connection.from_df(frame.head(5))
    for relation in (
        connection.from_df(frame), connection.read_csv(str(tmp_path / "rows.csv")),
        connection.read_parquet(str(tmp_path / "rows.parquet")), few, few.limit(1), few.limit(0),
    ):  # fmt: skip
        rows = pacband.apply_frame(cert, relation).project("row").fetchnumpy()["row"]
        assert np.array_equal(rows, np.arange(len(rows)))


def test_groups_that_engines_cannot_rank_in_little_memory_are_searched_for(rng, monkeypatch, far):
    monkeypatch.setattr("pacband.tables.scan.KEPT", 10)
    frame = table(rng)
    expected = pacband.certify_groups(frame["y"], frame["p"], frame["site"], **PROMISE)
    found = pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", group="site", **PROMISE)
    assert stated(found) == stated(expected)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("library", libraries(LAZY))
def test_many_candidates_come_in_parts_and_give_the_certificate_of_arrays(library, weights, rng, monkeypatch):
    monkeypatch.setattr(certifying, "SAMPLE", 100)
    monkeypatch.setattr(certifying, "TOGETHER", 4)
    frame = pd.DataFrame(rng.standard_normal((1000, 10)), columns=[f"p{k}" for k in range(10)])
    frame["y"], frame["s"] = 0.0, rng.uniform(0.5, 2.0, 1000)
    options = {"candidates": {f"m{k}": (f"p{k}", "s") if k % 2 else f"p{k}" for k in range(10)}, "side": "upper"}
    if weights:
        options["weights"] = {f"m{k}": (k + 1) / 55 for k in range(10)}
    found = pacband.certify_frame(LAZY[library](frame), target="y", eps=0.2, delta=0.01, **options)
    assert stated(found) == stated(pacband.certify_frame(frame, target="y", eps=0.2, delta=0.01, **options))


@pytest.mark.verify
@pytest.mark.parametrize("library", ["duckdb", "polars lazy"])
def test_hundreds_of_candidates_are_certified(library, rng, monkeypatch):
    # With one expression inside the other this ended in a RecursionError.
    monkeypatch.setattr(certifying, "SAMPLE", 100)
    frame = pd.DataFrame(rng.standard_normal((400, 400)), columns=[f"p{k}" for k in range(400)]).assign(y=0.0)
    options = {"candidates": {f"m{k}": f"p{k}" for k in range(400)}, "target": "y", "eps": 0.2, "delta": 0.01}
    found = pacband.certify_frame(LAZY[library](frame), **options)
    assert stated(found) == stated(pacband.certify_frame(frame, **options))


# Chunks.


def test_chunks_whose_indexes_differ_are_refused(rng):
    frame = table(rng, 1000)
    mixed = frame.sample(frac=1.0, random_state=0)
    for chunk in ((frame["y"], mixed["p"]), (frame["y"], frame["p"], mixed["s"])):
        with pytest.raises(InvalidInput, match=r"chunk 1: y and .* must have the same index"):
            pacband.certify_chunks([tuple(frame[name] for name in ("y", "p", "s")[: len(chunk)]), chunk], **PROMISE)


def test_rows_are_located_among_as_many_labels_as_there_are(rng):
    names = [f"group {k}" for k in range(20_000)]
    codes = rng.integers(0, len(names), 50_000)
    places = {name: k for k, name in enumerate(names)}
    assert np.array_equal(locate_rows(np.array(names, dtype=object)[codes], places), codes)
    assert np.array_equal(locate_rows(np.array(names)[codes], places), codes)


# Spark.


@pytest.mark.verify
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_spark_refuses_what_other_engines_refuse(rng, request, monkeypatch):
    spark = request.getfixturevalue("spark")
    monkeypatch.setattr(certifying, "SAMPLE", 50)
    frame = table(rng, 500)[["y", "p", "s"]]
    wide = spark.createDataFrame(
        frame.assign(y=[Decimal(OFFSET + k) for k in range(500)]), "y decimal(30, 0), p double, s double"
    )
    with pytest.raises(InvalidInput, match=r"column 'y' has integers beyond 2\*\*53"):
        pacband.certify_frame(wide, target="y", prediction="p", **PROMISE)
    odd = spark.createDataFrame(frame.rename(columns={"p": "a.b*`"}))
    cert = pacband.certify_frame(odd, target="y", prediction="a.b*`", scale="s", **PROMISE)
    assert stated(cert) == stated(pacband.certify(frame["y"], frame["p"], frame["s"], **PROMISE))
    assert pacband.apply_frame(cert, odd).columns == ["y", "a.b*`", "s", "lower", "upper"]
    gaps = spark.createDataFrame([(1.0, 0.0, None), (1.0, 0.0, 1.0)], "y double, p double, s double")
    with pytest.raises(InvalidScale, match="scale must be positive"):
        pacband.apply_frame(cert, gaps, prediction="p")
    unusable = nw.from_native(gaps).with_columns(usable=nw.col("s") > 0.0)
    with pytest.raises(Exception, match=CHANGED):
        refuse_unless(unusable, "usable", ["p"]).to_native().collect()
