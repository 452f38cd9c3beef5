"""Acceptance plans: the smallest (N, c) that keeps both risks, ties included."""

import random
import re
from fractions import Fraction
from math import comb

import pytest

from pacband import AcceptancePlan, InvalidInput, min_samples, plan_acceptance
from pacband.planning.binomial import tail_at_least
from pacband.planning.solving import exact_samples

FACTS = {
    (0.05, 0.05, 0.01, 0.1): (153, 3),
    (0.1, 0.05, 0.02, 0.05): (89, 4),
    (0.01, 0.01, 0.002, 0.1): (1157, 4),
    (0.05, 1e-6, 0.02, 0.1): (1422, 35),
}


def found(eps, delta, eps_good, beta):
    plan = plan_acceptance(eps, delta, eps_good=eps_good, beta=beta)
    return plan.n_samples, plan.max_violations


def exact_cdf(c, n, p):
    yes, no = p.numerator, p.denominator - p.numerator
    return Fraction(sum(comb(n, i) * yes**i * no ** (n - i) for i in range(c + 1)), p.denominator**n)


def brute_force(eps, delta, eps_good, beta, most=40):
    """Try every N, with the largest c that keeps δ; in fractions. None beyond `most` samples."""
    eps, delta, eps_good, beta = map(Fraction, (eps, delta, eps_good, beta))
    for n in range(1, most + 1):
        c = -1
        while exact_cdf(c + 1, n, eps) <= delta:
            c += 1
        if c >= 0 and 1 - exact_cdf(c, n, eps_good) <= beta:
            return n, c
    return None


@pytest.mark.parametrize(("asked", "expected"), FACTS.items())
def test_known_plans(asked, expected):
    assert found(*asked) == expected


def test_wilks_and_success_run_testing():
    assert [min_samples(0.05, 0.05, rank=c + 1) for c in (0, 1, 2)] == [59, 93, 124]
    # If good models hardly ever violate, no violation is allowed: a success run.
    assert found(0.05, 0.05, 1e-4, 0.1) == (59, 0)
    assert found(0.1, 0.1, 1e-4, 0.1) == (22, 0)


def test_brute_force_finds_the_same_plans():
    rng, n_compared = random.Random(0), 0
    risks = (0.5, 0.25, 0.1, 0.05, 0.01)
    while n_compared < 120:
        eps = rng.choice([0.5, 0.25, 0.75, 0.9, rng.uniform(0.15, 0.98)])
        eps_good = eps * rng.choice([0.5, 0.25, rng.uniform(0.05, 0.7)])
        delta, beta = (rng.choice([*risks, rng.uniform(0.01, 0.9)]) for _ in range(2))
        plan = found(eps, delta, eps_good, beta)
        if plan[0] > 40:
            continue
        assert plan == brute_force(eps, delta, eps_good, beta), (eps, delta, eps_good, beta)
        n_compared += 1


def test_trying_every_c_finds_the_same_plans():
    rng, n_compared = random.Random(1), 0
    while n_compared < 30:
        eps = rng.uniform(0.01, 0.95)
        eps_good = eps * rng.uniform(0.3, 0.93)
        delta, beta = 10 ** -rng.uniform(0.1, 6), 10 ** -rng.uniform(0.1, 4)
        plan = found(eps, delta, eps_good, beta)
        if plan[1] > 200:
            continue
        c = 0
        while not tail_at_least(exact_samples(eps, c + 1, Fraction(delta)), c + 1, eps_good, 1 - Fraction(beta)):
            c += 1
        assert plan == (exact_samples(eps, c + 1, Fraction(delta)), c), (eps, delta, eps_good, beta)
        n_compared += 1


@pytest.mark.parametrize("asked", FACTS)
def test_a_smaller_plan_breaks_a_risk(asked):
    """The wrong twins: one sample less breaks δ, one violation less breaks β."""
    eps, delta, eps_good, beta = map(Fraction, asked)
    n, c = FACTS[asked]
    assert exact_cdf(c, n, eps) <= delta < exact_cdf(c, n - 1, eps)
    assert 1 - exact_cdf(c, n, eps_good) <= beta < 1 - exact_cdf(c - 1, n, eps_good)


