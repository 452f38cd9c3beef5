"""The boundary of a curve: designs of levels, and the largest η that uses no more than δ."""

import numpy as np
import pytest
from scipy.special import betaincc

from pacband import NotEnoughSamples, max_rank
from pacband.certification.boundary import GivenLevels, SpacedRanks, largest_eta
from pacband.certification.crossing import crossing_probability
from pacband.certification.curve import curve_of_scores
from pacband.scores import ScoreRule
from support.crossing import enumerated_crossing
from support.twins import put_in_place


@pytest.mark.parametrize("n_samples", [2, 3, 5, 8])
@pytest.mark.parametrize("delta", [0.2, 0.05, 1e-6, 1e-12])
def test_a_curve_uses_delta_and_no_more(n_samples, delta):
    scores = np.arange(float(n_samples))
    for max_eps in (0.5, 0.99):
        curve = curve_of_scores(
            scores, delta=delta, max_eps=max_eps, scoring=ScoreRule(), n_outputs=1, scale_kind="none"
        )
        used = enumerated_crossing(n_samples, curve.levels, curve.ranks)
        assert delta * (1 - 3e-6) <= used <= delta


@pytest.mark.parametrize("delta", [0.5, 0.01, 1e-6, 1e-9])
@pytest.mark.parametrize(("n_samples", "max_eps"), [(20, 0.5), (1000, 0.1), (1000, 0.9), (5000, 0.5)])
def test_few_crossing_probabilities_are_computed_and_the_last_is_next_to_delta(monkeypatch, n_samples, max_eps, delta):
    found = []

    def recording(*arguments, **options):
        found.append(crossing_probability(*arguments, **options))
        return found[-1]

    put_in_place(monkeypatch, crossing_probability, recording)
    largest_eta.cache_clear()
    curve_of_scores(
        np.arange(float(n_samples)), delta=delta, max_eps=max_eps, scoring=ScoreRule(), n_outputs=1, scale_kind="none"
    )
    assert len(found) <= 6
    assert delta * (1 - 1e-6) <= found[-1] <= delta


@pytest.mark.parametrize("eta", [0.2, 1e-3, 1e-9])
@pytest.mark.parametrize("n_samples", [50, 2000])
def test_every_level_of_spaced_ranks_fails_with_the_same_chance(n_samples, eta):
    design = SpacedRanks(n_samples // 2)
    levels, ranks = design.boundary(n_samples, eta)
    assert design.n_levels == len(levels) == len(ranks)
    assert (np.diff(levels) > 0).all()
    assert ranks[0] == 1
    assert ranks[-1] <= n_samples // 2
    np.testing.assert_allclose(betaincc(ranks, n_samples - ranks + 1, levels), eta, rtol=1e-8)


def test_ranks_are_all_there_up_to_256_and_then_in_steps():
    _, ranks = SpacedRanks(10_000).boundary(20_000, 1e-3)
    np.testing.assert_array_equal(ranks[:256], np.arange(1, 257))
    steps = np.diff(ranks[255:])
    assert steps[0] == 2
    assert (np.diff(steps) >= 0).all()
    assert steps[-1] < ranks[-1] / 100


@pytest.mark.parametrize("eta", [0.2, 1e-3, 1e-9])
def test_given_levels_have_the_largest_valid_rank_each(eta):
    eps = (0.001, 0.02, 0.05, 0.3)
    levels, ranks = GivenLevels(eps).boundary(500, eta)
    expected = {e: r for e in eps if (r := rank_or_zero(500, e, eta))}
    assert dict(zip(levels.tolist(), ranks.tolist(), strict=True)) == expected
    assert len(expected) < len(eps) == GivenLevels(eps).n_levels


@pytest.mark.parametrize(
    "design", [SpacedRanks(100), SpacedRanks(1), GivenLevels((0.05, 0.1, 0.2)), GivenLevels((0.1,))]
)
@pytest.mark.parametrize("delta", [0.2, 1e-6])
def test_the_largest_eta_uses_delta_and_the_next_one_too_much(design, delta):
    eta = largest_eta(200, delta, design)
    assert delta / design.n_levels <= eta * (1 + 1e-6)
    assert eta <= delta

    def used(eta):
        levels, ranks = design.boundary(200, eta)
        return crossing_probability(200, levels, ranks, accuracy=1e-9 * delta)

    assert used(eta) <= delta
    if isinstance(design, SpacedRanks):
        assert used(eta * (1 + 1e-5)) > delta


def test_equal_designs_share_their_boundary():
    assert SpacedRanks(40) == SpacedRanks(40)
    assert hash(GivenLevels((0.1, 0.2))) == hash(GivenLevels((0.1, 0.2)))
    largest_eta(333, 0.1, GivenLevels((0.1, 0.2)))
    before = largest_eta.cache_info().hits
    largest_eta(333, 0.1, GivenLevels((0.1, 0.2)))
    assert largest_eta.cache_info().hits == before + 1


def rank_or_zero(n_samples, eps, delta):
    try:
        return max_rank(n_samples, eps, delta)
    except NotEnoughSamples:
        return 0
