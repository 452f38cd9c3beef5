"""Numbers of other countries: one meaning in one format, the same in Python and in SQL, and no guess where two fit."""

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pacband.core.number_formats import (
    PLAIN,
    NumberFormat,
    check_marks,
    find_format,
    is_grouped_sql,
    looks_written_otherwise,
    other_format_sql,
    refuse_unclear,
)
from pacband.exceptions import InvalidInput

GERMAN, ENGLISH, FRENCH, SWISS = (
    NumberFormat(",", "."), NumberFormat(".", ","), NumberFormat(",", " "), NumberFormat(".", "'")
)  # fmt: skip
COMMA = NumberFormat(",")
FORMATS = (PLAIN, COMMA, GERMAN, ENGLISH, FRENCH, SWISS)


@pytest.mark.parametrize(
    ("written", "text", "plain"),
    [
        (GERMAN, "1.234,5", "1234.5"),
        (GERMAN, "-1.234.567", "-1234567"),
        (GERMAN, "1234,5", "1234.5"),
        (GERMAN, "1.5", None),
        (GERMAN, "0.123", None),
        (GERMAN, "12.34,5", None),
        (GERMAN, "1,5,5", None),
        (GERMAN, "1,234.5", None),
        (COMMA, "1.234,5", None),
        (COMMA, ",5", ".5"),
        (COMMA, "5,", "5."),
        (COMMA, " 1,5e-3 ", "1.5e-3"),
        (ENGLISH, "1,234.5", "1234.5"),
        (ENGLISH, "1,5", None),
        (FRENCH, "1\u202f234,5", "1234.5"),
        (FRENCH, "1\u00a0234", "1234"),
        (FRENCH, "1 234 567,25", "1234567.25"),
        (SWISS, "1'234.5", "1234.5"),
        (SWISS, "1\u2019234\u2019567", "1234567"),
        (PLAIN, "1,5", None),
    ],
)
def test_a_text_has_one_meaning_in_a_format(written, text, plain):
    assert written.plain(text) == plain


TEXTS = st.one_of(
    st.text(alphabet="0123456789.,' \u00a0\u2019+-eE", max_size=12),
    st.from_regex(r"[+-]?[0-9]{1,3}([.,' ][0-9]{3}){0,2}([.,][0-9]{0,4})?", fullmatch=True),
    st.text(max_size=5),
)


@given(st.lists(TEXTS, min_size=1, max_size=20))
@example(["1,5", "1.234,5", "", "'", "x'y", "\u0661"])
def test_python_and_sql_agree(texts):
    texts = [text for text in texts if "\0" not in text and text.isprintable()]
    with duckdb.connect() as connection:
        for written in FORMATS:
            (found,) = zip(*connection.execute(f"select {written.plain_sql('t')} from (select unnest(?) as t)", [texts]).fetchall(), strict=True) if texts else ((),)  # fmt: skip
            assert list(found) == [written.plain(text) for text in texts], written
        if texts:
            rows = connection.execute(
                f"select {other_format_sql('t')} from (select unnest(?) as t)", [texts]
            ).fetchall()
            assert [row[0] for row in rows] == [looks_written_otherwise(text) for text in texts]
            rows = connection.execute(f"select {is_grouped_sql('t')} from (select unnest(?) as t)", [texts]).fetchall()
            differ = [
                None not in (plain := (PLAIN.plain(text), GERMAN.plain(text))) and "e" not in text.lower() and float(plain[0]) != float(plain[1])
                for text in texts
            ]  # fmt: skip
            assert [row[0] for row in rows] == differ


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(FORMATS))
def test_a_number_comes_back_to_the_last_bit(value, written):
    text = repr(value).replace(".", written.decimal)
    assert float(written.plain(text)) == value


@given(st.lists(st.floats(-1e9, 1e9).map(lambda v: f"{v:,.4f}"), min_size=1), st.sampled_from([GERMAN, FRENCH, SWISS]))
def test_what_is_found_reads_every_number_as_it_was_meant(texts, written):
    marks = str.maketrans({",": written.thousands, ".": written.decimal})
    column = [text.translate(marks) for text in texts]
    found = find_format({"y": column})
    if "y" not in found.unclear and found.numbers.plain(column[0]) is not None:
        assert [float(found.numbers.plain(cell)) for cell in column] == [float(text.replace(",", "")) for text in texts]


