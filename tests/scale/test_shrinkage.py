"""Shrinkage of a signal towards a constant."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

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


def narrowest(scale, eps):
    """The half-widths of the narrowest band around Gaussian errors: the density is the same at every end."""

    def halves(log):
        return scale * np.sqrt(np.maximum(-2.0 * (log + np.log(scale)), 0.0))

    def covered(log):
        return np.mean(2.0 * norm.cdf(halves(log) / scale) - 1.0) - (1.0 - eps)

    return halves(brentq(covered, -30.0, 10.0))


@pytest.mark.parametrize("spread", [0.3, 0.6, 0.9])
def test_a_ceiling_comes_near_the_narrowest_band_of_all(spread):
    """At 200,000 rows the quantiles are exact to about 0.3 %; a scale in proportion to σ is 2 to 20 % wider."""
    rng = np.random.default_rng(0)
    signal = np.exp(rng.uniform(-2, 2, 200_000) * spread)
    errors = signal * rng.standard_normal(200_000)
    shrinkage = Shrinkage.fit(signal, errors, floor=1e-9, eps=0.1)
    assert shrinkage.ceiling is not None
    best = narrowest(signal, 0.1).mean()
    assert 0.995 < scale_loss(np.abs(errors), shrinkage(signal), shrinkage(signal), 0.1) / best < 1.01
    plain = Shrinkage.fit(signal, errors, floor=1e-9)
    assert scale_loss(np.abs(errors), plain(signal), plain(signal), 0.1) / best > 1.015


@pytest.mark.parametrize("ceiling", [0.25, 1.0, 3.0])
def test_a_scale_with_a_ceiling_never_falls(ceiling):
    signal = np.geomspace(1e-3, 1e3, 4000)
    scale = Shrinkage(0.9999, 1.0, 2.0, 1.0, 1.0, 1e-9, ceiling)(signal)
    assert (np.diff(scale) >= 0.0).all()
    assert np.diff(scale)[-1] == 0.0


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
