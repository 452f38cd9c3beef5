"""Certificates of every kind, and certificates that state something else than they were made with."""

import numpy as np
import pytest

from pacband import certify, certify_family, certify_groups

RNG = np.random.default_rng(0)
Y, P, S = RNG.normal(size=400), RNG.normal(size=400), RNG.uniform(0.5, 2.0, size=400)
SITES = np.where(np.arange(400) % 2 == 0, "north", "south")
PROMISE = {"eps": 0.1, "delta": 0.01}

ALL_KINDS = {
    "constant": certify(Y, P, **PROMISE),
    "scaled": certify(Y, P, S, min_scale=1e-3, **PROMISE),
    "upper": certify(Y, P, side="upper", **PROMISE),
    "pair": certify(Y, P, (S, 2 * S), **PROMISE),
    "ellipsoid": certify(np.c_[Y, P], np.zeros((400, 2)), gauge=[[2.0, 0.5], [0.5, 1.0]], **PROMISE),
    "infinite": certify(
        Y, np.where(np.random.default_rng(1).permutation(400) < 300, np.nan, P), nonfinite="violate", **PROMISE
    ),
    "family": certify_family(Y, {"one": P, "two ✓": (P, S)}, weights={"one": 0.25, "two ✓": 0.75}, **PROMISE),
    "groups": certify_groups(Y, P, SITES, S, **PROMISE),
    "numbered groups": certify_groups(Y, P, np.arange(400) % 3, **PROMISE),
}
each_kind = pytest.mark.parametrize("cert", ALL_KINDS.values(), ids=ALL_KINDS.keys())


def changed(certificate, **values):
    """Return the certificate with other values in its file, by the name that they have there."""
    return type(certificate).from_dict({**certificate.to_dict(), **values})
