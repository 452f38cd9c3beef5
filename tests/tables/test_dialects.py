"""What a user may say about files, and how several files agree about it."""

import pandas as pd
import pytest

from pacband.exceptions import InvalidInput
from pacband.tables.dialects import Dialect
from pacband.tables.files import open_files
from pacband.tables.opening import open_table

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


def test_a_column_of_texts_keeps_its_texts_unless_it_may_hold_numbers():
    pd.DataFrame({"y": ["1,5", "2,5"], "t": ["1,5", "a,b"]}).to_csv("a.csv", index=False, sep=";")
    with open_files(["a.csv"]) as files:
        assert files.relation(["y"], surveyed=["t"]).fetchall() == [(1.5, "1.5"), (2.5, "a,b")]
        assert files.relation(["y"]).fetchall() == [(1.5, "1,5"), (2.5, "a,b")]
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


def test_labels_that_are_the_same_number_stay_two_labels():
    """In a German file, 1.234 and 1234 are one number and two machines."""
    units, codes = ["1.234", "1234", "A-7"], ["1.234,5", "1234,5", "1234,5"]
    pd.DataFrame({"y": ["1.001,5"] * 30, "unit": units * 10, "code": codes * 10}).to_csv("a.csv", index=False, sep=";")
    for options in ({"labels": ["code"]}, {"also": ["unit", "code"], "others": True}):
        with open_table(["a.csv"], ["y"], **options) as table:
            assert set(table.project("unit").fetchall()) == {(unit,) for unit in units}
            assert set(table.project("code").fetchall()) == {(code,) for code in codes}
    with open_table(["a.csv"], ["y"]) as table:
        # Nobody calls this column of numbers labels.
        assert set(table.project("code").fetchall()) == {("1234.5",)}


@pytest.mark.parametrize("cell", ["1.5", " 2.25"])
def test_inputs_are_numbers_in_the_format_of_the_file_or_refused(cell):
    cells = ["1,5", "NA", "true", "1.000,5", cell]
    pd.DataFrame({"x": cells, "y": "1.000,5"}).to_csv("a.csv", index=False, sep=";")
    with open_files(["a.csv"]) as files:
        read = files.relation(inputs=["x"], only=["x"])
        assert read.limit(4).fetchall() == [("1.5",), ("NA",), ("true",), ("1000.5",)]
        with (
            pytest.raises(InvalidInput, match=rf"'x' must be numeric, got '{cell}'. The first such row is 4 \("),
            files.reading(),
        ):
            read.fetchall()


@pytest.mark.parametrize("read", ["numeric", "inputs"])
@pytest.mark.parametrize("other", ["6,5", "1,234"])
def test_numbers_with_two_meanings_are_refused_where_they_are_numbers(read, other):
    """51.494 beside 1,234: one of both is a number of thousands, and nothing shows which."""
    pd.DataFrame({"x": ["51.494", "6.306"], "z": other}).to_csv("a.csv", index=False, sep=";")
    with open_files(["a.csv"]) as files:
        assert files.relation().fetchall()[0][0] == "51.494"
        with pytest.raises(InvalidInput, match=r"'x' have two meanings.* with --decimal and --thousands"):
            files.relation(**{read: ["x"]})
    with open_files(["a.csv"], Dialect(decimal=",")) as files:
        assert float(files.relation(**{read: ["x"]}).fetchall()[0][0]) == 51494


@pytest.mark.parametrize("read", ["numeric", "inputs"])
@pytest.mark.parametrize("z", ["7", "2.5"])
def test_a_number_with_two_meanings_is_refused_wherever_it_is(read, z):
    """No part of a large file that is looked at has a point in x."""
    rows = [f"{100 + number % 900};{z}\n" for number in range(100_000)]
    rows[61_234] = f" -12.345;{z}\n"
    with open("a.csv", "w") as file:
        file.writelines(["x;z\n", *rows])
    with open_files(["a.csv"], Dialect(decimal=".")) as files:
        assert float(files.relation(**{read: ["x"]}).fetchall()[61_234][0]) == -12.345
    with (
        pytest.raises(InvalidInput, match=r"a.csv: the numbers of column 'x' have two meanings.* --thousands \."),
        open_files(["a.csv"]) as files,
        files.reading(),
    ):
        files.relation(**{read: ["x"]}).fetchall()


@pytest.mark.parametrize(("delimiter", "refused"), [(",", False), (";", True), ("\t", True), ("|", True)])
def test_points_may_group_thousands_where_no_comma_is_a_delimiter(delimiter, refused):
    pd.DataFrame({"x": ["4.792", "736"], "t": "a"}).to_csv("a.csv", index=False, sep=delimiter)
    with open_files(["a.csv"]) as files:
        assert files.format.unclear == ({"x"} if refused else set())
        if not refused:
            assert files.relation(["x"]).fetchall() == [(4.792, "a"), (736, "a")]
