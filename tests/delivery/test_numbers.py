"""The numbers of a model are those of its certificate, and of its band."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from pacband import CertifiedFamily, CertifiedRegressor
from pacband.delivery.numbers import describe, measure
from support.estimators import MODEL_PROMISE, draw, line

ROWS, Y = draw(np.random.default_rng(0), 1500)
X = ROWS[["x"]].to_numpy()


def test_a_regressor():
    model = CertifiedRegressor(LinearRegression(), **MODEL_PROMISE).fit(X, Y)
    assert measure(model) == {"gamma": model.certificate_.gamma, "eps": 0.1, "delta": 0.05}
    assert measure(model, X)["mean_width"] == pytest.approx(2 * model.certificate_.gamma)
    assert describe(model) == {
        "kind": "CertifiedRegressor",
        "side": "both",
        "scale": "none",
        "draws": "rows",
        "n_samples": model.certificate_.n_samples,
    }


def test_a_family_is_measured_by_the_candidate_that_predicts():
    model = CertifiedFamily({"line": LinearRegression(), "near": KNeighborsRegressor(2)}, **MODEL_PROMISE).fit(X, Y)
    gammas = {name: certificate.gamma for name, certificate in model.certificates_.items()}
    assert gammas["line"] < gammas["near"]
    assert measure(model)["gamma"] == gammas["line"]
    assert describe(model)["candidate"] == "line"


def test_groups_are_measured_by_the_largest_bound_and_the_width_of_each_row():
    model = CertifiedRegressor(line(), groups="site", **MODEL_PROMISE).fit(ROWS, Y)
    gammas = {label: part.gamma for label, part in model.certificate_.groups.items()}
    assert measure(model)["gamma"] == max(gammas.values()) > min(gammas.values())
    expected = np.mean([2 * gammas[label] for label in ROWS["site"]])
    assert measure(model, ROWS)["mean_width"] == pytest.approx(expected)
    assert describe(model)["n_groups"] == 3


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_a_band_with_one_end_has_a_distance_in_place_of_an_infinite_width(side):
    # MLflow would store 1.8e308 for the width in SQLite.
    model = CertifiedRegressor(LinearRegression(), side=side, **MODEL_PROMISE).fit(X, Y)
    numbers = measure(model, X)
    assert set(numbers) == {"gamma", "eps", "delta", "mean_distance"}
    assert numbers["mean_distance"] == pytest.approx(model.certificate_.gamma)
    assert describe(model)["side"] == side
