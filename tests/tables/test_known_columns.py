"""The columns to use with a certificate: those that a user names, else those that it was made from."""

import numpy as np
import pytest

import pacband
from pacband import InvalidInput
from pacband.tables.known_columns import chosen_columns

NOTHING = dict.fromkeys(("prediction", "scale", "group"))


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (None, "because it was made from arrays: name the columns"),
        ({"model": {"name": "forest"}}, "because it was made from arrays: name the columns"),
        (
            {"model": {"digest": "ab" * 32}},
            "because it belongs to a fitted model: pass the model file in its place, or",
        ),
    ],
)
def test_a_certificate_without_columns_says_why(about, words):
    cert = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05, about=about)
    with pytest.raises(InvalidInput, match=words):
        chosen_columns(cert.basis, **NOTHING)
    assert chosen_columns(cert.basis, **{**NOTHING, "prediction": "p"}).prediction == ("p",)
