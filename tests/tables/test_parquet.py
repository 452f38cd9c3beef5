"""Parquet files make one table where the columns of all fit together, and are refused where they do not."""

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from pacband import certify_groups
from pacband.exceptions import InvalidInput
from pacband.tables.files import open_files
from pacband.tables.opening import open_table
from pacband.tables.parquet import _describe as describe
from support.files import ENGINES, PROMISE, certified, expected, same, write
from support.twins import put_in_place

# The files hold the same rows, and that is found.
pytestmark = [pytest.mark.usefixtures("here"), pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("first", ["int64", "int8", "float32", "uint64"])
@pytest.mark.parametrize("turned", [False, True])
def test_files_of_different_types_keep_their_numbers(rows, engine, first, turned):
    parts = [rows.assign(yhat=np.zeros(400, first)), rows]
    names = ["2.parquet", "1.parquet"] if turned else ["1.parquet", "2.parquet"]
    for name, part in zip(names, parts, strict=True):
        write(part, f"parts/{name}")
    same(certified("parts", engine=engine), expected(*parts))


MIXED = {
    "text and number": (["1", "2"], [1.0, 2.0], "column 'yhat' is VARCHAR in a.parquet and DOUBLE in b.parquet"),
    "boolean and number": ([True, False], [1.0, 2.0], "column 'yhat' is BOOLEAN in a.parquet and DOUBLE in b.parquet"),
    "date and number": (pd.to_datetime(["2024-01-01"] * 2), [1.0, 2.0], "column 'yhat' is TIMESTAMP.* in a.parquet"),
    "large integers and floats": ([2**53 + 1, 0], [1.0, 2.0], "a.parquet: column 'yhat' has integers beyond 2..53"),
    "negative ones": ([-(2**63), 0], [1.0, 2.0], "a.parquet: column 'yhat' has integers beyond 2..53"),
    "integers and float32": ([2**24 + 1, 0], np.zeros(2, "float32"), "with integers beyond 2..24, and FLOAT in b"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", MIXED)
def test_types_that_do_not_fit_together_are_refused(case, engine):
    one, other, message = MIXED[case]
    write(pd.DataFrame({"y": [0.0, 1.0], "yhat": one}), "a.parquet")
    write(pd.DataFrame({"y": [0.0, 1.0], "yhat": other}), "b.parquet")
    with pytest.raises(InvalidInput, match=message):
        certified("a.parquet", "b.parquet", engine=engine)


def test_other_columns_may_have_other_types_where_they_are_not_read(rows):
    write(rows.assign(note="x"), "a.parquet")
    write(rows.assign(note=1), "b.parquet")
    same(certified("a.parquet", "b.parquet"), expected(rows, rows))
    with open_files(["a.parquet", "b.parquet"]) as files, pytest.raises(InvalidInput, match="column 'note' is VARCHAR"):
        files.relation()
    with open_table(["a.parquet", "b.parquet"], ["y", "yhat"], also=[], others=True) as table:
        assert "note" not in table.columns
        assert {"y", "yhat"} <= set(table.columns)


def test_a_column_without_any_value_fits_every_type(rows):
    write(rows.assign(note=None), "a.parquet")
    write(rows.assign(note="x"), "b.parquet")
    if "NULL" not in str(duckdb.sql("select note from 'a.parquet'").types[0]):
        pytest.skip("this DuckDB gives it a type")
    with open_files(["a.parquet", "b.parquet"]) as files:
        assert files.relation().aggregate("count(*), count(note)").fetchall() == [(800, 400)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lacking", ["s", "note"])
def test_a_column_that_one_file_lacks_is_refused(rows, engine, lacking):
    whole = rows.assign(note="x")
    write(whole, "a.parquet")
    write(whole.drop(columns=lacking), "b.parquet")
    message = f"b.parquet has no column '{lacking}', which a.parquet has"
    for order in (["a.parquet", "b.parquet"], ["b.parquet", "a.parquet"]):
        with pytest.raises(InvalidInput, match=message):
            certified(*order, engine=engine)


def test_columns_in_another_order_are_the_same_columns(rows):
    write(rows, "a.parquet")
    write(rows[["s", "yhat", "y"]], "b.parquet")
    same(certified("a.parquet", "b.parquet", scale="s"), expected(rows, rows, scale="s"))


def test_the_schema_of_many_files_is_looked_up_once(rows, monkeypatch):
    looked = []
    put_in_place(monkeypatch, describe, lambda file: looked.append(file) or describe(file))
    write(rows, "many/0.parquet")
    data = Path("many/0.parquet").read_bytes()
    for k in range(1, 300):
        with open(f"many/{k}.parquet", "wb") as file:
            file.write(data)
    with open_files(["many"]) as files:
        assert files.relation().aggregate("count(*)").fetchall() == [(120_000,)]
    assert len(looked) == 1


@pytest.mark.parametrize("damage", ["cut", "footer", "length"])
def test_damaged_parquet_files_are_refused(rows, damage):
    write(rows, "a.parquet")
    data = bytearray(Path("a.parquet").read_bytes())
    if damage == "cut":
        data = data[:-100]
    elif damage == "footer":
        size = int.from_bytes(data[-8:-4], "little")
        data[-8 - size : -8] = b"\x19\xfc\xff\xff\xff\xff\xff\xff\x0f" + b"\xff" * (size - 9)
    else:
        data[-8:-4] = b"\xff\xff\xff\x7f"
    with open("b.parquet", "wb") as file:
        file.write(data)
    with pytest.raises(InvalidInput, match=r"b.parquet is a damaged Parquet file"):
        certified("a.parquet", "b.parquet")
    alone = "b.parquet: " if damage == "footer" else "b.parquet is a damaged Parquet file: it has no footer."
    with pytest.raises(InvalidInput, match=alone):
        certified("b.parquet")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("folder", ["s=3", "yhat=0", "S=3", "y=5/s=3"])
def test_the_name_of_a_directory_replaces_no_column(rows, folder, kind, engine):
    write(rows, f"run/{folder}/d.{kind}")
    wanted = expected(rows, scale="s")
    same(certified(f"run/{folder}/d.{kind}", engine=engine, scale="s"), wanted)
    same(certified(f"run/{folder}/*.{kind}", engine=engine, scale="s"), wanted)
    if kind == "parquet":
        same(certified(f"run/{folder}", engine=engine, scale="s"), wanted)
        for above in ("run", "run/**/*.parquet", "run/*/*.parquet" if folder.count("/") == 0 else "run/*/*/d.parquet"):
            with pytest.raises(InvalidInput, match=r"has a column '.*', and the directory .*=… above it would replace"):
                certified(above, engine=engine, scale="s")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("keys", "labels"), [(["1", "2"], [1, 2]), (["01", "2"], ["01", "2"]), (["a b", "é"], ["a b", "é"])])  # fmt: skip
def test_directories_below_the_named_one_make_a_column(rows, keys, labels, engine):
    for key in keys:
        write(rows, f"top=9/all/part={key}/d.parquet")
    wanted = certify_groups(
        np.tile(rows.y, 2), np.tile(rows.yhat, 2), np.repeat(np.array(labels, dtype=object), 400), **PROMISE
    )
    for given in ("top=9/all", "top=9/all/*/d.parquet", "top=9/all/part=*"):
        found = certified(given, engine=engine, group="part")
        assert list(found.groups) == list(wanted.groups)
        assert all(found.groups[label].gamma == wanted.groups[label].gamma for label in labels)
    with pytest.raises(InvalidInput, match="there is no column 'top'"):
        certified("top=9/all", engine=engine, group="top")


def test_directories_with_different_keys_are_refused(rows):
    write(rows, "all/part=1/d.parquet")
    write(rows, "all/piece=2/d.parquet")
    with pytest.raises(InvalidInput, match="directories with different keys"):
        certified("all")
