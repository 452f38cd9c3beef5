"""Every engine, dtype, rank and tie pattern gives the certificate that numpy gives, to the last bit."""

import importlib
from decimal import Decimal
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import pacband
from pacband.exceptions import InvalidInput, InvalidScale, NotEnoughSamples
from pacband.selection import search as selection
from support.jobs import JOBS, PROMISE, N, by_arrays, stated, table

certifying = importlib.import_module("pacband.tables.certifying")


@pytest.fixture
def far(monkeypatch):
    """Let tables in engines be too large to be brought here, and their windows too large to be fetched at once."""
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    monkeypatch.setattr(selection, "FEW", 400)


IN_PROCESS = {
    "pandas": lambda frame, folder: frame,
    "pandas nullable": lambda frame, folder: frame.convert_dtypes(),
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "polars lazy": lambda frame, folder: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame, folder: pa.Table.from_pandas(frame),
    "pyarrow dataset": lambda frame, folder: pyarrow.dataset.dataset(_parquet(frame, folder)),
    "duckdb": lambda frame, folder: duckdb.from_df(frame),
    "duckdb parquet": lambda frame, folder: duckdb.read_parquet(_parquet(frame, folder)),
}  # fmt: skip


def _parquet(frame, folder):
    path = str(folder / "table.parquet")
    frame.to_parquet(path, index=False)
    return path


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("library", IN_PROCESS)
def test_every_library_gives_the_certificate_of_arrays(library, job, rng, far, tmp_path):
    frame = table(rng)
    found = pacband.certify_frame(IN_PROCESS[library](frame, tmp_path), **{"target": "y", **JOBS[job]}, **PROMISE)
    assert stated(found) == stated(by_arrays(frame, JOBS[job]))


@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("job", ["groups", *(pytest.param(job, marks=pytest.mark.verify) for job in ("family", "pair", "upper"))])  # fmt: skip
def test_spark_gives_the_certificate_of_arrays(job, rng, monkeypatch, tmp_path, spark):
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    frame = table(rng)
    native = spark.read.parquet(_parquet(frame, tmp_path))
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
def test_dask_gives_the_certificate_of_arrays(job, rng, monkeypatch):
    dd = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr(certifying, "SAMPLE", 300)
    frame = table(rng)
    native = dd.from_pandas(frame, npartitions=3)
    found = pacband.certify_frame(native, target="y", **JOBS[job], **PROMISE)
    assert stated(found) == stated(by_arrays(frame, JOBS[job]))
    cert = found.certificate if job == "family" else found
    bands = pacband.apply_frame(cert, native)
    assert isinstance(bands, dd.DataFrame)
    pd.testing.assert_frame_equal(
        bands.compute()[["lower", "upper"]], pacband.apply_frame(cert, frame)[["lower", "upper"]]
    )


@pytest.mark.parametrize("dtype", ["float32", "int16", "int64", "uint8", "bool", "Int64", "Float32", "decimal"])
@pytest.mark.parametrize("library", ["pandas", "polars", "polars lazy", "pyarrow", "duckdb"])
def test_numbers_of_every_type_are_computed_in_float64(library, dtype, rng, far, tmp_path):
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
def test_infinite_predictions_count_as_violations_where_declared(library, rng, far, tmp_path):
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


@pytest.mark.parametrize("library", IN_PROCESS)
@pytest.mark.parametrize("side", ["both", "upper"])
def test_candidates_that_do_not_answer_are_ranked_as_in_arrays(library, side, rng, far, tmp_path):
    frame = table(rng)
    frame.loc[5::400, "p"] = np.nan
    frame.loc[6:60, "q"] = np.inf
    options = {"nonfinite": "violate", "side": side, "eps": 0.1, "delta": 0.01}
    for candidates in ({"p": ("p", "s"), "z": "z"}, {"p": "p", "scaled": ("p", "s"), "q": "q"}):
        found = pacband.certify_frame(
            IN_PROCESS[library](frame, tmp_path), target="y", candidates=candidates, **options
        )
        arrays = {
            name: tuple(frame[part].to_numpy() for part in parts) if isinstance(parts, tuple) else frame[parts]
            for name, parts in candidates.items()
        }
        expected = pacband.certify_family(frame["y"], arrays, **options)
        assert found.best == expected.best
        assert found.mean_bound == expected.mean_bound
        assert found.sharpness == expected.sharpness
        assert found.mean_bound["p"] == np.inf


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
def test_rows_that_cannot_be_scored_are_named(case, library, rng, far, tmp_path):
    spoil, error, message = BAD[case]
    frame = IN_PROCESS[library](spoil(table(rng)), tmp_path)
    if library == "pandas":
        message = "4321|5000|overflow"
    with pytest.raises(error, match=message):
        pacband.certify_frame(frame, target="y", prediction="p", scale="s", **PROMISE)


