"""Copies are told from rows that agree by chance."""

import numpy as np
import pytest

from pacband import ReusedData
from pacband.certification.reused_rows import refuse_copies
from pacband.core.row_hashes import row_fingerprints
from pacband.core.row_repeats import chance_of_repeats
from support.copied_rows import sound, tables_that_repeat


def coarse_tables(rng, n):
    """Independent rows that agree by chance, some often, some rarely, some in everything that X tells."""
    grid, line = rng.integers(0, 10, (n, 3)), rng.integers(0, 1000, (n, 1))
    noise = rng.standard_normal(n)
    yield rng.integers(0, 5, (n, 2)), rng.integers(0, 3, n)
    yield rng.integers(0, 30, (n, 3)), rng.integers(0, 10, n)
    yield grid, grid @ [1.0, 10.0, 100.0]
    yield grid, (grid.sum(axis=1) + 0.3 * noise).round()
    yield line, np.sin(line[:, 0])
    yield rng.poisson(20, (n, 1)), rng.poisson(3, n)
    yield rng.integers(0, 2, (n, 20)), rng.integers(0, 2, n)
    yield rng.poisson(3, (n, 3)), rng.poisson(2, n)
    yield (grid - grid.mean(axis=0)) / grid.std(axis=0), rng.integers(0, 3, n)
    yield np.minimum(rng.zipf(1.6, (n, 2)), 1000), np.minimum(rng.zipf(1.6, n), 1000)
    yield rng.uniform(0, 1, (n, 2)).round(2), rng.uniform(0, 1, n).round(1)
    yield np.c_[rng.integers(0, n * n // 20, n), rng.integers(0, 2, n)], np.ones(n)
    yield (
        np.array([rng.choice(list("abcdefghij"), n), rng.choice(["x", "y"], n)], dtype=object).T,
        rng.integers(0, 9, n),
    )
    yield np.c_[rng.integers(1, 6, (n, 4)), rng.integers(18, 80, n)], rng.integers(1, 6, n)
    yield rng.integers(0, 3, (n, 2)), noise


def judged(X, y, rng):
    """Split at random, and say how many calibration rows agree with a training row, and whether that is refused."""
    prints, order = row_fingerprints(X, y), rng.permutation(len(y))
    calibration, training = np.split(prints[order], [len(y) // 3])
    try:
        refuse_copies(training, calibration, chance_of_repeats((X, y)))
    except ReusedData:
        return int(np.isin(calibration, training).sum()), True
    return int(np.isin(calibration, training).sum()), False


@pytest.mark.parametrize("n", [60, 300, 3000])
def test_rows_that_agree_by_chance_are_no_copies(rng, n):
    # Chance has to bring ten times what is expected, and more; by Poisson's law that is a probability below 1e-6.
    found = [judged(X, y, rng) for X, y in coarse_tables(rng, n)]
    assert sum(agree > 0 for agree, _ in found) >= 6
    assert not any(refused for _, refused in found)


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_real_rows_drawn_without_replacement_are_no_copies(rng, columns):
    from sklearn.datasets import load_diabetes, load_iris

    for table in (load_diabetes(scaled=False).data, load_iris().data):
        for target in range(table.shape[1]):
            rows = rng.permutation(len(table))[:120]
            others = [k for k in range(table.shape[1]) if k != target][:columns]
            assert not judged(table[rows][:, others], table[rows, target], rng)[1]


def test_tables_that_repeat_by_nature_have_no_copies(rng):
    for name, (X, y) in tables_that_repeat(rng, 3000):
        agree, refused = judged(X, y, rng)
        assert agree > 0, name
        assert not refused, name


def test_copies_beside_rows_that_repeat_by_nature_are_refused(rng):
    for name, (X, y) in tables_that_repeat(rng, 3000):
        if name.endswith("at rest") or name == "three states":
            again = np.r_[np.arange(3000), np.arange(3000)]
            assert judged(X[again], y[again], rng)[1], name
    X, y = sound(rng, 1000)
    codes = np.hstack([np.eye(levels)[rng.integers(0, levels, 1000)] for levels in (5, 12, 7)])
    again = np.repeat(np.arange(1000), 3)
    assert judged(codes[again], y[again], rng)[1]
    assert judged(np.c_[codes, X][again], codes[again] @ np.arange(24.0), rng)[1]
    # Four rows that were copied twenty times are no states, nor is one that was copied ten times.
    for rows, times in ((4, 40), (1, 10)):
        more = np.r_[np.arange(1000), np.repeat(np.arange(rows), times)]
        assert judged(X[more], y[more], rng)[1]


def test_copies_are_told_from_chance_in_every_kind_of_table(rng):
    n = 1000
    tables = {
        "a continuum": sound(rng, n),
        "targets of few values": (rng.standard_normal((n, 2)), rng.integers(0, 5, n)),
        "one continuum among categories": (
            np.c_[rng.standard_normal(n), rng.integers(0, 2, (n, 3))],
            rng.integers(0, 5, n),
        ),
        "decimals": (rng.uniform(0, 2, (n, 5)).round(2), rng.uniform(0, 2, n).round(2)),
        "a coarse X": (rng.integers(0, 5, (n, 2)), rng.standard_normal(n)),
        "many levels": (rng.integers(0, 100, (n, 3)), rng.integers(0, 10, n)),
    }
    for name, (X, y) in tables.items():
        for again in (np.repeat(np.arange(n), 3), np.r_[np.arange(n), rng.integers(0, n, 300)]):
            assert judged(X[again], y[again], rng)[1], name
        assert not judged(X, y, rng)[1], name
