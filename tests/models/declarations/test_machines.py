"""Forged support vector machines and nearest neighbours."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR, NuSVR

from support.forge import state
from support.gallery import PLAIN, Y


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("_dual_coef_", np.zeros((1, 1))),
        ("_n_support", np.zeros(1, "i4")),
        ("_n_support", np.zeros(2, "i4")),
        ("_intercept_", np.zeros(0)),
        ("support_vectors_", np.zeros((2, 2))),
        ("support_", np.zeros(1, "i4")),
        ("_probA", np.zeros(1)),
    ],
)
def test_support_vectors_have_coefficients(name, values, forge, refused):
    for model in (SVR(), NuSVR()):
        forged = forge(model.fit(PLAIN, Y))
        forged.array(state(forged, f"sklearn.{type(model).__name__}", name), values)
        refused(forged, "does not match its declaration|vectors without coefficients")


def test_support_vector_machines_are_what_they_say(forge, refused):
    for part, name, node in (
        ("state", "_sparse", True),
        ("state", "_effective_probability", True),
        ("state", "_impl", "c_svc"),
        ("state", "_gamma", ["float", "nan"]),
        ("parameters", "kernel", "precomputed"),
        ("parameters", "kernel", ["function", "numpy.exp"]),
        ("parameters", "degree", -1),
    ):
        forged = forge(SVR().fit(PLAIN, Y))
        forged.objects("sklearn.SVR")[-1][part][name] = node
        refused(forged, "does not match its declaration|not declared|vectors without|is not in its range|is a function")


def test_neighbours_are_looked_for_among_what_was_checked(forge, refused):
    kind = "sklearn.KNeighborsRegressor"
    for part, name, node, said in (
        ("state", "_tree", ["list", 1], "not declared"),
        ("state", "_fit_method", "brute", "not declared"),
        ("state", "effective_metric_params_", ["dict"], "not declared"),
        ("parameters", "n_neighbors", 0, "not in its range"),
        ("parameters", "n_neighbors", -1, "not in its range"),
        ("parameters", "leaf_size", 0, "not in its range"),
        ("parameters", "metric_params", ["dict", ["Y_norm_squared", 1.0]], "an unknown metric"),
        ("parameters", "metric", ["function", "numpy.exp"], "is a function"),
        ("parameters", "n_jobs", 10**9, "n_jobs of a sklearn.KNeighborsRegressor must be None or at most 1024"),
        ("state", "n_features_in_", 2, "does not match its declaration|the stated number of columns"),
    ):
        forged = forge(KNeighborsRegressor(3).fit(PLAIN, Y))
        forged.objects(kind)[-1][part][name] = node
        refused(forged, said)
