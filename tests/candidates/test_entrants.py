"""Which candidates are certified, at which share of δ."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pacband import NotEnoughSamples, certify, plan
from pacband.candidates.entrants import entrants, group_entrants
from pacband.certification.arrays import certify_family_rows
from pacband.draws import Spaced
from pacband.planning import DeltaShare
from support.automatic import make_terms

NAMES = ["a", "b", "c", "d", "e"]
TERMS = make_terms()


@pytest.mark.parametrize("n_samples", [29, 30, 44, 88, 206, 1000, 10_000])
def test_shares_use_delta_and_cost_the_first_little(rng, n_samples):
    shares = entrants(TERMS, NAMES, n_samples)
    assert list(shares) == NAMES[: len(shares)]
    assert float(sum(share.fraction for share in shares.values())) == pytest.approx(1.0, abs=1e-12)
    assert sum(share.fraction for share in shares.values()) <= 1
    zeros = dict.fromkeys(shares, (np.zeros(n_samples), np.ones(n_samples)))
    certificate = certify_family_rows(TERMS, rng.uniform(size=n_samples), zeros, shares)
    ranks = [one.rank for one in certificate.candidates.values()]
    alone = certify(rng.uniform(size=n_samples), np.zeros(n_samples), eps=0.1, delta=0.05).rank
    assert 0.95 * alone <= ranks[0] <= alone or alone == ranks[0] + 1
    assert min(ranks) >= 1


def test_too_few_calibration_rows_are_refused():
    with pytest.raises(NotEnoughSamples):
        entrants(TERMS, NAMES, 28)


def test_one_candidate_gets_all_of_delta():
    assert entrants(TERMS, ["a"], 29)["a"].fraction == 1


@pytest.mark.parametrize("sizes", [[29, 29], [60, 200], [1000, 1000, 1000]])
def test_groups_certify_as_many_as_the_smallest_group_allows(sizes):
    def certifiable(kept):
        try:
            plan(0.1, 0.05, n_samples=min(sizes), n_candidates=kept * len(sizes))
        except NotEnoughSamples:
            return False
        return True

    if not certifiable(1):
        with pytest.raises(NotEnoughSamples):
            group_entrants(TERMS, NAMES, sizes)
        return
    kept = group_entrants(TERMS, NAMES, sizes)
    assert kept == NAMES[: len(kept)]
    assert [certifiable(k) for k in range(1, 6)] == [k <= len(kept) for k in range(1, 6)]


@pytest.mark.parametrize("beta", [1e-6, 1e-5, 2e-5, 8e-5])
def test_the_dependence_of_a_series_is_part_of_every_share(rng, beta):
    """Every candidate needs B(r − 1; m, ε) + mβ(a) of δ: with shares without the second part, a rank would be lost."""
    terms = replace(TERMS, draws=Spaced(2, lambda gap: beta))
    shares = entrants(terms, NAMES, 500)
    assert sum(share.fraction for share in shares.values()) <= 1
    zeros = dict.fromkeys(shares, np.zeros(1000))
    family = certify_family_rows(terms, rng.uniform(size=1000), zeros, shares)
    ranks = [one.rank for one in family.candidates.values()]
    # The first has the rank that nine tenths of δ allow, or all of it if it is alone.
    assert ranks[0] == terms.choose_rank(500, DeltaShare(1, 0.9) if len(shares) > 1 else DeltaShare())
    assert (len(shares) == 1) == (beta == 8e-5)


@pytest.mark.parametrize("delta", [0.05, 1e-12])
@pytest.mark.parametrize("n_samples", [300, 6500, 6700, 13_400, 13_500, 100_000])
def test_no_share_is_too_small_to_be_decided(n_samples, delta):
    """The largest of many rows needs less than 1e-300 of δ. The rank must be accepted again when it is certified."""
    terms = replace(make_terms(delta=delta), rule="maximum")
    shares = entrants(terms, NAMES, n_samples)
    assert list(shares) == NAMES
    assert terms.family_ranks(n_samples, shares) == dict.fromkeys(NAMES, 1)
    assert all(share.fraction * Fraction(delta) >= Fraction(1e-300) for share in shares.values())
    # The first has no more than it needs.
    first = max((1 - Fraction(0.1)) ** min(n_samples, 10_000), Fraction(1e-300)) / Fraction(delta)
    assert shares["a"].fraction == pytest.approx(first, rel=1e-12)
