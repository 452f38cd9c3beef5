"""Dominating scores, groups beyond the bound, and a scale that misses."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

import pacband
from pacband.diagnostics.shape import largest_share_tail
from support.diagnosed import checks, sound


def test_dominating_scores_are_found(rng):
    noise = rng.standard_normal(1000)
    noise[rng.choice(1000, 3)] = [40.0, -50.0, 60.0]
    assert checks(pacband.diagnose(noise, np.zeros(1000))) == ["a few scores dominate"]


def test_largest_share_against_simulation(rng):
    """Fisher's formula; each share of 10⁵ draws lies within five standard errors of it."""
    draws = rng.exponential(size=(10**5, 12))
    shares = draws.max(axis=1) / draws.sum(axis=1)
    for share in (0.15, 0.25, 0.35, 0.5):
        assert largest_share_tail(share, 12) == pytest.approx((shares > share).mean(), abs=5 * 0.5 / math.sqrt(10**5))
    assert largest_share_tail(0.05, 12) == pytest.approx(1.0)
    assert largest_share_tail(0.3, 100) == pytest.approx(100 * 0.7**99)


def test_groups_beyond_the_bound_are_found(rng):
    groups = rng.choice(["calm", "rough"], 3000, p=[0.9, 0.1])
    noise = np.where(groups == "rough", 3.0, 1.0) * rng.standard_normal(3000)
    (finding,) = pacband.diagnose(noise, np.zeros(3000), groups=groups).findings
    assert "in group 'rough'" in finding.seen
    assert "certify_groups" in finding.advice
    violated = np.abs(noise) > pacband.certify(noise, np.zeros(3000)).gamma
    tails = [
        binomtest(int(violated[groups == name].sum()), int((groups == name).sum()), 0.05, alternative="greater").pvalue
        for name in ("calm", "rough")
    ]
    assert finding.p_value == pytest.approx(2 * min(tails), rel=1e-9, abs=0.0)


def test_a_scale_that_misses_is_found(rng):
    data = sound(rng, 1000)
    del data["training"], data["groups"]
    wrong = rng.permutation(data["scale"])
    assert pacband.diagnose(**data).sound
    assert checks(pacband.diagnose(**{**data, "scale": wrong})) == ["scale and error size"]
    assert pacband.diagnose(data["y"], data["y_pred"], scale=2.0).n_rows == 1000
