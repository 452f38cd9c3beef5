"""Values of every group are joined to its rows, for many groups and labels of every type."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import pacband
from support.jobs import PROMISE, stated, table
from support.tables import LAZY, collected, dask_frame, libraries


@pytest.mark.parametrize("kind", ["Int64", "int8", "float64", "boolean", "bool", "category", "string"])
def test_labels_of_every_dask_type(kind, rng, limit):
    limit(sample=300)
    frame = table(rng)
    codes = frame["site"] if kind in ("category", "string") else (frame["site"] == "north").astype("int64")
    frame["site"] = codes.astype(kind)
    native = dask_frame(frame, npartitions=2)
    expected = pacband.certify_frame(frame, target="y", prediction="p", group="site", **PROMISE)
    found = pacband.certify_frame(native, target="y", prediction="p", group="site", **PROMISE)
    assert stated(found) == stated(expected)
    assert list(map(type, found.groups)) == list(map(type, expected.groups))
    bands = collected(pacband.apply_frame(found, native))
    assert bands["upper"].equals(pacband.apply_frame(expected, frame)["upper"])
    assert pacband.check_frame(found, native) == pacband.check_frame(found, frame)


@pytest.mark.parametrize("kind", [str, int, float])
@pytest.mark.parametrize("library", libraries(LAZY))
def test_hundreds_of_groups_give_the_certificate_of_arrays(library, kind, rng, limit):
    limit(sample=300)
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
def test_duckdb_joins_many_groups_in_the_order_of_the_rows(threads, rng, tmp_path, limit):
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
