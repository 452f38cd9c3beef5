"""Any name of a column works in every engine: no name is a pattern, and none is one of ours."""

from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.tables.engines import refuse_unless
from support.jobs import PROMISE, stated, table
from support.tables import ALL, CHANGED, IN_PROCESS, collected, libraries

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
def test_any_name_of_a_column_works(library, odd, limit):
    limit(sample=50)
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
def test_names_that_differ_in_case_alone_or_are_empty_are_told_apart(library, rng, limit):
    limit(sample=50)
    frame = pd.DataFrame({"y": rng.standard_normal(300), "a": 0.0, "A": rng.standard_normal(300), "": 1.0})
    for name in ("a", "A", ""):
        found = pacband.certify_frame(ALL[library](frame), target="y", prediction=name, **PROMISE)
        assert stated(found) == stated(pacband.certify(frame["y"], frame[name], **PROMISE))


@pytest.mark.parametrize("name", ["Q0", "q0", "C0", "c1", "G", "g", "n", "N", "v", "low0", "q0total"])
@pytest.mark.parametrize("library", ["duckdb", "polars lazy"])
def test_no_name_of_a_column_is_taken_for_one_of_ours(library, name, rng, in_engine, tmp_path):
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


@pytest.mark.verify
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_spark_refuses_what_other_engines_refuse(rng, request, limit):
    spark = request.getfixturevalue("spark")
    limit(sample=50)
    frame = table(rng, 500)[["y", "p", "s"]]
    wide = spark.createDataFrame(
        frame.assign(y=[Decimal(17 * 10**17 + k) for k in range(500)]), "y decimal(30, 0), p double, s double"
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
