"""The ridge regression of the automatic family, against scikit-learn's and against leaving out every row."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeCV

from pacband.candidates.ridge import LeaveOneOutRidge

PENALTIES = np.logspace(-2, 4, 13)


def draw(rng, rows, columns):
    X = rng.standard_normal((rows, columns)) + 3.0
    # A constant column, one that is twice another, and columns of different sizes.
    X[:, 0], X[:, 1] = 1.0, 2.0 * X[:, 2]
    X[:, 3] *= 30.0
    return X, X @ rng.standard_normal(columns) / 100.0 + rng.standard_normal(rows) + 50.0


@pytest.mark.parametrize("shape", [(200, 12), (40, 39), (30, 30), (25, 60)])
def test_it_is_the_ridge_regression_of_scikit_learn(rng, shape):
    for _ in range(20):
        X, y = draw(rng, *shape)
        ours, theirs = LeaveOneOutRidge(PENALTIES).fit(X, y), RidgeCV(PENALTIES, gcv_mode="svd").fit(X, y)
        assert ours.penalty_ == theirs.alpha_
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)


@pytest.mark.parametrize("shape", [(30, 5), (15, 25)])
def test_no_other_penalty_has_smaller_errors_at_rows_left_out(rng, shape):
    X, y = draw(rng, *shape)

    def error(penalty):
        left = [np.arange(len(y)) != k for k in range(len(y))]
        fits = [Ridge(penalty, solver="svd").fit(X[rows], y[rows]) for rows in left]
        return np.mean([(y[k] - fit.predict(X[[k]])[0]) ** 2 for k, fit in enumerate(fits)])

    assert LeaveOneOutRidge(PENALTIES).fit(X, y).penalty_ == min(PENALTIES, key=error)


def test_features_without_variance_give_the_mean(rng):
    y = rng.standard_normal(9)
    for columns in (3, 20):
        np.testing.assert_allclose(
            LeaveOneOutRidge(PENALTIES).fit(np.ones((9, columns)), y).predict([[1.0] * columns]), y.mean()
        )
