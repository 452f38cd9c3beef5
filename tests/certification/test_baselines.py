"""The bounds that the paper compares its method with."""

import inspect
import math

import numpy as np
import pytest

from pacband import InvalidInput, NotEnoughSamples, baselines, certify
from pacband.certification.baselines import gaussian_bound, largest_error, markov_bound
from pacband.datasets import paper_predictor, paper_sample, paper_scale, paper_violation


class TestBaselines:
    sigma = np.array([0.5, 1.0, 3.0])

    def test_markov(self):
        assert markov_bound(self.sigma, eps=0.04) == pytest.approx(5 * self.sigma)

    def test_gauss(self):
        assert gaussian_bound(self.sigma, eps=0.05) == pytest.approx(1.95996398454 * self.sigma)

    @pytest.mark.parametrize("eps", [0.3, 0.05, 1e-4])
    def test_with_the_true_sigma_of_gaussian_errors_both_hold(self, eps):
        gauss = paper_violation(lambda x: gaussian_bound(paper_scale(x), eps), n_nodes=60)
        markov = paper_violation(lambda x: markov_bound(paper_scale(x), eps), n_nodes=60)
        assert markov < gauss == pytest.approx(eps, rel=1e-10)

    def test_with_a_sigma_that_is_too_small_both_break(self):
        # That is why their docstrings state that they have no guarantee.
        too_small = 0.3
        assert paper_violation(lambda x: gaussian_bound(too_small * paper_scale(x)), n_nodes=60) > 0.5
        assert paper_violation(lambda x: markov_bound(too_small * paper_scale(x)), n_nodes=60) > 0.15

    def test_with_errors_that_are_not_gaussian_the_gaussian_bound_breaks_and_markov_holds(self):
        # ±10 with probability 0.03, else ±1: variance 3.97; ±10 is beyond 1.96·σ = 3.9, and within σ/sqrt(0.03).
        sigma = math.sqrt(0.03 * 100 + 0.97)
        assert gaussian_bound(sigma, eps=0.02) < 10  # violation 0.03 > 0.02
        assert markov_bound(sigma, eps=0.02) > 10

    def test_the_largest_error_is_the_largest(self):
        X, y = paper_sample(300, random_state=0)
        errors = np.abs(y - paper_predictor(X))
        cert = largest_error(y, paper_predictor(X))
        assert (cert.gamma, cert.rank) == (errors.max(), 1)
        assert cert.attained_delta <= cert.delta
        scaled = largest_error(y, paper_predictor(X), paper_scale(X), side="upper")
        assert scaled.gamma == pytest.approx(((y - paper_predictor(X)) / paper_scale(X)).max())

    def test_the_largest_error_grows_where_the_bound_of_certify_converges(self):
        X, y = paper_sample(50_000, random_state=0)
        prediction = paper_predictor(X)
        sizes = [500, 5000, 50_000]
        largest = [largest_error(y[:n], prediction[:n]).gamma for n in sizes]
        exact = [certify(y[:n], prediction[:n]).gamma for n in sizes]
        assert largest == sorted(largest)
        assert largest[-1] > 1.2 * largest[0]
        assert exact[-1] < exact[0]
        assert all(sharp < wide for sharp, wide in zip(exact, largest, strict=True))

    def test_the_largest_error_of_too_few_rows(self):
        with pytest.raises(NotEnoughSamples, match=r"need at least 277 samples by rule 'maximum', got n_samples=3"):
            largest_error([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])

    @pytest.mark.parametrize("function", [markov_bound, gaussian_bound])
    @pytest.mark.parametrize("eps", [0.0, 1.0, -1, math.nan, "0.05"])
    def test_bad_eps(self, function, eps):
        with pytest.raises(InvalidInput, match=r"eps must be in \(0, 1\)"):
            function(1.0, eps)

    @pytest.mark.parametrize("function", [markov_bound, gaussian_bound])
    def test_their_docstrings_state_that_they_have_no_guarantee(self, function):
        assert "Not certified" in inspect.getdoc(function)
        assert "**no** finite-sample guarantee" in inspect.getdoc(baselines)

    def test_the_docstring_of_the_largest_error_states_its_guarantee(self):
        assert "Certified" in inspect.getdoc(largest_error)