def test_ties_are_decided_exactly():
    # B(0; 1, ½) = ½, and 1 − B(0; 1, ¼) = ¼.
    assert found(0.5, 0.5, 0.25, 0.25) == (1, 0)
    # Just below the tie, one sample is not enough for either risk.
    assert found(0.5, 0.5 - 2**-54, 0.25, 0.25) == brute_force(0.5, 0.5 - 2**-54, 0.25, 0.25)
    assert found(0.5, 0.5, 0.25, 0.25 - 2**-55) == brute_force(0.5, 0.5, 0.25, 0.25 - 2**-55)


def test_the_operating_characteristic_is_the_binomial_law():
    plan = plan_acceptance(0.05, 0.05, eps_good=0.01)
    for p in (0.001, 0.01, 0.02, 0.05, 0.3, 0.999):
        assert plan.accept_probability(p) == pytest.approx(float(exact_cdf(3, 153, Fraction(p))), rel=1e-12)
    assert (plan.accept_probability(0.0), plan.accept_probability(1)) == (1.0, 0.0)
    assert dict(plan.characteristic)[0.05] == plan.accept_probability(0.05) <= plan.attained_delta <= 0.05
    assert 1 - dict(plan.characteristic)[0.01] == pytest.approx(plan.attained_beta, rel=1e-12)
    assert plan.attained_beta <= 0.1
    for p in (-0.1, 1.1, float("nan"), "many", None):
        with pytest.raises(InvalidInput, match=r"p must be (a number )?in \[0, 1\], got"):
            plan.accept_probability(p)


def test_the_plan_in_words():
    plan = plan_acceptance(0.05, 1e-6, eps_good=0.02)
    assert str(plan).startswith(
        "Fix the tolerance, draw 1422 samples the model has not seen, and accept the model if at most 35 of them "
        "violate. A model that violates with probability 5 % or more is accepted with probability at most 1e-06. A "
        "model that violates with probability 2 % or less is rejected with probability at most 10 %.\n"
    )
    assert "none of them violates" in str(plan_acceptance(0.05, 0.05, eps_good=1e-4))
    assert "1422" in plan._repr_html_()
    content = plan.to_dict()
    assert (content["n_samples"], content["max_violations"], len(content["characteristic"])) == (1422, 35, 8)
    assert isinstance(plan, AcceptancePlan)
    with pytest.raises(AttributeError):
        plan.n_samples = 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eps_good": 0.05}, r"eps_good must be smaller than eps=0.05, got 0.05\."),
        ({"eps_good": 0.2}, r"eps_good must be smaller than eps=0.05, got 0.2\."),
        ({"eps_good": 0.0}, r"eps_good must be in \(0, 1\), got 0.0\."),
        ({"eps_good": 1e-10}, r"eps_good must be at least 1e-09, got 1e-10\."),
        ({"eps_good": 0.01, "beta": 1.0}, r"beta must be in \(0, 1\), got 1.0\."),
        ({"eps_good": 0.01, "beta": 1e-30}, r"beta must be at least 1e-20, got 1e-30\."),
        ({"eps_good": 0.05 - 1e-8}, r"eps=0.05 .* eps_good=0.04999999 at beta=0.1 need more than 1e\+12 samples"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InvalidInput, match=message):
        plan_acceptance(0.05, 1e-6, **options)


@pytest.mark.parametrize(("eps", "delta"), [(0.0, 0.1), (1.5, 0.1), (1e-10, 0.1), (0.1, 0.0), (0.1, 1e-320)])
def test_bad_promises(eps, delta):
    with pytest.raises(InvalidInput, match=r"(eps|delta).* must be"):
        plan_acceptance(eps, delta, eps_good=1e-9)


def test_large_plans_are_quick():
    assert found(0.05, 1e-6, 0.0499, 0.1) == (172867246, 8629744)


def test_the_points_of_the_characteristic():
    plan = AcceptancePlan(153, 3, 0.05, 0.05, 0.01, 0.1)
    points = [p for p, _ in plan.characteristic]
    assert points == pytest.approx([0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1], rel=1e-12)
    assert [accepted for _, accepted in plan.characteristic] == [plan.accept_probability(p) for p in points]
    # Where a probability would reach one, the point is left out.
    assert [p for p, _ in AcceptancePlan(2, 1, 0.5, 0.8, 0.25, 0.9).characteristic][-2:] == [0.5, 0.75]


