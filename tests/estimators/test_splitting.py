"""Which rows calibrate: each row is used once, and every group has its share."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge

from pacband import CertifiedRegressor, plan
from support.estimators import PROMISE, X_NEW, X, Y, draw, sine


def test_fit_splits_the_rows_and_uses_each_once():
    seen = {}

    class Witness(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            seen["fit"] = np.asarray(X)[:, 0]
            self.fitted_ = True
            return self

        def predict(self, X):
            seen.setdefault("calibrate", np.asarray(X)[:, 0])
            return np.zeros(len(X))

    CertifiedRegressor(Witness(), random_state=0, **PROMISE).fit(X, Y)
    assert len(seen["calibrate"]) == max(plan(**PROMISE).n_samples, 3000 // 5)
    assert not set(seen["fit"]) & set(seen["calibrate"])
    assert len(seen["fit"]) + len(seen["calibrate"]) == 3000


@pytest.mark.parametrize(("size", "rows"), [(500, 500), (0.25, 750), (None, 600)])
def test_calibration_size(size, rows):
    model = CertifiedRegressor(Ridge(), calibration_size=size, **PROMISE).fit(X, Y)
    assert model.certificate_.n_samples == rows


def test_at_most_half_of_the_rows_calibrate_by_default():
    model = CertifiedRegressor(Ridge(), eps=0.05, delta=1e-6).fit(X[:1000], Y[:1000])
    assert model.certificate_.n_samples == 500


def test_fit_draws_calibration_rows_within_every_group_and_uses_each_row_once(rng):
    seen = {}

    class Witness(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            seen["fit"], self.fitted_ = X, True
            return self

        def predict(self, X):
            seen.setdefault("calibrate", X)
            return np.zeros(len(X))

    table, y = draw(rng, 6000)
    CertifiedRegressor(Witness(), groups="site", random_state=0, **PROMISE).fit(table, y)
    assert not set(seen["fit"]["x"]) & set(seen["calibrate"]["x"])
    assert len(seen["fit"]) + len(seen["calibrate"]) == 6000
    planned = plan(**PROMISE, n_candidates=3).n_samples
    for site, rows in table.groupby("site"):
        expected = min(max(planned, len(rows) // 5), len(rows) // 2)
        assert (seen["calibrate"]["site"] == site).sum() == expected
    # Not group after group: folds that a model draws without shuffling would miss whole groups.
    assert seen["fit"]["site"].iloc[:200].nunique() == 3


@pytest.mark.parametrize(("size", "rows"), [(80, [80, 80]), (0.3, [240, 60])])
def test_calibration_size_is_that_of_each_group(rng, size, rows):
    X = np.column_stack([rng.uniform(size=1000), np.arange(1000) < 200])
    model = CertifiedRegressor(Ridge(), groups=1, calibration_size=size, **PROMISE).fit(X, X[:, 0])
    assert [cert.n_samples for cert in model.certificate_.groups.values()] == rows


def test_split_rows_is_the_split_of_fit():
    model = CertifiedRegressor(Ridge(), random_state=3, **PROMISE)
    X_fit, X_cal, y_fit, y_cal = model.split_rows(X, Y)
    assert len(X_fit) + len(X_cal) == 3000
    assert sorted(np.r_[y_fit, y_cal]) == sorted(Y)
    expected = Ridge().fit(X_fit, y_fit)
    model.fit(X, Y)
    np.testing.assert_array_equal(model.predict(X_NEW), expected.predict(X_NEW))
    assert model.certificate_.verify(y_cal, expected.predict(X_cal))
    # Where nothing has to be fitted, all rows calibrate.
    none, rows, nothing, targets = CertifiedRegressor(sine, **PROMISE).split_rows(X, Y)
    assert (none, nothing) == (None, None)
    assert rows is X
    assert targets is Y
