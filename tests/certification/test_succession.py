"""Chains of certificates: the δ of each, and the promise of the whole chain."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm

import pacband
from pacband.draws import Spaced, Units, Weighted
from pacband.exceptions import CertificateError, InvalidInput, NotEnoughSamples, ReusedData


def chain(rng, length, delta, eps=0.05, n=3000):
    certificates = [pacband.certify(rng.standard_normal(n), np.zeros(n), eps=eps, delta=delta)]
    for _ in range(length - 1):
        certificates.append(pacband.recalibrate(certificates[-1], rng.standard_normal(n), np.zeros(n)))
    return certificates


def test_no_chain_uses_more_than_its_delta(rng):
    for delta in (1e-6, 0.01, 0.3, 1 / 3):
        used = Fraction(0)
        for k, cert in enumerate(chain(rng, 12, delta), start=1):
            used += Fraction(cert.delta)
            assert used <= 2 * Fraction(delta)
            assert cert.generation == k
            if k > 1:
                assert cert.delta == pytest.approx(delta / (k * (k - 1)), rel=1e-15)
                assert Fraction(cert.delta) <= Fraction(delta) / (k * (k - 1))
                assert cert.chain_delta == 2 * delta
                # All certificates after it use the rest: 1/(k(k+1)) + 1/((k+1)(k+2)) + … = 1/k.
                assert used + Fraction(delta) / k <= 2 * Fraction(delta)


def test_every_certificate_names_the_one_before(rng, tmp_path):
    first, second, third = chain(rng, 3, 1e-3)
    assert (first.predecessor, first.generation, first.chain_delta) == (None, 1, None)
    assert (second.predecessor, third.predecessor) == (first.digest, second.digest)
    assert pacband.load(third.save(tmp_path / "third.json")) == third
    assert pacband.load(tmp_path / "third.json").digest == third.digest
    assert f"certificate 3 of a chain and follows {second.digest[:16]}…." in str(third)
    assert "With confidence 99.8 %, all certificates of the chain hold." in str(third)
    assert "chain" not in str(first)


def test_terms_are_kept_and_the_model_may_change(rng):
    y, scale = rng.standard_normal((2, 3000))
    first = pacband.certify(y, np.zeros(3000), side="upper", min_scale=0.1, nonfinite="violate", eps=0.1, delta=1e-3)
    second = pacband.recalibrate(first, 2 * y, np.zeros(3000), np.abs(scale))
    for name in ("eps", "side", "min_scale", "nonfinite", "gauge"):
        assert getattr(second, name) == getattr(first, name)
    assert second.scale_kind == "symmetric"
    assert second.verify(2 * y, np.zeros(3000), np.abs(scale))


def test_families_and_groups_have_successors(rng):
    y, site = rng.standard_normal(3000), rng.choice(["a", "b"], 3000)
    family = pacband.certify_family(y, {"zero": 0 * y, "noise": rng.standard_normal(3000)}, delta=1e-3)
    successor = pacband.recalibrate(family, y[::-1] * 1.1, 0 * y)
    assert (successor.predecessor, successor.delta, successor.n_candidates) == (family.digest, 5e-4, 1)
    grouped = pacband.certify_groups(y, 0 * y, site, delta=1e-3)
    later = pacband.recalibrate(grouped, 1.1 * y, 0 * y, groups=site)
    latest = pacband.recalibrate(later, 1.2 * y, 0 * y, groups=site)
    assert {part.predecessor for part in latest.groups.values()} == {later.digest}
    assert {part.generation for part in latest.groups.values()} == {3}
    assert latest.delta <= 1e-3 / 6


def test_what_cannot_be_a_successor(rng):
    y = rng.standard_normal(2000)
    first = pacband.certify(y, 0 * y, delta=1e-3)
    with pytest.raises(ReusedData, match="needs fresh rows"):
        pacband.recalibrate(first, y, 0 * y)
    with pytest.raises(NotEnoughSamples, match="certificate 2 of the chain"):
        pacband.recalibrate(first, y[:20], 0 * y[:20])
    with pytest.raises(InvalidInput, match="the certificate has none"):
        pacband.recalibrate(first, 1.7 * y, 0 * y, groups=np.ones(2000))
    with pytest.raises(InvalidInput, match="must be one that pacband made, got str"):
        pacband.recalibrate("cert.json", y, 0 * y)
    with pytest.raises(InvalidInput, match=r"delta below 1/2, got 0\.6"):
        pacband.recalibrate(pacband.certify(y, 0 * y, delta=0.6), 1.7 * y, 0 * y)
    second = pacband.recalibrate(first, 1.7 * y, 0 * y)
    for change, message in [
        ({"predecessor": None}, "a successor names its predecessor"),
        ({"generation": 1}, "generation from 2 on"),
        ({"generation": 3}, "certificate 3 of a chain at chain_delta=0.002 may use 0.000166667, got delta=0.0005"),
        ({"chain_delta": 0.0019}, "may use 0.000475"),
    ]:
        with pytest.raises(CertificateError, match=message):
            replace(second, **change)


def test_the_whole_chain_holds_as_often_as_promised(rng):
    """Chains of six at δ = .05: any certificate of a chain fails with probability .1 at most.

    The true violation of a bound of rank r is the chance that a fresh score exceeds it, here of an exponential
    variable; over 150 chains the test fails by chance with probability 1e-6.
    """
    failed = 0
    for _ in range(150):
        cert = pacband.certify(rng.exponential(size=400), np.zeros(400), eps=0.1, delta=0.05)
        broken = np.exp(-cert.gamma) > 0.1
        for _ in range(5):
            cert = pacband.recalibrate(cert, rng.exponential(size=400), np.zeros(400))
            broken |= np.exp(-cert.gamma) > 0.1
        failed += broken
    assert 150 * 0.03 < failed <= binom.ppf(1 - 1e-6, 150, 0.1)


def test_the_rows_of_the_predecessor_are_known_again_at_another_rank(rng):
    # The rank is another, and with it may be the unit of the fingerprint: scale the scores so that 2 lies between.
    scores = np.abs(rng.standard_normal(3000))
    first = pacband.certify(scores, np.zeros(3000), eps=0.05, delta=0.01)
    second = pacband.certify(scores, np.zeros(3000), eps=0.05, delta=0.005)
    scores *= 2.0 / np.sqrt(first.gamma * second.gamma)
    assert first.gamma < second.gamma
    first = pacband.certify(scores, np.zeros(3000), eps=0.05, delta=0.01)
    with pytest.raises(ReusedData):
        pacband.recalibrate(first, scores, np.zeros(3000))


def test_a_successor_has_as_many_outputs(rng):
    first = pacband.certify(rng.standard_normal(1000), np.zeros(1000), delta=0.01)
    with pytest.raises(InvalidInput, match="bounds 1 output"):
        pacband.recalibrate(first, rng.standard_normal((1000, 2)), np.zeros((1000, 2)))


def test_successors_keep_the_draws_of_their_predecessor(rng, tmp_path):
    labels, weights = np.repeat(np.arange(400), 5), rng.uniform(0, 1, 2000)
    kinds = {
        "units": (Units(labels, 0.8, name="machine"), Units(labels + 400, 0.8)),
        "spaced": (Spaced(5, lambda gap: 1e-6), None),
        "weighted": (Weighted(weights, at_most=1.0), Weighted(rng.uniform(0, 1, 2000), at_most=1.0, random_state=3)),
    }
    for kind, (first, second) in kinds.items():
        y = rng.standard_normal(2000)
        before = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=first)
        with pytest.raises(ReusedData):
            pacband.recalibrate(before, y, 0 * y, draws=None if kind == "spaced" else first)
        fresh = rng.standard_normal(2000)
        after = pacband.recalibrate(before, fresh, 0 * y, draws=second)
        expected = pacband.certify(fresh, 0 * y, eps=0.1, delta=after.delta, draws=second or first)
        assert (after.gamma, after.n_samples, after.rank) == (expected.gamma, expected.n_samples, expected.rank)
        assert after.basis.draws.kind == kind
        assert after.basis.draws.noun == before.basis.draws.noun
        assert pacband.load(after.save(tmp_path / "after.json")) == after


def test_successors_of_groups_of_units(rng):
    labels = np.repeat(np.arange(400), 5)
    site, y = np.where(labels % 2, "north", "south"), rng.standard_normal(2000)
    before = pacband.certify_groups(y, 0 * y, site, eps=0.2, delta=0.05, draws=Units(labels))
    with pytest.raises(ReusedData):
        pacband.recalibrate(before, y, 0 * y, groups=site, draws=Units(labels))
    after = pacband.recalibrate(before, 2 * y, 0 * y, groups=site, draws=Units(labels))
    assert [part.n_samples for part in after.groups.values()] == [200, 200]


def test_a_given_bound_of_units_has_a_successor(rng):
    labels, y = np.repeat(np.arange(400), 5), rng.standard_normal(2000)
    before = pacband.certify_tolerance(y, 0 * y, 2.5, delta=0.05, draws=Units(labels))
    after = pacband.recalibrate(before, rng.standard_normal(2000), 0 * y, draws=Units(labels))
    assert (after.gamma, after.n_samples) == (2.5, 400)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Units(np.arange(2000)), None),
        (Units(np.arange(2000)), Units(np.arange(2000), 0.9)),
        (Units(np.arange(2000)), Spaced(2)),
        (Spaced(2), Spaced(3)),
        (Spaced(2, 0.001), Spaced(2)),
        (Weighted(np.ones(2000), at_most=1.0), None),
        (None, Units(np.arange(2000))),
    ],
)
def test_a_successor_with_other_draws_is_refused(first, second, rng):
    y = rng.standard_normal(2000)
    before = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=first)
    with pytest.raises(InvalidInput, match="the successor needs the draws of its predecessor"):
        pacband.recalibrate(before, 2 * y, 0 * y, draws=second)


def test_units_on_average_and_intervals_have_successors(rng):
    labels, low = np.repeat(np.arange(400), 5), rng.uniform(0, 0.9, 2000)
    for draws in (Units(labels, "average"), Weighted((low, low + 0.1), at_most=1.0)):
        y = rng.standard_normal(2000)
        before = pacband.certify(y, 0 * y, eps=0.2, delta=0.05, draws=draws)
        with pytest.raises(ReusedData):
            pacband.recalibrate(before, y, 0 * y, draws=draws)
        fresh = rng.standard_normal(2000)
        after = pacband.recalibrate(before, fresh, 0 * y, draws=draws)
        assert after.gamma == pacband.certify(fresh, 0 * y, eps=0.2, delta=after.delta, draws=draws).gamma


def test_the_rows_of_a_family_are_fresh_for_none_of_its_candidates(rng):
    y = rng.standard_normal(300)
    candidates = {name: 3.0 * rng.standard_normal(300) for name in "abc"}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.05)
    for prediction in candidates.values():
        with pytest.raises(ReusedData):
            pacband.recalibrate(family, y, prediction)
    assert pacband.recalibrate(family, y + 0.1, candidates["b"]).generation == 2


@pytest.mark.parametrize("n_groups", [0, 3])
def test_a_successor_keeps_the_share_of_its_predecessor(rng, n_groups):
    y, zeros, groups = rng.standard_normal((2, 900)), np.zeros(900), np.arange(900) % (n_groups or 1)
    for n_candidates in (1, 10):
        if n_groups:
            first = pacband.certify_groups(y[0], zeros, groups, eps=0.1, delta=0.02, n_candidates=n_candidates)
            after = pacband.recalibrate(first, y[1], zeros, groups=groups)
        else:
            first = pacband.certify(y[0], zeros, eps=0.1, delta=0.02, n_candidates=n_candidates)
            after = pacband.recalibrate(first, y[1], zeros)
        for part in (first, after):
            assert [one.n_candidates for one in part.parts.values()] == [n_candidates * (n_groups or 1)] * max(
                n_groups, 1
            )


def test_a_successor_of_a_given_bound_keeps_its_share(rng):
    y, zeros = rng.standard_normal((2, 900)), np.zeros(900)
    first = pacband.certify_tolerance(y[0], zeros, tolerance=2.5, delta=0.02, n_candidates=10)
    assert pacband.recalibrate(first, y[1], zeros).n_candidates == 10


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")
def test_the_best_of_ten_successors_keeps_its_promise(rng):
    # Ten models, all equally good, each with a certificate of its own; on fresh rows the sharpest successor is chosen.
    eps, delta, n_rows = 0.1, 0.3, 120
    zeros, exact = np.zeros(n_rows), norm.ppf(1 - eps / 2)
    first = [
        pacband.certify(rng.standard_normal(n_rows), zeros, eps=eps, delta=delta, n_candidates=10) for _ in range(10)
    ]
    after = [
        min(pacband.recalibrate(one, rng.standard_normal(n_rows), zeros).gamma for one in first) for _ in range(200)
    ]
    # δ/2 = 15 % of 200 may fail: more than 60 have a probability below 1e-6. With the whole δ for each, about 150 fail.
    assert binom.sf(60, 200, delta / 2) < 1e-6
    assert np.sum(np.array(after) < exact) <= 60


@pytest.mark.parametrize("seed", [0, 7])
def test_rows_are_the_same_whatever_seed_draws_from_them(rng, seed):
    y, zeros, labels = rng.standard_normal(600), np.zeros(600), np.repeat(np.arange(200), 3)
    first = pacband.certify(y, zeros, eps=0.1, delta=0.02, draws=Units(labels, "one"))
    with pytest.raises(ReusedData):
        pacband.recalibrate(first, y, zeros, draws=Units(labels, "one", random_state=seed))
    weights = rng.uniform(0.5, 1.0, 600)
    first = pacband.certify(y, zeros, eps=0.1, delta=0.02, draws=Weighted(weights, at_most=1.0))
    for at_most in (1.0, 1.01):
        with pytest.raises(ReusedData):
            pacband.recalibrate(first, y, zeros, draws=Weighted(weights, at_most=at_most, random_state=seed))
    # Larger weights than the predecessor allowed are those of other rows.
    other = Weighted(1.5 * weights, at_most=1.5, random_state=seed)
    assert pacband.recalibrate(first, y, zeros, draws=other).generation == 2
