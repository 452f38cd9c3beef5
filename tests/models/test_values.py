"""Forged plain values, with every digest right."""

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVR

from support.forge import ADDRESS, state
from support.gallery import PLAIN, SPARSE, Y


def test_no_mapping_with_attributes_can_be_said(forge, refused):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    linear = forged.objects("sklearn.LinearRegression")[-1]
    for node, said in (
        (["bunch", ["__array_interface__", ADDRESS]], "a value has an unknown type"),
        ({"__array_interface__": ADDRESS}, "neither plain nor a list"),
        (
            ["dict", ["__array_interface__", ADDRESS]],
            "intercept_ of a sklearn.LinearRegression does not match its declaration",
        ),
    ):
        linear["state"]["intercept_"] = node
        refused(forged, said)


def test_no_partial_can_be_said(forge, refused):
    forged = forge(make_pipeline(FunctionTransformer(np.exp), Ridge()).fit(PLAIN, Y))
    entry = forged.objects("sklearn.FunctionTransformer")[-1]
    for node in (["partial", "numpy.add"], ["function", "numpy.add"], ["function", "os.system"], ["function", 3]):
        entry["parameters"]["func"] = node
        refused(forged, "a value has an unknown type|a name is not on the list of allowed names")
    entry["parameters"]["func"] = ["function", "numpy.exp"]
    entry["parameters"]["kw_args"] = ["dict", ["out", forged.add(np.zeros((60, 3)))]]
    refused(forged, "passes its function more than rows")


def test_sparse_matrices_are_looked_through(forge, refused):
    for place, change, said in (
        (3, lambda values: values + 10**6, "entries beyond its columns"),
        (3, lambda values: values - 1, "entries beyond its columns"),
        (4, lambda values: values[:-1], "invalid row pointers"),
        (4, lambda values: values + 1, "invalid row pointers"),
        (4, lambda values: np.r_[values[0], values[-1], values[2:]].astype("i4"), "invalid row pointers"),
        (2, lambda values: values[:-1], "has invalid data"),
    ):
        forged = forge(SVR(kernel="linear").fit(SPARSE, Y))
        node = state(forged, "sklearn.SVR", "support_vectors_")
        forged.array(["array", node[place]], change(forged.array(["array", node[place]])))
        refused(forged, said)
    forged = forge(SVR(kernel="linear").fit(SPARSE, Y))
    state(forged, "sklearn.SVR", "support_vectors_").append(["check_format", ["type", "object"]])
    refused(forged, "a sparse matrix is invalid")


def test_a_random_state_ends_where_it_ends(forge, refused):
    forged = forge(Ridge(solver="sag", random_state=np.random.RandomState(0)).fit(PLAIN, Y))
    node = forged.objects("sklearn.Ridge")[-1]["parameters"]["random_state"]
    for position in (625, -1, 10**9):
        node[2] = position
        refused(forged, "a random state is invalid")
