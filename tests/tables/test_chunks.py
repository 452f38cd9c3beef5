"""Rows that come in chunks give the certificate of all rows at once."""

import numpy as np
import pytest

import pacband
from pacband.exceptions import InvalidInput
from support.jobs import PROMISE, N, stated, table


def test_chunks_give_the_certificate_of_all_rows_at_once(rng, limit):
    limit(few=100, piece=512)
    frame = table(rng)
    y, p, s, up = (frame[name].to_numpy() for name in ("y", "p", "s", "up"))
    for scale in (None, s, (s, up)):

        def pieces(scale=scale):
            for start in range(0, N, 700):
                rows = slice(start, start + 700)
                cut = (
                    tuple(part[rows] for part in scale)
                    if isinstance(scale, tuple)
                    else None
                    if scale is None
                    else scale[rows]
                )
                yield (y[rows], p[rows]) if scale is None else (y[rows], p[rows], cut)

        assert stated(pacband.certify_chunks(pieces(), **PROMISE)) == stated(pacband.certify(y, p, scale, **PROMISE))


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "at least one row"),
        ([np.zeros(3)], "chunk 0 must be a tuple"),
        ([(np.zeros(3), np.zeros(3)), (np.zeros(3), np.zeros(3), np.ones(3))], "chunk 1 has other outputs"),
        ([(np.zeros(3), np.zeros(3)), (np.zeros(3), np.full(3, np.nan))], "chunk 1: y_pred"),
        ([(np.zeros(3), np.zeros(3))], "needs at least|samples"),
    ],
)
def test_bad_chunks_are_named(chunks, message):
    with pytest.raises(InvalidInput, match=message):
        pacband.certify_chunks(chunks)


def test_chunks_are_not_touched_where_the_options_are_wrong():
    def never():
        raise AssertionError
        yield

    with pytest.raises(InvalidInput, match="rule must be one of"):
        pacband.certify_chunks(never(), rule="sharpest")


def test_chunks_whose_indexes_differ_are_refused(rng):
    frame = table(rng, 1000)
    mixed = frame.sample(frac=1.0, random_state=0)
    for chunk in ((frame["y"], mixed["p"]), (frame["y"], frame["p"], mixed["s"])):
        with pytest.raises(InvalidInput, match=r"chunk 1: y and .* must have the same index"):
            pacband.certify_chunks([tuple(frame[name] for name in ("y", "p", "s")[: len(chunk)]), chunk], **PROMISE)
