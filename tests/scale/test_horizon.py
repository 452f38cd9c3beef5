"""A profile over steps: what it learns, that a bad one only widens, and what is refused."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest, kstest

from pacband import InvalidInput, InvalidScale, certify, max_rank
from pacband.scale import HorizonScale

H = 10


def drifting(rng, n, k=None):
    shape = (n, H) if k is None else (n, H, k)
    return rng.standard_normal(shape).cumsum(axis=1)


def test_the_profile_is_the_root_mean_square_of_the_errors(rng):
    y, prediction = drifting(rng, 400), rng.standard_normal((400, H))
    scale = HorizonScale().fit(y, prediction)
    np.testing.assert_allclose(scale.profile_, np.sqrt(np.mean((y - prediction) ** 2, axis=0)), rtol=1e-12)
    np.testing.assert_allclose(scale.predict(y[:3]), np.tile(scale.profile_, (3, 1)), rtol=1e-15)
    # One output with its axis is the same.
    np.testing.assert_array_equal(HorizonScale().fit(y[..., None], prediction[..., None]).profile_, scale.profile_)


def test_several_outputs_have_a_profile_each_or_one_together(rng):
    y = drifting(rng, 300, 2) * [1.0, 5.0]
    each, together = HorizonScale().fit(y, 0 * y), HorizonScale(outputs="together").fit(y, 0 * y)
    np.testing.assert_allclose(each.profile_, np.sqrt(np.mean(y**2, axis=0)), rtol=1e-12)
    np.testing.assert_allclose(together.profile_, np.sqrt(np.mean(y**2, axis=(0, 2))), rtol=1e-12)
    assert (each.predict(y).shape, together.predict(y).shape) == ((300, H, 2), (300, H))
    assert certify(y, 0 * y, together.predict(y), gauge=np.diag([1.0, 25.0]), eps=0.2, delta=0.1).n_steps == H


@pytest.mark.parametrize("shape", [(200,), (200, H), (200, H, 2)])
def test_it_multiplies_another_scale(rng, shape):
    other = rng.uniform(0.5, 3.0, shape)
    wide = np.broadcast_to(other.reshape(*shape, *(1,) * (3 - len(shape))), (200, H, 2))
    y = drifting(rng, 200, 2) * wide
    scale = HorizonScale().fit(y, 0 * y, other)
    np.testing.assert_allclose(scale.profile_, np.sqrt(np.mean((y / wide) ** 2, axis=0)), rtol=1e-12)
    np.testing.assert_allclose(scale.predict(y, other), wide * scale.profile_, rtol=1e-12)


def test_it_is_positive_where_the_training_errors_are_zero(rng):
    y = drifting(rng, 50)
    y[:, 0] = 0.0
    scale = HorizonScale(floor=0.05).fit(y, 0 * y)
    assert scale.profile_[0] == pytest.approx(0.05 * scale.profile_.max(), rel=1e-15)
    assert (HorizonScale().fit(0 * y, 0 * y).profile_ == 1.0).all()
    huge = HorizonScale().fit(1e300 * np.sign(y), 0 * y)
    assert np.isfinite(huge.profile_).all()


def test_a_profile_that_fits_makes_a_narrower_tube(rng):
    training, calibration = drifting(rng, 200), drifting(rng, 1000)
    widths = {}
    for name, profile in (
        ("learnt", HorizonScale().fit(training, 0 * training).profile_),
        ("constant", np.ones(H)),
        ("reversed", HorizonScale().fit(training, 0 * training).profile_[::-1]),
    ):
        cert = certify(calibration, 0 * calibration, np.broadcast_to(profile, calibration.shape), eps=0.05, delta=0.01)
        widths[name] = cert.gamma * profile.mean()
    assert widths["learnt"] < 0.9 * widths["constant"] < 0.9 * widths["reversed"]


def test_the_promise_holds_with_any_profile_and_not_with_that_of_the_calibration_runs():
    """The violation with a profile from training runs has the Beta law; P{violation} of 20,000 future runs."""
    rng = np.random.default_rng(11)
    n, eps, delta, future = 40, 0.2, 0.1, drifting(rng, 4000)
    rank = max_rank(n, eps, delta)
    found = []
    for _ in range(400):
        y = drifting(rng, n)
        # A bad profile: of four runs only.
        few = drifting(rng, 4)
        profile = HorizonScale().fit(few, 0 * few).profile_
        gamma = certify(y, 0 * y, np.broadcast_to(profile, y.shape), eps=eps, delta=delta).gamma
        found.append(np.mean((np.abs(future) / profile).max(axis=1) > gamma))
    assert kstest(found, beta(rank, n - rank + 1).cdf).pvalue >= 1e-6
    assert binomtest(int(np.sum(np.array(found) > eps)), 400, delta, alternative="greater").pvalue >= 1e-6


def test_a_profile_that_is_fitted_to_the_calibration_runs_breaks_the_promise():
    """The wrong twin: with few runs of many steps and outputs, the own errors look smaller than future ones."""
    rng = np.random.default_rng(12)
    n, eps, delta, width = 22, 0.1, 0.1, 40
    future = rng.standard_normal((4000, width))
    failures = 0
    for _ in range(300):
        y = rng.standard_normal((n, width))
        # A profile that follows the largest errors of these very runs.
        profile = np.abs(y).max(axis=0)
        gamma = certify(y, 0 * y, np.broadcast_to(profile, y.shape), eps=eps, delta=delta).gamma
        failures += np.mean((np.abs(future) / profile).max(axis=1) > gamma) > eps
    assert binomtest(failures, 300, delta, alternative="greater").pvalue < 1e-6


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda y: HorizonScale(floor=0.0).fit(y, y), InvalidInput, "floor must be a positive finite number, got 0.0"),
        (lambda y: HorizonScale(floor=2.0).fit(y, y), InvalidInput, "floor must be a share of at most 1, got 2.0"),
        (lambda y: HorizonScale(outputs="some").fit(y, y), InvalidInput, "outputs must be one of 'each', 'together'"),
        (lambda y: HorizonScale().fit(y[:, 0], y[:, 0]), InvalidInput, r"y must be runs, of shape \(n, H\) or \(n, H, k\), got shape \(9,\)"),
        (lambda y: HorizonScale().fit(y, y[:, 1:]), InvalidInput, "y and y_pred must have the same shape"),
        (lambda y: HorizonScale().fit(y, np.where(np.arange(9)[:, None] == 4, np.nan, y)), InvalidInput, "y_pred must be finite: it is NaN or infinite in 1 row, row 4"),
        (lambda y: HorizonScale().fit(y, y, np.zeros(9)), InvalidScale, "scale must be positive and finite"),
        (lambda y: HorizonScale().fit(y, y, (y, y)), InvalidInput, "the other scale cannot be a pair"),
        (lambda y: HorizonScale().predict(y), InvalidInput, "call fit with training runs first"),
        (lambda y: HorizonScale().fit(y, y).predict(y[:, 1:]), InvalidInput, r"for runs of 10 steps and 1 output\(s\), got y_pred of shape \(9, 9, 1\)"),
        (lambda y: HorizonScale().fit(y, y).predict(y, np.ones(9)), InvalidInput, "learnt without another scale: predict without it"),
        (lambda y: HorizonScale().fit(y, y, np.ones(9)).predict(y), InvalidInput, "learnt with another scale: predict with it"),
    ],
)  # fmt: skip
def test_bad_input(call, error, message, rng):
    with pytest.raises(error, match=message):
        call(drifting(rng, 9))


def test_it_shows_its_options():
    assert repr(HorizonScale(floor=0.5)) == "HorizonScale(floor=0.5, outputs='each')"
