"""The fitted model as a value: what it keeps, and what copies leave out."""

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest

import pacband
from pacband.local import LocalRidge

# A family that an earlier release saved, and its bands at x = −0.3 and x = 40.
SAVED = Path(__file__).parents[1] / "files" / "local.pacband"
BANDS = {
    "line": [[-0.7313399138443293, -0.02840128773741929], [-0.4963621167941029, 0.4963621167941029]],
    "lowrank": [[-0.7333966269531725, 0.30448488093033943], [-8.505861838194853, -8.290859191318052]],
    "neighbors": [[-0.687238143547389, -0.19016855827803444], [-0.49896142457560855, 0.49896142457560855]],
    "dense": [[-0.7333774446704864, -0.08893920420444185], [-0.6007925227212351, 0.6007925227212351]],
    "parzen": [[-0.6643163247292069, 0.6369781381696217], [3.3255690915497857, 5.289234457853135]],
}


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


@pytest.mark.filterwarnings("ignore:.*was saved with scikit-learn")
@pytest.mark.parametrize("name", BANDS)
def test_a_file_of_an_earlier_release_is_read(name):
    loaded = pacband.load(SAVED)
    for _ in range(2):
        np.testing.assert_allclose(loaded.predict_interval([[-0.3], [40.0]], candidate=name), BANDS[name], rtol=1e-10)
