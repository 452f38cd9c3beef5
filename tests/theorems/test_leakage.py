"""What breaks the promise, shown: a step outside the certified estimator that has seen the calibration rows."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from pacband import CertifiedRegressor

EPS, DELTA, DRAWS = 0.1, 0.05, 60


def failures(model, seed):
    """The share of draws in which more than ε of fresh rows fall outside, on 3,000 columns of pure noise."""
    rng = np.random.default_rng(seed)
    failed = 0
    for _ in range(DRAWS):
        X, y = rng.standard_normal((400, 3000)), rng.standard_normal(400)
        X_new, y_new = rng.standard_normal((4000, 3000)), rng.standard_normal(4000)
        model.fit(X, y)
        certified = model if isinstance(model, CertifiedRegressor) else model[-1]
        rows = X_new if certified is model else model[:-1].transform(X_new)
        band = certified.predict_interval(rows)
        failed += np.mean((y_new < band[:, 0]) | (y_new > band[:, 1])) > EPS
    return failed / DRAWS


@pytest.mark.verify
def test_feature_selection_belongs_inside():
    def certified(estimator):
        return CertifiedRegressor(estimator, eps=EPS, delta=DELTA, random_state=0)

    select = SelectKBest(f_regression, k=20)
    # At a true failure rate of δ = .05, more than .3 of 60 draws fail with a probability below 1e-9.
    assert failures(certified(make_pipeline(select, Ridge())), seed=0) <= 0.3
    assert failures(make_pipeline(select, certified(Ridge())), seed=0) > 0.3
