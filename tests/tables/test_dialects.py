"""What a user may say about files, and how several files agree about it."""

import pandas as pd
import pytest

from pacband.exceptions import InvalidInput
from pacband.tables.dialects import Dialect
from pacband.tables.files import open_files

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"delimiter": ""}, "one character"),
        ({"delimiter": '"'}, "one character"),
        ({"delimiter": "5"}, "one character"),
        ({"decimal": ""}, "the decimal mark must be a point or a comma"),
        ({"thousands": ";"}, "the mark of thousands must be"),
        ({"decimal": ".", "thousands": "."}, "must differ"),
        ({"encoding": "no such thing"}, "the encoding must be one that Python knows"),
        ({"encoding": "base64"}, "the encoding must be one that Python knows"),
    ],
)
def test_what_no_file_is_written_in_is_refused(given, message):
    with pytest.raises(InvalidInput, match=message):
        Dialect.create(**given)


def test_all_files_are_looked_at():
    """The first file has whole numbers only: the marks are in a later one."""
    whole = pd.DataFrame({"y": [1, 2], "t": "a"})
    for name in ("a.csv", *(f"b{number:02}.csv" for number in range(40))):
        whole.to_csv(name, index=False, sep=";")
    whole.assign(y=["1,5", "2.000,25"]).to_csv("c.csv", index=False, sep=";")
    said = []
    with open_files(["a.csv", "b*.csv", "c.csv"], note=said.append) as files:
        assert files.relation(["y"]).aggregate("sum(y)").fetchall() == [(41 * 3 + 2001.75,)]
    assert said == ["Read a.csv with delimiter ';', decimal comma and thousands '.'."]


def test_a_column_of_texts_keeps_its_texts_and_numbers_in_it_are_numbers():
    pd.DataFrame({"y": ["1,5", "2,5"], "t": ["1,5", "a,b"]}).to_csv("a.csv", index=False, sep=";")
    with open_files(["a.csv"]) as files:
        assert files.relation(["y"]).fetchall() == [(1.5, "1.5"), (2.5, "a,b")]
        assert files.relation(["y"], unchanged=True).fetchall() == [(1.5, "1,5"), (2.5, "a,b")]
        assert files.copied.fetchall() == [("1,5", "1,5"), ("2,5", "a,b")]


def test_numbers_beyond_float64_are_refused_in_every_format():
    pd.DataFrame({"y": ["9.007.199.254.740.993", "0,5"]}).to_csv("a.csv", index=False, sep=";")
    with pytest.raises(InvalidInput, match=r"integers beyond 2\*\*53"), open_files(["a.csv"]) as files, files.reading():
        files.relation(["y"]).fetchall()


@pytest.mark.parametrize("text", ["inf", "-Infinity", "nan", ""])
def test_words_for_numbers_are_read_in_every_format(text):
    pd.DataFrame({"y": [*(f"0,{number}" for number in range(20)), text], "x": "a"}).to_csv(
        "a.csv", index=False, sep=";"
    )
    with open_files(["a.csv"]) as files:
        (*_, (found,)) = files.relation(["y"], only=["y"]).fetchall()
    assert (found is None) if text == "" else (str(found) == str(float(text)))
