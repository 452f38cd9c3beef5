"""Shrinkage of a signal towards a constant."""

import numpy as np
import pytest

from pacband.scale import (
    NeighborScale,
)
from pacband.scale.shrinkage import PairShrinkage, Shrinkage, scale_loss
from support.noise import nought, ratio


def test_the_share_may_be_chosen_for_the_narrowest_band():
    """The narrowest band on average varies less with x than σ does; `eps` is the ε of the band."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (4000, 1))
    y = np.exp(0.8 * X[:, 0]) * rng.standard_normal(4000)
    zero = np.zeros(2000)
    likely, narrow = (NeighborScale(nought, eps=eps).fit(X[:2000], y[:2000]).predict(X[2000:]) for eps in (None, 0.1))
    assert np.std(np.log(narrow)) < np.std(np.log(likely))
    assert ratio(y[2000:], zero, narrow) < 0.97 * ratio(y[2000:], zero, likely)


def test_the_loss_ignores_a_constant_factor(rng):
    sizes, scale = np.abs(rng.standard_normal(200)), rng.uniform(1, 2, 200)
    assert scale_loss(sizes, scale, scale, None) == pytest.approx(scale_loss(sizes, 8 * scale, 8 * scale, None))
    assert scale_loss(sizes, scale, scale, 0.1) == pytest.approx(scale_loss(sizes, 8 * scale, 8 * scale, 0.1))


def test_the_loss_is_least_at_the_scale_of_the_errors(rng):
    scale = rng.uniform(0.5, 3, 4000)
    sizes = np.abs(scale * rng.standard_normal(4000))
    assert scale_loss(sizes, scale, scale, None) < min(
        scale_loss(sizes, other, other, None) for other in (np.ones(4000), scale**2, 1 / scale)
    )


@pytest.mark.parametrize("eps", [None, 0.1])
def test_a_signal_of_both_sides_is_trusted_and_noise_is_not(rng, eps):
    lower, upper = rng.uniform(0.2, 2, (2, 4000))
    noise = rng.standard_normal(4000)
    errors = np.where(noise > 0, upper, lower) * noise
    assert PairShrinkage.fit(lower, upper, errors, eps=eps).share > 0.6
    constant = PairShrinkage.fit(lower, upper, noise, eps=eps)
    assert constant.share < 0.2
    assert constant.typical == (lower.mean(), upper.mean())


def test_the_level_makes_the_mean_square_of_scaled_errors_one(rng):
    signal = rng.uniform(1, 2, 500)
    errors = 7 * signal * rng.standard_normal(500)
    shrinkage = Shrinkage.fit(signal, errors, floor=1e-9)
    assert np.mean((errors / shrinkage(signal)) ** 2) == pytest.approx(1.0)
    assert (Shrinkage.fit(signal, 0 * errors, floor=1e-9)(signal) == 1e-9).all()
