"""Numbers that the pages quote in their sentences: each is computed again, and looked for in its page."""

import json

import numpy as np
import pytest
from scipy.stats import binom, norm

import pacband
from support.blocks import DOCS, text_of


def wider(n, eps, delta):
    """Return by how many percent a certified band is wider than that of split conformal prediction."""
    return round(100 * pacband.plan_table(n, eps=eps, deltas=delta).rows[0].relative_width - 100)


def test_the_widths_that_the_pages_quote():
    marginal, choosing = text_of("marginal"), text_of("choosing")
    small, large = ({wider(n, eps, delta) for eps in (0.05, 0.1)} for n, delta in ((1000, 0.05), (100_000, 1e-6)))
    assert (len(small), len(large)) == (1, 1)
    assert f"{small.pop()} % with N = 1,000 at δ = 0.05, {large.pop()} % with N = 100,000 at δ = 1e-6." in marginal
    low, high = sorted(wider(1000, eps, 1e-6) for eps in (0.05, 0.1))
    assert f"With 1,000 rows, one in a million costs {low} to {high} % of width." in choosing
    assert f"the band is about {wider(120, 0.1, 0.05)} % wider than that of split conformal prediction." in choosing
    assert f"With ε = 0.05 the same rows pay {wider(120, 0.05, 0.05)} % at δ = 0.05." in choosing


def test_what_more_rows_buy():
    plans = [pacband.plan(0.1, 0.05, n_samples=n).expected_violation for n in (29, 58, 145, 2900)]
    fewest, *more = norm.isf(np.array(plans) / 2)
    twice, five, hundred = (round(100 * (1 - one / fewest)) for one in more)
    assert twice == 0
    said = f"five times as many make the band about {five} % narrower, and a hundred times as many {hundred} %."
    assert f"Here, twice as many buy nothing, {said}" in text_of("choosing")


def test_what_ten_candidates_cost():
    costs = []
    for n in (120, 1000, 2500, 10_000):
        one, ten = (norm.isf(pacband.max_rank(n, 0.1, 0.05, k) / (n + 1) / 2) for k in (1, 10))
        costs.append(round(100 * (ten / one - 1)))
    said = "{} % with 120 rows, by {} % with 1,000, by {} % with 2,500 and by {} % with 10,000 (ε = 0.1, δ = 0.05"
    assert said.format(*costs) in text_of("how_to/candidates")


def test_what_it_costs_to_choose_without_a_family():
    """The numbers of the pages for independent candidates, by the formula and by a simulation (six standard errors)."""
    rank = pacband.max_rank(500, 0.05, 0.05)
    alone = pacband.attained_delta(500, rank, 0.05)
    shares = {n: 1 - (1 - alone) ** n for n in (1, 10, 100)}
    assert {n: f"{100 * share:.0f} %" for n, share in shares.items()} == {1: "3 %", 10: "29 %", 100: "97 %"}
    violations = np.random.default_rng(0).beta(rank, 501 - rank, (20_000, 10)).max(axis=1)
    assert np.mean(violations > 0.05) == pytest.approx(shares[10], abs=6 * (0.25 / 20_000) ** 0.5)
    which, paper = text_of("which_promise"), text_of("paper")
    assert "one model fails in 3 % of calibrations, and the best of ten equally good models in 29 %" in which
    assert "3 % for one candidate, 29 % for ten, and 97 % for a hundred" in paper


def test_the_price_of_a_curve_that_the_page_quotes():
    rng = np.random.default_rng(0)  # the rows of the page
    x = rng.uniform(0, 1, 6000)
    yhat = 10 + 5 * x
    y = yhat + (0.3 + x) * rng.standard_normal(6000)
    curve = pacband.certify_curve(y, yhat, delta=1e-3)
    prices = {eps: curve.gamma(eps) / pacband.certify(y, yhat, eps=eps, delta=1e-3).gamma for eps in (0.05, 0.1, 0.01)}
    assert {eps: round(100 * price - 100) for eps, price in prices.items()} == {0.05: 1, 0.1: 2, 0.01: 5}
    assert "1 % larger at ε = 0.05, 2 % at 0.1, and 5 % at 0.01" in text_of("which_promise")


def test_the_numbers_of_rows_that_the_pages_quote():
    index, independence = text_of("index"), text_of("independence")
    for eps, delta, rows, page in (
        (0.05, 1e-6, "at least 270 rows for this promise", index),
        (0.1, 0.05, "29 rows for ε = 0.1 and δ = 0.05", index),
        (0.1, 0.05, "29 for ε = 0.1 and δ = 0.05", independence),
        (0.1, 0.01, "44 for δ = 0.01", independence),
    ):
        assert rows in page
        assert str(pacband.min_samples(eps, delta)) in rows


def test_how_many_rows_the_gate_needs():
    """A model that violates twice as often as promised, tested as `check` tests it, at its default level."""

    def stopped(n, share, eps=0.05, level=0.01):
        """The probability that n rows contradict the promise of ε, if this share violates."""
        return binom.sf(binom.isf(level, n, eps), n, share)

    plan = pacband.plan_acceptance(0.10, 0.10, eps_good=0.05, beta=0.01)
    assert 0.9 <= stopped(plan.n_samples, 0.10) < 0.91
    assert stopped(plan.n_samples, 0.05) <= 0.01
    page = text_of("how_to/production")
    assert f"With {plan.n_samples} rows, a model that violates in 10 % of the rows, twice ε = 5 %, is stopped" in page
    assert f"With 100 rows, the bad model is stopped with a probability of only {100 * stopped(100, 0.1):.0f} %" in page
    assert stopped(1000, 0.1) > 0.999
    # The test of `check` is this one: the fewest violations that contradict, and one less.
    certificate = pacband.certify_scores(np.random.default_rng(0).random(1000), eps=0.05, delta=0.01)
    for n_violations, holds in ((plan.max_violations + 1, False), (plan.max_violations, True)):
        y = np.where(np.arange(plan.n_samples) < n_violations, 2.0, 0.0)
        assert pacband.check(certificate, y).holds is holds
    # One row is too few to contradict anything, two are not.
    assert [pacband.check(certificate, [2.0] * n).holds for n in (1, 2)] == [None, False]


def test_how_often_a_promise_fails_if_rows_are_not_independent():
    """The numbers of the findings are those of the stored study."""
    stored = json.loads((DOCS / "computed" / "failures.json").read_text("utf-8"))["rows"]
    wrong = [round(100 * row["failures"]) for row in stored if row["draws"] == "rows (wrong)"]
    machines, series, _ = wrong
    findings = text_of("reference/findings")
    assert f"an autoregression with factor 0.9 for independent fails in about {series} % of calibrations." in findings
    assert f"are not 2,000 rows: a promise with δ = 5 % fails in about {machines} % of calibrations." in findings
