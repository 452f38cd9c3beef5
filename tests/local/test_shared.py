"""What a family has in common is made once."""

import numpy as np
from joblib import hash as hash_value
from sklearn.model_selection import ParameterGrid

from pacband.local import LocalKernelRidge
from pacband.local.factor import pivoted_cholesky
from pacband.local.shared import Shared
from support.twins import put_in_place


def draw(dims):
    rng = np.random.default_rng(dims)
    X = rng.uniform(-2, 2, (120, dims))
    return X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(120), rng.uniform(-2, 2, (33, dims))


def test_one_factorization_and_one_embedding_serve_all_decays_and_penalties(monkeypatch):
    X, y, _ = draw(1)
    calls = []

    def counted(*args, **kwargs):
        calls.append(1)
        return pivoted_cholesky(*args, **kwargs)

    put_in_place(monkeypatch, pivoted_cholesky, counted)
    grid = list(ParameterGrid({"decay": range(1, 6), "alpha": [0.1, 1.0], "gamma": [1.0, 2.0]}))
    members = LocalKernelRidge().fit_grid(X, y, grid)
    assert len(calls) == 2
    assert len({id(member._model.locality) for member in members}) == 1
    assert len({id(member._model.design) for member in members}) == 2


def test_equal_keys_share_and_a_single_member_hashes_nothing(monkeypatch):
    family, alone = Shared(), Shared(alone=True)
    assert family.get(object, "a", np.ones(3)) is family.get(object, "a", np.ones(3))
    assert family.get(object, "a", np.ones(3)) is not family.get(object, "a", np.zeros(3))
    function = lambda X: X  # noqa: E731
    assert family.get(object, function) is family.get(object, function)

    def refuse(*_):
        raise AssertionError("hashed")

    put_in_place(monkeypatch, hash_value, refuse)
    assert alone.get(lambda: 3, "a") == 3
