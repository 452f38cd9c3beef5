"""At most `outlook(m)` of the next m draws violate, with probability at least 1 − δ over calibration and draws.

False alarms: the tests of counts reject at p < 1e-6, and all seeds are fixed. The wrong twin is the count one lower.
"""

import numpy as np
import pytest
from scipy.stats import betabinom, binom, binomtest

import pacband
from pacband import InvalidInput

FALSE_ALARM = 1e-6
RUNS = 40_000


def violations(rng, n, rank, m, runs=RUNS, draw=None):
    """Return how many of m fresh scores exceed the score at the rank of n, in many runs."""
    draw = draw or (lambda *shape: rng.random(shape))
    found = []
    for _ in range(runs // 1000):
        bound = np.sort(draw(1000, n), axis=1)[:, -rank]
        found.append((draw(1000, m) > bound[:, None]).sum(axis=1))
    return np.concatenate(found)


def fails_more_than(n_failed, runs, delta):
    return binomtest(int(n_failed), runs, delta, alternative="greater").pvalue < FALSE_ALARM


@pytest.mark.parametrize(("n", "rank", "m", "delta"), [(50, 3, 40, 0.05), (100, 1, 25, 0.1), (30, 10, 60, 0.01)])
def test_the_count_holds_and_one_lower_does_not(rng, n, rank, m, delta):
    cert = pacband.certify_scores(rng.random(n), eps=0.6, delta=0.5, rank=rank)
    most = cert.outlook(m, delta)
    assert most == int(betabinom.isf(delta, m, rank, n - rank + 1))
    counted = violations(rng, n, rank, m)
    assert not fails_more_than((counted > most).sum(), RUNS, delta)
    assert fails_more_than((counted > most - 1).sum(), RUNS, delta)


def test_ties_are_conservative(rng):
    most = pacband.certify_scores(rng.random(50), eps=0.6, delta=0.5, rank=5).outlook(40, 0.05)
    counted = violations(rng, 50, 5, 40, draw=lambda *shape: rng.integers(0, 12, shape))
    assert not fails_more_than((counted > most).sum(), RUNS, 0.05)


@pytest.mark.parametrize("delta", [0.2, 0.05, 0.01])
def test_it_holds_for_a_given_bound_whatever_the_violation(delta):
    """Summed exactly over the counts k of N and j of m, for every p; the wrong twin is one lower."""
    n, m = 40, 30
    scores = [np.r_[np.zeros(n - k), np.ones(k)] for k in range(n)]
    most = np.array([pacband.certify_scores(s, tolerance=0.5, delta=0.5).outlook(m, delta) for s in scores] + [m])

    def failure(p, limit):
        return float(binom.pmf(np.arange(n + 1), n, p) @ binom.sf(limit, m, p))

    assert max(failure(p, most) for p in np.linspace(0.002, 0.998, 250)) <= delta * (1 + 1e-9)
    assert max(failure(p, most - 1) for p in np.linspace(0.002, 0.998, 250)) > delta


def test_the_best_of_several_candidates_keeps_its_count(rng):
    """Each candidate uses its share of δ. The wrong twin uses all of δ for the candidate with the smallest bound."""
    n, m, rank, n_candidates, delta = 60, 50, 2, 30, 0.1
    family = pacband.certify_family(
        rng.random(n), {f"m{k}": np.zeros(n) for k in range(n_candidates)}, eps=0.6, delta=delta
    )
    cert = family.certificate
    assert family.outlook(m) == cert.outlook(m)
    shared = pacband.certify_scores(rng.random(n), eps=0.6, delta=0.5, rank=rank, n_candidates=n_candidates)
    alone = pacband.certify_scores(rng.random(n), eps=0.6, delta=0.5, rank=rank)
    assert shared.outlook(m, delta) == int(betabinom.isf(delta / n_candidates, m, rank, n - rank + 1))
    runs, failed, twin = 2000, 0, 0
    for _ in range(runs):
        # Independent candidates of one quality: the smallest bound is small by chance.
        bound = np.sort(rng.random((n_candidates, n)), axis=1)[:, -rank].min()
        count = int((rng.random(m) > bound).sum())
        failed += count > shared.outlook(m, delta)
        twin += count > alone.outlook(m, delta)
    assert not fails_more_than(failed, runs, delta)
    assert fails_more_than(twin, runs, delta)


def test_groups_have_their_own_counts(rng):
    sites = np.repeat(["north", "south"], [200, 400])
    cert = pacband.certify_groups(rng.standard_normal(600), np.zeros(600), sites, eps=0.1, delta=0.01)
    found = cert.outlook(100, delta=0.05)
    for label, part in cert.groups.items():
        assert found[label] == int(betabinom.isf(0.025, 100, part.rank, part.n_samples - part.rank + 1))


def test_draws_are_what_is_counted(rng):
    y = rng.standard_normal(4000)
    rows = pacband.certify_scores(y[9::10], eps=0.1, delta=0.01)
    spaced = pacband.certify_scores(y, eps=0.1, delta=0.01, draws=pacband.draws.Spaced(10, mixing=0.1))
    slack = (400 + 200 - 1) * 0.1**10
    assert spaced.outlook(200, 0.05) == int(betabinom.isf(0.05 - slack, 200, spaced.rank, 401 - spaced.rank))
    assert rows.outlook(200, 0.05) <= spaced.outlook(200, 0.05)
    with pytest.raises(InvalidInput, match=r"the dependence of 400 \+ 200 draws uses up all of delta=1e-08"):
        spaced.outlook(200, 1e-8)


def test_delta_is_that_of_the_certificate_by_default():
    cert = pacband.certify_scores(np.arange(1310.0), rank=32)
    assert cert.outlook(500) == cert.outlook(500, 1e-6) == 37
    assert [cert.outlook(500, delta) for delta in (0.05, 1e-3)] == [19, 27]
    assert cert.outlook(1, 0.5) == 0


@pytest.mark.parametrize(
    ("m", "delta", "message"),
    [
        (0, None, "m must be at least 1, got 0"),
        (2.5, None, "m must be an integer, got 2.5"),
        (True, None, "m must be at least 1, got True"),
        (10**13, None, r"m must be at most 1e\+12, got 10000000000000"),
        (10, 0.0, r"delta must be in \(0, 1\), got 0.0"),
        (10, 5, r"delta must be in \(0, 1\), got 5"),
    ],
)
def test_bad_input(m, delta, message):
    cert = pacband.certify_scores(np.arange(300.0))
    with pytest.raises(InvalidInput, match=message):
        cert.outlook(m, delta)
