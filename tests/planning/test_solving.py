"""One inequality, n_F·B(r − 1; N, ε) ≤ δ, solved exactly for each of its letters: shown against arithmetic that cannot be wrong."""

import math
import warnings
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from pacband import InvalidInput, NotEnoughSamples, attained_delta, attained_eps, max_rank, min_samples, plan
from pacband.planning.binomial import tail_at_most
from pacband.planning.solving import corollary_samples
from support.reference import (
    anywhere,
    at_most,
    exact_tail,
    exact_tails,
    is_smallest_sample,
    near_the_worst,
    reference_cases,
    relative_error,
    tail,
)
from support.reference import attained_eps as reference_attained_eps

with warnings.catch_warnings():
    # toleranceinterval 1.0.3 leaves its VERSION file open on import.
    warnings.simplefilter("ignore", ResourceWarning)
    import toleranceinterval


class TestKnownAnswers:
    def test_the_360_reference_cases(self):
        cases = reference_cases()
        wrong = [case for case in cases if min_samples(*case[:3]) != case[3]]
        assert (len(cases), wrong) == (360, [])

    def test_the_attained_delta_of_the_360_reference_cases(self):
        for eps, _, rank, n_samples, attained in reference_cases():
            assert relative_error(attained_delta(n_samples, rank, eps), mpmath.mpf(attained)) < 1e-12

    @pytest.mark.parametrize(
        ("eps", "delta", "rank", "n_samples"),
        [
            (0.05, 1e-6, 1, 270),
            (0.05, 1e-6, 51, 1827),
            (0.05, 1e-6, 60, 2063),
            (0.05, 1e-7, 60, 2161),
            (0.01, 1e-9, 20, 5914),
            (1e-3, 1e-12, 100, 187204),
            (1e-4, 1e-12, 500, 6738013),
            (1e-3, 1e-18, 10, 66544),
        ],
    )
    def test_the_exact_number_of_samples(self, eps, delta, rank, n_samples):
        assert min_samples(eps, delta, rank) == n_samples
        assert plan(eps, delta, rank=rank).n_samples == n_samples

    @pytest.mark.parametrize(
        ("n_samples", "n_candidates", "exact_rank", "paper_rank"), [(2065, 1, 60, 51), (2407, 10, 69, 60)]
    )
    def test_the_exact_rank_beside_the_papers(self, n_samples, n_candidates, exact_rank, paper_rank):
        assert max_rank(n_samples, 0.05, 1e-6, n_candidates) == exact_rank
        options = {"n_samples": n_samples, "n_candidates": n_candidates}
        assert plan(0.05, 1e-6, **options).rank == exact_rank
        assert plan(0.05, 1e-6, **options, rule="paper").rank == paper_rank

    def test_lemma_1(self):
        lemma = plan(0.05, 1e-6, rule="paper")
        assert (lemma.n_samples, lemma.rank) == (2065, 51)
        # With the constant 7.47 of Lemma 1 (the paper's 2407 is (1 + √3)², FACTS erratum d).
        assert plan(0.05, 1e-6, n_candidates=10, rule="paper").n_samples == 2409

    @pytest.mark.parametrize("rank", [1, 51, 52, 100, 1000])
    def test_lemma_1_with_a_rank_takes_the_first_samples_that_have_it(self, rank):
        n_samples = plan(0.05, 1e-6, rank=rank, rule="paper").n_samples
        assert n_samples == max(2065, 40 * rank)

    @pytest.mark.parametrize(("eps", "delta", "n_samples"), [(0.05, 1e-6, 277), (0.1, 0.05, 30), (0.01, 1e-9, 2073)])
    def test_the_largest_score(self, eps, delta, n_samples):
        assert n_samples == math.ceil(math.log(1 / delta) / eps)
        largest = plan(eps, delta, rule="maximum")
        assert (largest.n_samples, largest.rank) == (n_samples, 1)

    @pytest.mark.parametrize(
        ("eps", "delta", "rank", "n_candidates", "n_samples"),
        [(0.05, 1e-6, 1, 1, 277), (0.05, 1e-6, 51, 1, 2020), (0.05, 1e-6, 60, 10, 2375), (0.01, 1e-9, 20, 1, 6779)],
    )
    def test_the_corollary(self, eps, delta, rank, n_candidates, n_samples):
        log = math.log(n_candidates / delta)
        assert n_samples == math.ceil((rank - 1 + log + math.sqrt(2 * (rank - 1) * log)) / eps)
        assert min_samples(eps, delta, rank, n_candidates, rule="corollary") == n_samples

    def test_half_the_rank_is_taken_in_decimals(self):
        assert math.floor(0.29 * 200 / 2) == 28  # what floating point makes of it
        assert plan(0.29, 1e-3, n_samples=200, rule="paper").rank == 29

    @pytest.mark.parametrize("percent", range(5, 100, 6))
    def test_half_the_rank_for_every_n(self, percent):
        for n_samples in range(500, 900):
            rank = plan(percent / 100, 0.05, n_samples=n_samples, rule="paper").rank
            assert rank == percent * n_samples // 200


