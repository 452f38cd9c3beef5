"""Forged splines."""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from support.forge import state
from support.gallery import PLAIN, Y


def test_a_spline_is_made_of_what_was_checked(forge, refused):
    made = make_pipeline(SplineTransformer(4), Ridge()).fit(PLAIN, Y)
    kind = "sklearn.SplineTransformer"
    for name in ("_asarray", "_t", "bsplines_"):
        forged = forge(made)
        forged.objects(kind)[-1]["state"][name] = ["function", "numpy.exp"]
        refused(forged, "a sklearn.SplineTransformer has an attribute that is not declared")
    for part, values in (
        (0, np.zeros(4)),
        (1, np.zeros((2, 2))),
        (0, np.full(10, np.nan)),
        (1, np.zeros((6, 6), "f4")),
    ):
        forged = forge(made)
        forged.array(state(forged, kind, "splines")[1][1 + part], values)
        refused(forged, "a spline has knots|splines of a sklearn.SplineTransformer")
    forged = forge(made)
    state(forged, kind, "splines")[1][3] = 1000
    refused(forged, "a spline has knots or coefficients that do not fit its degree")
