"""Rows that come in chunks give the certificate of all rows at once."""

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband import certify, certify_chunks
from pacband.draws import Spaced, Units, Weighted
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
        (lambda: iter(()), "chunks must be an iterable of tuples"),
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


@pytest.mark.parametrize(
    ("named", "of_all"),
    [
        (Units("machine"), lambda column: Units(column)),
        (Weighted("w", at_most=2.0), lambda column: Weighted(column, at_most=2.0)),
    ],
    ids=["units", "weighted"],
)
def test_values_of_draws_whose_index_differs_are_refused(named, of_all, rng):
    rows = pd.DataFrame({"y": rng.standard_normal(2000), "v": np.repeat(np.arange(200) / 100, 10)})
    mixed = rows["v"].sample(frac=1.0, random_state=0)
    halves = slice(0, 1000), slice(1000, 2000)
    cut = [(rows["y"][half], 0 * rows["y"][half]) for half in halves]
    brought = [(*cut[0], None, rows["v"][:1000]), (*cut[1], None, mixed[1000:])]
    with pytest.raises(InvalidInput, match="chunk 1: y and draws must have the same index"):
        certify_chunks(brought, eps=0.1, delta=0.01, draws=named)
    with pytest.raises(InvalidInput, match="chunk 0: y and draws must have the same index"):
        certify_chunks(cut, eps=0.1, delta=0.01, draws=of_all(mixed))
    expected = certify(rows["y"], 0 * rows["y"], eps=0.1, delta=0.01, draws=of_all(rows["v"]))
    same = certify_chunks(cut, eps=0.1, delta=0.01, draws=of_all(rows["v"]))
    assert (same.gamma, same.data_digest) == (expected.gamma, expected.data_digest)


@pytest.mark.parametrize(
    ("draws", "named"),
    [
        (lambda rows: Units(rows["machine"], name="machine"), ("machine", Units("machine"))),
        (lambda rows: Spaced(7, mixing=0.01), None),
        (lambda rows: Weighted(rows["w"], at_most=2.0, random_state=5), ("w", Weighted("w", at_most=2.0, random_state=5))),
    ],
    ids=["units", "spaced", "weighted"],
)  # fmt: skip
def test_draws_in_chunks_are_those_of_arrays(draws, named, rng, limit):
    limit(sample=100, few=50, piece=64)
    rows = {
        "y": rng.standard_normal(6000), "s": rng.uniform(0.5, 2, 6000), "machine": rng.integers(0, 900, 6000),
        "w": rng.uniform(0, 2, 6000),
    }  # fmt: skip
    expected = certify(rows["y"], 0 * rows["y"], rows["s"], eps=0.1, delta=0.01, draws=draws(rows))
    parts = np.split(np.arange(6000), [1, 2, 500, 501, 2222])
    cut = [(rows["y"][part], 0 * rows["y"][part], rows["s"][part]) for part in parts]
    found = [certify_chunks(cut, eps=0.1, delta=0.01, draws=draws(rows))]
    if named is not None:
        column, by_name = named
        brought = [(*piece, rows[column][part]) for piece, part in zip(cut, parts, strict=True)]
        found.append(certify_chunks(brought, eps=0.1, delta=0.01, draws=by_name))
    for cert in found:
        assert (cert.gamma, cert.n_samples, cert.rank) == (expected.gamma, expected.n_samples, expected.rank)
        assert (cert.data_digest, cert.promise) == (expected.data_digest, expected.promise)
    with pytest.raises(InvalidInput, match="got 5 parts"):
        certify_chunks([(*cut[0], rows["w"][:1], 0)], eps=0.1, delta=0.01)