class TestExactTies:
    """For dyadic ε the tail is a dyadic number; with few enough bits it is a float, and δ can equal it exactly."""

    @staticmethod
    def ties(largest_n):
        for eps, n_samples in product([0.5, 0.25, 0.75, 0.375, 1 / 32], range(1, largest_n + 1)):
            for rank, exact in enumerate(exact_tails(n_samples, eps), start=1):
                if Fraction(float(exact)) == exact:
                    yield n_samples, rank, eps, float(exact)

    def test_a_tie_is_valid_and_one_unit_below_it_is_not(self):
        count = 0
        for n_samples, rank, eps, delta in self.ties(40):
            below = math.nextafter(delta, 0)
            assert max_rank(n_samples, eps, delta) == rank
            assert min_samples(eps, delta, rank) == n_samples
            assert tail_at_most(n_samples, rank, eps, Fraction(delta))
            assert not tail_at_most(n_samples, rank, eps, Fraction(below))
            assert min_samples(eps, below, rank) == n_samples + 1
            count += 1
        assert count > 400

    @pytest.mark.parametrize("n_candidates", [3, 7, 10])
    def test_a_tie_survives_the_division_by_the_candidates(self, n_candidates):
        # δ = n_F/16 is a float, δ/n_F in floating point is not 1/16 for certain; B(0; 4, 1/2) = 1/16 is.
        assert max_rank(4, 0.5, n_candidates / 16, n_candidates) == 1

    @pytest.mark.parametrize("k", [0, 1, 10, 1000, 10**6])
    def test_the_median_is_a_tie_for_every_odd_n(self, k):
        assert max_rank(2 * k + 1, 0.5, 0.5) == k + 1
        assert min_samples(0.5, 0.5, k + 1) == 2 * k + 1
        assert min_samples(0.5, math.nextafter(0.5, 0), k + 1) == 2 * k + 2

    @pytest.mark.parametrize("eps", [0.05, 0.1, 0.3])
    def test_every_small_case_against_rational_arithmetic(self, eps):
        for n_samples, delta in product(range(1, 41), [0.5, 0.1, 0.05, 1e-3]):
            valid = sum(exact <= Fraction(delta) for exact in exact_tails(n_samples, eps))
            if valid:
                assert max_rank(n_samples, eps, delta) == valid
            else:
                with pytest.raises(NotEnoughSamples):
                    max_rank(n_samples, eps, delta)


