"""No row is judged by a model that saw it."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.neighbors import KNeighborsRegressor

from pacband import InvalidInput
from pacband.scale import EnsembleScale, NeighborScale, ResidualScale
from pacband.scale.crossfit import Predictor, cross_predict, make_folds

FOLDS = {"cv": 5, "random_state": 0}


class Witness(RegressorMixin, BaseEstimator):
    """Predicts 1 for a row it was fitted on, 0 for any other."""

    def fit(self, X, y):
        self.seen_ = set(np.asarray(X)[:, 0])
        return self

    def predict(self, X):
        return np.array([float(x in self.seen_) for x in np.asarray(X)[:, 0]])


@pytest.mark.parametrize("cv", [2, 5, 1000, KFold(3), LeaveOneOut()], ids=str)
@pytest.mark.parametrize("rows", [3, 40])
def test_no_row_is_predicted_by_a_model_that_saw_it(cv, rows):
    X = np.arange(float(rows))[:, None]
    assert Witness().fit(X, X[:, 0]).predict(X).all(), "the wrong twin: a fit judged on its own rows"
    assert not cross_predict(Witness(), X, X[:, 0], cv=cv).any()


@pytest.mark.parametrize(
    "scale",
    [
        NeighborScale(KNeighborsRegressor(1)),
        ResidualScale(KNeighborsRegressor(1), DummyRegressor()),
        EnsembleScale(KNeighborsRegressor(1), [KNeighborsRegressor(1), KNeighborsRegressor(2)]),
    ],
    ids=lambda scale: type(scale).__name__,
)
def test_a_memoriser_does_not_pass_for_a_perfect_predictor(scale, rng):
    X = rng.uniform(-1, 1, (400, 1))
    y = rng.standard_normal(400)
    assert not np.any(y - KNeighborsRegressor(1).fit(X, y).predict(X))
    # Two independent standard normals: the error of a neighbour's value has standard deviation √2.
    level = np.sqrt(np.mean(scale.fit(X, y).predict(X) ** 2))
    assert level == pytest.approx(np.sqrt(2), rel=0.1)


def test_leave_one_out_errors_of_the_mean():
    y = np.array([1.0, 2.0, 6.0])
    errors = y - cross_predict(DummyRegressor(), y[:, None], y, cv=3)
    np.testing.assert_allclose(errors, (y - y.mean()) * 3 / 2)


def test_folds_are_drawn_and_repeatable(rng):
    X, y = np.arange(50.0)[:, None], rng.standard_normal(50)
    first = cross_predict(LinearRegression(), X, y, **FOLDS)
    np.testing.assert_array_equal(first, cross_predict(LinearRegression(), X, y, **FOLDS))
    assert np.any(first != cross_predict(LinearRegression(), X, y, cv=5, random_state=1))
    assert np.any(first != cross_predict(LinearRegression(), X, y, cv=KFold(5))), "sorted rows need drawn folds"


def test_one_row_cannot_be_crossed():
    with pytest.raises(InvalidInput, match="at least 2 rows, got n_samples=1"):
        cross_predict(LinearRegression(), [[0.0]], [0.0])
    with pytest.raises(InvalidInput, match=r"cv must be an integer, got 2\.5"):
        cross_predict(LinearRegression(), [[0.0], [1.0]], [0.0, 1.0], cv=2.5)


def test_what_cannot_be_refitted_is_taken_at_its_word(rng):
    X, y = rng.standard_normal((30, 1)), rng.standard_normal(30)
    model = LinearRegression().fit(X[:10], y[:10])
    for given in (FrozenEstimator(model), model.predict):
        predictor = Predictor(given)
        assert not predictor.refittable
        assert predictor.fitted(X, y) is given
        np.testing.assert_array_equal(predictor.errors(X, y, **FOLDS), y - model.predict(X))
    assert np.any(Predictor(model).errors(X, y, **FOLDS) != y - model.predict(X)), "fitted, but not frozen: refitted"


def test_a_cross_fit_is_made_once():
    fits = []

    class Counted(LinearRegression):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    X, y = np.arange(10.0)[:, None], np.arange(10.0)
    predictor = Predictor(Counted())
    for _ in range(3):
        predictor.errors(X, y, **FOLDS)
        predictor.fitted(X, y)
    assert sorted(fits) == [8] * 5 + [10]


def test_rows_of_one_cluster_are_in_one_fold():
    """A model that has seen a row of a machine is no judge of its other rows."""
    X, clusters = np.repeat(np.arange(10.0), 4)[:, None], np.repeat(np.arange(10), 4)
    assert cross_predict(Witness(), X, X[:, 0]).all(), "the wrong twin: folds of rows"
    assert not cross_predict(Witness(), X, X[:, 0], clusters=clusters).any()
    assert not Predictor(Witness(), clusters=clusters).predict(X, X[:, 0], **FOLDS).any()
    # A splitter makes its own folds, and a single cluster cannot be divided.
    assert not cross_predict(Witness(), X, X[:, 0], cv=KFold(5), clusters=clusters).all()
    assert len(make_folds(5, 40, np.zeros(40), random_state=0)) == 5
