"""Messages of DuckDB become one sentence that names the file, the line and the column."""

import pytest

from pacband.exceptions import InvalidInput
from pacband.tables.delimited import LARGE_INTEGER
from pacband.tables.messages import explain

LINE = "Invalid Input Error: CSV Error on Line: 7\nOriginal Line: 1,x\n{}\n\n  file = /data/a.csv\n"
MESSAGES = {
    'Error when converting column "y". Could not convert string "x" to \'DOUBLE\'': "a.csv, line 7: column 'y' must be numeric, got 'x'.",
    "Expected Number of Columns: 2 Found: 3": "a.csv, line 7: a row must have 2 cells like the header, got 3.",
    "Value with unterminated quote found.": "a.csv, line 7: a cell that begins with a quote must end with one.",
    "Maximum line size of 2000000 bytes exceeded.": "a.csv, line 7: a row must have at most 2,000,000 bytes.",
    "Invalid unicode (byte sequence mismatch) detected. This file is not utf-8 encoded.": "a.csv, line 7: the file must be text in UTF-8, or --encoding must name its encoding.",
    "Something new.": "a.csv, line 7: Original Line: 1,x",
}


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_with_a_line(message):
    assert explain(LINE.format(message), "b.csv", {"/data/a.csv": "a.csv"}) == MESSAGES[message]


@pytest.mark.parametrize("name", ["data-utf-8.csv", "not utf-8 encoded.csv", "Maximum line size.csv"])
def test_neither_a_path_nor_a_cell_is_the_error(name):
    message = LINE.format("Value with unterminated quote found.").replace("a.csv", name).replace("1,x", '1,"utf-8')
    sentence = "a cell that begins with a quote must end with one."
    assert explain(message, None, {f"/data/{name}": "a.csv"}) == f"a.csv, line 7: {sentence}"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("Conversion Error: Could not convert string 'x' to DOUBLE when casting from source column y", "column 'y' must be numeric, got 'x'."),
        ('IO Error: Could not write file "/data/a.csv": No space left on device', "No space left on device."),
        ("IO Error: No space left on device", "there is no space left on the device."),
        ("IO Error: cannot open /data/a.csv\nsecond line", "cannot open a.csv"),
    ],
)  # fmt: skip
def test_messages_without_a_line(message, sentence):
    names = {"/data/a.csv": "a.csv"}
    assert explain(message, "b.csv", names) == f"b.csv: {sentence}"
    assert explain(message, None, names) == f"the table: {sentence}"


def test_an_integer_that_float64_cannot_hold_is_refused_at_once():
    with pytest.raises(InvalidInput, match=r"^b.csv: column 'y' has integers beyond 2\*\*53"):
        explain(f"Invalid Input Error: {LARGE_INTEGER}y", "b.csv", {})
