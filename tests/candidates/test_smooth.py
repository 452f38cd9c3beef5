"""The smooth process of the automatic family, against scikit-learn's."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic, WhiteKernel

from pacband.candidates import smooth
from pacband.candidates.smooth import SmoothProcess, evidence

KERNELS = {"gaussian": RBF, "matern": lambda lengths: Matern(lengths, nu=1.5)}
NAMES = [*KERNELS, "rational"]


def covariances(kernel, lengths, X, Z=None):
    """Return k by scikit-learn. Its rational quadratic kernel has one length for all features: they are scaled first."""
    if kernel == "rational":
        return RationalQuadratic(1.0, alpha=2.0)(X / lengths, None if Z is None else Z / lengths)
    return KERNELS[kernel](lengths)(X, Z)


def draw(rng, n, columns):
    X = rng.standard_normal((n, columns))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("lengths", [[0.8, 2.0, 5.0], [1.5]], ids=["of each feature", "of all"])
def test_the_evidence_is_that_of_scikit_learn_and_its_gradient_the_slope(rng, lengths, kernel):
    X, y = draw(rng, 60, 3)
    logs = np.log([1.3, *lengths, 0.2])
    loss, gradient = evidence(logs, X, y, kernel)
    covariance = ConstantKernel(1.3) * KERNELS[kernel](lengths) + WhiteKernel(0.2)
    process = GaussianProcessRegressor(covariance, optimizer=None).fit(X, y)
    assert -loss == pytest.approx(process.log_marginal_likelihood_value_, rel=1e-7)
    np.testing.assert_allclose(gradient, approx_fprime(logs, lambda at: evidence(at, X, y, kernel)[0], 1e-7), rtol=1e-4)


@pytest.mark.parametrize("lengths", [[0.8, 2.0, 5.0], [1.5]], ids=["of each feature", "of all"])
def test_the_evidence_of_the_rational_kernel_is_a_density_and_its_gradient_the_slope(rng, lengths):
    X, y = draw(rng, 60, 3)
    logs = np.log([1.3, *lengths, 0.2])
    loss, gradient = evidence(logs, X, y, "rational")
    covariance = 1.3 * covariances("rational", np.array(lengths), X) + 0.2 * np.eye(60)
    assert -loss == pytest.approx(multivariate_normal(np.zeros(60), covariance).logpdf(y), rel=1e-9)
    slope = approx_fprime(logs, lambda at: evidence(at, X, y, "rational")[0], 1e-7)
    np.testing.assert_allclose(gradient, slope, rtol=1e-4)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("columns", [1, 3, 40])
def test_the_process_predicts_as_scikit_learn_does_with_its_parameters(rng, columns, kernel):
    X, y = draw(rng, 80, columns)
    new = draw(rng, 20, columns)[0]
    process = SmoothProcess(kernel=kernel, random_state=0).fit(X, y)
    known = process.size_ * covariances(kernel, process.lengths_, X) + process.noise_ * np.eye(len(X))
    expected = process.size_ * covariances(kernel, process.lengths_, new, X) @ np.linalg.solve(known, y)
    np.testing.assert_allclose(process.predict(new), expected, atol=1e-7)


def test_the_parameters_are_as_likely_as_those_scikit_learn_finds(rng):
    X, y = draw(rng, 120, 2)
    process = SmoothProcess(random_state=0).fit(X, y)
    kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF([1.4, 1.4], (1e-1, 1e3)) + WhiteKernel(0.1, (1e-8, 1e1))
    with pytest.warns(match="close to the specified"):
        found = GaussianProcessRegressor(kernel, random_state=0).fit(X, y)
    logs = np.log([process.size_, *process.lengths_, process.noise_])
    assert -evidence(logs, X, y)[0] > found.log_marginal_likelihood_value_ - 0.1


def test_rows_beyond_the_bounds_are_left_out_and_a_repeated_row_does_no_harm(rng):
    X, y = draw(rng, 100, 2)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    process = SmoothProcess(50, 120, random_state=0).fit(X, y)
    assert len(process.known_) == 120
    assert np.isfinite(process.predict(X)).all()


def test_more_rows_find_lengths_that_few_rows_do_not_show(rng):
    X = rng.standard_normal((1000, 12))
    y = np.sin(3.0 * X[:, 0]) * X[:, 1] + 0.05 * rng.standard_normal(1000)
    new = rng.standard_normal((500, 12))
    few, more = (SmoothProcess(n_tune, random_state=0).fit(X, y).predict(new) for n_tune in (100, 1000))
    worse, better = (np.mean((np.sin(3.0 * new[:, 0]) * new[:, 1] - found) ** 2) for found in (few, more))
    assert better < worse / 2.0


def test_a_simulator_without_noise_is_followed(rng):
    """With a noise of at least 1e-4 the error is above 3e-3."""
    X = rng.uniform(-1, 1, (700, 4))
    y = np.sin(2 * X[:, 0] + X[:, 1]) + X[:, 2] ** 2 * X[:, 3]
    X, y = X / X.std(axis=0), (y - y.mean()) / y.std()
    process = SmoothProcess(kernel="rational", random_state=0).fit(X[:500], y[:500])
    assert np.sqrt(np.mean((y[500:] - process.predict(X[500:])) ** 2)) < 5e-4


def test_noise_is_not_taken_for_signal_in_200_rows_of_10_features(rng):
    """After a first search on a quarter of such rows, 6 of 20 searches ended with far too little noise."""
    for seed in range(20):
        X = rng.standard_normal((200, 10))
        y = 0.7 * X[:, 0] + rng.standard_normal(200)
        assert SmoothProcess(random_state=seed).fit(X, y / y.std()).noise_ > 0.1


def test_the_last_search_uses_more_rows_than_the_first():
    assert SmoothProcess(300)._searches(1000) == [300]
    assert SmoothProcess(1000)._searches(1000) == [500, 1000]
    assert SmoothProcess(1000)._searches(600) == [500, 600]
    assert SmoothProcess(1000)._searches(40) == [40]


def test_rows_are_known_and_predicted_in_blocks_of_any_size(rng, monkeypatch):
    X, y = draw(rng, 150, 3)
    whole = SmoothProcess(random_state=0).fit(X, y).predict(X)
    monkeypatch.setattr(smooth, "_ROWS_AT_ONCE", 16)
    np.testing.assert_allclose(SmoothProcess(random_state=0).fit(X, y).predict(X), whole, rtol=1e-9)


def test_a_longer_search_and_more_known_rows_take_longer_than_a_short_fit():
    process = SmoothProcess(50, 200, max_iter=30)
    times = [process.shorten(n_rows)[1] for n_rows in (40, 100, 1000, 2000)]
    assert 1.0 < times[0] < times[1] < times[2] == times[3]
    assert SmoothProcess(1000).shorten(1000)[1] < SmoothProcess(500).shorten(1000)[1]
    assert SmoothProcess(50, 200, max_iter=60).shorten(1000)[1] > times[2]
    assert SmoothProcess(50, 50, max_iter=1).shorten(1000)[1] == 1.0


@pytest.mark.parametrize("kernel", NAMES)
def test_a_prediction_depends_on_its_row_alone_to_the_last_bit(rng, kernel):
    """With little noise the weights are large and cancel: another order of the sum would change five digits more."""
    X = rng.uniform(-1, 1, (300, 2))
    process = SmoothProcess(kernel=kernel, random_state=0).fit(X, np.sin(3 * X[:, 0]))
    unseen = rng.uniform(-1, 1, (40, 2))
    alone = np.concatenate([process.predict(row[None]) for row in unseen])
    np.testing.assert_array_equal(alone, process.predict(unseen))
