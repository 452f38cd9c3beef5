"""Rows of the paper, and a table whose names are markup."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import pacband
from pacband import datasets
from support.pages import EVIL


@pytest.fixture(scope="module")
def paper():
    X, y = datasets.paper_sample(1500, random_state=0)
    predicted, scale = datasets.paper_predictor(X), datasets.paper_scale(X)
    return X, y, predicted, scale, pacband.certify(y, predicted, scale, eps=0.05, delta=1e-3)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((2000, 3)), columns=[EVIL, "a$b|c", "load"])
    X["site"] = np.where(rng.random(2000) < 0.3, "<b>north</b>", "south")
    prediction = X["load"].to_numpy() * 2
    y = prediction + rng.standard_normal(2000) * (0.5 + np.abs(X["load"].to_numpy()))
    return X, y, prediction


@pytest.fixture
def axes():
    return Figure().subplots()
