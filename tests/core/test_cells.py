"""What a cell says: the same in Python and in SQL, for every awkward value and every way it is written."""

import struct
import uuid
from datetime import date, datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacband.core.cells import label_text, label_text_sql, matching, number, number_sql, spelled, spelled_sql

TEXTS = [
    "1", "1.0", "1.00", "01", "007", "7", "+7", "-7", "-0", "-0.0", "0", "0.0", ".5", "5.", "0.5", "0.50", "1.10", "1.1",
    "1e5", "1E5", "1e+16", "1e16", "1.0E7", "1e22", "1e-05", "1e-5", "0.00001", "12e4", "1e400", "1e-400", "1e36", "1e37",
    "-1.5e300", "10000000000000000", "9007199254740993", "123456789012345678901234567890", "0.1000000000000000055",
    "0.1", "1.2345678901234567890", "1,5", "1 000", "1_000", "0x10", "1d", "١", "１", "½", "inf", "-Infinity", "infinite",
    "True", "true", "TRUE", "tRUE", " true", "False", "false", "FALSE", "t", "yes", "", " ", "\t", "NA", "na", "N/A",
    "n/a", "nan", "NaN", "null", "NULL", "none", "None", "#N/A", " NA ", "\tnull\r\n", "nil", "missing", "-", "1 ", " 1",
    "1\n", "a", "A", "ä", "İ", "K", "it's", 'say "so"', "line\nbreak", "2020-01-01", "2020-01-01 00:00:00", "1.2.3",
    "--1", "1-", "1e", "e1", "1e+", "1.e5", "-.5", "0e0", "00", "-01", "1.0.0", "٣", "\u00a01", "1\u00a0",
]  # fmt: skip


def floats(seed, n, form):
    rng, size = np.random.default_rng(seed), struct.calcsize(form)
    found = [struct.unpack(form, rng.bytes(size))[0] for _ in range(n)]
    found += (rng.standard_normal(n) * 10.0 ** rng.integers(-8, 9, n)).round(3).tolist()
    found += [
        0.1,
        -0.0,
        1.0,
        1e15,
        1e16,
        1e17,
        1e22,
        1e-5,
        123456.789,
        2.0**53,
        1e35,
        1e36,
        1e37,
        3.4e38,
        np.nan,
        1 / 3,
    ]
    return found


def in_sql(values, held, rule):
    frame = pd.DataFrame({"place": range(len(values)), "cell": pd.Series(values, dtype=object)})
    if held not in ("VARCHAR", "BOOLEAN"):
        frame["cell"] = pd.Series(values)
    CONNECTION.register("given", frame)
    cast = f"cast(cell as {held})"
    rows = CONNECTION.sql(f"select place, {rule('v', held)} from (select place, {cast} as v from given) order by place")
    return [row[1] for row in rows.fetchall()]


CONNECTION = duckdb.connect(config={"threads": 1})
COLUMNS = {
    "texts": ("VARCHAR", TEXTS, None),
    "doubles": ("DOUBLE", floats(0, 2000, "d"), float),
    "floats": ("FLOAT", np.array(floats(1, 2000, "f"), dtype=np.float32), np.float32),
    "integers": ("BIGINT", [0, 1, -1, 7, 2**53 + 1, -(2**63), 2**63 - 1], np.int64),
    "wide": ("HUGEINT", ["0", "-12", "170141183460469231731687303715884105727"], int),
    "decimals": ("DECIMAL(18, 4)", ["1.5000", "0.1000", "-3.0000", "12345678901234.5678", "0.0000"], Decimal),
    "truths": ("BOOLEAN", [True, False], bool),
    "dates": ("DATE", ["2020-01-01", "1999-12-31"], date.fromisoformat),
    "times": ("TIMESTAMP", ["2020-01-01 00:00:00", "1999-12-31 23:59:59"], datetime.fromisoformat),
    "ids": ("UUID", [str(uuid.UUID(int=k)) for k in (1, 2**100)], uuid.UUID),
    "enum": ("ENUM ('1.0', 'b', 'NA')", ["1.0", "b", "NA"], str),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_python_and_sql_agree_on_every_cell(name):
    held, values, read = COLUMNS[name]
    cells = [value if read is None else read(value) for value in values]
    assert in_sql(values, held, spelled_sql) == [spelled(cell) for cell in cells]
    assert in_sql(values, held, label_text_sql) == [label_text(cell) for cell in cells]
    numbers = [number(cell) for cell in cells]
    expected = [None if value is None or np.isnan(value) else value for value in numbers]
    found = in_sql(values, held, number_sql)
    # Not a gap, and no number either: both are null in SQL, where the count of the texts tells them apart.
    assert [None if v is None else struct.pack("d", v) for v in found] == [
        None if v is None else struct.pack("d", v) for v in expected
    ]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=8).filter(lambda text: "\x00" not in text),
            st.text(alphabet="0123456789.+-eE \tnaNAtrueTRUE", max_size=10),
            st.floats().map(repr),
            st.integers().map(str),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_python_and_sql_agree_on_any_text(texts):
    assert in_sql(texts, "VARCHAR", spelled_sql) == [spelled(text) for text in texts]
    assert in_sql(texts, "VARCHAR", label_text_sql) == [label_text(text) for text in texts]
    found = [None if value is None or np.isnan(value) else value for value in map(number, texts)]
    assert in_sql(texts, "VARCHAR", number_sql) == found


