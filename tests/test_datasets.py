"""The paper's example, whose errors are known in closed form."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, kstest, norm, uniform

from pacband import InvalidInput
from pacband.datasets import paper_bound, paper_predictor, paper_sample, paper_scale, paper_violation

FALSE_ALARM = 1e-6


class TestThePapersExample:
    """The sample's laws, each by a Kolmogorov-Smirnov test on 20,000 rows: false alarm 1e-6, seeds fixed."""

    X, y = paper_sample(20_000, random_state=0)

    def test_shapes_and_types(self):
        assert (self.X.shape, self.y.shape) == ((20_000, 1), (20_000,))
        assert (self.X.dtype, self.y.dtype) == (np.float64, np.float64)

    def test_x_is_uniform(self):
        assert kstest(self.X[:, 0], uniform(-2.5, 5).cdf).pvalue >= FALSE_ALARM

    def test_the_error_over_its_scale_is_standard_normal(self):
        standardised = (self.y - paper_predictor(self.X)) / paper_scale(self.X)
        assert kstest(standardised, norm.cdf).pvalue >= FALSE_ALARM

    def test_the_error_has_the_papers_variances(self):
        # Var(e | x) = 7x² + 3: the squared errors regress on x² with these coefficients (within 6 standard errors).
        square = np.vander(self.X[:, 0] ** 2, 2)
        (slope, offset), *_ = np.linalg.lstsq(square, (self.y - paper_predictor(self.X)) ** 2, rcond=None)
        assert slope == pytest.approx(7, abs=0.7)
        assert offset == pytest.approx(3, abs=1.5)
        assert np.var(self.y - paper_predictor(self.X)) == pytest.approx(7 * 2.5**2 / 3 + 3, rel=0.08)

    def test_the_best_predictor(self):
        x = np.linspace(-2.5, 2.5, 7)
        assert paper_predictor(x) == pytest.approx(10 * x + 10 * np.sin(4 * x) + 5, rel=1e-15)
        assert np.array_equal(paper_predictor(x[:, None]), paper_predictor(x))
        assert np.array_equal(paper_scale(x[:, None]), np.sqrt(7 * x**2 + 3))

    def test_a_seed_or_a_generator_decides_the_sample(self):
        for again in (paper_sample(50, random_state=3), paper_sample(50, random_state=np.random.default_rng(3))):
            for first, second in zip(paper_sample(50, random_state=3), again, strict=True):
                assert np.array_equal(first, second)
        assert not np.array_equal(paper_sample(50, random_state=3)[1], paper_sample(50, random_state=4)[1])

    @pytest.mark.parametrize("n_samples", [0, -1, 2.5, "10", True])
    def test_bad_sizes(self, n_samples):
        with pytest.raises(InvalidInput, match="n_samples must be"):
            paper_sample(n_samples)


class TestTheTrueViolation:
    @pytest.mark.parametrize("eps", [0.5, 0.05, 1e-3, 1e-9])
    def test_the_oracles_bound_violates_by_eps(self, eps):
        assert paper_violation(lambda x: paper_bound(x, eps), n_nodes=50) == pytest.approx(eps, rel=1e-12)

    def test_the_oracles_bound_is_the_papers(self):
        x = np.array([0.0, 1.0, -2.5])
        assert paper_bound(x) == pytest.approx(1.95996398454 * np.sqrt(7 * x**2 + 3), rel=1e-11)

    def test_no_bound_and_a_boundless_one(self):
        assert paper_violation(0.0, n_nodes=60) == pytest.approx(1.0, rel=1e-12)
        assert paper_violation(1e3, n_nodes=60) == 0.0

    @pytest.mark.parametrize("bound", [3.0, 10.77, lambda x: 2 + np.abs(x), lambda x: np.exp(x)])
    def test_the_quadrature_agrees_with_simulation(self, bound):
        """A million fresh rows; the number of violations is binomial. False alarm 1e-6."""
        X, y = paper_sample(10**6, random_state=1)
        width = bound(X[:, 0]) if callable(bound) else bound
        violations = int(np.sum(np.abs(y - paper_predictor(X)) > width))
        assert binomtest(violations, 10**6, paper_violation(bound, n_nodes=300)).pvalue >= FALSE_ALARM

    def test_the_number_of_nodes_does_not_matter(self):
        assert paper_violation(10.77, n_nodes=60) == pytest.approx(paper_violation(10.77, n_nodes=300), rel=1e-12)

    @pytest.mark.parametrize("eps", [0.0, 1.0, math.nan, "0.05"])
    def test_bad_eps(self, eps):
        with pytest.raises(InvalidInput, match=r"eps must be in \(0, 1\)"):
            paper_bound([0.0], eps)
