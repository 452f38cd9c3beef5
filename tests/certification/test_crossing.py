"""Crossing probabilities: exact against enumeration, and the same by Fourier transforms."""

import math

import numpy as np
import pytest
from scipy.special import betaincc

from pacband.certification import crossing
from pacband.certification.boundary import SpacedRanks
from pacband.certification.crossing import _convolve as convolve
from pacband.certification.crossing import crossing_probability
from pacband.certification.curve import curve_of_scores
from pacband.scores import ScoreRule
from support.crossing import enumerated_crossing
from support.twins import put_in_place, use_number


@pytest.mark.parametrize("n_samples", range(1, 9))
@pytest.mark.parametrize("seed", range(3))
def test_crossing_probability_is_the_enumerated_one(n_samples, seed):
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0, 1, n_samples))
    for counts in (np.arange(1, n_samples + 1), np.sort(rng.integers(0, n_samples + 1, n_samples))):
        expected = float(enumerated_crossing(n_samples, times.tolist(), counts.tolist()))
        assert crossing_probability(n_samples, times, counts, accuracy=1e-14) == pytest.approx(expected, abs=1e-12)


def test_crossing_of_one_level_is_the_binomial_tail():
    for n_samples, rank, eps in [(50, 3, 0.2), (10_000, 400, 0.05), (1_000_000, 30, 1e-4), (10_000_000, 499_000, 0.05)]:
        crossed = crossing_probability(n_samples, np.array([eps]), np.array([rank]), accuracy=1e-14)
        assert crossed == pytest.approx(betaincc(rank, n_samples - rank + 1, eps), rel=1e-9)


def test_transforms_agree_with_direct_convolutions(monkeypatch):
    curve = curve_of_scores(np.arange(20_000.0), delta=1e-4, scoring=ScoreRule(), n_outputs=1, scale_kind="none")
    boundary = np.array(curve.levels), np.array(curve.ranks)
    direct = crossing_probability(20_000, *boundary, accuracy=1e-14)
    use_number(monkeypatch, crossing, "_MANY", 1)
    assert crossing_probability(20_000, *boundary, accuracy=1e-14) == pytest.approx(direct, rel=1e-9)


def test_the_law_of_the_count_stays_within_its_spread(monkeypatch):
    # Transforms leave rounding errors where the count cannot be: the next step must not see them.
    lengths = []

    def recording(mass, weights, accuracy):
        lengths.append(len(mass))
        return convolve(mass, weights, accuracy)

    put_in_place(monkeypatch, convolve, recording)
    levels, ranks = SpacedRanks(500_000).boundary(1_000_000, 1e-8)
    assert crossing_probability(1_000_000, levels, ranks, accuracy=1e-13) == pytest.approx(1.29e-6, rel=0.01)
    assert max(lengths) < 20 * math.sqrt(500_000)
