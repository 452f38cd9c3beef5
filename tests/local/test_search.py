"""The search for parameters: what it finds, at which samples, and how settings share work."""

from dataclasses import asdict

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pacband.local import search
from pacband.local.kernels import Kernel
from pacband.local.leave_one_out import others
from pacband.local.locality import Locality
from pacband.local.norms import Norm
from pacband.local.search import Search, Setting
from pacband.local.weights import Weight
from support.twins import put_in_place


def make(n=150, dims=2, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, dims))
    y = np.sin(2 * X[:, 0]) + noise * rng.standard_normal(n)
    return Search(Kernel("rbf"), Weight("exponential", 1.0), Locality(Norm(2.0), X), X, y, rng.permutation(n))


def test_the_chosen_setting_has_an_error_near_the_noise():
    found, error = make().best({})
    assert 0.09 < error < 0.14
    assert 2 <= found.near <= 149


def test_given_parameters_are_kept():
    fixed = {"gamma": 0.31, "decay": 2.5}
    found, _ = make().best(fixed)
    assert (found.gamma, found.decay) == (0.31, 2.5)
    everything = Setting(0.31, 0.2, 2.5, 12)
    assert make().best(asdict(everything))[0] == everything


def test_pure_noise_ends_within_the_limits():
    trial = make(60, noise=100.0)
    found, _ = trial.best({})
    for name, unit in trial._units().items():
        low, high = search._LIMITS[name]
        assert low * unit * (1 - 1e-9) <= getattr(found, name) <= high * unit * (1 + 1e-9)


def test_copies_do_not_hide_the_scale_of_the_samples():
    X = np.repeat([[0.0], [1e-4]], [90, 10], axis=0)
    rng = np.random.default_rng(0)
    locality = Locality(Norm(2.0), X)
    trial = Search(Kernel("rbf"), Weight("exponential", 1.0), locality, X, X[:, 0], rng.permutation(100))
    units = trial._units()
    assert (units["gamma"], units["decay"]) == pytest.approx((1e8, 1e4))


def test_refinement_never_ends_worse_than_the_grid(monkeypatch):
    trial = make()
    found, error = trial.best({})
    monkeypatch.setattr(search, "_FACTORS", ())
    start, start_error = trial.best({})
    assert error <= start_error
    assert found != start


def test_settings_share_neighbours_and_matrices(monkeypatch):
    calls = []
    put_in_place(monkeypatch, others, lambda *args: calls.append("near") or others(*args))
    whole = Kernel.__call__
    monkeypatch.setattr(Kernel, "__call__", lambda *args: calls.append("gram") or whole(*args))
    trial = make()
    settings = [Setting(g, a, d, 10) for g in (0.1, 1.0) for a in (0.1, 1.0) for d in (1.0, 2.0)]
    together = trial.errors(settings, 150)
    assert calls == ["near", "gram", "gram"]
    for setting in settings:
        assert_allclose(trial.errors([setting], 150)[setting], together[setting], rtol=1e-12)


def test_scaled_features_give_scaled_parameters():
    trial = make()
    scaled = Search(trial.kernel, trial.weight, Locality(Norm(2.0), 8 * trial.X), 8 * trial.X, trial.y, trial.order)
    first, second = trial.best({})[0], scaled.best({})[0]
    assert second.gamma * 64 == pytest.approx(first.gamma)
    assert second.decay * 8 == pytest.approx(first.decay)
    assert second.alpha == pytest.approx(first.alpha)
    assert second.near == first.near
