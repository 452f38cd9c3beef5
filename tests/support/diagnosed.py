"""Sound and unsound rows for the diagnosis."""

import math

import numpy as np


def sound(rng, n, noise=None):
    x = rng.standard_normal((n, 2))
    scale = np.exp(0.5 * x[:, 0])
    return {
        "y": x[:, 1] + scale * (rng.standard_normal(n) if noise is None else noise),
        "y_pred": x[:, 1],
        "scale": scale,
        "X": x,
        "groups": rng.integers(0, 5, n),
        "training": (rng.standard_normal((300, 2)), rng.standard_normal(300)),
    }


def autoregressive(rng, rho, n=1000):
    noise = rng.standard_normal(n)
    for i in range(1, n):
        noise[i] = rho * noise[i - 1] + math.sqrt(1 - rho**2) * noise[i]
    return noise


def checks(diagnosis):
    return [finding.check for finding in diagnosis.findings]
