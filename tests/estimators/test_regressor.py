"""One pair (T, σ̂), certified: where the scale comes from, several outputs, and bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge, Ridge

from pacband import (
    CertifiedFamily,
    CertifiedRegressor,
    InvalidInput,
    InvalidScale,
    NotEnoughSamples,
    certify,
    datasets,
    max_rank,
)
from pacband.scale import LeverageScale, ResidualScale
from support.estimators import PROMISE, X_NEW, Y_NEW, X, Y, draw, sine, truth


def test_scale_sources():
    own = CertifiedRegressor(BayesianRidge(), scale="std", random_state=0, **PROMISE).fit(X, Y)
    assert own.certificate_.scale_kind == "symmetric"
    function = CertifiedRegressor(sine, scale=datasets.paper_scale, **PROMISE).calibrate(X_NEW, Y_NEW)
    assert function.certificate_.gamma == certify(Y_NEW, sine(X_NEW), datasets.paper_scale(X_NEW), **PROMISE).gamma
    pair = CertifiedRegressor(sine, scale=lambda X: (np.ones(len(X)), 2 * np.ones(len(X))), **PROMISE)
    assert pair.calibrate(X_NEW, Y_NEW).certificate_.scale_kind == "asymmetric"
    assert pair.predict_interval(X[:3]).shape == (3, 2)

    class SpreadOfY(BaseEstimator):
        def fit(self, X, y):
            self.level_ = float(np.std(y))
            return self

        def predict(self, X):
            return np.full(len(X), self.level_)

    learnt = CertifiedRegressor(Ridge(), scale=SpreadOfY(), random_state=0, **PROMISE).fit(X, Y)
    assert learnt.scale_.level_ > 0
    with pytest.raises(NotFittedError):
        CertifiedRegressor(sine, scale=SpreadOfY(), **PROMISE).calibrate(X_NEW, Y_NEW)


def test_the_scale_of_a_fitted_model_is_fitted_as_the_error_says():
    model = Ridge().fit(X, Y)
    scale = ResidualScale(model, Ridge()).fit(X, Y)
    certified = CertifiedRegressor(model, scale=scale, **PROMISE).calibrate(X_NEW, Y_NEW)
    assert certified.certificate_.gamma == certify(Y_NEW, model.predict(X_NEW), scale.predict(X_NEW), **PROMISE).gamma


def test_multi_output():
    targets = np.c_[Y, -Y]
    model = CertifiedRegressor(Ridge(), gauge=np.cov(targets.T) + np.eye(2), random_state=0, **PROMISE).fit(X, targets)
    assert model.predict_interval(X_NEW).shape == (1000, 2, 2)
    boxes = CertifiedRegressor(Ridge(), random_state=0, **PROMISE).fit(pd.DataFrame({"x": X[:, 0]}), targets)
    frame = boxes.predict_interval(pd.DataFrame({"x": X_NEW[:, 0]}), output="frame")
    assert list(frame.columns) == [f"{name}_{k}" for k in (0, 1) for name in ("prediction", "lower", "upper")]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: CertifiedRegressor(Ridge()).fit(X[:100], Y[:100]), NotEnoughSamples, "50 of 100 rows were kept for calibration.*need at least 270 samples at rank 1, got n_samples=50"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).fit(X, Y, calibration=(X_NEW[:9], Y_NEW[:9])), NotEnoughSamples, "got n_samples=9"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).fit(X, Y, calibration=X_NEW), InvalidInput, r"calibration must be a pair \(X_cal, y_cal\), got ndarray"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).fit(X, Y[:5]), ValueError, "inconsistent numbers of samples"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).fit(X, None), ValueError, "requires y to be passed"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).calibrate(X, Y), NotFittedError, "Ridge instance is not fitted"),
        (lambda: CertifiedRegressor(Ridge().fit(X, Y), scale=ResidualScale(), **PROMISE).calibrate(X_NEW, Y_NEW), NotFittedError, r"calibrate fits nothing. .* scale=ResidualScale\(model\).fit\(X_train, y_train\)"),
        (lambda: CertifiedRegressor(Ridge().fit(X, Y), scale=LeverageScale(), **PROMISE).calibrate(X_NEW, Y_NEW), NotFittedError, r"scale=LeverageScale\(\).fit\(X_train, y_train\)"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).predict(X), NotFittedError, "CertifiedRegressor instance is not fitted"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).predict_interval(X), NotFittedError, "not fitted"),
        (lambda: CertifiedRegressor(Ridge, **PROMISE).fit(X, Y), InvalidInput, r"an estimator must be an instance, Ridge\(\), got the class"),
        (lambda: CertifiedFamily.from_grid(Ridge(), {"alpha": 1}), TypeError, "alpha"),
        (lambda: CertifiedFamily.from_grid(Ridge(), {"solver": "lsqr"}), TypeError, "solver"),
        (lambda: CertifiedRegressor(42, **PROMISE).fit(X, Y), InvalidInput, "an estimator must have a predict method or be a function, got 42"),
        (lambda: CertifiedRegressor(Ridge(), scale="std", **PROMISE).fit(X, Y), InvalidInput, r"scale='std' needs predict\(X, return_std=True\), which Ridge\(\) does not have"),
        (lambda: CertifiedRegressor(Ridge(), scale="auto", **PROMISE).fit(X, Y), InvalidInput, "scale must be None, 'std', an estimator or a function, got 'auto'"),
        (lambda: CertifiedRegressor(Ridge(), scale=2.0, **PROMISE).fit(X, Y), InvalidInput, "scale must be None, 'std', an estimator or a function, got 2.0"),
        (lambda: CertifiedRegressor(Ridge(), calibration_size=3000, **PROMISE).fit(X, Y), InvalidInput, r"calibration_size must be a share in \(0, 1\) or a number of rows below 3000, got 3000"),
        (lambda: CertifiedRegressor(Ridge(), calibration_size=1.5, **PROMISE).fit(X, Y), InvalidInput, "got 1.5"),
        (lambda: CertifiedRegressor(Ridge(), eps=2.0).fit(X, Y), InvalidInput, r"eps must be in \(0, 1\), got 2.0"),
        (lambda: CertifiedRegressor(sine, scale=lambda X: -np.ones(len(X)), **PROMISE).calibrate(X, Y), InvalidScale, "scale must be positive"),
        (lambda: CertifiedRegressor(sine, **PROMISE).calibrate(X, Y).predict_interval(X, output="frame"), InvalidInput, "output='frame' needs a dataframe X, got ndarray"),
        (lambda: CertifiedRegressor(sine, **PROMISE).calibrate(X, Y).predict_interval(X, output="list"), InvalidInput, "output must be one of 'array', 'frame', got 'list'"),
        (lambda: CertifiedRegressor(Ridge().fit(X, Y), **PROMISE).calibrate(X_NEW, Y_NEW).predict(X_NEW[:, 0]), InvalidInput, "Reshape your data"),
        (lambda: CertifiedRegressor(Ridge().fit(X, Y), **PROMISE).calibrate(X_NEW, Y_NEW).predict(X_NEW[:0]), InvalidInput, "X must have at least one row, got none"),
        (lambda: CertifiedRegressor(Ridge(), scale=Ridge, **PROMISE).fit(X, Y), InvalidInput, r"scale must be an instance, Ridge\(\), got the class"),
        (lambda: CertifiedFamily({}, **PROMISE).fit(X, Y), InvalidInput, "candidates must be a non-empty mapping"),
        (lambda: CertifiedFamily([Ridge()], **PROMISE).fit(X, Y), InvalidInput, "candidates must be a non-empty mapping"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_rule_and_value(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_candidates_to_come_share_delta_with_the_groups(rng):
    table, y = draw(rng, 4000)
    model = CertifiedRegressor(truth, groups="site", n_candidates=4, **PROMISE).calibrate(table, y)
    for cert in model.certificate_.groups.values():
        assert cert.rank == max_rank(cert.n_samples, **PROMISE, n_candidates=12)
