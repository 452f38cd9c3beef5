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
