"""The encoding of a file is proved by its bytes, or must be named."""

import gzip

import pytest

from pacband.exceptions import InvalidInput
from pacband.tables.encodings import find_encoding, sample_pieces, write_utf8
from pacband.tables.files import open_files

TEXT = "größe;Preis €\nsüß;1,5\n„ja“ – 20 °C;½\n"


@pytest.mark.parametrize(
    ("encoding", "found"), [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16"), ("cp1252", "cp1252")]
)
@pytest.mark.parametrize("times", [1, 20_000])
def test_an_encoding_is_found(tmp_path, encoding, found, times):
    path = tmp_path / "a.csv"
    path.write_bytes((TEXT * times).encode(encoding))
    assert find_encoding(str(path), "a.csv") == found
    if found != "utf-8":
        write_utf8(str(path), str(tmp_path / "b.csv"), encoding=found, shown="a.csv")
        assert (tmp_path / "b.csv").read_text("utf-8").removeprefix("\ufeff") == TEXT * times


@pytest.mark.parametrize(
    "data", [TEXT.encode() + b"\xff", b"y\n\x81\n", "y;ж\n".encode("cp1251") * 2 + b"\x90", b"a\0b\xff"]
)
def test_bytes_that_prove_nothing_are_refused(tmp_path, data):
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(InvalidInput, match=r"a.csv is neither Parquet nor text in UTF-8.*--encoding cp1252"):
        find_encoding(str(tmp_path / "a.csv"), "a.csv")


def test_a_text_in_another_encoding_is_refused_with_its_place(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"y\n\x81\n")
    with pytest.raises(InvalidInput, match=r"a.csv is not text in cp1252"):
        write_utf8(str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), encoding="cp1252", shown="a.csv")


def test_pieces_are_whole_lines_from_all_over_the_file(tmp_path):
    lines = [f"{number:09}\n".encode() for number in range(100_000)]
    (tmp_path / "a.csv").write_bytes(b"".join(lines))
    pieces = sample_pieces(str(tmp_path / "a.csv"))
    found = [int(line) for piece in pieces for line in piece.split()]
    assert found[0] == 0
    assert found[-1] == 99_999
    assert all(len(line) == 9 for piece in pieces for line in piece.split())
    assert len(pieces) == 16


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
@pytest.mark.parametrize("header", ["x", '"x"', '"x,"', '"x\n"', '"x,\n"'])
def test_no_row_is_lost_after_a_byte_order_mark(tmp_path, name, header):
    """Excel writes a mark, and quotes around a first name with a comma."""
    data = f"{header},y\n1,2\n3,4\n".encode("utf-8-sig")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with open_files([tmp_path / name]) as files:
        assert files.header == (header.strip('"'), "y")
        assert files.relation(["y"]).fetchall() == [("1", 2), ("3", 4)]
