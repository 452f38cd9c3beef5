"""Bands that share a fitted stack."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from pacband.candidates.members import Member, predict_members
from pacband.candidates.reader import TableReader
from pacband.candidates.stack import Averaged, Band, Evaluation, Stack, mix_signals
from pacband.scale.shrinkage import Shrinkage
from support.automatic import draw


class CountedStack(Stack):
    evaluations = 0

    def evaluate(self, X, bands):
        type(self).evaluations += 1
        return super().evaluate(X, bands)


@pytest.fixture
def stack(rng):
    X, y = draw(rng, 50)
    models = {"a": LinearRegression().fit(X, y), "b": Averaged([LinearRegression().fit(X, y**k) for k in (1, 2)])}
    CountedStack.evaluations = 0
    return CountedStack(TableReader().fit(X), models, np.array([0.5, 0.5]), 10.0, 2.0, {})


def test_bands_of_one_stack_evaluate_it_once_and_predict_as_alone(rng, stack):
    shrinkage = Shrinkage(0.5, 1.0, 1.0, 1.0, 1.0, 1e-9)
    bands = {
        "a": Band(stack, np.array([1.0, 0.0])),
        "blend": Band(stack, np.array([0.5, 0.5]), signals=(("spread", 0.3),), shrinkage=shrinkage),
    }
    X = draw(rng, 20)[0]
    columns = predict_members({name: Member(band, "std") for name, band in bands.items()}, X)
    assert CountedStack.evaluations == 1
    for name, band in bands.items():
        for together, alone in zip(columns[name], band.predict(X, return_std=True), strict=True):
            np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(columns["a"][0], 10.0 + 2.0 * stack.models["a"].predict(X))
    np.testing.assert_array_equal(columns["a"][1], 2.0)


def test_an_average_is_the_mean_of_its_models(rng, stack):
    X = draw(rng, 5)[0]
    one, two = stack.models["b"].models
    np.testing.assert_allclose(stack.models["b"].predict(X), (one.predict(X) + two.predict(X)) / 2)


def test_outputs_become_signals():
    predictions = np.array([[1.0, 3.0], [2.0, 2.0]])
    outputs = {"trees": np.array([3.0, -1.0]), "window": np.array([[0.0, 4.0], [1.0, 2.0]])}
    found = Evaluation.from_outputs(predictions, np.array([0.5, 0.5]), outputs)
    expected = {"spread": [1.0, 0.0], "trees": [9.0, 0.0], "window": [2.0, 0.5]}
    assert {name: signal.tolist() for name, signal in found.signals.items()} == expected
    np.testing.assert_array_equal(found.window_middle, [2.0, 1.5])
    agreed = Evaluation.from_outputs(predictions[:, :1], np.array([1.0]), {})
    # At a single row all predictors may agree: a band by their spread needs the signal, even if it is zero.
    assert ({name: signal.tolist() for name, signal in agreed.signals.items()}, agreed.window_middle) == (
        {"spread": [0.0, 0.0]},
        None,
    )


def test_signals_are_mixed_by_their_geometric_mean():
    values = {"a": np.array([4.0, 0.0]), "b": np.array([3.0, 3.0])}
    np.testing.assert_allclose(mix_signals(values, (("a", 4.0), ("b", 0.03))), [10.0, 1e-2])
