"""The scores of units, aggregated in an engine: labels, shares, and rows that cannot be used."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacband
from pacband.draws import Units
from pacband.exceptions import InvalidInput, InvalidScale
from support.jobs import PROMISE, stated, unit_table
from support.tables import changing

COLUMNS = {"target": "y", "prediction": "p"}


@pytest.mark.parametrize("kind", [str, float, bool, "category"])
def test_units_may_have_any_label(kind, rng):
    frame = unit_table(rng)
    if kind is bool:
        frame["machine"] = frame["machine"] % 2 == 0
    frame["machine"] = frame["machine"].astype(kind)
    promise = {"eps": 0.8, "delta": 0.7} if kind is bool else PROMISE
    expected = pacband.certify_frame(frame, **COLUMNS, draws=Units("machine"), **promise)
    for native in (duckdb.from_df(frame), pl.from_pandas(frame).lazy()):
        assert stated(pacband.certify_frame(native, **COLUMNS, draws=Units("machine"), **promise)) == stated(expected)


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
    frame = unit_table(rng)
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
    frame = pl.from_pandas(unit_table(rng))
    bad = frame.with_columns(pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("p")).alias("p"))
    with pytest.raises(InvalidInput, match="rows changed between two readings"):
        pacband.certify_frame(changing([bad, frame, frame]), **COLUMNS, draws=Units("machine"), **PROMISE)


def test_the_wrong_twin_that_takes_the_smallest_score_is_caught(rng, monkeypatch):
    import narwhals as nw

    frame = unit_table(rng)
    expected = stated(pacband.certify_frame(frame, **COLUMNS, draws=Units("machine"), **PROMISE))
    monkeypatch.setattr(nw.Expr, "max", nw.Expr.min)
    found = pacband.certify_frame(duckdb.from_df(frame), **COLUMNS, draws=Units("machine"), **PROMISE)
    assert stated(found) != expected


# More rows than those that are looked at before the units are aggregated.
SPELLINGS = [f"{k}{end}" for end in ("", ".0") for k in range(21_000)]


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(SPELLINGS)])
def test_a_unit_in_two_spellings_is_refused_whatever_its_type(kind, rng):
    frame = pl.DataFrame({"y": rng.standard_normal(42_000), "p": np.zeros(42_000), "machine": SPELLINGS})
    frame = frame.with_columns(pl.col("machine").cast(kind))
    for native in (frame, frame.lazy()):
        with pytest.raises(InvalidInput, match="machines must be written in one way each"):
            pacband.certify_frame(native, **COLUMNS, draws=Units("machine"), **PROMISE)
