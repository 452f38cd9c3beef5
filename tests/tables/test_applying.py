"""The band of every row of a table, in a table of the same kind; a row that cannot be used gets none."""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacband
from pacband.draws import Units
from pacband.exceptions import InvalidInput, InvalidScale
from support.jobs import JOBS, PROMISE, table
from support.tables import ALL, CHANGED, IN_PROCESS, changing, collected


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("library", ["pandas", "polars", "polars lazy", "pyarrow", "duckdb"])
def test_the_band_is_added_to_a_table_of_the_same_kind(library, job, rng, tmp_path):
    frame = table(rng)
    native = IN_PROCESS[library](frame, tmp_path)
    cert = pacband.certify_frame(frame, **{"target": "y", **JOBS[job]}, **PROMISE)
    bands = pacband.apply_frame(cert, native)
    assert type(bands) is type(native)
    single = cert.certificate if isinstance(cert, pacband.FamilyCertificate) else cert
    part = next(iter(single.groups.values())) if isinstance(single, pacband.GroupCertificate) else single
    prediction = frame[list(part.columns.prediction)].to_numpy()
    scale = tuple(frame[list(columns)].to_numpy() for columns in part.columns.scale)
    arguments = (frame["site"].to_numpy(),) if job == "groups" else ()
    expected = single.interval(prediction, *arguments, scale if len(scale) == 2 else scale[0] if scale else None)
    names = ["lower", "upper"] if expected.ndim == 2 else ["lower_0", "upper_0", "lower_1", "upper_1"]
    got = {"polars lazy": lambda: bands.collect().to_pandas(), "duckdb": lambda: bands.df(), "polars": lambda: bands.to_pandas(),
           "pyarrow": lambda: bands.to_pandas(), "pandas": lambda: bands}[library]()  # fmt: skip
    assert np.array_equal(got[names].to_numpy(), expected.reshape(len(frame), -1))
    assert list(got.columns) == [*frame.columns, *names]


def test_a_pandas_index_survives(rng):
    frame = table(rng).sample(frac=1.0, random_state=0)
    cert = pacband.certify_frame(frame, target="y", prediction="p", **PROMISE)
    assert pacband.apply_frame(cert, frame).index.equals(frame.index)


def test_an_existing_column_is_not_overwritten(rng):
    frame = table(rng)
    cert = pacband.certify_frame(frame, target="y", prediction="p", **PROMISE)
    for name in ("lower", "Upper"):
        with pytest.raises(InvalidInput, match="already"):
            pacband.apply_frame(cert, duckdb.from_df(frame.assign(**{name: 1.0})))


@pytest.mark.parametrize("library", ["polars lazy", "duckdb"])
def test_a_bad_scale_at_prediction_is_named_as_well(library, rng, in_engine, tmp_path):
    frame = table(rng)
    cert = pacband.certify_frame(frame, target="y", prediction="p", scale="s", **PROMISE)
    bad = IN_PROCESS[library](frame.assign(s=frame["s"].where(frame.index != 4321, -1.0)), tmp_path)
    with pytest.raises(InvalidScale, match="row 4321"):
        pacband.apply_frame(cert, bad)


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
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_map(lambda _: next(parts), [0], meta=good)
    with pytest.raises(InvalidInput, match=CHANGED):
        pacband.apply_frame(cert, lazy).compute(scheduler="synchronous")


RANGE = {"target": "y", "prediction": "p", "scale": "s", "clip": (-0.5, 0.5)}


@pytest.mark.parametrize("library", ["polars lazy", "duckdb", "pandas", "pyarrow"])
def test_bands_clipped_to_the_range_of_y_have_the_bits_of_numpy(library, rng, in_engine, tmp_path):
    frame = table(rng)
    frame = frame.assign(y=frame.y.clip(-0.5, 0.5))
    native = IN_PROCESS[library](frame, tmp_path)
    cert = pacband.certify_frame(native, **RANGE, **PROMISE)
    assert cert == replace(pacband.certify_frame(frame, **RANGE, **PROMISE), created=cert.created)
    got = collected(pacband.apply_frame(cert, native))
    expected = cert.interval(frame.p, frame.s)
    assert np.array_equal(got[["lower", "upper"]].to_numpy(), expected)
    assert (expected == -0.5).any()
    assert (expected == 0.5).any()


@pytest.mark.parametrize("library", ["polars lazy", "duckdb", "pandas"])
def test_targets_outside_the_range_are_named_in_engines_too(library, rng, in_engine, tmp_path):
    frame = table(rng)
    inside = frame.assign(y=frame.y.clip(-0.5, 0.5))
    cert = pacband.certify_frame(inside, **RANGE, **PROMISE)
    bad = inside.assign(y=inside.y.where(inside.index != 4321, 0.7))
    with pytest.raises(InvalidInput, match=r"must lie in \[−0.5, 0.5\], the range of clip: it does not in .*4321"):
        pacband.certify_frame(IN_PROCESS[library](bad, tmp_path), **RANGE, **PROMISE)
    # Once the promise is made, such a row breaks it.
    assert pacband.check_frame(cert, IN_PROCESS[library](bad, tmp_path)).out_of_range == 1
    # Without targets, there is nothing to refuse.
    pacband.apply_frame(cert, IN_PROCESS[library](frame.drop(columns="y"), tmp_path))


@pytest.mark.parametrize(
    "job",
    [{"draws": Units("machine")}, {"group": "site"}, {"group": ["site", "machine"]}, {"tolerance": 0.9}],
    ids=["units", "groups", "overlapping", "tolerance"],
)
@pytest.mark.parametrize("library", ["polars lazy", "duckdb"])
def test_every_search_in_an_engine_refuses_targets_outside_the_range(library, job, rng, in_engine, tmp_path):
    frame = table(rng)
    frame = frame.assign(
        y=frame.y.clip(-0.5, 0.5), machine=np.arange(len(frame)) % 3 if "group" in job else frame.index // 4
    )
    promise = {"delta": PROMISE["delta"]} if "tolerance" in job else PROMISE
    cert = pacband.certify_frame(IN_PROCESS[library](frame, tmp_path), **RANGE, **job, **promise)
    assert cert.basis.scoring.clip == (-0.5, 0.5)
    bad = frame.assign(y=frame.y.where(frame.index != 4321, -0.7))
    with pytest.raises(InvalidInput, match="the range of clip"):
        pacband.certify_frame(IN_PROCESS[library](bad, tmp_path), **RANGE, **job, **promise)