@pytest.mark.parametrize("library", ["polars lazy", "duckdb"])
def test_a_bad_scale_at_prediction_is_named_as_well(library, rng, far, tmp_path):
    frame = table(rng)
    cert = pacband.certify_frame(frame, target="y", prediction="p", scale="s", **PROMISE)
    bad = IN_PROCESS[library](frame.assign(s=frame["s"].where(frame.index != 4321, -1.0)), tmp_path)
    with pytest.raises(InvalidScale, match="row 4321"):
        pacband.apply_frame(cert, bad)


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
        ({"prediction": ["p", "q"]}, "as many columns, got 1 and 2"),
        ({"scale": ["s", "up"]}, "scale must have 1 column or 1, got 2"),
        ({"target": ""}, "target must be the name of a column"),
        ({"group": "nowhere"}, "no column 'nowhere'"),
        ({"eps": 5}, "eps must be in"),
        ({"rank": 10**6}, "rank must not exceed"),
        ({"group": "site", "rank": 3}, "no candidates, no rank"),
        ({"candidates": {"a": "p"}}, "not both"),
        ({"prediction": None, "candidates": {"a": "p"}, "scale": "s"}, "each brings its own scale"),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "duckdb"])
def test_what_is_asked_wrongly_is_said(library, change, message, rng, tmp_path):
    native = IN_PROCESS[library](table(rng), tmp_path)
    with pytest.raises(InvalidInput, match=message):
        pacband.certify_frame(native, **{"target": "y", "prediction": "p", **PROMISE, **change})


def test_too_few_rows_in_a_group_are_named(rng, far, tmp_path):
    frame = table(rng)
    frame.loc[:2, "site"] = "lonely"
    with pytest.raises(NotEnoughSamples, match="group 'lonely'"):
        pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", group="site", **PROMISE)


def test_large_integers_are_refused_by_engines_too(rng, far):
    frame = table(rng)
    frame["y"] = 2**53 + 1 + np.arange(N)
    with pytest.raises(InvalidInput, match=r"beyond 2\*\*53"):
        pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", **PROMISE)


def test_what_is_no_table_is_refused():
    with pytest.raises(InvalidInput, match="frame must be a table"):
        pacband.certify_frame([1, 2, 3], target="y", prediction="p")


def test_missing_and_unknown_labels_are_refused(rng, far):
    frame = table(rng)
    cert = pacband.certify_frame(frame, target="y", prediction="p", group="site", **PROMISE)
    strange = frame.assign(site=frame["site"].where(frame.index != 7, "moon"))
    for native in (strange, duckdb.from_df(strange)):
        with pytest.raises(InvalidInput, match="labels without a certificate: 'moon'"):
            pacband.apply_frame(cert, native)
    missing = frame.assign(site=frame["site"].where(frame.index != 4000))
    with pytest.raises(InvalidInput, match="label in every row: it is missing in 1 row"):
        pacband.certify_frame(duckdb.from_df(missing), target="y", prediction="p", group="site", **PROMISE)


@pytest.mark.parametrize("kind", [int, float, bool])
def test_groups_of_every_type_of_label(kind, rng, far):
    frame = table(rng)
    frame["site"] = (frame["site"] == "north").astype(kind)
    expected = pacband.certify_groups(frame["y"], frame["p"], frame["site"], **PROMISE)
    for native in (duckdb.from_df(frame), pl.from_pandas(frame).lazy()):
        found = pacband.certify_frame(native, target="y", prediction="p", group="site", **PROMISE)
        assert stated(found) == stated(expected)
        assert all(type(label) is kind for label in found.groups)


def test_many_groups_in_the_same_passes(rng, far):
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