@pytest.mark.parametrize(
    ("columns", "numbers", "unclear"),
    [
        ({"y": ["1.5", "2"]}, PLAIN, ()),
        ({"y": ["1.234", "5.678"]}, PLAIN, ()),
        ({"y": ["1", "2"], "t": ["a", "1,5"]}, PLAIN, ()),
        ({"y": ["1,5", "2"]}, COMMA, ()),
        ({"y": ["0,123", "1,234"]}, COMMA, ()),
        ({"y": ["1,234", "5,678"]}, PLAIN, ()),
        ({"y": ["1,234", "5,678"], "x": ["51.494"]}, PLAIN, ("x",)),
        ({"y": ["1,5"], "x": ["2.5"], "n": ["51.494"]}, PLAIN, ("n",)),
        ({"y": ["1,25"], "n": ["51.494"]}, GERMAN, ("n",)),
        ({"y": ["1,234", "5,678"], "x": ["0,5"]}, COMMA, ("y",)),
        ({"y": ["1.234", "5.678"], "x": ["1.000,5"]}, GERMAN, ("y",)),
        ({"y": ["1.234", "0,5"]}, GERMAN, ()),
        ({"y": ["1,234.5", "1,234"]}, ENGLISH, ()),
        ({"y": ["1,234,567"]}, ENGLISH, ()),
        ({"y": ["1'234.5"]}, SWISS, ()),
        ({"y": ["1,5"], "x": ["1.5"]}, PLAIN, ()),
        ({"day": ["31.12.2025"], "ip": ["10.0.0.1"], "y": ["1"]}, PLAIN, ()),
        ({"y": ["", "NA", "1,5"]}, COMMA, ()),
        ({}, PLAIN, ()),
    ],
)
def test_only_what_the_cells_prove_is_found(columns, numbers, unclear):
    found = find_format(columns)
    assert (found.numbers, set(found.unclear)) == (numbers, set(unclear))


@pytest.mark.parametrize(
    ("columns", "unclear", "undecided"),
    [
        ({"y": ["1.234", "567"]}, "y", "y"),
        ({"y": ["1.234", "-5.678"]}, "y", "y"),
        ({"y": ["1.234", "5678"]}, "y", "y"),
        ({"y": ["1.234", "NA"], "t": ["a", "b"]}, "y", "ty"),
        ({"y": ["1.234", "0.123"]}, "", ""),
        ({"y": ["1.234", "1234.567"]}, "", ""),
        ({"y": ["1.234", "1.5"]}, "", ""),
        ({"y": ["1.234e3", "5.678"]}, "", ""),
        ({"y": [".234", "5.678"]}, "", ""),
        # Three decimals in each number, beside another column with decimal points.
        ({"y": ["1.234", "5.678", ""], "x": ["1.5"]}, "", ""),
        # No column of numbers: a version proves nothing.
        ({"y": ["1.234", "5.678"], "t": ["1.5", "a", "b"]}, "y", "y"),
        # Not three decimals in each number.
        ({"y": ["1.234", "567"], "x": ["1.5"]}, "y", "y"),
        ({"y": ["1.234", "-567"], "x": ["1.5"]}, "y", "y"),
        ({"y": ["567"], "x": ["1.5"]}, "", "y"),
        ({"y": ["567"], "t": ["1.234", "a"]}, "", "ty"),
        ({"y": ["1,5"], "x": ["2.5"], "n": ["51.494"], "k": ["7"]}, "n", "nky"),
        ({"y": ["1.234.567"], "x": ["1.234"]}, "x", ""),
    ],
)
def test_where_points_may_group_they_are_decimal_marks_only_if_cells_prove_it(columns, unclear, undecided):
    found = find_format(columns, grouping_points=True)
    assert (found.unclear, found.undecided) == (set(unclear), set(undecided))
    for stated in ({"decimal": "."}, {"thousands": "."}, {"thousands": ""}):
        assert find_format(columns, grouping_points=True, **stated).undecided == set()


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1))
@example([4792, 736])
def test_whole_numbers_in_groups_are_read_as_they_were_meant_or_unclear(values):
    column = [f"{value:,}".replace(",", ".") for value in values]
    found = find_format({"y": column}, grouping_points=True)
    assert "y" in found.unclear or [float(found.numbers.plain(cell)) for cell in column] == values


def test_columns_with_two_meanings_are_refused_where_they_are_used():
    points = find_format({"y": ["1.234", "567"], "x": ["0.5"]}, grouping_points=True)
    with pytest.raises(
        InvalidInput, match=r"^a.csv: the numbers of column 'y' have two .* --thousands \. it is 1234\.$"
    ):
        refuse_unclear(points, ["x", "y"], "a.csv")
    refuse_unclear(points, ["x", "z"], "a.csv")
    german = find_format({"y": ["1.234"], "x": ["1,25"]})
    assert not german.numbers.is_plain
    with pytest.raises(InvalidInput, match=r"column 'y' have two .* with --decimal and --thousands\.$"):
        refuse_unclear(german, ["y"], "a.csv")


def test_what_the_user_says_is_not_questioned():
    assert find_format({"y": ["1,234"]}, decimal=",").numbers == COMMA
    assert find_format({"y": ["1,234"]}, decimal=",").unclear == frozenset()
    assert find_format({"y": ["1,234"]}, decimal=".").numbers == ENGLISH
    assert find_format({"y": ["1.234"]}, decimal=",").numbers == GERMAN
    assert find_format({"y": ["1.5"]}, decimal=",", thousands="").numbers == COMMA
    assert find_format({}, thousands=".").numbers == GERMAN


@pytest.mark.parametrize(
    ("decimal", "thousands", "message"),
    [(";", None, "decimal mark must be a point or a comma, got ';'"), (None, "x", "must be . or , or ' or a blank"), (",", ",", "must differ")],
)  # fmt: skip
def test_marks_that_no_country_uses_are_refused(decimal, thousands, message):
    with pytest.raises(InvalidInput, match=message):
        check_marks(decimal, thousands)
