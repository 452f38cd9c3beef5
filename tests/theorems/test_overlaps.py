"""Groups that overlap: each keeps its own promise with the largest bound of every row, and not with another one.

Seeds are fixed; "keeps" rejects at p < 1e-6, and the wrong twins must fail.
"""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import beta, binomtest, kstest

from pacband import GroupCertificate, certify_groups
from pacband.planning import DeltaShare, choose_rank

FALSE_ALARM = 1e-6
EPS, DELTA, N = 0.1, 0.2, 400
# The standard deviation of the error in night and north: (neither, night, north, both).
SIZES = np.array([1.0, 3.0, 2.0, 4.0])


def rows(rng, n=N):
    night, north = rng.random(n) < 0.4, rng.random(n) < 0.5
    masks = {"all": np.ones(n, dtype=bool), "night": night, "north": north}
    return SIZES[night + 2 * north] * rng.standard_normal(n), masks


# The share of each of the four kinds of rows within each group.
WITHIN = {"all": [0.3, 0.2, 0.3, 0.2], "night": [0.0, 0.5, 0.0, 0.5], "north": [0.0, 0.0, 0.6, 0.4]}


def violation(gammas, group):
    """P{|e| > γ̄ of the row | group}, with one γ̄ for each of the four kinds of rows."""
    return float(np.dot(WITHIN[group], 2 * ndtr(-np.asarray(gammas) / SIZES)))


def row_bounds(cert):
    """The bound of each of the four kinds of rows."""
    kinds = {"all": [True] * 4, "night": [False, True, False, True], "north": [False, False, True, True]}
    return cert.interval(np.zeros(4), kinds)[:, 1]


def simulate(seed, n=800):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        y, masks = rows(rng)
        yield certify_groups(y, np.zeros(N), masks, eps=EPS, delta=DELTA)


def test_all_groups_keep_their_promise_together_and_each_bound_has_the_beta_law():
    """P(q > max γ̄ | g) ≤ P(q > γ̄_g | g) ≤ ε, in all groups at once with confidence 1 − δ."""
    failures, laws = 0, {group: [] for group in WITHIN}
    for cert in simulate(1):
        bounds = row_bounds(cert)
        failures += any(violation(bounds, group) > EPS for group in WITHIN)
        for group, part in cert.groups.items():
            own = violation(np.full(4, part.gamma), group)
            laws[group].append(beta(part.rank, part.n_samples - part.rank + 1).cdf(own))
            assert part.rank == choose_rank(part.n_samples, EPS, DELTA, DeltaShare(3))
    assert binomtest(failures, 800, DELTA, alternative="greater").pvalue >= FALSE_ALARM
    for group, uniform in laws.items():
        assert kstest(uniform, "uniform").pvalue >= FALSE_ALARM, group


def smallest(self, groups):
    """The wrong twin: a row has the smallest bound of its groups."""
    masks = self.masks(groups)
    return np.min([np.where(masks[label], part.gamma, np.inf) for label, part in self.groups.items()], axis=0)


def first(self, groups):
    """The wrong twin: a row has the bound of the first of its groups."""
    masks = self.masks(groups)
    gamma = np.full(len(next(iter(masks.values()))), np.nan)
    for label, part in self.groups.items():
        gamma = np.where(np.isnan(gamma) & masks[label], part.gamma, gamma)
    return gamma


@pytest.mark.parametrize("twin", [smallest, first])
def test_another_bound_than_the_largest_breaks_the_promise_of_a_group(twin, monkeypatch):
    monkeypatch.setattr(GroupCertificate, "gamma", twin)
    failures = sum(any(violation(row_bounds(cert), g) > EPS for g in WITHIN) for cert in simulate(2, n=100))
    assert binomtest(failures, 100, DELTA, alternative="greater").pvalue < FALSE_ALARM


def test_each_group_at_all_of_delta_breaks_the_promise():
    """Without the union over the groups, any of them fails in more than δ of the calibrations: here by disjoint rows."""
    rng = np.random.default_rng(3)
    failures, n, groups = {"even": 0, "whole": 0}, 400, 8
    for _ in range(n):
        y = rng.standard_normal(groups * 150)
        masks = {str(k): np.arange(len(y)) % groups == k for k in range(groups)}
        cert = certify_groups(y, np.zeros(len(y)), masks, eps=EPS, delta=DELTA)
        rank = choose_rank(150, EPS, DELTA, DeltaShare())
        whole = [np.sort(np.abs(y[mask]))[-rank] for mask in masks.values()]
        failures["even"] += any(2 * ndtr(-part.gamma) > EPS for part in cert.groups.values())
        failures["whole"] += any(2 * ndtr(-gamma) > EPS for gamma in whole)
    assert binomtest(failures["even"], n, DELTA, alternative="greater").pvalue >= FALSE_ALARM
    assert binomtest(failures["whole"], n, DELTA, alternative="greater").pvalue < FALSE_ALARM
