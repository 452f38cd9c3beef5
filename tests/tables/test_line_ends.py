"""CSV files whose lines end in two ways: the rows of a file with one way, or a sentence that names the line."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pacband.exceptions import InvalidInput
from pacband.tables.files import open_files

pytestmark = pytest.mark.usefixtures("here")

CELLS = st.sampled_from(["1", "", 'a"b', '"a;b"', '"a\nb"', '"a\r\nb"', '"a""\nb"', '""', '"""\n"', '"\r\n\r\n"'])


def read(text, name="a.csv"):
    data = text.encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with open_files([name]) as files, files.reading():
        return files.relation().fetchall(), files.paths[0].endswith(name)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["\n", "\r\n"])), min_size=1), st.sampled_from(["", "\ufeff"]))
def test_rows_do_not_depend_on_the_ends_of_lines(rows, mark):
    """The ends of lines within a cell are a part of it."""
    expected, _ = read(mark + '"x;";y;z\n' + "".join(f"{x};{y};1\n" for x, y, _ in rows))
    found, _ = read(mark + '"x;";y;z\n' + "".join(f"{x};{y};1{end}" for x, y, end in rows))
    assert found == expected


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_one_other_line_end_after_a_windows_file(name):
    rows = [(str(number), "b") for number in range(900)]
    text = "x,y\r\n" + "".join(f"{x},{y}\r\n" for x, y in rows)
    assert read(f"{text}7,z\n", name) == ([*rows, ("7", "z")], False)
    # An Excel file with line breaks within cells is read as it is.
    assert read(f'{text}7,"a\nb"\r\n', name) == ([*rows, ("7", "a\nb")], True)


@pytest.mark.parametrize(("end", "other"), [("\r\n", "\n"), ("\n", "\r\n")])
def test_an_end_that_no_part_of_a_large_file_shows_is_named(end, other):
    lines = ["x,y", '"a\r\n\nb",1', *(f"{number},2" for number in range(299_999))]
    text = end.join(lines[:61_434]) + other + end.join(lines[61_434:]) + end
    names = {"\r\n": "CR LF", "\n": "LF"}
    said = f"a.csv: all lines must .* Line 61436 of a.csv ends in {names[other]}, and line 1 in {names[end]}."
    with pytest.raises(InvalidInput, match=said):
        read(text)


def test_a_cr_within_a_cell_is_refused_in_words():
    with pytest.raises(InvalidInput, match=r"a.csv: all lines must end .* a CR elsewhere must be within quotes.$"):
        read("x,y\na\rb,1\n")