class TestNeitherSamplesNorRank:
    """The smallest N whose ⌊εN/2⌋ is valid."""

    @staticmethod
    def scan(eps, delta):
        n_samples = 1
        while True:
            rank = int(Fraction(repr(eps)) * n_samples / 2)
            # A float decides this, and rational arithmetic decides near-ties.
            tail_here = float(stats.binom.cdf(rank - 1, n_samples, eps)) if rank else 1.0
            if abs(tail_here - delta) < 1e-9 * delta:
                tail_here = exact_tail(n_samples, rank, eps)
            if tail_here <= delta:
                return n_samples, rank
            n_samples += 1

    @pytest.mark.parametrize("eps", [0.02, 0.05, 0.29, 0.5, 0.6666, 2 / 3, 0.66667, 0.667, 0.67, 0.7, 0.8, 0.95, 0.999])
    def test_brute_force_finds_no_smaller_one(self, eps):
        for delta in [0.99, 0.9, 0.765, 0.5, 0.3, 0.1, 0.05, 1e-3, 1e-6, 1e-12]:
            chosen, (n_samples, half_rank) = plan(eps, delta), self.scan(eps, delta)
            assert chosen.n_samples == n_samples
            assert chosen.rank == max_rank(n_samples, eps, delta) >= half_rank

    def test_where_the_tail_rises_from_one_rank_to_the_next(self):
        # A δ between the two tails makes validity at the end of a stretch true, false and true again.
        def end_of_stretch(rank, eps):
            return math.ceil(2 * (rank + 1) / Fraction(repr(eps))) - 1

        count = 0
        for eps, rank in product(np.linspace(0.667, 0.76, 60).tolist(), range(1, 20)):
            here, following = (attained_delta(end_of_stretch(r, eps), r, eps) for r in (rank, rank + 1))
            if following > here * (1 + 1e-6):
                delta = math.sqrt(here * following)
                assert plan(eps, delta).n_samples == self.scan(eps, delta)[0]
                count += 1
        assert count > 50


