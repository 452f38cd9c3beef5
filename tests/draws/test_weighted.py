"""An importance that is known as an interval: the worst case, by brute force, and what is refused."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from pacband import InvalidInput, NotEnoughSamples, certify, certify_groups, certify_tolerance, load
from pacband.certification import bounding
from pacband.draws import Weighted
from pacband.draws.samples import Sample


def bound_of(scores, eps, delta):
    """The smallest score with B(k; N, ε) ≤ δ, by its definition; infinite if there is none."""
    for gamma in np.sort(scores):
        if binom.cdf(np.count_nonzero(scores > gamma), len(scores), eps) <= delta:
            return gamma
    return math.inf


def worst_bound(scores, certain, possible, eps, delta):
    """The largest bound over all sets of rows between the certain and the possible ones."""
    free = np.flatnonzero(possible & ~certain)
    bounds = []
    for chosen in itertools.product([False, True], repeat=len(free)):
        accepted = certain.copy()
        accepted[free] = chosen
        bounds.append(bound_of(scores[accepted], eps, delta))
    return max(bounds)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(10, 22), st.booleans())
def test_the_bound_is_the_smallest_that_covers_every_choice_of_rows(seed, n_rows, tied):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, n_rows).astype(float) if tied else rng.random(n_rows)
    low, high = np.sort(rng.uniform(0.3, 1.0, (2, n_rows)), axis=0)
    low = np.where(rng.random(n_rows) < 0.6, high, low)
    eps, delta = 0.4, 0.3
    draws = Weighted((low, high), at_most=1.0, random_state=seed)
    certain, possible = draws.acceptance()(low, high)
    assume(certain.any() and np.count_nonzero(possible & ~certain) <= 8)
    worst = worst_bound(scores, certain, possible, eps, delta)
    try:
        cert = certify(scores, np.zeros(n_rows), eps=eps, delta=delta, draws=draws)
    except InvalidInput:
        # No certain row lies at or above the bound of some choice.
        assert worst > scores[certain].max()
        return
    assert cert.gamma == scores[certain][scores[certain] >= worst].min()
    above = np.count_nonzero(possible & (scores > cert.gamma))
    assert (cert.rank, cert.n_samples) == (above + 1, above + np.count_nonzero(certain & (scores <= cert.gamma)))
    assert cert.verify(scores, np.zeros(n_rows), draws=draws)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_bound_covers_that_of_every_importance_in_the_interval(seed):
    rng = np.random.default_rng(seed)
    x = rng.random(800)
    error = x * rng.standard_normal(800)
    low, true, high = np.sort(rng.uniform(0.4, 1.0, (3, 800)), axis=0) * 2 * x
    options = {"eps": 0.1, "delta": 0.05}
    known = certify(error, 0 * error, draws=Weighted(true, at_most=2.0, random_state=seed), **options)
    between = certify(error, 0 * error, draws=Weighted((low, high), at_most=2.0, random_state=seed), **options)
    assert between.gamma >= known.gamma
    assert binom.cdf(between.rank - 1, between.n_samples, 0.1) <= 0.05


def test_the_wrong_twin_that_takes_the_best_case_does_not_cover(monkeypatch):
    """Rows above the bound accepted at w⁻ and rows below at w⁺."""
    rng = np.random.default_rng(0)
    x = rng.random(2000)
    error = x * rng.standard_normal(2000)
    draws, known = Weighted((1.4 * x, 2 * x), at_most=2.0), Weighted(1.6 * x, at_most=2.0)
    options = {"eps": 0.1, "delta": 0.05}
    certain = Sample.worst_at
    monkeypatch.setattr(Sample, "worst_at", lambda self, scores, gamma: scores[(scores <= gamma) | self.certain])

    def best_case(terms, sample, scores, share):
        for gamma in np.sort(scores):
            kept = sample.worst_at(scores, gamma)
            if np.count_nonzero(kept > gamma) < terms.choose_rank(len(kept), share):
                return kept, int(np.count_nonzero(kept > gamma)) + 1
        raise AssertionError

    monkeypatch.setattr(bounding, "_worst_draws", best_case)
    twin = certify(error, 0 * error, draws=draws, **options).gamma
    monkeypatch.undo()
    assert Sample.worst_at is certain
    assert twin < certify(error, 0 * error, draws=known, **options).gamma
    assert certify(error, 0 * error, draws=draws, **options).gamma > certify(error, 0 * error, draws=known, **options).gamma  # fmt: skip


@pytest.fixture
def rows(rng):
    x = rng.random(3000)
    return x, x * rng.standard_normal(3000)


def test_an_interval_of_one_point_is_the_known_importance(rows):
    x, error = rows
    one = certify(error, 0 * error, eps=0.1, delta=0.01, draws=Weighted(2 * x, at_most=2.0, random_state=3))
    two = certify(error, 0 * error, eps=0.1, delta=0.01, draws=Weighted((2 * x, 2 * x), at_most=2.0, random_state=3))
    assert (one.gamma, one.n_samples, one.rank, one.data_digest) == (
        two.gamma,
        two.n_samples,
        two.rank,
        two.data_digest,
    )


def test_the_confidence_of_the_interval_is_taken_from_delta(rows, tmp_path):
    x, error = rows
    low, high = 1.9 * x, np.minimum(2.1 * x, 2.0)
    draws = Weighted((low, high), at_most=2.0, interval_delta=0.04)
    cert = certify(error, 0 * error, eps=0.1, delta=0.05, draws=draws)
    assert binom.cdf(cert.rank - 1, cert.n_samples, 0.1) <= 0.01 < cert.attained_delta <= 0.05
    assert "with confidence 96 %, as declared" in cert.assumptions[0]
    assert load(cert.save(tmp_path / "cert.json")) == cert
    assert cert.to_dict()["expected_violation"] is None
    for ask in (lambda: cert.expected_violation, lambda: cert.outlook(10), lambda: cert.violation_interval(0.9)):
        with pytest.raises(InvalidInput, match="it is not certain which rows are draws"):
            ask()
    with pytest.raises(InvalidInput, match=r"interval_delta=0\.05 uses up all of delta=0\.05"):
        certify(error, 0 * error, eps=0.1, delta=0.05, draws=Weighted((low, high), at_most=2.0, interval_delta=0.05))


def test_groups_and_a_tolerance_take_the_worst_case_too(rows):
    x, error = rows
    draws = Weighted((1.9 * x, np.minimum(2.1 * x, 2.0)), at_most=2.0)
    known = Weighted(2 * x, at_most=2.0)
    side = np.where(x > 0.5, "right", "left")
    between, sharp = (certify_groups(error, 0 * error, side, eps=0.1, delta=0.05, draws=each) for each in (draws, known))  # fmt: skip
    assert all(between.groups[label].gamma > sharp.groups[label].gamma for label in ("left", "right"))
    assert "expected violation" not in str(between)
    given, exact = (certify_tolerance(error, 0 * error, 1.5, delta=0.05, draws=each) for each in (draws, known))
    assert given.eps > exact.eps
    assert given.verify(error, 0 * error, draws=draws)


def test_a_certificate_of_known_importance_states_no_interval(rows):
    x, error = rows
    cert = certify(error, 0 * error, eps=0.1, delta=0.05, draws=Weighted(2 * x, at_most=2.0))
    assert cert.to_dict()["draws"] == {"kind": "weighted", "at_most": 2.0, "seed": 0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Weighted(([1.0], [1.0], [1.0]), at_most=2.0), r"must be \(low, high\), got 3 parts"),
        (lambda: Weighted(("low", [1.0]), at_most=2.0), "two columns, or two arrays, got one of each"),
        (lambda: Weighted([1.0], at_most=2.0, interval_delta=0.1), r"interval_delta needs an importance \(low, high\)"),
        (lambda: Weighted(([1.0], [1.0]), at_most=2.0, interval_delta=1.0), r"interval_delta must be in \[0, 1\)"),
        (lambda: Weighted(([1.0], [1.0]), at_most=2.0, interval_delta=-0.1), "interval_delta must be zero or a positive"),
        (lambda: Weighted(([1.0, 1.5], [1.0, 1.0]), at_most=2.0).sample(2), "must not exceed the upper one: it does in 1 row, row 1"),
        (lambda: Weighted(([1.0], [3.0]), at_most=2.0).sample(1), r"the upper importance must be in \[0, at_most\]"),
        (lambda: Weighted(([math.nan], [1.0]), at_most=2.0).sample(1), "the lower importance must be in"),
        (lambda: Weighted(([0.0] * 9, [1.0] * 9), at_most=1.0).sample(9), "no row was accepted"),
    ],
)  # fmt: skip
def test_what_is_declared_wrongly_is_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_too_few_rows_that_are_certain_are_refused(rng):
    error, low = rng.standard_normal(300), np.full(300, 0.05)
    with pytest.raises(NotEnoughSamples, match="need at least 44 samples"):
        certify(error, 0 * error, eps=0.1, delta=0.01, draws=Weighted((low, np.ones(300)), at_most=1.0))
    low = np.where(np.abs(error) > 1.0, 0.0, 1.0)
    with pytest.raises(InvalidInput, match=r"rows that may be accepted exceed all .* rows that certainly are"):
        certify(error, 0 * error, eps=0.1, delta=0.01, draws=Weighted((low, np.ones(300)), at_most=1.0))
    with pytest.raises(InvalidInput, match="no row of a group is accepted for certain"):
        certify_groups(error, 0 * error, low, eps=0.5, delta=0.4, draws=Weighted((low, np.ones(300)), at_most=1.0))
