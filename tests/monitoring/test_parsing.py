"""Lines of a stream as numbers and words: bad lines are refused with their row."""

import io

import numpy as np
import pytest

from pacband.exceptions import InvalidInput
from pacband.monitoring.streams import RowStream


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"y,q\n1,2\n", "the stream has no column 'p'; it has 'y', 'q'"),
        (b"y,p\n1,2\n1\n", "row 2 of the stream has 1 fields, its header has 2"),
        (b"y,p\n1,2\n1,two\n", "'p' must be a number, got 'two' in row 2"),
        (b'{"y": 1, "p": 2}\n{"y": 1,\n', "row 2 of the stream is not JSON"),
        (b'{"y": 1, "p": 2}\n[1]\n', r"row 2 of the stream must be a JSON object, got '\[1\]'"),
        (b'y,p\n"1,2\n', "not CSV with one row a line near row 1"),
        (b"y,p\n\xff,2\n", "must be UTF-8: it is not near row 1"),
        (b'{"y": 1, "p": [2]}\n', r"'p' must be a number, got \[2\] in row 1"),
        (b"y,p,y\n1,2,3\n", r"the stream has 1 column name\(s\) more than once: 'y'"),
        (
            b'{"y": 1, "p": 2}\n\n{"y": 1, "y": 3, "p": 2}\n',
            "row 2 of the stream cannot be read: it has a key more .* 'y'",
        ),
        (b'{"y": 1, "p": 2, "x": {"a": 1, "a": 2}}\n', "row 1 of the stream cannot be read: it has a key more .* 'a'"),
        (b'{"y": 1, "p": 2}\n{"y": 1, "q": 2}\n', "row 2 of the stream has no 'p'; it has 'y', 'q'"),
        (b'{"p": 2}\n{"actual": 1, "p": 2}\n', "rows 1 to 2 have no 'y', but 'actual', 'p'. .* write null for"),
        (b'{"p": 2}\n', "row 1 has no 'y', but 'p'"),
        (b'{"y": 1, "p": 2}\n' + b'{"z": 1, "p": 2}\n' * 100, "rows 2 to 101 have no 'y', but 'z', 'p'"),
        (b'{"y": 1, "p": %d}\n' % (2**53 + 1), "'p' has integers beyond 2"),
        (b'{"y": 1, "p": -%d}\n' % 10**400, "'p' has integers beyond 2"),
        (b"y,p\n1,2\n1,%d\n" % (2**53 + 1), "'p' has integers beyond 2"),
        (b'{"y": 1, "p": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "row 1 of the stream cannot be read"),
        (b'{"y": 1, "p": ' + b"9" * 5000 + b"}\n", "row 1 of the stream cannot be read"),
    ],
)
def test_bad_streams_are_refused(tmp_path, data, message):
    (tmp_path / "rows").write_bytes(data)
    with open(tmp_path / "rows", "rb") as source, pytest.raises(InvalidInput, match=message):
        list(RowStream(source, ["y", "p"], [], late=["y"]).batches(10))


def test_rows_that_may_lack_their_label_are_given_out_once_a_label_has_been_there():
    data = b'{"p": 0}\n' * 99 + b'{"y": 1, "p": 0}\n' + b'{"p": 0}\n' * 99
    for size in (1, 7, 99, 100, 1000):
        batches = list(RowStream(io.BytesIO(data), ["y", "p"], [], late=["y"]).batches(size))
        y = [value for rows in batches for value in rows.columns["y"]]
        assert (len(y), np.flatnonzero(~np.isnan(y)).tolist()) == (199, [99])
        # Nothing of a stream without labels is given out, however it is cut.
        renamed = RowStream(io.BytesIO(data.replace(b'"y"', b'"z"')), ["y", "p"], [], late=["y"]).batches(size)
        with pytest.raises(InvalidInput, match="rows 1 to 100 have no 'y', but 'z', 'p'"):
            next(renamed)


def test_numbers_that_are_large_but_no_integers_are_read():
    stream = RowStream(io.BytesIO(b'{"y": 1e300, "p": 9007199254740992}\n{"y": "1e18", "p": null}\n'), ["y", "p"], [])
    (rows,) = stream.batches(10)
    assert rows.columns["y"] == [1e300, 1e18]
    assert rows.columns["p"][0] == 2.0**53


@pytest.mark.parametrize("cell", ['["a"]', '{"a": 1}'])
def test_a_list_is_no_label(tmp_path, cell):
    (tmp_path / "rows").write_text(f'{{"y": 1, "g": {cell}}}\n')
    with open(tmp_path / "rows", "rb") as source, pytest.raises(InvalidInput, match="'g' must be a text or a number"):
        list(RowStream(source, ["y"], ["g"]).batches(10))
