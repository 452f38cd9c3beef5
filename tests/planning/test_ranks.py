"""Ranks: what too few samples can promise instead."""

import re
from fractions import Fraction

import pytest
from scipy.stats import binom

from pacband import InvalidInput, NotEnoughSamples, attained_delta, attained_eps, max_rank, min_samples, plan
from pacband.planning import DeltaShare
from pacband.planning.ranks import choose_rank, guess_rank


def refused(*arguments, **options):
    with pytest.raises(NotEnoughSamples) as caught:
        plan(*arguments, **options)
    return caught.value


def offers(error):
    """Return what the message of NotEnoughSamples offers: {"eps": 0.1, "delta": 0.3}."""
    instead = str(error).partition("These samples can promise ")[2]
    return {name: float(value) for name, value in re.findall(r"(eps|delta)=(\S+?) at this", instead)}


class TestNotEnoughSamples:
    def test_the_message(self):
        with pytest.raises(NotEnoughSamples) as caught:
            max_rank(200, 0.05, 1e-6)
        error = caught.value
        assert str(error) == (
            "eps=0.05 and delta=1e-06 need at least 270 samples at rank 1, got n_samples=200. "
            "These samples can promise eps=0.0668 at this delta, or delta=3.51e-05 at this eps."
        )
        assert (error.n_samples, error.needed) == (200, 270)
        assert error.eps_here == attained_eps(200, 1, 1e-6)
        assert error.delta_here == attained_delta(200, 1, 0.05)
        assert isinstance(error, InvalidInput)
        assert isinstance(error, ValueError)

    def test_the_candidates_are_named(self):
        error = refused(0.05, 1e-6, n_samples=200, n_candidates=10)
        assert "delta=1e-06, shared 10 ways, need at least 315 samples" in str(error)

    @pytest.mark.parametrize("n_samples", [3, 5, 30, 100, 269])
    @pytest.mark.parametrize("n_candidates", [1, 20])
    def test_what_is_offered_holds_as_it_is_printed(self, n_samples, n_candidates):
        error = refused(0.05, 1e-6, n_samples=n_samples, n_candidates=n_candidates)
        offered = offers(error)
        assert ("eps" in offered, "delta" in offered) == (error.eps_here is not None, error.delta_here is not None)
        for name, value in offered.items():
            promise = {"eps": 0.05, "delta": 1e-6, name: value}
            assert plan(**promise, n_samples=n_samples, n_candidates=n_candidates)

    @pytest.mark.parametrize(("eps", "delta"), [(0.05, 4e-4), (3e-4, 0.5), (0.05, 0.9)])
    def test_what_one_sample_is_offered_to_promise_holds(self, eps, delta):
        for name, value in offers(refused(eps, delta, n_samples=1)).items():
            assert plan(**{"eps": eps, "delta": delta, name: value}, n_samples=1)

    @pytest.mark.parametrize(("n_samples", "rank"), [(100, 3), (100, 50), (1826, 51), (2062, 60)])
    def test_what_is_offered_at_a_rank_holds_at_that_rank(self, n_samples, rank):
        error = refused(0.05, 1e-6, n_samples=n_samples, rank=rank)
        assert f"samples at rank {rank}" in str(error)
        assert error.needed == min_samples(0.05, 1e-6, rank)
        offered = offers(error)
        assert offered
        for name, value in offered.items():
            assert plan(**{"eps": 0.05, "delta": 1e-6, name: value}, n_samples=n_samples, rank=rank)

    @pytest.mark.parametrize("n_samples", [100, 150, 200, 269])
    def test_eps_here_and_delta_here_are_certified(self, n_samples):
        error = refused(0.05, 1e-6, n_samples=n_samples)
        assert plan(error.eps_here, 1e-6, n_samples=n_samples).rank == 1
        assert plan(0.05, error.delta_here, n_samples=n_samples).rank == 1

    @pytest.mark.parametrize(
        ("eps", "delta", "n_samples", "rule", "needed"),
        [
            (0.05, 1e-6, 1000, "paper", 2065),
            (0.05, 1e-6, 200, "maximum", 277),
            # Below 2/ε Lemma 1 has rank ⌊εN/2⌋ = 0: no bound at all, however large δ.
            (0.05, 0.9, 39, "paper", 40),
            (0.05, 0.9, 2, "paper", 40),
        ],
    )
    def test_what_a_rule_needs(self, eps, delta, n_samples, rule, needed):
        error = refused(eps, delta, n_samples=n_samples, rule=rule)
        assert f"need at least {needed} samples by rule '{rule}', got n_samples={n_samples}." in str(error)
        assert error.needed == needed
        assert plan(eps, delta, n_samples=needed, rule=rule)
        for name, value in offers(error).items():
            assert plan(**{"eps": eps, "delta": delta, name: value}, n_samples=n_samples)

    @pytest.mark.filterwarnings("ignore::pacband.UnlikelyPromise")
    @pytest.mark.parametrize(
        ("rule", "rank"),
        [*((rule, rank) for rule in ("exact", "paper") for rank in (None, 1, 3)), ("maximum", None), ("maximum", 1)],
    )
    def test_every_offer_is_accepted_by_the_same_call(self, rule, rank):
        n_offers = 0
        for n_samples in (1, 2, 3, 4, 5, 7, 30, 39, 40, 41, 100, 301, 1000):
            for eps, delta, n_candidates in ((0.05, 1e-6, 1), (0.05, 1e-6, 9), (0.002, 0.3, 1), (0.5, 1e-12, 1)):
                asked = {"n_samples": n_samples, "rank": rank, "rule": rule, "n_candidates": n_candidates}
                try:
                    plan(eps, delta, **asked)
                except NotEnoughSamples as caught:
                    error = caught
                except InvalidInput:  # the rank is larger than N
                    continue
                else:
                    continue
                stored = {"eps": error.eps_here, "delta": error.delta_here}
                assert list(offers(error)) == [name for name, value in stored.items() if value is not None]
                for name, value in (*offers(error).items(), *stored.items()):
                    if value is not None:
                        assert plan(**{"eps": eps, "delta": delta, name: value}, **asked)
                        n_offers += 1
        assert n_offers > 40

    @pytest.mark.parametrize("n_samples", [3, 4, 5, 12, 30, 100, 301])
    @pytest.mark.parametrize("delta", [0.3, 0.01, 1e-6])
    def test_lemma_1_accepts_no_smaller_eps_of_three_digits(self, n_samples, delta):
        """Against scipy's binomial at the rank ⌊εN/2⌋ of every ε: as ε grows, this rank grows with it."""
        offered = refused(0.002, delta, n_samples=n_samples, rule="paper").eps_here
        digits = [k / 10**d for d in (5, 4, 3) for k in range(100, 1000)]
        accepted = [
            eps
            for eps in digits
            if (r := int(Fraction(str(eps)) * n_samples / 2)) and binom.cdf(r - 1, n_samples, eps) <= delta
        ]
        assert min(accepted, default=1.0) == pytest.approx(offered, rel=0.01)
        assert min(accepted, default=1.0) >= offered

    def test_lemma_1_offers_no_delta_at_rank_zero(self):
        error = refused(0.05, 1e-6, n_samples=30, rule="paper")
        assert (error.delta_here, list(offers(error))) == (None, ["eps"])
        # Two samples have rank zero at every ε below one.
        nothing = refused(0.05, 1e-6, n_samples=2, rule="paper")
        assert (nothing.eps_here, nothing.delta_here, offers(nothing)) == (None, None, {})

    def test_lemma_1_has_no_bound_for_large_delta(self):
        # At its own N, Lemma 1 has rank zero where N < 2/ε: for δ > exp(−2/7.47) ≈ 0.765, up to rounding N.
        assert plan(0.05, 0.76, rule="paper").rank == 1
        assert "by rule 'paper'" in str(refused(0.05, 0.78, rule="paper"))

    def test_a_rank_beyond_lemma_1_needs_more_samples_than_there_are(self):
        assert refused(0.05, 1e-6, n_samples=2065, rank=100, rule="paper").needed > 2065

    def test_nothing_can_be_promised(self):
        error = refused(1e-9, 1e-300, n_samples=1)
        assert (error.eps_here, offers(error).get("eps")) == (None, None)


