"""Excel workbooks: one sheet with its values to the last bit, and no workbook that unpacks to any size."""

import csv
import zipfile
from datetime import datetime

import pytest

from pacband.exceptions import InvalidInput
from pacband.tables import workbooks
from pacband.tables.workbooks import is_workbook, write_sheet
from support.workbooks import write_workbook

pytest.importorskip("python_calamine")

ROWS = [["y", "Preis €", "when", "ok"], [0.1, "a, b", datetime(2025, 12, 31, 12, 30), True], [2**53 - 1, None, None, False]]  # fmt: skip


@pytest.fixture
def book(tmp_path):
    write_workbook(tmp_path / "book.xlsx", {"first": ROWS, "empty": []})
    return tmp_path / "book.xlsx"


def cells(path, **options):
    copy = path.with_suffix(".csv")
    name = write_sheet(str(path), str(copy), shown="book.xlsx", **options)
    with open(copy, encoding="utf-8", newline="") as file:
        return name, list(csv.reader(file))


def test_the_values_of_a_sheet(book):
    assert is_workbook(str(book))
    name, found = cells(book)
    assert name == "first"
    assert found == [["y", "Preis €", "when", "ok"], ["0.1", "a, b", "2025-12-31 12:30:00", "True"], ["9007199254740991", "", "", "False"]]  # fmt: skip


def test_a_sheet_must_be_named_if_there_are_several(tmp_path):
    write_workbook(tmp_path / "two.xlsx", {"one": ROWS, "two": [["y"], [7]]})
    with pytest.raises(InvalidInput, match="has 2 sheets with cells: name one with --sheet: 'one', 'two'"):
        cells(tmp_path / "two.xlsx")
    assert cells(tmp_path / "two.xlsx", sheet="two") == ("two", [["y"], ["7"]])
    with pytest.raises(InvalidInput, match="has no sheet 'three'; it has 'one', 'two'"):
        cells(tmp_path / "two.xlsx", sheet="three")


def test_a_workbook_without_cells_is_refused(tmp_path):
    write_workbook(tmp_path / "none.xlsx", {"one": []})
    with pytest.raises(InvalidInput, match="has no cells"):
        cells(tmp_path / "none.xlsx")


def test_a_workbook_that_unpacks_to_any_size_is_refused(book, monkeypatch):
    monkeypatch.setattr(workbooks, "LARGEST", 1 << 22)
    with zipfile.ZipFile(book, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/large.bin", b"\0" * (1 << 23))
    assert book.stat().st_size < 20_000
    with pytest.raises(InvalidInput, match="unpacks to more than 4,194,304 bytes"):
        cells(book)


def change_sheet(book, change):
    """Write the workbook again, with another text of its first sheet."""
    with zipfile.ZipFile(book) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in parts if name.startswith("xl/worksheets/"))
    parts[name] = change(parts[name])
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_lonely_cell_far_away_is_refused_before_memory_is_taken(book, quote):
    """All cells between the first and the last would be in memory: half a terabyte."""
    lonely = f"<row r={quote}1048576{quote}><c r={quote}XFD1048576{quote}><v>1</v></c></row></sheetData>".encode()
    change_sheet(book, lambda text: text.replace(b"</sheetData>", lonely))
    with pytest.raises(InvalidInput, match="so far apart that its sheet has 17,179,869,184 cells"):
        cells(book)


def test_an_empty_cell_far_away_is_no_harm(book):
    whole = cells(book)
    formatted = b'<row r="1048576"><c r="XFD1048576" s="1"/></row></sheetData>'
    change_sheet(book, lambda text: text.replace(b"</sheetData>", formatted))
    assert cells(book) == whole


def test_rows_that_are_not_in_order_are_refused(book):
    last = b'<row r="1"><c r="A1"><v>1</v></c></row></sheetData>'
    change_sheet(book, lambda text: text.replace(b"</sheetData>", last))
    with pytest.raises(InvalidInput, match="its rows are not in order"):
        cells(book)


def test_the_order_of_formulas_is_free(book):
    whole = cells(book)
    with zipfile.ZipFile(book, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/calcChain.xml", '<calcChain><c r="B3" i="1"/><c r="A1"/></calcChain>')
    assert cells(book) == whole


def test_a_wide_row_and_a_far_one_are_refused(book):
    """Cells without a place follow each other."""
    rows = b"<row>" + b"<c><v>1</v></c>" * 1000 + b'</row><row r="1048576"><c><v>1</v></c></row></sheetData>'
    change_sheet(book, lambda text: text.replace(b"</sheetData>", rows))
    with pytest.raises(InvalidInput, match="its sheet has 1,048,576,000 cells"):
        cells(book)


def test_places_are_found_wherever_the_blocks_end(book, monkeypatch):
    whole = cells(book)
    for size in (7, 200, 1000):
        monkeypatch.setattr(workbooks, "_BLOCK", size)
        monkeypatch.setattr(workbooks, "MOST_CELLS", 12)
        if size >= 200:
            assert cells(book) == whole
        monkeypatch.setattr(workbooks, "MOST_CELLS", 11)
        with pytest.raises(InvalidInput, match=r"its sheet has 12 cells|a tag is too long"):
            cells(book)


def test_a_text_that_looks_like_a_place_is_no_place(tmp_path):
    write_workbook(tmp_path / "text.xlsx", {"one": [["y", 'c r="XFD1048576"'], [1.0, "<c r='XFD9'>"]]})
    assert cells(tmp_path / "text.xlsx")[1] == [["y", 'c r="XFD1048576"'], ["1", "<c r='XFD9'>"]]


def test_a_damaged_workbook_is_refused(book):
    data = bytearray(book.read_bytes())
    place = data.index(b"xl/worksheets/sheet1.xml") + 40
    data[place : place + 20] = b"\xff" * 20
    book.write_bytes(data)
    with pytest.raises(InvalidInput, match="is a workbook that cannot be read"):
        cells(book)


def test_other_archives_are_no_workbooks(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "y\n1\n")
    assert not is_workbook(str(tmp_path / "a.zip"))
    (tmp_path / "cut.xlsx").write_bytes(b"PK\x03\x04")
    assert not is_workbook(str(tmp_path / "cut.xlsx"))
