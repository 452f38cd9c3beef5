"""The first lines of a file: what is no header is skipped, and the delimiter is the one that the rows agree with."""

import pytest

from pacband.core.headers import declared_delimiter, find_delimiter, is_before_header


@pytest.mark.parametrize(
    "line", ["\n", "\r\n", "# a, b\n", "## x\n", "#made by hand\n", "sep=;\r\n", "\ufeffsep=,\n", "SEP=\t\n"]
)
def test_lines_before_a_header(line):
    assert is_before_header(line)


@pytest.mark.parametrize("line", ["y,yhat", "#id,y", "y\tp", '"#",y', "sep=;;"])
def test_headers(line):
    assert not is_before_header(line)


def test_excel_declares_its_delimiter():
    assert [declared_delimiter(line) for line in ("sep=;\r\n", "sep=\t\n", "sep=", "sepal")] == [";", "\t", None, None]


@pytest.mark.parametrize(
    ("header", "lines", "delimiter"),
    [
        ("y;p", [], ";"),
        ("y", [], ","),
        ("y", ["1,5", "2"], ";"),
        ('"a;b;c",y', [], ","),
        ("a, net;b", ["1,5;2,5"], ";"),
        ("a, net, m2;b", ["1,5;2,5", "1;2"], ";"),
        ("a,b;c", ["1,2"], ","),
        ("y\tp", ["1,5\t2,5"], "\t"),
        ("y|p", ["1|2"], "|"),
    ],
)
def test_the_delimiter_is_the_one_that_the_rows_agree_with(header, lines, delimiter):
    assert find_delimiter(header, lines) == delimiter
