"""Each scale recovers a known σ(x), narrows the band where σ varies, and costs little where it does not.

Mean over seeds of the width of the certified band, as a share of that of the constant scale; correlation is that of
log σ̂ and log σ; calibration is the root mean square of e/σ̂ on fresh rows.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor

from pacband import LocalKernelRidge, datasets
from pacband.candidates.members import Member, fit_members
from pacband.scale import (
    EnsembleScale,
    FloorScale,
    NeighborScale,
    ParzenScale,
    ProductScale,
    ResidualScale,
    StdScale,
)
from support.noise import constant, draw, ratio

TRAIN, TEST, SEEDS = 1500, 4000, (0, 1)
NEAR = KNeighborsRegressor(20)
FOREST = RandomForestRegressor(60, min_samples_leaf=8, random_state=0)
LOCAL = LocalKernelRidge("rbf", gamma=5, alpha=0.02, decay=4)
CASES = {
    "neighbour": (NEAR, NeighborScale()),
    "residual": (NEAR, ResidualScale()),
    "forest": (FOREST, EnsembleScale(cv=3)),
    "local std": (LOCAL, StdScale()),
    "parzen": (NEAR, ParzenScale(NEAR, decay=4)),
    "product": (NEAR, ProductScale([NeighborScale(), ResidualScale()])),
    "floor": (NEAR, FloorScale(NeighborScale(), share=0.3)),
}


@cache
def study(name, noise):
    """(width ratio, correlation, calibration), each the mean over seeds."""
    predictor, scale = CASES[name]
    found = []
    for seed in SEEDS:
        X, y, _ = draw(TRAIN, seed, noise)
        X_new, y_new, sigma = draw(TEST, seed + 100, noise)
        member = fit_members({"a": Member(predictor, scale)}, X, y)["a"]
        prediction, estimate = member.predict_with_scale(X_new)
        spread = np.std(np.log(sigma)) > 0 and np.std(np.log(estimate)) > 0
        correlation = np.corrcoef(np.log(sigma), np.log(estimate))[0, 1] if spread else 0.0
        calibration = np.sqrt(np.mean(((y_new - prediction) / estimate) ** 2))
        found.append((ratio(y_new, prediction, estimate), correlation, calibration))
    return tuple(np.mean(found, axis=0))


each_case = pytest.mark.parametrize("name", CASES)


@each_case
def test_recovers_a_known_scale_and_beats_the_constant_one(name):
    width, correlation, calibration = study(name, datasets.paper_scale)
    print(f"{name}: width {width:.3f}, correlation {correlation:.3f}, calibration {calibration:.3f}")
    assert correlation > 0.8
    assert 0.85 < calibration < 1.25
    assert width < 0.95


@each_case
def test_costs_little_where_the_noise_is_constant(name):
    width, _, calibration = study(name, constant)
    print(f"{name}: width {width:.3f}, calibration {calibration:.3f}")
    assert width < 1.03
    assert 0.85 < calibration < 1.25
