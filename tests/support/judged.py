"""Rows to judge, and the certificates that judge them."""

import numpy as np
import pandas as pd

import pacband


def certified_frame(rng):
    """Return a certificate and the table that it was made from."""
    frame = pd.DataFrame({"y": rng.standard_normal(2000), "p": 0.0, "s": rng.uniform(0.5, 2, 2000)})
    frame["site"] = rng.choice(["a", "b"], 2000)
    return pacband.certify_frame(frame, target="y", prediction="p", scale="s", eps=0.1, delta=0.01), frame


def uneven_frame(rng):
    """Return rows that keep a promise of 5 % as a whole (3.5 %), though not in site "b"; none of "a" violates it."""
    cert = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-3)
    site = np.repeat(["a", "b"], [1650, 350])
    y = np.zeros(2000)
    y[1650:1720] = 2 * cert.gamma
    return cert, pd.DataFrame({"y": y, "p": 0.0, "site": site})
