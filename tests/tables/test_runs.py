"""Runs in tables: the certificate of arrays, whatever the order of the rows and the library; bad runs are named."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacband
from pacband import InvalidInput, Share, certify, certify_family, certify_groups
from pacband.draws import Units, Weighted
from support.tables import collected

PROMISE = {"eps": 0.2, "delta": 0.1}
RUNS = {"target": "y", "prediction": "p", "run": "run", "step": "t"}
N, H = 100, 7
LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy polars": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": duckdb.from_df,
}
each_library = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)


@pytest.fixture
def arrays(rng):
    """Runs of two outputs: y, prediction and a scale for each step."""
    y = rng.standard_normal((N, H, 2)).cumsum(axis=1)
    return y, 0.1 * rng.standard_normal((N, H, 2)), rng.uniform(1.0, 2.0, (N, H))


@pytest.fixture
def frame(arrays, rng):
    """The same runs as a table, one row a step, shuffled but for the first row of every run."""
    y, prediction, scale = arrays
    table = pd.DataFrame(
        {
            "run": np.repeat([f"run {k}" for k in rng.permutation(N)], H),
            "t": np.tile(0.5 * np.arange(H), N),
            "y": y[..., 0].ravel(),
            "z": y[..., 1].ravel(),
            "p": prediction[..., 0].ravel(),
            "q": prediction[..., 1].ravel(),
            "s": scale.ravel(),
            "site": np.repeat(np.where(np.arange(N) % 2, "a", "b"), H),
            "shift": np.repeat(np.where(np.arange(N) % 3, 1, 2), H),
            "machine": np.repeat(np.arange(N) // 2, H),
            "w": np.repeat(rng.uniform(0.5, 1.0, N), H),
        }
    )
    return pd.concat([table.iloc[::H], table.drop(table.index[::H]).sample(frac=1.0, random_state=1)])


def same(found, wanted):
    assert (found.gamma, found.n_samples, found.rank, found.data_digest) == (
        wanted.gamma, wanted.n_samples, wanted.rank, wanted.data_digest
    )  # fmt: skip


@each_library
@pytest.mark.parametrize("gauge", ["max", Share(0.6), np.eye(2), [np.diag([1.0 + t, 1.0]) for t in range(H)]], ids=["max", "share", "one", "each"])  # fmt: skip
def test_a_table_gives_the_certificate_check_and_tube_of_arrays(library, gauge, arrays, frame):
    y, prediction, scale = arrays
    named = {**RUNS, "target": ["y", "z"], "prediction": ["p", "q"], "scale": "s"}
    found = pacband.certify_frame(library(frame), gauge=gauge, **named, **PROMISE)
    wanted = certify(y, prediction, scale, gauge=gauge, **PROMISE)
    same(found, wanted)
    assert found.promise == wanted.promise
    assert found.columns.steps == tuple(0.5 * np.arange(H))
    verdict = pacband.check_frame(found, library(frame))
    assert verdict.reused
    assert verdict == pacband.check(found, y, prediction, scale)
    if not found.basis.scoring.per_step or library in (LIBRARIES["pandas"], LIBRARIES["polars"]):
        applied = pacband.apply_frame(found, library(frame))
        applied = applied.collect() if hasattr(applied, "collect") else applied
        applied = applied.df() if hasattr(applied, "df") else applied
        applied = applied if isinstance(applied, pd.DataFrame) else applied.to_pandas()
        applied = applied.sort_values(["run", "t"])
        order = np.argsort(frame["run"].iloc[:N].to_numpy())
        tube = wanted.tube(prediction, scale)[order]
        for k, (lower, upper) in enumerate([("lower_0", "upper_0"), ("lower_1", "upper_1")]):
            np.testing.assert_array_equal(applied[lower], tube[:, :, k, 0].ravel())
            np.testing.assert_array_equal(applied[upper], tube[:, :, k, 1].ravel())


def test_families_groups_and_draws_of_runs(arrays, frame):
    y, prediction, scale = arrays[0][..., :1], arrays[1][..., :1], arrays[2]
    one = np.arange(N)
    named = {"target": "y", "run": "run", "step": "t", **PROMISE}
    family = pacband.certify_frame(frame, candidates={"plain": "p", "scaled": ("p", "s")}, **named)
    arrays_too = certify_family(y, {"plain": prediction, "scaled": (prediction, scale)}, **PROMISE)
    assert family.mean_bound == arrays_too.mean_bound
    same(family.certificate, arrays_too.certificate)
    assert family.basis.columns.steps == tuple(0.5 * np.arange(H))
    groups = pacband.certify_frame(frame, prediction="p", group="site", **named)
    site = np.where(one % 2, "a", "b")
    for label, part in certify_groups(y, prediction, site, **PROMISE).groups.items():
        same(groups.groups[label], part)
    assert pacband.check_frame(groups, frame).reused
    several = pacband.certify_frame(frame, prediction="p", group=["site", "shift"], **named)
    masks = {"site=a": one % 2 == 1, "site=b": one % 2 == 0, "shift=1": one % 3 > 0, "shift=2": one % 3 == 0}
    for label, part in certify_groups(y, prediction, masks, **PROMISE).groups.items():
        same(several.groups[label], part)
    assert pacband.check_frame(several, frame).reused
    units = pacband.certify_frame(frame, prediction="p", draws=Units("machine"), **named)
    same(units, certify(y, prediction, draws=Units(one // 2), **PROMISE))
    assert "future machines keep all their runs within" in units.promise
    assert pacband.check_frame(units, frame).counts[""].n_samples == N // 2
    weights = frame["w"].iloc[:N].to_numpy()
    weighted = pacband.certify_frame(frame, prediction="p", draws=Weighted("w", at_most=1.0), **named)
    same(weighted, certify(y, prediction, draws=Weighted(weights, at_most=1.0), **PROMISE))
    tolerance = pacband.certify_frame(frame, target="y", prediction="p", run="run", step="t", tolerance=5.0, delta=0.1)
    assert tolerance.n_steps == H


def test_a_wide_table_has_the_steps_as_columns(arrays):
    y = arrays[0][..., 0]
    wide = pd.DataFrame(y, columns=[f"y{t}" for t in range(H)]).assign(**{f"p{t}": 0.0 for t in range(H)})
    named = {"target": [f"y{t}" for t in range(H)], "prediction": [f"p{t}" for t in range(H)]}
    found = pacband.certify_frame(wide, gauge=Share(0.6), **named, **PROMISE)
    same(found, certify(y, 0 * y, gauge=Share(0.6), **PROMISE))
    assert pacband.check_frame(found, wide).reused
    assert pacband.apply_frame(found, wide).shape == (N, 4 * H)
    in_engine = pacband.apply_frame(found, duckdb.from_df(wide)).df()
    pd.testing.assert_frame_equal(in_engine, pacband.apply_frame(found, wide))
    for gauge in (Share(0.6, of=[[4.0]]), np.full((H, 1, 1), 4.0)):
        ellipsoid = pacband.certify_frame(wide, gauge=gauge, **named, **PROMISE)
        assert pacband.apply_frame(ellipsoid, wide).shape == (N, 4 * H)
        with pytest.raises(InvalidInput, match="need the rows in memory"):
            pacband.apply_frame(ellipsoid, duckdb.from_df(wide))


def drop(frame, run, t):
    return frame[~((frame["run"] == run) & (frame["t"] == t))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: drop(f, "run 3", 1.0), "every run must have the same steps: run 'run 3' lacks step 1, compared with the 7 steps of other runs"),
        (lambda f: drop(drop(f, "run 3", 1.0), "run 3", 2.0), "run 'run 3' lacks step 1 and 1 more,"),
        (lambda f: f.assign(t=np.where((f["run"] == "run 5") & (f["t"] == 1.0), 9.0, f["t"])), "run 'run 5' lacks step 1 and has step 9 too many"),
        (lambda f: pd.concat([f, f[(f["run"] == "run 4") & (f["t"] == 2.0)]]), "run 'run 4' has step 2 more than once"),
        (lambda f: f.assign(t=f["t"].where(f.index != 30)), "column 't' must have a finite number in every row: it is not in 1 row"),
        (lambda f: f.assign(run=f["run"].where(f.index != 30)), "column 'run' must have a label in every row: it is missing in 1 row"),
        (lambda f: f.assign(t=f["t"].astype(str)), "column 't' must be numeric"),
        (lambda f: f.drop(columns="run"), "there is no column 'run'"),
        (lambda f: f.iloc[:0], "at least one run is needed"),
        (lambda f: f.assign(site=np.where(f.index == 30, "c", f["site"])), "every run must have one value in column 'site', because a run is one draw: another one is in 1 row"),
    ],
)  # fmt: skip
def test_runs_that_differ_are_named(change, message, frame):
    with pytest.raises(InvalidInput, match=message):
        pacband.certify_frame(change(frame), group="site", **RUNS, **PROMISE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": None}, "run and step need each other"),
        ({"run": None}, "run and step need each other"),
        ({"run": ["run"]}, "run must be the name of a column"),
        ({"score": "y", "target": None, "prediction": None}, "score cannot be combined with"),
    ],
)
def test_bad_options(options, message, frame):
    with pytest.raises(InvalidInput, match=message):
        pacband.certify_frame(frame, **{**RUNS, **options}, **PROMISE)


@each_library
def test_only_steps_that_were_certified_have_a_band_and_are_checked(library, frame):
    cert = pacband.certify_frame(frame, **RUNS, **PROMISE)
    later = library(frame.assign(t=frame["t"] + 0.5))
    with pytest.raises(
        InvalidInput, match=r"only the 7 certified steps, '0', '0.5', .* column 't' has other steps in 100 rows"
    ):
        pacband.apply_frame(cert, later)
    with pytest.raises(
        InvalidInput, match=r"lacks step 0 and has step 3\.5 too many, compared with the 7 steps of the certified runs"
    ):
        pacband.check_frame(cert, later)
    # A part of a run has its part of the tube.
    assert pacband.apply_frame(cert, frame[frame["t"] < 1.5]).shape == (3 * N, frame.shape[1] + 2)
    renamed = library(frame.rename(columns={"run": "trip", "t": "hour"}))
    assert pacband.check_frame(cert, renamed, run="trip", step="hour").reused
    pacband.apply_frame(cert, renamed, step="hour")
    with pytest.raises(InvalidInput, match="made from a table with these columns"):
        pacband.apply_frame(certify(frame["y"], frame["p"], **PROMISE), frame, prediction="p", step="t")


def test_a_matrix_for_each_step_is_applied_in_memory_only(frame):
    cert = pacband.certify_frame(frame, gauge=np.ones((H, 1, 1)), **RUNS, **PROMISE)
    with pytest.raises(InvalidInput, match="the ellipsoids of steps need the rows in memory: collect the table first"):
        pacband.apply_frame(cert, duckdb.from_df(frame))
    assert len(pacband.apply_frame(cert, frame)) == N * H


@pytest.mark.filterwarnings("ignore")
def test_engines_that_cannot_say_which_can(frame):
    dd = pytest.importorskip("dask.dataframe")
    table = dd.from_pandas(frame.reset_index(drop=True), npartitions=2)
    with pytest.raises(
        InvalidInput,
        match="runs are made in memory, from tables of pandas, polars, pyarrow or DuckDB; this one is of dask",
    ):
        pacband.certify_frame(table, **RUNS, **PROMISE)


@each_library
def test_ellipsoids_of_rows_are_applied_and_checked_alike_in_every_library(library, rng):
    """An engine once left the widths of the ellipsoid out of its band, and checked rows by the largest error."""
    y = rng.standard_normal((500, 2)) * [3.0, 1.0]
    cert = certify(y, 0 * y, gauge=np.diag([9.0, 1.0]), **PROMISE)
    rows = pd.DataFrame({"a": y[:, 0], "b": y[:, 1], "p": 0.0, "q": 0.0})
    applied = pacband.apply_frame(cert, library(rows), prediction=["p", "q"])
    applied = applied.collect() if hasattr(applied, "collect") else applied
    applied = applied.df() if hasattr(applied, "df") else applied
    for k in (0, 1):
        np.testing.assert_array_equal(np.asarray(applied[f"upper_{k}"]), cert.interval(0 * y)[:, k, 1])
    assert pacband.check_frame(cert, library(rows), target=["a", "b"], prediction=["p", "q"]).reused


@each_library
def test_a_run_of_several_outputs_may_be_one_row(library, arrays):
    y, prediction, _ = (part[:, :3] for part in arrays)
    names = [f"{t}{k}" for t in range(3) for k in range(2)]
    columns = {f"{what}{name}": part[:, int(name[0]), int(name[1])] for what, part in (("y", y), ("p", prediction)) for name in names}  # fmt: skip
    wide = library(pd.DataFrame(columns))
    cert = certify(y, prediction, **PROMISE)
    predicted, targets = [f"p{name}" for name in names], [f"y{name}" for name in names]
    applied = pacband.apply_frame(cert, wide, prediction=predicted)
    found = applied.df() if hasattr(applied, "df") else applied.collect().to_pandas() if hasattr(applied, "collect") else pd.DataFrame(applied, columns=applied.columns)  # fmt: skip
    tube = cert.tube(prediction).reshape(N, 6, 2)
    for k in range(6):
        np.testing.assert_array_equal(found[f"lower_{k}"], tube[:, k, 0])
        np.testing.assert_array_equal(found[f"upper_{k}"], tube[:, k, 1])
    verdict = pacband.check_frame(cert, wide, target=targets, prediction=predicted)
    assert verdict == pacband.check(cert, y, prediction)
    assert verdict.reused


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("gauge", ["max", Share(0.6)], ids=["max", "share"])
@each_library
def test_a_run_in_one_row_may_have_a_scale_for_each_output(library, gauge, pair, arrays, rng):
    y, prediction = (part[:, :3] for part in arrays[:2])
    low, high = rng.uniform(1.0, 2.0, (2, N, 3, 2))
    scale = (low, high) if pair else low
    cert = certify(y, prediction, scale, gauge=gauge, **PROMISE)
    names = [f"{t}{k}" for t in range(3) for k in range(2)]
    parts = {"y": y, "p": prediction, "low": low, "high": high}
    wide = pd.DataFrame({f"{what}{t}{k}": part[:, t, k] for what, part in parts.items() for t in range(3) for k in range(2)})  # fmt: skip
    columns = {what: [f"{what}{name}" for name in names] for what in parts}
    named = {"prediction": columns["p"], "scale": (columns["low"], columns["high"]) if pair else columns["low"]}
    verdict = pacband.check_frame(cert, library(wide), target=columns["y"], **named)
    assert verdict.reused
    assert verdict == pacband.check(cert, y, prediction, scale)
    applied = collected(pacband.apply_frame(cert, library(wide), **named))
    tube = cert.tube(prediction, scale).reshape(N, 6, 2)
    for k in range(6):
        np.testing.assert_array_equal(applied[f"lower_{k}"], tube[:, k, 0])
        np.testing.assert_array_equal(applied[f"upper_{k}"], tube[:, k, 1])


def test_a_row_of_a_table_has_the_outputs_of_the_first_step_first(arrays):
    y, prediction, _ = arrays
    with pytest.raises(InvalidInput, match=r"runs of 7 steps and 2 output\(s\), got y_pred of shape"):
        certify(y, prediction, **PROMISE).interval(np.zeros((5, 13)))
    each = certify(y, prediction, gauge=[np.diag([1.0 + t, 1.0]) for t in range(H)], **PROMISE)
    np.testing.assert_array_equal(each.interval(prediction.reshape(N, -1)), each.interval(prediction))
