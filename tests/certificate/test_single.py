"""The certificate of one pair (T, σ̂): its numbers, its bounds, and values that no certificate can have."""

import re

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband import Certificate, CertificateError, InvalidInput, InvalidScale, certify, certify_family
from pacband.draws import Units
from support.certificates import ALL_KINDS, PROMISE, SITES, P, S, Y, changed


def test_a_certificate_cannot_exist_without_its_promise():
    valid = ALL_KINDS["constant"]
    with pytest.raises(CertificateError, match="does not certify"):
        changed(valid, rank=valid.rank + 1)
    with pytest.raises(CertificateError, match="1 ≤ rank ≤ n_samples"):
        changed(valid, rank=0)
    with pytest.raises(CertificateError, match="a number gamma"):
        changed(valid, gamma=float("nan"))


ABSURD = [10**400, -(10**400), 10**13, 1e300, -1, 0, float("nan"), float("inf"), float("-inf"), "1", None, [], True]


@pytest.mark.parametrize(
    "name",
    [
        "gamma",
        "eps",
        "delta",
        "n_samples",
        "rank",
        "n_candidates",
        "n_outputs",
        "weight",
        "min_scale",
        "gauge",
        "side",
        "nonfinite",
        "generation",
        "chain_delta",
        "predecessor",
    ],
)
def test_absurd_values_are_refused_and_nothing_worse(name):
    for value in ABSURD:
        try:
            accepted = changed(ALL_KINDS["constant"], **{name: value})
        except CertificateError:
            continue
        # What is accepted can be printed.
        assert accepted.to_dict()["promise"]
        assert str(accepted)
    for value in (10**400, -(10**400)):
        if name not in ("side", "nonfinite", "predecessor", "n_candidates", "n_outputs"):
            with pytest.raises(CertificateError):
                changed(ALL_KINDS["constant"], **{name: value})


@pytest.mark.parametrize("weight", [1.5, 2, 0.0, -0.1, float("nan"), float("inf")])
def test_no_certificate_uses_more_than_its_delta(weight):
    with pytest.raises(CertificateError, match=r"weight must be in \(0, 1\)"):
        changed(ALL_KINDS["constant"], weight=weight)


def test_round_errors_with_one_sum_have_different_digests():
    ones, twos = np.zeros(400), np.zeros(400)
    ones[:20], twos[:10] = 1.0, 2.0
    cert = certify(ones, np.zeros(400), **PROMISE)
    assert cert.gamma == 0.0
    assert not cert.verify(twos, np.zeros(400))


def test_bound_is_gamma_times_scale():
    assert ALL_KINDS["constant"].bound() == ALL_KINDS["constant"].gamma
    cert = ALL_KINDS["scaled"]
    np.testing.assert_allclose(cert.bound(S), cert.gamma * S, rtol=1e-14)
    assert (cert.bound(S) >= cert.gamma * S).all()
    assert cert.bound(2.0) == pytest.approx(2 * cert.gamma, rel=1e-14)
    low, high = ALL_KINDS["pair"].bound((S, 2 * S))
    np.testing.assert_array_equal(2 * low, high)
    with pytest.raises(InvalidScale, match="scale must be positive"):
        certify(Y, P, S, **PROMISE).bound([1.0, -1.0])


def test_one_sided_intervals_are_half_lines():
    upper = ALL_KINDS["upper"].interval(P)
    assert np.isneginf(upper[:, 0]).all()
    np.testing.assert_allclose(upper[:, 1], P + ALL_KINDS["upper"].gamma, rtol=1e-12)
    lower = certify(Y, P, side="lower", **PROMISE)
    assert np.isposinf(lower.interval(P)[:, 1]).all()


def test_verify_recomputes_from_the_data():
    order = np.random.default_rng(1).permutation(400)
    assert ALL_KINDS["scaled"].verify(Y[order], P[order], S[order])
    assert not ALL_KINDS["scaled"].verify(Y + 0.01, P, S)
    assert not ALL_KINDS["scaled"].verify(Y[:-1], P[:-1], S[:-1])
    nudged = Y.copy()
    nudged[np.argmin(np.abs(Y - P))] += 1e-6
    assert not ALL_KINDS["constant"].verify(nudged, P), "the digest sees a row that does not move γ̄"
    assert ALL_KINDS["family"].verify(Y, {"one": P, "two ✓": (P, S)})
    assert not ALL_KINDS["family"].verify(Y, {"one": P})
    assert not ALL_KINDS["family"].verify(Y, {"one": P, "two ✓": (P, S + 0.1)})
    assert ALL_KINDS["groups"].verify(Y, P, SITES, S)
    assert not ALL_KINDS["groups"].verify(Y, P, SITES[::-1], S)


def test_infinite_bound_says_that_nothing_finite_can_be_promised():
    cert = ALL_KINDS["infinite"]
    assert cert.gamma == np.inf
    assert "No finite bound can be promised" in str(cert)
    np.testing.assert_array_equal(cert.interval([0.0]), [[-np.inf, np.inf]])


def test_no_rows_have_no_bands():
    assert ALL_KINDS["constant"].interval([]).shape == (0, 2)
    assert ALL_KINDS["scaled"].interval([], []).shape == (0, 2)


def test_certificate_records_its_origin():
    cert = ALL_KINDS["constant"]
    assert cert.pacband_version == pacband.__version__
    assert cert.created.endswith("+00:00")
    assert len(cert.data_digest) == 32
    assert isinstance(cert, Certificate)


