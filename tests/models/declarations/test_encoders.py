"""Forged encoders."""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from support.forge import state
from support.gallery import CODES, Y


def test_categories_of_indicators_are_plain_and_in_order(forge, refused):
    kind = "sklearn.OneHotEncoder"
    made = make_pipeline(OneHotEncoder(max_categories=3, handle_unknown="ignore"), Ridge()).fit(CODES, Y)
    for change, said in (
        (lambda values: values[::-1].copy(), "categories of an encoder are out of order"),
        (lambda values: np.append(values[:-1], np.nan)[::-1].copy(), "categories of an encoder are out of order"),
        (lambda values: values[:-1], "codes beyond its columns|do not match its categories|codes"),
    ):
        forged = forge(made)
        node = state(forged, kind, "categories_")[1]
        forged.array(node, change(forged.array(node)))
        refused(forged, said)
    forged = forge(made)
    forged.document["arrays"][state(forged, kind, "categories_")[1][1]][0] = "c16"
    refused(forged, "an array has an unknown type")
    forged = forge(made)
    node = state(forged, kind, "_default_to_infrequent_mappings")[1]
    forged.array(node, forged.array(node) + 10**6)
    refused(forged, "codes beyond its columns")
    forged = forge(made)
    forged.objects(kind)[-1]["state"]["_n_features_outs"] = ["list", 1, 1, 1]
    refused(forged, "do not match its categories")