class TestAttained:
    @pytest.mark.parametrize(
        ("n_samples", "rank", "eps"),
        [
            (59, 1, 0.05),
            (2065, 60, 0.05),
            (10**6, 49_000, 0.05),
            (10**9, 10**6, 1.001e-3),
            (300, 290, 0.95),
            (5, 5, 0.9),
        ],
    )
    def test_delta_is_the_binomial_tail(self, n_samples, rank, eps):
        for n_candidates in (1, 10, 10**6):
            expected = min(1, n_candidates * tail(n_samples, rank, eps))
            assert relative_error(attained_delta(n_samples, rank, eps, n_candidates), expected) < 1e-11

    @pytest.mark.parametrize(
        ("n_samples", "rank", "eps"),
        [
            (59, 1, 0.05),
            (2065, 60, 0.05),
            (300, 290, 0.95),
            (10**6, 49_000, 0.05),
            (10**9, 10**9 // 2 - 60_000, 0.5),
            (10**10, 10**9 + 9 * 10**4, 0.1),
            (10**12, 5 * 10**11 - 10**6, 0.5),
            (10**12, 5 * 10**11 + 10**5, 0.5),
            (10**12, 5 * 10**10 - 14 * 10**5, 0.05),
            (10**12, 999_999 * 10**6 - 4000, 0.999999),
            (10**12, 980, 1e-9),
        ],
    )
    def test_delta_is_the_smallest_float_that_is_certified(self, n_samples, rank, eps):
        for n_candidates in (1, 7):
            delta = attained_delta(n_samples, rank, eps, n_candidates)
            with mpmath.workdps(60):
                needed = n_candidates * tail(n_samples, rank, eps)
            assert (delta == 1.0 and needed > 1) or at_most(needed, delta)
            assert not at_most(needed, math.nextafter(delta, 0.0))

    @pytest.mark.parametrize("eps", [0.5, 0.999, 1 - 2**-53])
    def test_delta_is_above_zero_where_floats_end(self, eps):
        assert attained_delta(10**12, 1, eps) == math.ulp(0.0)
        assert attained_delta(10**12, 10**11, eps, n_candidates=10**6) == math.ulp(0.0)

    @pytest.mark.parametrize("delta", [1 - 1e-10, 1 - 1e-12, 1 - 2**-53])
    @pytest.mark.parametrize(("n_samples", "rank"), [(1, 1), (300, 20), (10**6, 10**5)])
    def test_eps_is_the_smallest_float_where_delta_is_next_to_one(self, n_samples, rank, delta):
        eps = attained_eps(n_samples, rank, delta)
        assert at_most(tail(n_samples, rank, eps), delta)
        assert not at_most(tail(n_samples, rank, math.nextafter(eps, 0.0)), delta)

    def test_delta_is_never_more_than_one(self):
        assert attained_delta(100, 50, 0.01, n_candidates=10) == 1.0

    @pytest.mark.parametrize(
        ("n_samples", "rank", "delta", "n_candidates"),
        [
            (1, 1, 0.5, 1),
            (59, 1, 0.05, 1),
            (59, 59, 0.05, 1),
            (2065, 60, 1e-6, 1),
            (2407, 69, 1e-6, 10),
            (10**6, 1, 1e-12, 1),
            (10**6, 999_000, 1e-12, 1),
            (10**9, 10**5, 1e-100, 1),
            (10**12, 1, 0.99, 1),
            (10**12, 1, 1e-300, 1),
            (10**12, 999, 1e-6, 7),
        ],
    )
    def test_eps_is_valid_and_the_smallest(self, n_samples, rank, delta, n_candidates):
        eps = attained_eps(n_samples, rank, delta, n_candidates)
        with mpmath.workdps(60):
            budget = mpmath.mpf(delta) / n_candidates
        assert at_most(tail(n_samples, rank, eps), budget)
        assert relative_error(eps, reference_attained_eps(n_samples, rank, budget)) <= 1e-9

    @pytest.mark.parametrize(
        ("n_samples", "rank", "delta"),
        [
            # At rank 1000 exactly betainccinv returns 2⁻²⁶, thirteen times too much, or falls far short.
            (10**12, 1000, 1e-6),
            (10**7, 1000, 1e-6),
            (1_590_080_204, 1000, 5.372743775047194e-12),
            (132_056_058, 1000, 3.695656550337045e-13),
            # At δ below 1e-250 it stops early.
            (12_563, 39, 6.940200545008167e-297),
            (361_580, 28, 3.503150392706429e-280),
            (5026, 37, 1.744351339582746e-278),
        ],
    )
    def test_eps_is_the_smallest_where_the_float_inverse_is_wrong(self, n_samples, rank, delta):
        eps, root = attained_eps(n_samples, rank, delta), reference_attained_eps(n_samples, rank, delta)
        assert relative_error(eps, root) <= 1e-9

    def test_eps_is_one_where_no_smaller_one_is_certified(self):
        # 1 − ε^5 ≤ 1e-300 takes an ε that no float below one reaches.
        assert attained_eps(5, 5, 1e-300) == 1.0

    def test_the_attained_delta_is_certified(self):
        rng = np.random.default_rng(0)
        for n_samples in range(20, 220):
            rank, eps = int(rng.integers(1, n_samples // 10 + 1)), float(rng.uniform(0.1, 0.4))
            delta = attained_delta(n_samples, rank, eps)
            assert plan(eps, delta, n_samples=n_samples, rank=rank).attained_delta == delta

    def test_the_attained_eps_is_certified(self):
        rng = np.random.default_rng(0)
        for n_samples in range(20, 220):
            rank, delta = int(rng.integers(1, n_samples + 1)), float(10 ** rng.uniform(-12, 0))
            eps = attained_eps(n_samples, rank, delta)
            assert plan(eps, delta, n_samples=n_samples, rank=rank).eps == eps


class TestCorners:
    @pytest.mark.parametrize(
        ("eps", "delta", "rank"),
        [
            (1e-9, 1e-300, 1),
            (1e-9, 1e-300, 50),
            (1e-9, 0.99, 1),
            (1e-9, 0.5, 999),
            (1e-6, 1e-300, 900_000),
            (0.5, 1e-300, 10**11),
            (0.99, 1e-300, 1),
            (0.99, 0.99, 10**11),
            (1 - 2**-53, 1e-300, 1000),
            (1e-3, 1e-15, 10**8),
        ],
    )
    def test_the_smallest_n_at_the_ends_of_the_range(self, eps, delta, rank):
        assert is_smallest_sample(min_samples(eps, delta, rank), rank, eps, delta)

    @pytest.mark.parametrize(
        ("n_samples", "eps", "delta"),
        [
            (10**12, 1e-9, 1e-300),
            (10**12, 1e-9, 0.99),
            (10**12, 0.5, 1e-300),
            (10**12, 0.99, 1e-6),
            (10**12, 1e-3, 0.5),
        ],
    )
    def test_the_largest_rank_at_the_ends_of_the_range(self, n_samples, eps, delta):
        rank = max_rank(n_samples, eps, delta)
        assert at_most(tail(n_samples, rank, eps), delta)
        assert not at_most(tail(n_samples, rank + 1, eps), delta)

    @pytest.mark.parametrize(
        ("eps", "delta", "options"),
        [
            (1e-9, 1e-6, {"rank": 1000}),
            (0.5, 0.5, {"rank": 10**12}),
            (0.5, 0.5, {"rank": 10**15}),
            (1e-9, 1e-300, {"rule": "corollary", "rank": 200}),
        ],
    )
    def test_more_samples_than_are_planned_for(self, eps, delta, options):
        with pytest.raises(InvalidInput, match=rf"at rank {options['rank']} need more than 1e\+12 samples"):
            min_samples(eps, delta, **options)

    @pytest.mark.parametrize("rule", ["exact", "paper"])
    def test_a_plan_for_more_samples_than_are_planned_for(self, rule):
        with pytest.raises(InvalidInput, match=r"eps=1e-09 and delta=1e-300 need more than 1e\+12 samples"):
            plan(1e-9, 1e-300, rule=rule)


def log_uniform(low, high):
    return st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))


EPS = log_uniform(1e-4, 0.99)
DELTA = log_uniform(1e-100, 0.99)
RANK = log_uniform(1, 1e4).map(int)
N_SAMPLES = log_uniform(1, 1e7).map(int)
N_CANDIDATES = log_uniform(1, 1e6).map(int)
SLACK = 1 + 1e-11  # of a float tail


def for_all(*strategies):
    """Like `given`, with no deadline: the machine that runs the tests may be busy."""
    return lambda test: settings(deadline=None)(given(*strategies)(test))


def rank_or_zero(*arguments):
    try:
        return max_rank(*arguments)
    except NotEnoughSamples:
        return 0


class TestProperties:
    @for_all(EPS, DELTA, RANK, N_CANDIDATES)
    def test_the_largest_rank_inverts_the_smallest_n(self, eps, delta, rank, n_candidates):
        n_samples = min_samples(eps, delta, rank, n_candidates)
        assert max_rank(n_samples, eps, delta, n_candidates) >= rank
        assert n_samples == rank or rank_or_zero(n_samples - 1, eps, delta, n_candidates) < rank

    @for_all(N_SAMPLES, EPS, DELTA, N_CANDIDATES)
    def test_the_smallest_n_inverts_the_largest_rank(self, n_samples, eps, delta, n_candidates):
        rank = rank_or_zero(n_samples, eps, delta, n_candidates)
        if rank:
            assert min_samples(eps, delta, rank, n_candidates) <= n_samples
        assert min_samples(eps, delta, rank + 1, n_candidates) > n_samples

    @pytest.mark.parametrize("rule", ["exact", "corollary"])
    @for_all(EPS, EPS, DELTA, DELTA, RANK, RANK, N_CANDIDATES, N_CANDIDATES)
    def test_the_smallest_n_is_monotonic(self, rule, eps_1, eps_2, delta_1, delta_2, rank_1, rank_2, n_f_1, n_f_2):
        easy = max(eps_1, eps_2), max(delta_1, delta_2), min(rank_1, rank_2), min(n_f_1, n_f_2)
        hard = min(eps_1, eps_2), min(delta_1, delta_2), max(rank_1, rank_2), max(n_f_1, n_f_2)
        steps = [(*hard[:i], *easy[i:]) for i in range(5)]
        answers = [min_samples(*step, rule=rule) for step in steps]
        assert answers == sorted(answers)

    @for_all(N_SAMPLES, N_SAMPLES, EPS, EPS, DELTA, DELTA, N_CANDIDATES, N_CANDIDATES)
    def test_the_largest_rank_is_monotonic(self, n_1, n_2, eps_1, eps_2, delta_1, delta_2, n_f_1, n_f_2):
        easy = max(n_1, n_2), max(eps_1, eps_2), max(delta_1, delta_2), min(n_f_1, n_f_2)
        hard = min(n_1, n_2), min(eps_1, eps_2), min(delta_1, delta_2), max(n_f_1, n_f_2)
        answers = [rank_or_zero(*easy[:i], *hard[i:]) for i in range(5)]
        assert answers == sorted(answers)

    @for_all(N_SAMPLES, N_SAMPLES, RANK, RANK, EPS, EPS, N_CANDIDATES, N_CANDIDATES)
    def test_the_attained_delta_is_monotonic(self, n_1, n_2, rank_1, rank_2, eps_1, eps_2, n_f_1, n_f_2):
        assume(max(rank_1, rank_2) <= min(n_1, n_2))
        easy = max(n_1, n_2), min(rank_1, rank_2), max(eps_1, eps_2), min(n_f_1, n_f_2)
        hard = min(n_1, n_2), max(rank_1, rank_2), min(eps_1, eps_2), max(n_f_1, n_f_2)
        answers = [attained_delta(*hard[:i], *easy[i:]) for i in range(5)]
        assert all(before <= after * SLACK for before, after in pairwise(answers))

    @for_all(N_SAMPLES, N_SAMPLES, RANK, RANK, DELTA, DELTA, N_CANDIDATES, N_CANDIDATES)
    def test_the_attained_eps_is_monotonic(self, n_1, n_2, rank_1, rank_2, delta_1, delta_2, n_f_1, n_f_2):
        assume(max(rank_1, rank_2) <= min(n_1, n_2))
        easy = max(n_1, n_2), min(rank_1, rank_2), max(delta_1, delta_2), min(n_f_1, n_f_2)
        hard = min(n_1, n_2), max(rank_1, rank_2), min(delta_1, delta_2), max(n_f_1, n_f_2)
        answers = [attained_eps(*hard[:i], *easy[i:]) for i in range(5)]
        assert all(before <= after * SLACK for before, after in pairwise(answers))

    @for_all(EPS, DELTA, RANK, N_CANDIDATES)
    def test_a_plan_attains_at_most_its_delta(self, eps, delta, rank, n_candidates):
        chosen = plan(eps, delta, rank=rank, n_candidates=n_candidates)
        assert chosen.attained_delta == attained_delta(chosen.n_samples, rank, eps, n_candidates) <= delta

    @for_all(EPS, DELTA, RANK, N_CANDIDATES)
    def test_the_corollary_is_sufficient(self, eps, delta, rank, n_candidates):
        exact = min_samples(eps, delta, rank, n_candidates)
        corollary = min_samples(eps, delta, rank, n_candidates, rule="corollary")
        assert exact <= corollary
        assert plan(eps, delta, n_samples=corollary, rank=rank, n_candidates=n_candidates)

    @for_all(EPS, log_uniform(1e-100, 0.76), N_CANDIDATES)
    def test_lemma_1_and_the_largest_score_are_sufficient(self, eps, delta, n_candidates):
        exact, paper, largest = (
            plan(eps, delta, n_candidates=n_candidates, rule=rule) for rule in ("exact", "paper", "maximum")
        )
        assert exact.n_samples <= paper.n_samples
        assert paper.rank <= max_rank(paper.n_samples, eps, delta, n_candidates)
        assert min_samples(eps, delta, 1, n_candidates) <= largest.n_samples <= paper.n_samples

    @for_all(N_SAMPLES, RANK, EPS, N_CANDIDATES)
    def test_candidates_divide_delta(self, n_samples, rank, eps, n_candidates):
        assume(rank <= n_samples)
        alone, shared = attained_delta(n_samples, rank, eps), attained_delta(n_samples, rank, eps, n_candidates)
        assert shared == pytest.approx(min(1.0, n_candidates * alone), rel=1e-12)


# The peers take 1 − ε and 1 − δ, whose rounding decides ties; these promises have none.
PEER_CASES = list(product([60, 100, 299, 500, 2065], [0.05, 0.1, 0.2], [0.05, 0.01, 1e-3, 1e-6]))


def peer_toleranceinterval(n_samples, eps, delta):
    """The rank of the one-sided non-parametric tolerance bound, or 0 where there is none."""
    (index,) = toleranceinterval.oneside.non_parametric(np.arange(float(n_samples)), 1 - eps, 1 - delta)
    return 0 if math.isnan(index) else n_samples - int(index)


def peer_quantile_test(n_samples, eps, delta):
    """The rank of the upper confidence limit of the (1 − ε)-quantile, or 0 where there is none."""
    result = stats.quantile_test(np.arange(float(n_samples)), p=1 - eps, alternative="less")
    high = result.confidence_interval(1 - delta).high
    return 0 if math.isnan(high) else n_samples - int(high)


class TestPeers:
    """Whoever bounds a quantile from above by an order statistic solves the same inequality."""

    @pytest.mark.parametrize("peer", [peer_toleranceinterval, peer_quantile_test])
    def test_the_same_rank(self, peer):
        for case in PEER_CASES:
            assert peer(*case) == rank_or_zero(*case), case

    def test_a_peer_that_takes_one_minus_delta_breaks_its_promise_at_small_delta(self):
        # 1 − 1e-18 is 1.0 in floating point, and a rounded distribution function reaches 1.0 too soon.
        rank = peer_toleranceinterval(2065, 0.05, 1e-18)
        assert rank == 32
        assert tail(2065, rank, 0.05) > 17e-18
        assert max_rank(2065, 0.05, 1e-18) == 29
        assert tail(2065, 29, 0.05) <= 1e-18 < tail(2065, 30, 0.05)

    def test_a_peer_that_takes_one_minus_delta_refuses_a_small_one(self):
        with pytest.raises(ValueError, match="between 0 and 1"):
            peer_quantile_test(2065, 0.05, 1e-18)

    @pytest.mark.parametrize("n_samples", [20, 500, 10**5])
    def test_the_binomial_distribution_function(self, n_samples):
        for eps, share in product([0.01, 0.05, 0.5, 0.9], [0.2, 0.6, 0.9, 1.0]):
            rank = max(1, int(share * eps * n_samples))
            expected = float(stats.binom.cdf(rank - 1, n_samples, eps))
            assert attained_delta(n_samples, rank, eps) == pytest.approx(expected, rel=1e-9)


def random_promises(rng, *, smallest_delta=1e-300):
    """ε in 1e-9 … 0.99 and δ down to 1e-300, each log-uniform, with a log-uniform rank."""
    while True:
        eps = float(np.exp(rng.uniform(math.log(1e-9), math.log(0.99))))
        delta = float(np.exp(rng.uniform(math.log(smallest_delta), math.log(0.99))))
        yield eps, delta, int(np.exp(rng.uniform(0, math.log(1e12))))


def wrong_answers(n_cases, seed):
    """Cases in which min_samples is not the smallest N, among n_cases whose answer is at most 1e12."""
    wrong, done = [], 0
    for eps, delta, rank in random_promises(np.random.default_rng(seed)):
        if done == n_cases:
            return wrong
        try:
            n_samples = min_samples(eps, delta, rank)
        except InvalidInput:
            continue
        done += 1
        if not is_smallest_sample(n_samples, rank, eps, delta):
            wrong.append((eps, delta, rank, n_samples))
    return wrong


def test_random_promises_against_high_precision():
    assert wrong_answers(300, seed=0) == []


@pytest.mark.verify
def test_twenty_thousand_random_promises_against_high_precision():
    assert wrong_answers(20_000, seed=1) == []


def unsound_eps(draw, n_cases, seed):
    """Cases in which attained_eps is not certified, or more than 1e-9 of itself above the smallest ε that is."""
    rng, unsound = np.random.default_rng(seed), []
    for _ in range(n_cases):
        (n_samples, rank), delta = draw(rng), float(10 ** rng.uniform(-300, 0))
        if rank > 10**9:
            continue  # a near-tie among so many ranks takes seconds to decide
        eps = attained_eps(n_samples, rank, delta)
        with mpmath.workdps(40):
            smaller = mpmath.mpf(eps) * (1 - mpmath.mpf("1e-9"))
        certified = eps == 1 or at_most(tail(n_samples, rank, eps), delta)
        if not certified or at_most(tail(n_samples, rank, smaller), delta):
            unsound.append((n_samples, rank, delta, eps))
    return unsound


@pytest.mark.parametrize("draw", [anywhere, near_the_worst])
def test_random_attained_eps_against_high_precision(draw):
    assert unsound_eps(draw, 100, seed=2) == []


@pytest.mark.verify
@pytest.mark.parametrize("draw", [anywhere, near_the_worst])
def test_many_random_attained_eps_against_high_precision(draw):
    assert unsound_eps(draw, 3000, seed=3) == []


@pytest.mark.parametrize(("budget", "samples"), [(Fraction(9, 10), 1), (Fraction(3, 5), 2), (Fraction(1, 100), 10)])
def test_the_closed_form_of_the_largest_score_is_the_logarithm_over_eps_and_at_least_one(budget, samples):
    assert corollary_samples(0.5, 1, budget) == samples == max(1, math.ceil(-math.log(budget) / 0.5))
