"""Rows and fast predictors for tests of the automatic family."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from pacband.certification.terms import Terms

FAST = {
    "linear": make_pipeline(SimpleImputer(), Ridge()),
    "neighbours": make_pipeline(SimpleImputer(), KNeighborsRegressor(10)),
    "boosting": HistGradientBoostingRegressor(max_iter=30, random_state=0),
}
OPTIONS = {"eps": 0.1, "delta": 0.05, "n_jobs": 2}


def make_terms(eps=0.1, delta=0.05, side="both"):
    """Return the terms of a promise."""
    return Terms.create(eps=eps, delta=delta, side=side, min_scale=None, nonfinite="raise", gauge="max")


def draw(rng, n, columns=3):
    """A bend and a noise that both depend on the first column."""
    X = rng.uniform(-1, 1, (n, columns))
    return X, np.sin(3 * X[:, 0]) + X[:, -1] + (0.05 + 0.6 * (X[:, 0] > 0)) * rng.standard_normal(n)


def mixed_table(rng, n):
    """Categories, numbers and booleans, with gaps, and columns that are empty or constant."""
    city = rng.choice(["Rome", "Oslo", "Lima"], n)
    x = rng.uniform(-1, 1, n)
    y = np.select([city == "Rome", city == "Oslo"], [0.0, 5.0], 9.0) + x + 0.2 * rng.standard_normal(n)
    columns = {
        "city": [None if u < 0.05 else c for u, c in zip(rng.uniform(size=n), city, strict=True)],
        "x": np.where(rng.uniform(size=n) < 0.1, np.nan, x),
        "open": rng.uniform(size=n) < 0.5,
        "nothing": np.full(n, np.nan),
        "same": np.ones(n),
    }
    return columns, y


class Witness(RegressorMixin, BaseEstimator):
    """A regressor that keeps the targets of its fits."""

    shown: list = []  # noqa: RUF012 (shared by the clones on purpose)

    def fit(self, X, y):
        self.shown.append(y)
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Broken(LinearRegression):
    """A regressor whose fit fails."""

    def fit(self, X, y):
        raise ValueError("singular\nmatrix")
