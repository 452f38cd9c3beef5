"""Passes over a table find what arrays give, or find that its rows changed."""

import itertools

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacband
from pacband.exceptions import InvalidInput
from support.jobs import PROMISE, N, stated, table
from support.tables import CHANGED, LAZY, changing, libraries

TASKS = {
    "single": {"prediction": "p"},
    "scaled": {"prediction": "p", "scale": "s"},
    "family": {"candidates": {"a": "p", "b": ("p", "s")}},
    "one-sided": {"candidates": {"a": "p", "b": ("p", "s")}, "side": "upper"},
    "groups": {"prediction": "p", "group": "g"},
}

REDRAWN = {
    "half": "where random() < 0.5",
    "tenth": "where random() < 0.1",
    "sample": "using sample 20 percent",
    "rows sampled": "using sample 20 percent (bernoulli)",
}


def redrawn_duckdb(rng, where):
    n = 200_000
    frame = pd.DataFrame({"y": rng.standard_normal(n), "p": 0.0, "s": 1.0, "g": rng.integers(0, 3, n)})
    connection = duckdb.connect(config={"threads": 1})
    connection.register("rows", frame)
    return connection, connection.sql(f"select * from rows {where}")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("where", REDRAWN)
def test_a_table_that_is_drawn_anew_in_every_pass_is_refused(where, task, rng, limit):
    # Two draws of half of 200,000 rows have the same number with a probability of 0.2 %, and then the same fingerprint
    # with one below 1e-6. With groups, all three must have the same number: 1e-7.
    limit(sample=1000, few=2000)
    connection, relation = redrawn_duckdb(rng, REDRAWN[where])
    with connection, pytest.raises(InvalidInput, match=CHANGED):
        pacband.certify_frame(relation, target="y", **TASKS[task], **PROMISE)


def test_a_lazy_polars_table_that_is_drawn_anew_is_refused(rng, in_engine):
    drawn = pl.DataFrame({"y": rng.standard_normal(40_000), "p": 0.0}).lazy()
    again = drawn.map_batches(lambda rows: rows.filter(pl.Series(rng.random(len(rows)) < 0.5)))
    for _ in range(3):
        with pytest.raises(InvalidInput, match=CHANGED):
            pacband.certify_frame(again, target="y", prediction="p", **PROMISE)


@pytest.mark.parametrize(
    ("task", "change"),
    [
        *itertools.product(["single", "family", "groups"], ["a row more", "a row less", "another row"]),
        *itertools.product(["groups"], ["other labels", "a group more"]),
    ],
)
def test_one_changed_row_is_seen_in_every_later_pass(task, change, rng, in_engine):
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
def test_rows_that_stay_as_they_are_raise_no_alarm(library, draw, side, rng, limit):
    n = 3000
    frame = pd.DataFrame(
        {
            "y": rng.standard_normal(n),
            "p": draw(rng, n),
            "s": rng.uniform(0.5, 2.0, n),
            "g": rng.integers(0, 40, n) // 10,
        }
    )
    limit(sample=100)
    for few in (1000,) if library == "dask" else (1, 1000):
        limit(few=few)
        for task in ("family", "groups"):
            options = {**TASKS[task], "nonfinite": "violate", "side": side, "eps": 0.4, "delta": 0.1}
            found = pacband.certify_frame(LAZY[library](frame), target="y", **options)
            assert stated(found) == stated(pacband.certify_frame(frame, target="y", **options))


def test_missing_and_unknown_labels_are_refused(rng, in_engine):
    frame = table(rng)
    cert = pacband.certify_frame(frame, target="y", prediction="p", group="site", **PROMISE)
    strange = frame.assign(site=frame["site"].where(frame.index != 7, "moon"))
    for native in (strange, duckdb.from_df(strange)):
        with pytest.raises(InvalidInput, match="labels without a certificate: 'moon'"):
            pacband.apply_frame(cert, native)
    missing = frame.assign(site=frame["site"].where(frame.index != 4000))
    with pytest.raises(InvalidInput, match="label in every row: it is missing in 1 row"):
        pacband.certify_frame(duckdb.from_df(missing), target="y", prediction="p", group="site", **PROMISE)


@pytest.mark.parametrize("engine", [duckdb.from_df, lambda frame: pl.from_pandas(frame).lazy(), lambda frame: frame])
def test_missing_integer_labels_are_not_group_zero(engine, rng):
    # Small enough to be brought here, where DuckDB hands over a masked array.
    frame = table(rng, 2000)
    frame["site"] = pd.array(rng.integers(0, 2, 2000), dtype="Int64")
    frame.loc[::10, "site"] = pd.NA
    with pytest.raises(InvalidInput, match="label in every row: it is missing in 200 rows"):
        pacband.certify_frame(engine(frame), target="y", prediction="p", group="site", **PROMISE)


def test_groups_that_engines_cannot_rank_in_little_memory_are_searched_for(rng, limit, in_engine):
    limit(kept=10)
    frame = table(rng)
    expected = pacband.certify_groups(frame["y"], frame["p"], frame["site"], **PROMISE)
    found = pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", group="site", **PROMISE)
    assert stated(found) == stated(expected)
