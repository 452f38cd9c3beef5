"""Rows that were read from a file before are recognised by a sample of them."""

import pytest

from pacband.monitoring.ledger import Ledger, StreamPosition
from pacband.monitoring.overlap import extend_sample, find_overlap


def lines(values):
    return [f"{value:.9g},0\r\n".encode() for value in values]


def position(values):
    return StreamPosition(1, len(values), "0" * 64, "1" * 64, extend_sample((), lines(values)))


def test_a_sample_does_not_depend_on_the_order_of_lines_nor_on_batches(rng):
    rows = lines(rng.standard_normal(1000))
    sample: tuple[int, ...] = ()
    for start in range(0, 1000, 7):
        sample = extend_sample(sample, [*rows[start : start + 7], b"\n"])
    assert sample == extend_sample((), [row.replace(b"\r", b"") for row in reversed(rows)])
    assert len(sample) == 32
    assert list(sample) == sorted(set(sample))


def test_a_state_keeps_the_sample():
    known = position(range(100))
    (loaded,) = Ledger.from_dict(Ledger(streams=[known]).to_dict()).streams
    assert (loaded.file, loaded.sample) == (known.file, known.sample)
    # The content alone identifies a stream: two monitors may have read it under two names.
    assert loaded == StreamPosition(1, 100, "0" * 64)
    assert StreamPosition(1, 2, "0" * 64).to_dict() == {"offset": 1, "rows": 2, "sha256": "0" * 64}


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_the_number_of_rows_that_were_read_before_is_estimated(rng, share):
    old, new = rng.standard_normal((2, 2000))
    n = round(2000 * share)
    found = find_overlap(lines([*new[n:], *old[:n]]), [position(new[:50] + 9), position(old)])
    if not share:
        assert found is None
    else:
        assert found is not None
        assert found.certain
        assert found.rows == pytest.approx(n, abs=600)


def test_rows_that_agree_by_chance_are_not_certain(rng):
    for n_values in (5, 30, 300, 1000, 3000, 10_000, 100_000):
        certain = 0
        for _ in range(100):
            old, new = rng.integers(0, n_values, (2, 1000))
            found = find_overlap(lines(new), [position(old)])
            certain += found is not None and found.certain
        assert certain <= 5, n_values


def test_a_few_rows_say_nothing():
    assert find_overlap(lines(range(7)), [position(range(7))]) is None
    assert not find_overlap(lines(range(8)), [position(range(8))]).certain
    assert find_overlap(lines(range(12)), [position(range(12))]).certain
