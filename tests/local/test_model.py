"""The fitted model as a value: what it keeps, and what copies leave out."""

import copy
import dataclasses

import numpy as np
import pytest

from pacband.local import LocalRidge


def fitted(y):
    X = np.linspace(0, 1, len(y))[:, None]
    return LocalRidge().fit(X, y)._model


def test_the_floor_is_the_rounding_error_of_the_target():
    assert fitted(np.array([3.0, -7.0, 2.0])).floor == np.finfo(float).eps * 7.0
    assert fitted(np.zeros(3)).floor == np.finfo(float).tiny


def test_a_model_cannot_be_changed_and_its_copies_are_not_prepared():
    model = fitted(np.arange(5.0))
    assert model.prepared
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.alpha = 3.0
    other = copy.deepcopy(model)
    assert not other.prepared
    assert other.solver == model.solver
