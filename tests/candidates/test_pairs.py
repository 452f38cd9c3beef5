"""Pairs of a centre and a scale, and the width of their bands."""

import numpy as np
import pytest

from pacband.candidates.blend import fit_blend
from pacband.candidates.pairs import Goal, list_centres, list_recipes, rank_pairs
from pacband.candidates.stack import Evaluation
from pacband.scores import ScoreRule


def goal(side="both", level=0.1):
    return Goal(level, ScoreRule.create(side=side, gauge="max", min_scale=None, nonfinite="raise"))


def evaluate(rng, n, signal):
    y = signal * rng.standard_normal(n)
    blend = fit_blend({"zero": np.zeros(n), "off": np.full(n, 3.0)}, y)
    return blend, Evaluation(blend.predictions, None, {"trees": signal}), y


def test_the_width_is_the_mean_of_gamma_times_the_scale():
    errors = np.arange(1000.0)
    width = goal().mean_width(errors, np.zeros(1000), np.full(1000, 2.0))
    assert width == pytest.approx(np.mean([930, 915, 900, 885, 870]), abs=1.0)


@pytest.mark.parametrize(("side", "sign"), [("upper", 1.0), ("lower", -1.0)])
def test_a_one_sided_width_does_not_change_when_the_centre_is_shifted(rng, side, sign):
    y, centre, scale = rng.standard_normal(500), np.zeros(500), np.ones(500)
    width = goal(side).mean_width(y, centre, scale)
    assert goal(side).mean_width(y, centre + 7.0, scale) == pytest.approx(width)
    gammas = np.quantile(sign * y, 1 - 0.1 * np.array([0.7, 0.85, 1.0, 1.15, 1.3]), method="higher")
    assert width == pytest.approx(gammas.mean() - sign * y.mean())


def test_the_blend_is_also_moved_to_the_window(rng):
    y = rng.standard_normal(50)
    blend = fit_blend({"a": y + 1.0, "b": y - 1.0}, y)
    assert [centre.name for centre in list_centres(blend, None)] == ["a", "b", "blend"]
    *_, blended, half, window = list_centres(blend, y + 4.0)
    assert [centre.name for centre in (blended, half, window)] == ["blend", "blend half to window", "window"]
    np.testing.assert_allclose(blended.values, y, atol=1e-6)
    np.testing.assert_allclose(half.values, y + 2.0, atol=1e-6)
    np.testing.assert_allclose(window.values, y + 4.0)


def test_a_blend_of_one_predictor_is_not_a_second_candidate(rng):
    y = rng.standard_normal(50)
    blend = fit_blend({"a": y, "b": y + 5.0}, y)
    assert list(blend.parts) == ["a"]
    assert [centre.name for centre in list_centres(blend, None)] == ["a", "b"]
    names = [centre.name for centre in list_centres(blend, y + 4.0)]
    assert names == ["a", "b", "blend half to window", "window"]


def test_learnt_signals_are_mixed_in_their_units_and_zero_signals_left_out():
    values = {name: np.array([1.0, 4.0]) * k for k, name in enumerate(("spread", "trees", "window"))}
    recipes = {recipe.name: recipe for recipe in list_recipes(values)}
    assert list(recipes) == ["constant", "trees", "window", "mixed"]
    assert recipes["constant"].values is None
    assert recipes["mixed"].signals == (("trees", 2.5), ("window", 5.0))
    for name in ("trees", "window", "mixed"):
        np.testing.assert_allclose(recipes[name].values, [0.4, 1.6])


@pytest.mark.parametrize("n", [400, 2000])
def test_a_scale_that_follows_the_noise_is_sharpest(rng, n):
    blend, evaluation, y = evaluate(rng, n, rng.uniform(0.1, 3.0, n))
    best, *_ = rank_pairs(blend, evaluation, y, goal())
    assert best.name in ("zero / trees", "blend / trees")
    assert best.penalised_width > best.width
    assert best.shrinkage.share > 0.5


def test_a_signal_without_a_share_is_no_second_constant_scale(rng):
    y, noise = rng.standard_normal(2000), rng.uniform(1.0, 3.0, 2000)
    blend = fit_blend({"zero": np.zeros(2000)}, y)
    signals = {"noise": noise, "size": 1e-9 + np.abs(y)}
    pairs = rank_pairs(blend, Evaluation(blend.predictions, None, signals), y, goal())
    assert [pair.name for pair in pairs] == ["zero / size", "zero / constant"]


def test_a_constant_scale_wins_if_the_signal_is_noise(rng):
    blend, _, y = evaluate(rng, 400, np.ones(400))
    noise = Evaluation(blend.predictions, None, {"trees": rng.uniform(0.1, 3.0, 400)})
    best, *_ = rank_pairs(blend, noise, y, goal())
    assert best.recipe.name == "constant"
    assert best.penalised_width == best.width
