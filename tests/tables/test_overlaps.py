"""Groups of several columns, which overlap: the same in every library, in memory and in an engine."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacband
from pacband import InvalidInput, Share, certify_groups

PROMISE = {"eps": 0.1, "delta": 0.05}
NAMED = {"target": "y", "prediction": "p", "scale": "s", "group": ["site", "shift"]}
N = 2000


def as_dask(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy polars": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": duckdb.from_df,
    "dask": as_dask,
}
each_library = pytest.mark.parametrize(
    "library", [pytest.param(make, marks=pytest.mark.filterwarnings("ignore") if name == "dask" else []) for name, make in LIBRARIES.items()], ids=LIBRARIES
)  # fmt: skip


@pytest.fixture
def frame(rng):
    site, shift = rng.choice(["north", "south"], N), rng.choice([1, 2, 3], N)
    y = rng.standard_normal(N) * np.where(site == "north", 1.0, 2.0) * shift
    return pd.DataFrame({"y": y, "p": 0.1, "s": rng.uniform(1.0, 2.0, N), "site": site, "shift": shift})


def masks_of(frame):
    return {f"{name}={label}": (frame[name] == label).to_numpy() for name in ("site", "shift") for label in sorted(frame[name].unique())}  # fmt: skip


@each_library
@pytest.mark.parametrize("size", ["small", "large"])
def test_several_columns_give_the_certificate_of_masks(library, size, frame, request):
    if size == "large":
        request.getfixturevalue("in_engine")
    found = pacband.certify_frame(library(frame), **NAMED, **PROMISE)
    wanted = certify_groups(frame["y"], frame["p"], masks_of(frame), frame["s"], **PROMISE)
    assert found.overlapping
    assert list(found.groups) == list(wanted.groups)
    for label, part in wanted.groups.items():
        own = found.groups[label]
        assert (own.gamma, own.rank, own.n_samples, own.data_digest, own.share) == (
            part.gamma, part.rank, part.n_samples, part.data_digest, part.share
        )  # fmt: skip
    assert found.basis.columns.groups == ("site", "shift")
    verdict = pacband.check_frame(found, library(frame))
    assert verdict.reused
    assert verdict == pacband.check(wanted, frame["y"], frame["p"], frame["s"], groups=masks_of(frame))
    applied = pacband.apply_frame(found, library(frame))
    for step in ("collect", "compute", "df", "to_pandas"):
        applied = (
            getattr(applied, step)() if hasattr(applied, step) and not isinstance(applied, pd.DataFrame) else applied
        )
    band = wanted.interval(frame["p"].to_numpy(), masks_of(frame), frame["s"].to_numpy())
    np.testing.assert_array_equal(applied["upper"], band[:, 1])
    np.testing.assert_array_equal(applied["lower"], band[:, 0])


def test_a_file_remembers_its_columns(frame, tmp_path):
    cert = pacband.certify_frame(frame, **NAMED, **PROMISE)
    loaded = pacband.load(cert.save(tmp_path / "cert.json"))
    assert loaded == cert
    # Labels have one name in every kind of table.
    assert pacband.check_frame(loaded, frame.assign(shift=frame["shift"].astype(float))).reused
    assert pacband.check_frame(loaded, frame.assign(shift=frame["shift"].astype(str))).reused
    renamed = frame.rename(columns={"site": "place"})
    with pytest.raises(InvalidInput, match="labels without a certificate: 'place=north', 'place=south'"):
        pacband.check_frame(loaded, renamed, group=["place", "shift"])


def test_a_list_of_one_column_is_that_column(frame):
    one = pacband.certify_frame(frame, **{**NAMED, "group": ["site"]}, **PROMISE)
    assert (one.overlapping, list(one.groups)) == (False, ["north", "south"])


def test_a_gauge_that_engines_do_not_know_is_computed_in_memory(frame):
    named = {"target": ["y", "y"], "prediction": ["p", "p"], "group": ["site", "shift"]}
    here, there = (
        pacband.certify_frame(table, gauge=Share(0.5), **named, **PROMISE) for table in (frame, duckdb.from_df(frame))
    )
    assert [part.gamma for part in here.groups.values()] == [part.gamma for part in there.groups.values()]


@each_library
def test_labels_that_are_not_certified_are_refused(library, frame):
    cert = pacband.certify_frame(frame, **NAMED, **PROMISE)
    other = library(frame.assign(site="west"))
    for function in (pacband.check_frame, pacband.apply_frame):
        with pytest.raises(InvalidInput, match="labels without a certificate: 'site=west'"):
            function(cert, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": ["site", "site"]}, "group must name every column once"),
        ({"group": []}, "group must be the name of a column, or a list of names"),
        ({"group": ["site", "nowhere"]}, "there is no column 'nowhere'"),
        ({"rank": 3}, "group cannot be combined with candidates or rank"),
        ({"tolerance": 1.0, "eps": None}, "a tolerance cannot be combined with group"),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "duckdb"])
def test_bad_options(library, options, message, frame):
    with pytest.raises(InvalidInput, match=message):
        pacband.certify_frame(LIBRARIES[library](frame), **{**NAMED, **PROMISE, **options})


@pytest.mark.parametrize("library", ["pandas", "duckdb", "polars"])
def test_missing_labels_are_refused(library, frame):
    gap = LIBRARIES[library](frame.assign(site=frame["site"].where(frame.index != 7)))
    with pytest.raises(InvalidInput, match="must have a label in every row"):
        pacband.certify_frame(gap, **NAMED, **PROMISE)
    cert = pacband.certify_frame(frame, **NAMED, **PROMISE)
    for function in (pacband.check_frame, pacband.apply_frame):
        with pytest.raises(InvalidInput, match="must have a label in every row"):
            function(cert, gap)


def test_certificates_and_columns_must_agree_about_overlap(frame):
    overlapping = pacband.certify_frame(frame, **NAMED, **PROMISE)
    plain = pacband.certify_frame(frame, **{**NAMED, "group": "site"}, **PROMISE)
    with pytest.raises(InvalidInput, match="do not overlap: name one column"):
        pacband.check_frame(plain, frame, group=["site", "shift"])
    with pytest.raises(InvalidInput, match="overlap: name their columns, as a list"):
        pacband.check_frame(overlapping, frame, group="site")
    for table in (frame, duckdb.from_df(frame)):
        with pytest.raises(InvalidInput, match="overlap: name the columns of their labels, as a list"):
            pacband.apply_frame(overlapping, table, group="site")
    arrays = certify_groups(frame["y"], frame["p"], masks_of(frame), frame["s"], **PROMISE)
    with pytest.raises(InvalidInput, match="overlap: name their columns, as a list"):
        pacband.check_frame(arrays, frame, target="y", prediction="p", scale="s")


@pytest.mark.parametrize("library", ["pandas", "duckdb"])
def test_dependent_rows_in_overlapping_groups_are_noticed(library, rng):
    machine = np.repeat(np.arange(300), 20)
    rows = pd.DataFrame({"y": rng.standard_normal(300)[machine] + 0.3 * rng.standard_normal(6000), "p": 0.0})
    rows = rows.assign(site=rng.choice(["a", "b"], 6000), shift=rng.choice([1, 2], 6000), machine=machine)
    named = {"target": "y", "prediction": "p", "group": ["site", "shift"]}
    with pytest.warns(pacband.PromiseWarning, match="rows of one machine resemble each other"):
        pacband.certify_frame(LIBRARIES[library](rows), **named, **PROMISE)
