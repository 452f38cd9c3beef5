"""Rows and models that the tests of estimators share."""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from pacband import datasets

PROMISE = {"eps": 0.1, "delta": 0.01}
MODEL_PROMISE = {"eps": 0.1, "delta": 0.05, "random_state": 0}
X, Y = datasets.paper_sample(3000, random_state=7)
X_NEW, Y_NEW = datasets.paper_sample(1000, random_state=8)
NOISE = {"coast": 1.0, "hills": 2.0, "summit": 5.0}


def sine(X):
    """Predict as the paper does: the true mean."""
    return datasets.paper_predictor(X)


def draw(rng, n):
    """Rows of a number and a site; the noise depends on the site."""
    site = rng.choice(list(NOISE), n, p=[0.6, 0.3, 0.1])
    x = rng.uniform(-1, 1, n)
    y = 3 * x + np.vectorize(NOISE.get)(site) * rng.standard_normal(n)
    return pd.DataFrame({"x": x, "site": site}), y


class Everyone:
    """One group for all; a function would have its address in the names of the tests, other in every process."""

    def __call__(self, X):
        return np.zeros(X.shape[0] if hasattr(X, "shape") else len(np.asarray(X)), dtype=int)

    def __repr__(self):
        return "everyone"


everyone = Everyone()


def truth(X):
    """Predict the true mean of `draw`."""
    return 3 * X["x"].to_numpy()


def line():
    """Return a linear model of x alone."""
    return make_pipeline(make_column_transformer(("passthrough", ["x"])), LinearRegression())


def boosted(**options):
    """Return a small boosting model."""
    return HistGradientBoostingRegressor(max_iter=5, random_state=0, **options)


def same(one, other, X, **options):
    """Assert that two models predict the same bits."""
    np.testing.assert_array_equal(one.predict(X, **options), other.predict(X, **options))
    np.testing.assert_array_equal(one.predict_interval(X, **options), other.predict_interval(X, **options))


def linear(n_rows, seed, outputs=1):
    """Return a table of numbers and texts, and one or two targets."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.uniform(size=n_rows).round(6)})
    for k in range(outputs):
        frame[f"y{k}"] = (k + 1) * frame.a + rng.normal(size=n_rows)
    frame["site"] = np.where(rng.random(n_rows) < 0.5, "north", "south")
    return frame
