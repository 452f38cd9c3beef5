"""Tables with and without copied rows."""

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from pacband import CertifiedRegressor

PROMISE = {"eps": 0.05, "delta": 1e-3, "random_state": 0}


def sound(rng, n):
    X = rng.standard_normal((n, 3))
    return X, X[:, 0] + rng.standard_normal(n)


def nearest():
    return CertifiedRegressor(KNeighborsRegressor(1), **PROMISE)


def tables_that_repeat(rng, n):
    """Independent rows of sound tables that repeat by nature: each with the name of what repeats."""
    X, y = sound(rng, n)
    for share in (0.02, 0.1, 0.7):
        rest = rng.random(n) < share
        yield f"{share:.0%} at rest", (np.where(rest[:, None], 0.0, X), np.where(rest, 0.0, y))
    # Two states that the rows are in, and a gap in all columns.
    state = rng.integers(0, 3, n)
    states = np.array([[0.1, 0.2, 0.3], [1.5, 2.5, 3.7], [np.nan] * 3])[state]
    free = rng.random(n) < 0.5
    yield "three states", (np.where(free[:, None], X, states), np.where(free, y, state))
    station = rng.integers(0, n // 10, n)
    places = rng.standard_normal((n // 10, 2))[station]
    yield "places", (places, rng.poisson(2, n))
    yield "places and hours", (np.c_[places, rng.integers(0, 24, n)], rng.poisson(2, n))
    codes = [np.eye(levels)[rng.integers(0, levels, n)] for levels in (5, 12, 7)]
    yield "one column a category", (np.hstack(codes), np.hstack(codes) @ np.arange(24.0))
    yield "one column a category but the first", (np.hstack([code[:, 1:] for code in codes]), codes[0][:, 0])