@pytest.mark.parametrize(
    "ways",
    [
        (1, 1.0, "1", "1.0", "1.00", np.int64(1), np.uint8(1), np.float32(1), np.float16(1), Decimal("1.00"), 1e0),
        (0, 0.0, -0.0, "-0", "0.0", "-0.0", Decimal("-0.00")),
        (0.1, "0.1", "0.10", np.float32(0.1), np.float64(0.1), Decimal("0.1")),
        (10**16, 1e16, "1e16", "1e+16", "1.0E16", "10000000000000000", "10000000000000000.0", Decimal("1e16")),
        (1e22, 10**22, "1e+22", "1E22"),
        (1e-5, "1e-05", "1e-5", "0.00001", "1.0E-5", Decimal("0.00001")),
        (True, "True", "true", "TRUE", np.True_),
        (None, float("nan"), pd.NA, pd.NaT, "", " ", "NA", "n/a", "NaN", "null", "None", np.float32("nan"), Decimal("NaN")),
        ("2020-01-01", date(2020, 1, 1)),
    ],
    ids=lambda ways: repr(ways[0]),
)  # fmt: skip
def test_one_value_has_one_text_however_it_is_written(ways):
    assert {spelled(way) for way in ways} == {spelled(ways[0])}


def test_different_values_stay_apart():
    apart = [
        7,
        "007",
        "+7",
        " 7",
        "7 ",
        "7.",
        0.7,
        ".7",
        True,
        "t",
        2**53,
        2**53 + 1,
        "A",
        "a",
        "A ",
        "1,5",
        "12e4",
        120000,
    ]
    texts = [spelled(value) for value in apart]
    assert len(set(texts)) == len(apart)
    assert spelled(spelled(7.0)) == "7"
    assert all(spelled(text) == text for text in texts)


def test_a_label_is_matched_by_itself_or_by_its_text_and_never_by_rounding():
    match = matching([1, 2, 2.5, "north"])
    assert [match(cell) for cell in ("1", "1.0", 2.0, "2.50", "north")] == [1, 1, 2, 2.5, "north"]
    for cell in ("1.4", 0.6, "01", "North", "NA", None, "3"):
        assert match(cell) == cell
    # Two labels of one text cannot be told apart by it.
    assert matching(["1", "1.0"])(1) == 1
    assert matching(["1", "1.0"])("1.0") == "1.0"


def test_nan_in_a_parquet_file_is_a_gap_whatever_its_statistics_say(tmp_path):
    values = np.array([1.0, 2.0, np.nan, 3.0])
    for held, dtype in (("DOUBLE", "f8"), ("FLOAT", "f4")):
        for end in (np.inf, 4.0):
            column = np.append(values, end).astype(dtype)
            pq.write_table(pa.table({"x": pa.array(column, from_pandas=False)}), tmp_path / "rows.parquet")
            rows = duckdb.sql(f"select {number_sql('x', held)} from '{tmp_path / 'rows.parquet'}'").fetchall()
            assert [value for (value,) in rows] == [1.0, 2.0, None, 3.0, end]
