"""Other numbers of samples, and other promises."""

import numpy as np
import pytest

import pacband
from pacband.candidates.entrants import entrants
from pacband.certification.arrays import certify_family_rows
from pacband.certification.terms import Terms


def test_alternatives_use_the_share_of_the_candidate(table):
    _, y, prediction = table
    candidates, weights = {"a": prediction, "b": prediction + 1}, {"a": 0.9, "b": 0.1}
    for shares in (None, weights):
        family = pacband.certify_family(y, candidates, eps=0.05, delta=1e-3, weights=shares)
        found = pacband.report(family, y, candidates=candidates).to_dict()
        for each in (each for each in found["alternatives"] if each["eps"] >= 0.05):
            again = pacband.certify_family(y, candidates, eps=each["eps"], delta=each["delta"], weights=shares)
            assert again.certificate.gamma == each["gamma"]


@pytest.mark.parametrize("rule", ["exact", "paper", "maximum"])
def test_sample_sizes_follow_the_rule_of_the_certificate(rng, rule):
    y = rng.standard_normal(3000)
    cert = pacband.certify(y, np.zeros(3000), eps=0.05, delta=1e-3, rule=rule)
    sizes = {each["n_samples"]: each["rank"] for each in pacband.report(cert).to_dict()["sample_sizes"]}
    assert list(sizes) == [1500, 3000, 6000, 12000, 30000]
    for n_samples, rank in sizes.items():
        assert rank == pacband.plan(0.05, 1e-3, n_samples=n_samples, rule=rule).rank


def test_a_rank_chosen_by_hand_stands_beside_the_largest_ones(rng):
    cert = pacband.certify(rng.standard_normal(3000), np.zeros(3000), eps=0.05, delta=1e-3, rank=40)
    page = pacband.report(cert)
    sizes = [(each["n_samples"], each["rank"]) for each in page.to_dict()["sample_sizes"]]
    others = [(n, pacband.max_rank(n, 0.05, 1e-3)) for n in (1500, 3000, 6000, 12000, 30000)]
    assert sizes == [others[0], (3000, 40), *others[1:]]
    assert "All rows but that of the certificate have the largest valid rank." in page.html
    assert page.html.count('<tr class="mine">') == 1


@pytest.mark.parametrize("n_samples", [350, 400, 600, 1000])
def test_the_first_candidate_of_a_fit_has_the_rank_of_its_rule(rng, n_samples):
    """Its share of δ is just what its rank needs. With a rounded share, the report states a smaller rank."""
    y = rng.standard_normal(n_samples)
    terms = Terms.create(eps=0.05, delta=1e-3, side="both", min_scale=None, nonfinite="raise", gauge="max")
    shares = entrants(terms, ["a", "b", "c"], n_samples)
    page = pacband.report(certify_family_rows(terms, y, dict.fromkeys(shares, 0.0 * y), shares))
    sizes = page.to_dict()["sample_sizes"]
    assert [each["n_samples"] for each in sizes] == [k * n_samples // 2 for k in (1, 2, 4, 8, 20)]
    assert "largest valid rank" not in page.html
