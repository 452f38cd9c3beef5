"""The first rows of a stream are screened like rows in memory."""

import warnings

import numpy as np
import pytest

from pacband import PromiseWarning, certify, certify_chunks
from pacband.draws import Spaced, Units, Weighted

PROMISE = {"eps": 0.1, "delta": 0.05}


def cut(*columns, size=700):
    """Return the columns in pieces, in arrays that are used again for the next piece."""
    held = [np.empty(size, dtype=column.dtype) for column in columns if column is not None]
    for start in range(0, len(columns[0]), size):
        n_rows = min(size, len(columns[0]) - start)
        views = iter(held)
        piece = [None if column is None else next(views)[:n_rows] for column in columns]
        for view, column in zip(piece, columns, strict=True):
            if view is not None:
                view[:] = column[start : start + n_rows]
        yield tuple(piece)


def walk(n_rows=3000, seed=0):
    """Return errors that depend on the error before."""
    noise = np.random.default_rng(seed).standard_normal(n_rows)
    for row in range(1, n_rows):
        noise[row] += 0.9 * noise[row - 1]
    return noise


@pytest.mark.parametrize("rows", ["copies", "series"])
def test_pieces_warn_as_all_rows_do(rows):
    rng = np.random.default_rng(0)
    error = rng.permutation(rng.standard_normal(500).repeat(20)) if rows == "copies" else walk()
    guess = np.zeros(len(error))
    with pytest.warns(PromiseWarning) as together:
        cert = certify(error, guess, **PROMISE)
    with pytest.warns(PromiseWarning) as pieces:
        assert certify_chunks(cut(error, guess), **PROMISE) == cert
    assert {f.check for f in pieces[0].message.findings} <= {f.check for f in together[0].message.findings}


@pytest.mark.parametrize("scale", ["none", "one", "pair"])
def test_sound_pieces_do_not_warn(scale):
    rng = np.random.default_rng(1)
    y, guess, low, high = *rng.standard_normal((2, 9000)), *rng.uniform(1.0, 2.0, (2, 9000))
    spread = {"none": None, "one": low, "pair": (low, high)}[scale]

    def pieces():
        for k in range(0, 9000, 500):
            rows = slice(k, k + 500)
            part = tuple(each[rows] for each in spread) if isinstance(spread, tuple) else spread
            yield y[rows], guess[rows], part[rows] if scale == "one" else part

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert certify_chunks(pieces(), **PROMISE) == certify(y, guess, spread, **PROMISE)


def test_declared_draws_are_respected():
    y, guess = walk(6000), np.zeros(6000)
    unit, weight = np.arange(6000) // 100, np.random.default_rng(0).uniform(0.2, 1.0, 6000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        certify_chunks(cut(y, guess), **PROMISE, draws=Spaced(100))
        certify_chunks(cut(y, guess, None, unit), **PROMISE, draws=Units("unit"))
        # The first rows are no draw.
        certify_chunks(cut(y, guess), **PROMISE, draws=Weighted(np.where(np.arange(6000) < 5000, 0.0, 1.0), at_most=1))
    for draws, values in ((Weighted(weight, at_most=1.0), None), (Weighted("w", at_most=1.0), weight)):
        with pytest.warns(PromiseWarning, match="depend"):
            certify_chunks(cut(y, guess, None, values), **PROMISE, draws=draws)


def test_units_are_looked_at_if_all_their_rows_were_kept():
    level, unit = walk(900).repeat(4), np.arange(900).repeat(4)
    guess = np.zeros(3600)
    for draws, values in ((Units("unit"), unit), (Units(unit), None)):
        with pytest.warns(PromiseWarning):
            certify_chunks(cut(level, guess, None, values), **PROMISE, draws=draws)


def test_a_scale_that_changes_its_shape_is_no_error():
    y = np.random.default_rng(0).standard_normal((1000, 2))
    pieces = [(y[:500], 0 * y[:500], np.ones(500)), (y[500:], 0 * y[500:], np.ones((500, 2)))]
    assert certify_chunks(pieces, **PROMISE).n_samples == 1000