def test_models_that_never_or_always_violate():
    plan = AcceptancePlan(153, 3, 0.05, 0.05, 0.01, 0.1)
    assert (plan.accept_probability(0), plan.accept_probability(1)) == (1.0, 0.0)


def test_the_plan_as_json():
    plan = AcceptancePlan(153, 3, 0.05, 0.05, 0.01, 0.1)
    content = plan.to_dict()
    assert list(content) == [
        "n_samples", "max_violations", "eps", "delta", "eps_good", "beta", "attained_delta", "attained_beta",
        "characteristic",
    ]  # fmt: skip
    assert (content["attained_delta"], content["attained_beta"]) == (plan.attained_delta, plan.attained_beta)
    assert content["characteristic"][1] == {"p": 0.01, "accept_probability": plan.accept_probability(0.01)}


@pytest.mark.parametrize(
    "plan",
    [
        plan_acceptance(0.5, 0.1, eps_good=0.001, beta=1e-18),
        plan_acceptance(0.3, 0.01, eps_good=1e-9, beta=1e-20),
        plan_acceptance(0.05, 0.05, eps_good=0.01),
        plan_acceptance(0.9, 0.3, eps_good=0.8, beta=0.7),
        AcceptancePlan(400, 300, 0.9, 0.1, 0.2, 1e-20),
        AcceptancePlan(30, 3, 0.9, 0.1, 0.5, 0.9999999),
        AcceptancePlan(5, 0, 0.5, 0.1, 2.0**-40, 0.5),
    ],
)
def test_the_attained_beta_is_that_of_exact_fractions_rounded_up(plan):
    """The twin 1 − B(c; N, eps_good) in floats is zero in the first cases, and rounded down in others."""
    good, n, c = Fraction(plan.eps_good), plan.n_samples, plan.max_violations
    yes, no = good.numerator, good.denominator - good.numerator
    exact = Fraction(sum(comb(n, i) * yes**i * no ** (n - i) for i in range(c + 1, n + 1)), good.denominator**n)
    found = Fraction(plan.attained_beta)
    # At most one float more.
    assert exact <= found <= exact * (1 + Fraction(1, 2**52))


@pytest.mark.parametrize(
    ("eps", "eps_good", "words"),
    [
        (0.05, 0.01, ("5 %", "1 %")),
        (0.05004, 0.010006, ("5.004 %", "1.0006 %")),
        (0.0500000049, 0.0100000096, ("5.00001 %", "1 %")),
        (0.29, 0.07, ("29 %", "7 %")),
        (0.99999999, 0.3333333333, ("100 %", "33.3333 %")),
        (2e-7, 1e-9, ("2e-05 %", "1e-07 %")),
    ],
)
def test_the_sentence_holds_as_printed(eps, eps_good, words):
    printed = re.findall(
        r"violates with probability (\S+ %) or", AcceptancePlan(153, 3, eps, 0.05, eps_good, 0.1).procedure
    )
    assert tuple(printed) == words
    bad, good = (Fraction(text.removesuffix(" %")) / 100 for text in printed)
    assert bad >= Fraction(repr(eps))
    assert good <= Fraction(repr(eps_good))


@pytest.mark.parametrize(
    ("delta", "words"), [(0.0123451, "1.24 %"), (1e-4, "0.01 %"), (1.5e-4, "0.015 %"), (0.99e-4, "9.9e-05")]
)
def test_risks_in_words(delta, words):
    assert f"accepted with probability at most {words}." in AcceptancePlan(153, 3, 0.05, delta, 0.01, 0.1).procedure


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 2.0}, "delta must be in"),
        ({"eps_good": 0.9e-9}, "eps_good must be at least 1e-09"),
        ({"beta": 0.9e-20}, "beta must be at least"),
    ],
)
def test_the_limits_of_a_plan(options, message):
    with pytest.raises(InvalidInput, match=message):
        plan_acceptance(**{"eps": 0.5, "delta": 0.05, "eps_good": 1e-9, "beta": 0.5, **options})
    assert plan_acceptance(0.5, 0.05, eps_good=1e-9, beta=0.5).eps_good == 1e-9
