"""The rows of the paper with their only feature as a column."""

import pytest

import pacband
from pacband import datasets


@pytest.fixture(scope="module")
def paper():
    X, y = datasets.paper_sample(1600, random_state=0)
    predicted, scale = datasets.paper_predictor(X), datasets.paper_scale(X)
    return X[:, 0], y, predicted, scale, pacband.certify(y, predicted, scale, eps=0.05, delta=1e-3)