@pytest.mark.parametrize("rule", ["exact", "paper", "maximum"])
@pytest.mark.parametrize("n_samples", [3000, 30_001, 10**11])
def test_a_guess_is_near_the_rank_that_is_chosen(n_samples, rule):
    chosen = choose_rank(n_samples, 0.05, 1e-6, rule=rule)
    assert abs(guess_rank(n_samples, 0.05, 1e-6, rule=rule) - chosen) <= 1
    assert guess_rank(n_samples, 0.05, 1e-6, rank=7) == 7


def test_a_guess_is_zero_where_no_rank_is_valid():
    assert guess_rank(100, 0.05, 1e-6) == 0


def test_a_share_that_is_too_small_to_be_decided_has_no_guess():
    with pytest.raises(InvalidInput, match=r"delta / n_candidates must be at least 1e-300, got 1e-50 · 1e-290"):
        guess_rank(10**6, 0.05, 1e-50, DeltaShare(2, 1e-290))


class TestSlack:
    def test_what_the_dependence_uses_up_is_not_there_for_the_rank(self):
        whole, half = choose_rank(2065, 0.05, 1e-6), choose_rank(2065, 0.05, 5e-7)
        assert choose_rank(2065, 0.05, 1e-6, slack=Fraction(1e-6) / 2) == half < whole

    def test_a_slack_of_all_of_delta_leaves_nothing(self):
        with pytest.raises(InvalidInput, match=r"the dependence between 2065 samples uses up 1e-06, and delta=1e-06"):
            choose_rank(2065, 0.05, 1e-6, slack=Fraction(1e-6))

    def test_what_is_offered_can_be_promised(self):
        beta = Fraction(1e-4)

        def chosen(n, delta):
            return choose_rank(n, 0.05, delta, slack=n * beta, slack_each=beta)

        with pytest.raises(NotEnoughSamples) as caught:
            chosen(60, 0.0436)
        error = caught.value
        assert chosen(error.needed, 0.0436) >= 1
        with pytest.raises(NotEnoughSamples):
            chosen(error.needed - 1, 0.0436)
        assert chosen(60, error.delta_here) >= 1
        assert choose_rank(60, error.eps_here, 0.0436, slack=60 * beta) >= 1

    def test_no_number_of_samples_suffices_if_each_uses_up_too_much(self):
        with pytest.raises(NotEnoughSamples, match="cannot be promised by any number of these samples") as caught:
            choose_rank(20, 0.05, 1e-3, slack=Fraction(20, 10**5), slack_each=Fraction(1, 10**5))
        assert caught.value.needed is None

    def test_no_number_of_samples_suffices_if_what_is_needed_uses_up_just_all_of_delta(self):
        each = Fraction(1e-3) / (min_samples(0.05, 1e-3, rank=1) - 20)
        with pytest.raises(NotEnoughSamples, match="cannot be promised by any number of these samples") as caught:
            choose_rank(20, 0.05, 1e-3, slack_each=each)
        assert caught.value.needed is None

    def test_a_slack_of_nearly_all_of_delta_leaves_a_little(self):
        assert choose_rank(2065, 0.05, 1e-6, slack=Fraction(1e-6) - Fraction(1, 10**40)) >= 1


def test_a_share_is_named():
    with pytest.raises(NotEnoughSamples, match=r"eps=0.05 and delta=0.1, at weight 0.001, need at least"):
        choose_rank(100, 0.05, 0.1, DeltaShare(3, 0.001))
    with pytest.raises(InvalidInput, match=r"delta / n_candidates must be at least 1e-300, got 1e-10 · 1e-295"):
        choose_rank(100, 0.05, 1e-10, DeltaShare(2, 1e-295))
    with pytest.raises(InvalidInput, match=r"got 1e-299 / 100\."):
        choose_rank(100, 0.05, 1e-299, DeltaShare(100))
