"""Rows with a known σ(x), and how much a scale narrows the certified band."""

import numpy as np

from pacband import certify_family, datasets


def draw(n, seed, scale):
    """Return rows around the paper's predictor with noise of this scale: X, y and σ."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.5, 2.5, (n, 1))
    sigma = scale(X)
    return X, datasets.paper_predictor(X) + sigma * rng.standard_normal(n), sigma


def constant(X):
    """Return a constant σ(x)."""
    return np.full(len(X), 3.0)


def nought(X):
    """Return the prediction zero."""
    return np.zeros(len(X))


def ratio(y, prediction, scale):
    """Return the mean width of the band with this scale as a share of that with a constant one."""
    bound = certify_family(y, {"plain": prediction, "scaled": (prediction, scale)}, eps=0.1, delta=0.01).mean_bound
    return bound["scaled"] / bound["plain"]