@pytest.mark.parametrize("generation", [True, 1.0, 0, -1])
def test_the_first_of_a_chain_is_number_one(generation):
    with pytest.raises(CertificateError, match="generation must be"):
        changed(ALL_KINDS["constant"], generation=generation)


@pytest.mark.parametrize("chain_delta", ["0.5", 0.0, 1.0, 2, float("nan")])
def test_the_delta_of_a_chain_is_a_probability(chain_delta):
    with pytest.raises(CertificateError, match="chain_delta must be"):
        changed(ALL_KINDS["constant"], predecessor="0" * 64, generation=2, chain_delta=chain_delta)


def test_where_both_sides_are_bounded_gamma_is_not_negative():
    with pytest.raises(CertificateError, match=r"gamma must not be negative where both sides are bounded, got -0\.1"):
        changed(ALL_KINDS["constant"], gamma=-0.1)
    assert changed(ALL_KINDS["constant"], gamma=0.0).gamma == 0.0
    assert changed(ALL_KINDS["upper"], gamma=-0.1).gamma == -0.1


def test_the_bound_of_a_pair_is_a_pair_whose_rows_match():
    bounds = ALL_KINDS["pair"].bound((S, 2 * S))
    assert isinstance(bounds, tuple)
    with pytest.raises(InvalidInput, match="must have the same index"):
        ALL_KINDS["pair"].bound((pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0], index=[1, 0])))


def test_fewer_rows_than_the_rank_are_not_those_of_the_calibration():
    cert = ALL_KINDS["constant"]
    assert cert.rank > 3
    assert not cert.verify(Y[:3], P[:3])


def test_the_card_states_the_numbers_and_where_they_are_from():
    cert = ALL_KINDS["constant"]
    rows = dict(re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", cert._repr_html_()))
    assert list(rows) == [
        "where", "bound γ̄", "samples N, rank r", "δ promised, attained", "expected violation", "candidates", "holds if", "made", "data digest",
    ]  # fmt: skip
    assert rows["samples N, rank r"] == f"400, {cert.rank}"
    assert rows["candidates"] == "1"
    assert rows["holds if"] == "; ".join(cert.assumptions)
    assert rows["made"] == f"{cert.created} by pacband {pacband.__version__}"
    assert rows["data digest"] == cert.data_digest


def test_the_smallest_score_is_a_bound_where_its_rank_is_valid():
    cert = certify([1.0, 2.0, 3.0], np.zeros(3), eps=0.9, delta=0.5)
    assert (cert.rank, cert.n_samples, cert.gamma) == (3, 3, 1.0)


def test_a_certificate_has_at_most_1e12_samples():
    assert changed(ALL_KINDS["constant"], n_samples=10**12).n_samples == 10**12
    with pytest.raises(CertificateError, match=r"n_samples ≤ 1e\+12"):
        changed(ALL_KINDS["constant"], n_samples=10**12 + 1)


UNITS = Units(np.arange(40).repeat(10), "average")


def test_units_on_average_attain_the_part_of_delta_that_their_evidence_needs():
    one = certify(Y, P, eps=0.3, delta=0.1, draws=UNITS)
    assert one.attained_delta == pytest.approx(min(0.1, one.evidence.p_value(0.3)))
    family = certify_family(Y, {"a": P, "b": (P, S), "c": P + 1.0}, eps=0.3, delta=0.1, draws=UNITS)
    for cert in family.candidates.values():
        assert cert.attained_delta == pytest.approx(min(0.1, 3 * cert.evidence.p_value(0.3)))


def test_one_unit_may_be_evidence_enough():
    cert = certify(Y, P, eps=0.9, delta=0.5, draws=Units(np.zeros(400, dtype=int), "average"))
    assert (cert.n_samples, cert.rank, cert.evidence.n_units) == (1, None, 1)


def test_without_a_rank_no_number_of_draws_is_beyond_a_given_bound():
    with pytest.raises(InvalidInput, match="this certificate has no rank: its bound was not given"):
        _ = certify(Y, P, eps=0.3, delta=0.1, draws=UNITS).n_beyond
    assert pacband.certify_tolerance(Y, P, 1.0, delta=0.1).n_beyond == np.count_nonzero(np.abs(Y - P) > 1.0)


def test_units_on_average_are_verified_by_their_evidence_and_by_their_scores():
    cert = certify(Y, P, eps=0.3, delta=0.1, draws=UNITS)
    assert cert.verify(Y, P, draws=UNITS)
    nearer = np.abs(Y - P).argmin()
    other = Y.copy()
    other[nearer] = P[nearer] + (Y[nearer] - P[nearer]) / 2 + 0.25 * cert.gamma
    assert not cert.verify(other, P, draws=UNITS), "the same rows exceed the bound, by other scores"
    by_size = np.argsort(np.abs(Y - P))
    assert not cert.verify(Y[by_size], P[by_size], draws=UNITS), "the same scores are in other units"


def test_an_ellipsoid_has_an_interval_and_no_bound(rng):
    error = 2 * rng.standard_normal((400, 2))
    cert = certify(error, 0 * error, gauge=4 * np.eye(2), eps=0.1, delta=0.05)
    np.testing.assert_allclose(cert.interval([[0.0, 0.0]])[0, :, 1], 2 * cert.gamma, rtol=1e-12)
    with pytest.raises(InvalidInput, match="use interval"):
        cert.bound()
