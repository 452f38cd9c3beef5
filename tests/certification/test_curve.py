"""The curve for every ε at once: simultaneous coverage, sharpness, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

import pacband
from pacband.certification.curve import curve_of_scores
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import DeltaShare
from pacband.scores import ScoreRule


@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize("n_samples", [100, 1000])
def test_simultaneous_coverage_is_exactly_the_confidence(n_samples, delta):
    # The true violations of the ordered scores are uniform order statistics. Five standard deviations of 40,000
    # draws: a false alarm has probability below 1e-6.
    rng = np.random.default_rng(n_samples)
    curve = curve_of_scores(rng.random(n_samples), delta=delta, scoring=ScoreRule(), n_outputs=1, scale_kind="none")
    levels, ranks = np.array(curve.levels), np.array(curve.ranks)
    n_draws, kept = 40_000, 0
    for _ in range(40):
        violations = np.sort(rng.random((n_draws // 40, n_samples)), axis=1)
        kept += int((violations[:, ranks - 1] <= levels).all(axis=1).sum())
    assert abs(kept / n_draws - (1 - delta)) < 5 * math.sqrt(delta * (1 - delta) / n_draws)


@pytest.mark.verify
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_simultaneous_coverage_of_the_whole_chain(delta):
    # Exponential errors: P(score > γ) = exp(−γ). From data to bounds through the public function.
    rng = np.random.default_rng(7)
    n_draws, kept = 20_000, 0
    for _ in range(n_draws):
        curve = pacband.certify_curve(rng.exponential(size=200), np.zeros(200), delta=delta)
        kept += bool((np.exp(-np.array(curve.gammas)) <= np.array(curve.levels)).all())
    assert abs(kept / n_draws - (1 - delta)) < 5 * math.sqrt(delta * (1 - delta) / n_draws)


def test_tied_scores_only_make_it_safer(rng):
    kept = 0
    for _ in range(2000):
        curve = pacband.certify_curve(rng.integers(0, 10, 100), np.zeros(100), delta=0.2)
        true = np.array([(9 - gamma) / 10 for gamma in curve.gammas])
        kept += bool((true <= np.array(curve.levels)).all())
    assert kept / 2000 > 0.8


@pytest.mark.parametrize(("n_samples", "delta"), [(200, 0.05), (1000, 0.2), (10_000, 1e-6)])
def test_sharper_than_dkw_in_the_tail(n_samples, delta):
    curve = curve_of_scores(
        np.arange(float(n_samples)), delta=delta, scoring=ScoreRule(), n_outputs=1, scale_kind="none"
    )
    slack = math.sqrt(math.log(1 / delta) / (2 * n_samples))
    for eps in np.linspace(curve.smallest_eps, 0.2, 200):
        dkw_rank = math.floor(n_samples * (eps - slack)) + 1  # (r − 1)/N + slack ≤ ε
        assert curve.rank(eps) >= max(1, dkw_rank)
    assert curve.smallest_eps < 0.5 * slack


def test_a_choice_made_beforehand_is_sharper_and_a_grid_lies_between(rng):
    y = rng.standard_normal(3000)
    whole = pacband.certify_curve(y, np.zeros(3000), delta=1e-4)
    grid = pacband.certify_curve(y, np.zeros(3000), delta=1e-4, eps=[0.1, 0.02, 0.05])
    for eps in (0.02, 0.05, 0.1):
        assert whole.rank(eps) < grid.rank(eps) < pacband.max_rank(3000, eps, 1e-4)
    assert grid.levels == (0.02, 0.05, 0.1)
    assert grid.gamma(0.07) == grid.gamma(0.05)
    alone = pacband.certify_curve(y, np.zeros(3000), delta=1e-4, eps=[0.05])
    assert alone.rank(0.05) == pacband.max_rank(3000, 0.05, 1e-4)


def test_refusals(rng):
    y = rng.standard_normal(100)
    curve = pacband.certify_curve(y, np.zeros(100))
    with pytest.raises(NotEnoughSamples, match=r"eps must be at least 0\.15\d*, the smallest .* got 0\.01"):
        curve.gamma(0.01)
    with pytest.raises(
        NotEnoughSamples, match=r"eps=0\.01 and delta=1e-06 need at least 1375 samples, got n_samples=100"
    ):
        pacband.certify_curve(y, np.zeros(100), eps=[0.01])
    with pytest.raises(InvalidInput, match=r"delta must be in \(0, 1\), got 2"):
        pacband.certify_curve(y, np.zeros(100), delta=2)
    with pytest.raises(InvalidInput, match="at least one value"):
        pacband.certify_curve(y, np.zeros(100), eps=[])
    with pytest.raises((AttributeError, TypeError)):
        curve.delta = 0.5
    with pytest.raises(ValueError, match="read-only"):
        curve.scores[0] = 1.0


def test_the_curve_of_one_of_several_candidates_uses_its_share_and_states_the_joint_confidence(rng):
    y = rng.standard_normal(500)
    shared = pacband.certify_curve(y, np.zeros(500), delta=0.1, n_candidates=10)
    alone = pacband.certify_curve(y, np.zeros(500), delta=float(Fraction(0.1) / 10))
    assert (shared.levels, shared.ranks, shared.gammas) == (alone.levels, alone.ranks, alone.gammas)
    assert (shared.delta, shared.share, shared.local_delta) == (0.1, DeltaShare(10), alone.local_delta)
    assert shared.promise.startswith("With confidence 90 %, for all 10 candidates at once, for all ε ≥ ")
    assert shared.own_delta <= Fraction(0.1) / 10 < np.nextafter(shared.own_delta, 1)
    assert shared.to_dict()["n_candidates"] == 10
    single = shared.certificate(0.1)
    assert (single.delta, single.gamma) == (0.1, shared.gamma(0.1))
    assert single.share.fraction <= Fraction(1, 10)
    assert "for all 10 certificates" in single.promise


def test_the_curve_of_the_best_candidate_fails_no_more_often_than_its_delta():
    # 300 studies of 10 candidates with |y| exponential; at delta = 0.5 each curve fails with probability 0.05 and the
    # best of the ten fails more often: in more than 0.05 + 5 standard deviations of the studies, in at most half of them.
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(300):
        draws = rng.exponential(size=(10, 300))
        best = min(draws, key=lambda scores: np.partition(scores, -20)[-20])
        curve = curve_of_scores(
            best, delta=0.5, share=DeltaShare(10), scoring=ScoreRule(), n_outputs=1, scale_kind="none"
        )
        failed += bool((np.exp(-np.array(curve.gammas)) > np.array(curve.levels)).any())
    assert 0.05 + 5 * math.sqrt(0.05 * 0.95 / 300) < failed / 300 < 0.5
    assert "With confidence 50 %, for all 10 candidates at once" in curve.promise


def test_a_curve_keeps_the_known_range_of_the_target(rng):
    y = rng.uniform(0, 5, 500)
    curve, plain = (pacband.certify_curve(y, np.zeros(500), delta=0.01, clip=clip) for clip in ((0, 5), None))
    assert curve.gammas == plain.gammas
    ends = curve.interval([0.0, 4.9], eps=0.1)
    np.testing.assert_array_equal(ends, np.clip(plain.interval([0.0, 4.9], eps=0.1), 0, 5))
    assert curve.certificate(0.1).clip == (0, 5)
    assert any("y never leaves [0, 5]" in assumption for assumption in curve.certificate(0.1).basis.assumptions)
    with pytest.raises(InvalidInput, match="the range of clip"):
        pacband.certify_curve(y, np.zeros(500), delta=0.01, clip=(1, None))
