"""Fresh units against a promise about units on average."""

import numpy as np
import pytest
from scipy.stats import binomtest

from pacband import InvalidInput, Monitor, certify, certify_groups, check, check_frame
from pacband.draws import Units
from pacband.judging.checking import check_pieces
from pacband.judging.counts import mean_interval
from support.tables import LAZY


def machines(rng, n_units=200, n_rows=10, scale=1.0):
    labels = np.repeat(np.arange(n_units), n_rows)
    return scale * (0.7 * rng.standard_normal(n_units)[labels] + 0.7 * rng.standard_normal(len(labels))), labels


@pytest.fixture
def cert(rng):
    error, labels = machines(rng)
    return certify(error, 0 * error, eps=0.1, delta=0.05, draws=Units(labels, "average", name="machine"))


def test_units_on_average_are_checked_as_such(cert, rng):
    error, labels = machines(rng)
    verdict = check(cert, error, 0 * error, draws=Units(labels, "average"))
    (count,) = verdict.counts.values()
    shares = (np.abs(error).reshape(200, 10) > cert.gamma).mean(axis=1)
    assert (count.n_samples, count.counted) == (200, "machines")
    assert count.rate == pytest.approx(shares.mean())
    assert verdict.holds
    assert not verdict.reused
    assert "of the rows exceed the bound; at most 10 % are allowed" in str(verdict)
    assert verdict.to_dict()["counts"][0]["mean"] == count.mean
    wide, _ = machines(rng, scale=2.0)
    assert not check(cert, wide, 0 * wide, draws=Units(labels, "average")).holds


def test_the_rows_of_the_calibration_are_noticed(rng):
    error, labels = machines(rng)
    cert = certify(error, 0 * error, eps=0.1, delta=0.05, draws=Units(labels, "average"))
    order = rng.permutation(len(error))
    assert check(cert, error[order], 0 * error, draws=Units(labels[order], "average")).reused
    site = np.where(labels % 2, "n", "s")
    groups = certify_groups(error, 0 * error, site, eps=0.1, delta=0.05, draws=Units(labels, "average"))
    verdict = check(groups, error, 0 * error, groups=site, draws=Units(labels, "average"))
    assert verdict.reused
    assert list(verdict.counts) == ["n", "s"]
    listed = check(cert, error, 0 * error, groups=site, draws=Units(labels, "average"))
    assert [count.n_samples for count in listed.groups.values()] == [100, 100]


def test_the_level_holds_where_the_promise_just_holds(rng):
    """Units whose rows all violate or none, with probability ε: the hardest case. False alarm 1e-6; the twin exceeds it."""
    error, labels = machines(rng)
    cert = certify(error, 0 * error, eps=0.1, delta=0.05, draws=Units(labels, "average"))
    rng, level, contradicted, twin = np.random.default_rng(3), 0.05, 0, 0
    for _ in range(600):
        bad = (rng.random(60) < 0.1).repeat(12)
        rows = np.where(bad, 2 * cert.gamma, 0.0)
        verdict = check(cert, rows, 0 * rows, draws=Units(np.repeat(np.arange(60), 12), "average"), level=level)
        contradicted += not verdict.holds
        # Rows taken for independent units.
        twin += not check(cert, rows, 0 * rows, draws=Units(np.arange(720), "average"), level=level).holds
    assert binomtest(contradicted, 600, level, alternative="greater").pvalue >= 1e-6
    assert binomtest(twin, 600, level, alternative="greater").pvalue < 1e-6


@pytest.mark.parametrize("library", ["polars lazy", "duckdb"])
def test_tables_are_checked_as_arrays(library, cert, rng):
    import pandas as pd

    error, labels = machines(rng)
    frame = pd.DataFrame({"machine": labels, "y": error, "p": 0.0})
    expected = check(cert, error, 0 * error, draws=Units(labels, "average"))
    for native in (frame, LAZY[library](frame)):
        assert check_frame(cert, native, target="y", prediction="p") == expected


def test_what_is_asked_wrongly_is_refused(cert, rng):
    error, labels = machines(rng)
    for draws in (None, Units(labels), Units(labels, "one")):
        with pytest.raises(
            InvalidInput, match=r"a promise about machines: pass draws=Units\(labels, within='average'\)"
        ):
            check(cert, error, 0 * error, draws=draws)
    with pytest.raises(InvalidInput):
        Monitor(cert).update(error, 0 * error)


def test_the_interval_of_a_mean_covers(rng):
    """Against the binomial, for shares of zero and one: n·KL bounds both tails."""
    from scipy.stats import binom

    for n, mean in ((20, 0.1), (100, 0.05), (50, 0.5)):
        outside = [k for k in range(n + 1) if not mean_interval(k / n, n)[0] <= mean <= mean_interval(k / n, n)[1]]
        assert binom.pmf(outside, n, mean).sum() <= 0.05
    assert mean_interval(0.0, 10)[0] == 0.0
    assert mean_interval(1.0, 10)[1] == 1.0


def test_units_on_average_come_in_one_piece(rng):
    y, unit = rng.standard_normal(800), np.arange(200).repeat(4)
    cert = certify(y, 0 * y, eps=0.3, delta=0.3, draws=Units(unit, "average"))
    half = (y[:400], 0 * y[:400], None, None)
    for pieces in ([], [half, half]):
        with pytest.raises(InvalidInput, match=f"must come in one piece, got {len(pieces)}: join the rows first"):
            check_pieces(cert, iter(pieces), draws=Units(unit, "average"))
