"""Parameters that are "loo": chosen at fit, kept in files, refused where they make no sense."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacband
from pacband import CertifiedRegressor
from pacband.exceptions import InvalidInput
from pacband.local import LocalKernelRidge


def draw(n=120, dims=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, dims))
    return X, 50 + np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(n)


def test_tuned_chooses_all_four_and_predicts_well():
    X, y = draw()
    points, truth = draw(seed=1)
    model = LocalKernelRidge.tuned().fit(X, y)
    assert {name for name, value in model.get_params().items() if isinstance(value, str) and value == "loo"} == {
        *("gamma", "alpha", "decay", "n_neighbors")
    }
    error = np.sqrt(np.mean((model.predict(points) - truth) ** 2))
    assert error < 0.16
    assert 0.09 < model.loo_error_ < 0.16
    assert error < 0.3 * np.sqrt(np.mean((LinearRegression().fit(X, y).predict(points) - truth) ** 2))


@pytest.mark.parametrize("times", [2, 5])
def test_copies_of_samples_do_not_look_like_noiseless_ones(times):
    X, y = draw(dims=1)
    points, truth = draw(400, dims=1, seed=1)
    once = LocalKernelRidge.tuned().fit(X, y)
    model = LocalKernelRidge.tuned().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_allclose(model.loo_error_, once.loo_error_)
    assert_allclose((model.gamma_, model.decay_), (once.gamma_, once.decay_))
    assert_allclose(model.alpha_, times * once.alpha_)
    assert_allclose(model.predict(points), once.predict(points), rtol=1e-6)
    assert np.sqrt(np.mean((model.predict(points) - truth) ** 2)) < 0.16


def test_samples_that_agree_by_chance_are_not_left_out_together():
    rng = np.random.default_rng(0)
    chances = rng.random(10)
    x = rng.integers(0, 10, 400)
    y = (rng.random(400) < chances[x]).astype(float)
    model = LocalKernelRidge.tuned().fit(x[:, None], y)
    assert np.sqrt(np.mean((model.predict(np.arange(10.0)[:, None]) - chances) ** 2)) < 0.15


def test_chosen_parameters_given_as_numbers_are_the_same_model():
    X, y = draw()
    tuned = LocalKernelRidge.tuned().fit(X, y)
    chosen = {name: getattr(tuned, f"{name}_") for name in ("gamma", "alpha", "decay", "n_neighbors")}
    given = LocalKernelRidge(normalize_y=True, **chosen).fit(X, y)
    assert_array_equal(given.predict(X, return_std=True), tuned.predict(X, return_std=True))
    assert given.loo_error_ is None
    assert {name: getattr(given, f"{name}_") for name in chosen} == chosen


def test_fits_repeat_and_follow_random_state():
    X, y = draw(400)
    first, second = (LocalKernelRidge.tuned(n_neighbors=20).fit(X, y) for _ in range(2))
    assert (first.loo_error_, first.decay_) == (second.loo_error_, second.decay_)
    assert first.loo_error_ > 0
    few = LocalKernelRidge.tuned(n_neighbors=20, random_state=5).fit(*draw(1500))
    assert few.loo_error_ != LocalKernelRidge.tuned(n_neighbors=20, random_state=6).fit(*draw(1500)).loo_error_


def test_normalize_y_only_shifts():
    X, y = draw()
    options = {"alpha": 0.5, "n_neighbors": 15}
    shifted = LocalKernelRidge(normalize_y=True, **options).fit(X, y).predict(X, return_std=True)
    plain = LocalKernelRidge(**options).fit(X, y - y.mean()).predict(X, return_std=True)
    assert_allclose(shifted[0], plain[0] + y.mean(), rtol=1e-12)
    assert_allclose(shifted[1], plain[1], rtol=1e-12)
    _, scale = LocalKernelRidge(normalize_y=True).fit(X, np.full(len(y), 50.0)).predict(X, return_std=True)
    assert_allclose(scale, 50 * np.finfo(float).eps)


def test_a_family_searches_once_and_members_are_what_they_would_be_alone():
    X, y = draw()
    grid = [{"weight": weight} for weight in ("exponential", "tricube", "exponential")]
    members = LocalKernelRidge.tuned(n_neighbors=20).fit_grid(X, y, grid)
    for member, options in zip(members, grid, strict=True):
        alone = LocalKernelRidge.tuned(n_neighbors=20, **options).fit(X, y)
        assert (member.gamma_, member.decay_) == (alone.gamma_, alone.decay_)
        assert_allclose(member.predict(X), alone.predict(X), rtol=1e-12)


def test_survives_clone_and_a_model_file(tmp_path):
    X, y = draw()
    pipeline = make_pipeline(StandardScaler(), clone(LocalKernelRidge.tuned(n_neighbors=20)))
    model = CertifiedRegressor(pipeline, scale="std", eps=0.4, delta=0.1).fit(X, y, calibration=draw(seed=1))
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    before, after = (fitted.estimator_[-1] for fitted in (model, loaded))
    for name in ("gamma_", "alpha_", "decay_", "n_neighbors_", "loo_error_"):
        assert getattr(after, name) == getattr(before, name)
    assert after.get_params() == before.get_params()


def test_kernels_without_gamma_keep_none():
    X, y = draw(40)
    for kernel in ("linear", RBF(1.0)):
        model = LocalKernelRidge.tuned(kernel).fit(X, y)
        assert model.gamma is None
        assert model.gamma_ is None
        assert model.loo_error_ > 0


@pytest.mark.parametrize(
    ("parameters", "n", "message"),
    [
        (
            {"gamma": "loo", "kernel": "linear"},
            30,
            r"gamma='loo' needs kernel 'poly', 'rbf' or 'sigmoid', got 'linear'\.",
        ),
        ({"n_neighbors": "loo", "solver": "line"}, 30, r"n_neighbors='loo' needs solver 'auto', .*, got 'line'\."),
        ({"decay": "loo"}, 2, r"decay='loo' needs at least 3 different samples, got 2 \(n_samples=2\)\."),
        ({"decay": "loo", "alpha": -1}, 30, r"alpha must be a positive finite number, got -1\."),
        ({"decay": "loo", "n_neighbors": 0}, 30, r"n_neighbors must be at least 1, got 0\."),
        ({"alpha": "loo", "decay": 0}, 30, r"decay must be a positive finite number, got 0\."),
        ({"alpha": "loo", "gamma": -1}, 30, r"gamma must be a positive finite number, got -1\."),
        ({"decay": "auto"}, 30, r"decay must be a positive finite number, got 'auto'\."),
        ({"gamma": "auto"}, 30, r"gamma must be a positive finite number, got 'auto'\."),
    ],
)
def test_what_cannot_be_searched_is_refused(parameters, n, message):
    X, y = draw(n)
    with pytest.raises(InvalidInput, match=message):
        LocalKernelRidge(**parameters).fit(X, y)
