"""Rows of a stream: cut into batches, and resumed anywhere."""

import os

import numpy as np
import pytest

from pacband.monitoring.ledger import StreamPosition
from pacband.monitoring.streams import RowStream


def open_file(path):
    return open(path, "rb")


def open_pipe(path):
    """Open what cannot go back, as a shell passes `<(cat rows)`."""
    reading, writing = os.pipe()
    os.write(writing, path.read_bytes())
    os.close(writing)
    return os.fdopen(reading, "rb")


WAYS = pytest.mark.parametrize("opened", [open_file, open_pipe])


@WAYS
@pytest.mark.parametrize("data", [b"y,p\n1,2\n\n,4\r\n5,6", b'{"y": 1, "p": 2}\n\n{"p": 4}\n{"y": 5, "p": 6}'])
def test_streams_are_cut_into_batches_and_gone_on_with_anywhere(tmp_path, data, opened):
    (tmp_path / "rows").write_bytes(data)
    for size in range(1, 7):
        with opened(tmp_path / "rows") as source:
            batches = list(RowStream(source, ["y", "p"], [], late=["y"]).batches(size))
        assert [value for rows in batches for value in rows.columns["p"]] == [2.0, 4.0, 6.0]
        assert sum(np.isnan(value) for rows in batches for value in rows.columns["y"]) == 1
        assert (batches[-1].position.offset, batches[-1].position.rows) == (len(data), 3)
        for i, rows in enumerate(batches):
            with opened(tmp_path / "rows") as source:
                stream = RowStream(source, ["y", "p"], [], late=["y"])
                strange = StreamPosition(3, 1, "0" * 64), StreamPosition(len(data) + 9, 9, "0" * 64)
                assert stream.skip([*strange, rows.position, batches[0].position]) == rows.position
                rest = [value for rows in stream.batches(size) for value in rows.columns["p"]]
            assert rest == [value for rows in batches[i + 1 :] for value in rows.columns["p"]]


@WAYS
def test_a_stream_that_is_not_known_is_read_from_its_start(tmp_path, opened):
    for data in (b"y,p\n1,2\n3,4\n", b'{"y": 1, "p": 2}\n{"y": 3, "p": 4}\n', b""):
        (tmp_path / "rows").write_bytes(data)
        for offset in (1, 9, 14, 99):
            with opened(tmp_path / "rows") as source:
                stream = RowStream(source, ["y", "p"], [], late=["y"])
                assert stream.skip([StreamPosition(offset, 1, "0" * 64)]) is None
                values = [value for rows in stream.batches(10) for value in rows.columns["p"]]
            assert values == ([2.0, 4.0] if data else [])


@WAYS
def test_blank_lines_make_no_batch(tmp_path, opened):
    (tmp_path / "rows").write_bytes(b"y,p\n1,2\n\n\n3,4\n\n")
    with opened(tmp_path / "rows") as source:
        batches = list(RowStream(source, ["y", "p"], []).batches(1))
    assert [rows.columns["p"] for rows in batches] == [[2.0], [4.0]]
