"""The shortest window."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from pacband.candidates.windows import ShortestWindow


def test_the_shortest_window_leans_to_where_the_values_are(rng):
    X = rng.uniform(size=(4000, 1))
    y = np.where(X[:, 0] > 0.5, 1.0, -1.0) * rng.exponential(size=4000)
    window = ShortestWindow(ExtraTreesRegressor(50, min_samples_leaf=50, random_state=0), 0.9).fit(X, y)
    (low_left, high_left), (low_right, high_right) = window.predict(np.array([[0.25], [0.75]]))
    assert low_left == pytest.approx(-2.3, abs=0.5)
    assert high_left == pytest.approx(0.0, abs=0.2)
    assert low_right == pytest.approx(0.0, abs=0.2)
    assert high_right == pytest.approx(2.3, abs=0.5)
