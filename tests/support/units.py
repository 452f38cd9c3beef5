"""Machines whose rows resemble each other, and certificates about them."""

import numpy as np

import pacband
from pacband.draws import Units


def machines(rng, n_units, n_rows, icc):
    """Gaussian errors of machines, whose rows have this correlation; and the machine of every row."""
    own, noise = rng.standard_normal((n_units, 1)), rng.standard_normal((n_units, n_rows))
    return (np.sqrt(icc) * own + np.sqrt(1 - icc) * noise).ravel(), np.repeat(np.arange(n_units), n_rows)


def unit_certificate(within="all", groups=False, eps=0.1):
    """A certificate of 300 machines with 5 rows each; with groups, of two sites."""
    error, labels = machines(np.random.default_rng(5), 300, 5, 0.5)
    options = {"eps": eps, "delta": 0.05, "draws": Units(labels, within, name="machine")}
    if groups:
        return pacband.certify_groups(error, 0 * error, np.where(labels % 2, "north", "south"), **options)
    return pacband.certify(error, 0 * error, **options)