def test_chunks_give_the_certificate_of_all_rows_at_once(rng, monkeypatch):
    monkeypatch.setattr(selection, "FEW", 100)
    monkeypatch.setattr("pacband.tables.chunks.PIECE", 512)
    frame = table(rng)
    y, p, s, up = (frame[name].to_numpy() for name in ("y", "p", "s", "up"))
    for scale in (None, s, (s, up)):

        def pieces(scale=scale):
            for start in range(0, N, 700):
                rows = slice(start, start + 700)
                cut = (
                    tuple(part[rows] for part in scale)
                    if isinstance(scale, tuple)
                    else None
                    if scale is None
                    else scale[rows]
                )
                yield (y[rows], p[rows]) if scale is None else (y[rows], p[rows], cut)

        assert stated(pacband.certify_chunks(pieces(), **PROMISE)) == stated(pacband.certify(y, p, scale, **PROMISE))


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "at least one row"),
        ([np.zeros(3)], "chunk 0 must be a tuple"),
        ([(np.zeros(3), np.zeros(3)), (np.zeros(3), np.zeros(3), np.ones(3))], "chunk 1 has other outputs"),
        ([(np.zeros(3), np.zeros(3)), (np.zeros(3), np.full(3, np.nan))], "chunk 1: y_pred"),
        ([(np.zeros(3), np.zeros(3))], "needs at least|samples"),
    ],
)
def test_bad_chunks_are_named(chunks, message):
    with pytest.raises(InvalidInput, match=message):
        pacband.certify_chunks(chunks)


def test_the_fingerprint_of_an_engine_would_see_a_changed_row(rng, far):
    # A wrong twin: one score of many, changed in its ninth digit.
    frame = table(rng)
    one = pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", **PROMISE)
    frame.loc[11, "y"] += 1e-6
    other = pacband.certify_frame(duckdb.from_df(frame), target="y", prediction="p", **PROMISE)
    assert one.data_digest != other.data_digest
    assert SimpleNamespace(**stated(one)).gamma == SimpleNamespace(**stated(other)).gamma


@pytest.mark.parametrize("name", ["Q0", "q0", "C0", "c1", "G", "g", "n", "N", "v", "low0", "q0total"])
@pytest.mark.parametrize("library", ["duckdb", "polars lazy"])
def test_no_name_of_a_column_is_taken_for_one_of_ours(library, name, rng, far, tmp_path):
    # DuckDB takes Q0 for q0.
    frame = table(rng)
    expected = {side: pacband.certify(frame.y, frame.p, frame.s, side=side, **PROMISE) for side in ("both", "upper")}
    bystander = frame.assign(**{name: 1e9})
    as_prediction = frame.rename(columns={"p": name})
    for side, certificate in expected.items():
        for native, prediction in ((bystander, "p"), (as_prediction, name)):
            options = {"target": "y", "prediction": prediction, "scale": "s", "side": side, **PROMISE}
            found = pacband.certify_frame(IN_PROCESS[library](native, tmp_path), **options)
            assert stated(found) == stated(certificate)
            assert pacband.check_frame(found, IN_PROCESS[library](native, tmp_path)) == pacband.check(
                certificate, frame.y, frame.p, frame.s
            )
    grouped = pacband.certify_frame(
        IN_PROCESS[library](bystander, tmp_path), target="y", prediction="p", group="site", **PROMISE
    )
    assert stated(grouped) == stated(pacband.certify_groups(frame.y, frame.p, frame.site, **PROMISE))


def test_an_existing_column_is_not_overwritten(rng):
    frame = table(rng)
    cert = pacband.certify_frame(frame, target="y", prediction="p", **PROMISE)
    for name in ("lower", "Upper"):
        with pytest.raises(InvalidInput, match="already"):
            pacband.apply_frame(cert, duckdb.from_df(frame.assign(**{name: 1.0})))


@pytest.mark.parametrize("engine", [duckdb.from_df, lambda frame: pl.from_pandas(frame).lazy(), lambda frame: frame])
def test_missing_integer_labels_are_not_group_zero(engine, rng):
    # Small enough to be brought here, where DuckDB hands over a masked array.
    frame = table(rng, 2000)
    frame["site"] = pd.array(rng.integers(0, 2, 2000), dtype="Int64")
    frame.loc[::10, "site"] = pd.NA
    with pytest.raises(InvalidInput, match="label in every row: it is missing in 200 rows"):
        pacband.certify_frame(engine(frame), target="y", prediction="p", group="site", **PROMISE)


def test_candidates_are_counted_and_not_declared(rng):
    with pytest.raises(InvalidInput, match="n_candidates is their number, 2"):
        pacband.certify_frame(table(rng), target="y", candidates={"a": "p", "b": "q"}, n_candidates=100, **PROMISE)


def test_chunks_are_not_touched_where_the_options_are_wrong():
    def never():
        raise AssertionError
        yield

    with pytest.raises(InvalidInput, match="rule must be one of"):
        pacband.certify_chunks(never(), rule="sharpest")
