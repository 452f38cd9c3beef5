"""What the certified estimators share: scikit-learn conventions, rows kept apart, and one model under one certificate."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMRegressor
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput, ReusedData, certify, datasets
from pacband.scale import NeighborScale
from support.estimators import PROMISE, X_NEW, Y_NEW, X, Y, everyone, sine


@parametrize_with_checks(
    [
        CertifiedRegressor(Ridge(), eps=0.5, delta=0.5),
        CertifiedFamily({"ridge": Ridge(), "line": (LinearRegression(), None)}, eps=0.5, delta=0.5),
    ]
)
def test_follows_scikit_learn_conventions(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        CertifiedRegressor(Ridge(), eps=0.5, delta=0.5, groups=everyone),
        CertifiedFamily({"ridge": Ridge(), "line": LinearRegression()}, eps=0.5, delta=0.5, groups=everyone),
    ]
)
def test_follows_scikit_learn_conventions_within_groups(estimator, check):
    check(estimator)


def test_fitted_model_and_held_out_rows_make_a_certificate():
    model = LinearRegression().fit(X, Y)
    certified = CertifiedRegressor(model, **PROMISE).calibrate(X_NEW, Y_NEW)
    expected = certify(Y_NEW, model.predict(X_NEW), **PROMISE)
    assert certified.certificate_.gamma == expected.gamma
    np.testing.assert_array_equal(certified.predict(X), model.predict(X))
    np.testing.assert_array_equal(certified.predict_interval(X), expected.interval(model.predict(X)))


def test_the_certificate_belongs_to_the_model_it_was_made_for():
    model = LinearRegression().fit(X, Y)
    certified = CertifiedRegressor(model, **PROMISE).calibrate(X_NEW, Y_NEW)
    before = certified.predict_interval(X_NEW)
    model.fit(X, -5 * Y)
    np.testing.assert_array_equal(certified.predict_interval(X_NEW), before)
    # A refit that fails at its calibration leaves the old pair of model and certificate, not half of each.
    fitted = CertifiedRegressor(LinearRegression(), random_state=0, **PROMISE).fit(X, Y)
    before = fitted.predict_interval(X_NEW)
    with pytest.raises(InvalidInput, match="y must be finite"):
        fitted.fit(X, -5 * Y, calibration=(X_NEW, np.full(1000, np.nan)))
    np.testing.assert_array_equal(fitted.predict_interval(X_NEW), before)


def test_calibrating_again_sees_changed_parameters():
    certified = CertifiedRegressor(sine, **PROMISE).calibrate(X_NEW, Y_NEW)
    assert certified.certificate_.scale_kind == "none"
    certified.set_params(scale=datasets.paper_scale).calibrate(X_NEW, Y_NEW)
    assert certified.certificate_.scale_kind == "symmetric"


@pytest.mark.parametrize(
    "options", [{"side": "up"}, {"nonfinite": "drop"}, {"min_scale": -1.0}, {"gauge": "min"}, {"delta": 2.0}]
)
def test_options_are_checked_before_any_fit(options):
    class Untouchable(LinearRegression):
        def fit(self, X, y):
            raise AssertionError("fitted")

    with pytest.raises(InvalidInput):
        CertifiedRegressor(Untouchable(), **{**PROMISE, **options}).fit(X, Y)
    with pytest.raises(InvalidInput):
        CertifiedFamily({"a": Untouchable(), "b": Untouchable()}, **{**PROMISE, **options}).fit(X, Y)
    with pytest.raises(InvalidInput, match="weights must"):
        CertifiedFamily({"a": Untouchable(), "b": Untouchable()}, weights=[1.0, 1.0], **PROMISE).fit(X, Y)


def test_representation_never_raises():
    for broken in (CertifiedFamily({}), CertifiedRegressor(3)):
        assert broken._repr_html_()


@pytest.mark.parametrize(
    "estimator",
    [sine, FrozenEstimator(LinearRegression().fit(X, Y)), KNeighborsRegressor(20).fit(X, Y)],
    ids=["function", "frozen", "fitted"],
)
def test_anything_that_predicts_can_be_calibrated(estimator):
    certified = CertifiedRegressor(estimator, **PROMISE).calibrate(X_NEW, Y_NEW)
    predict = estimator if callable(estimator) else estimator.predict
    assert certified.certificate_.gamma == certify(Y_NEW, predict(X_NEW), **PROMISE).gamma


def test_a_function_may_take_any_kind_of_row():
    flat = CertifiedRegressor(sine, scale=datasets.paper_scale, **PROMISE).calibrate(X_NEW[:, 0], Y_NEW)
    assert flat.predict_interval(X[:5, 0]).shape == (5, 2)
    texts = CertifiedRegressor(lambda rows: [len(row) for row in rows], **PROMISE).calibrate(["ab"] * 50, [2.0] * 50)
    assert texts.certificate_.gamma == 0.0


def test_a_wrapped_network_needs_no_adapter():
    class Network:
        """Looks like a PyTorch module: called on arrays, no scikit-learn in sight."""

        def __call__(self, rows):
            return np.asarray(rows)[:, 0] * 10

    assert CertifiedRegressor(Network(), **PROMISE).calibrate(X_NEW, Y_NEW).predict(X[:2]).shape == (2,)


def test_third_party_regressor_needs_no_adapter():
    model = CertifiedRegressor(LGBMRegressor(n_estimators=10, verbose=-1), random_state=0, **PROMISE).fit(X, Y)
    assert model.predict_interval(X_NEW).shape == (1000, 2)


def test_nothing_to_fit_means_every_row_calibrates():
    for estimator in (sine, FrozenEstimator(Ridge().fit(X_NEW, Y_NEW))):
        assert CertifiedRegressor(estimator, **PROMISE).fit(X, Y).certificate_.n_samples == 3000


def test_separate_calibration_rows_leave_all_others_for_the_fit():
    model = CertifiedRegressor(Ridge(), **PROMISE).fit(X, Y, calibration=(X_NEW, Y_NEW))
    assert model.certificate_.n_samples == 1000
    np.testing.assert_array_equal(model.predict(X_NEW), Ridge().fit(X, Y).predict(X_NEW))


def test_rows_the_model_was_fitted_on_are_refused():
    model = CertifiedRegressor(Ridge(), **PROMISE)
    with pytest.raises(ReusedData, match="of 3000 calibration rows, these were also used to fit it: 3000 rows"):
        model.fit(X, Y, calibration=(X, Y))
    model.fit(X, Y, calibration=(X_NEW, Y_NEW))
    with pytest.raises(ReusedData, match="1 row, row 500"):
        model.calibrate(np.r_[X_NEW[:500], X[:1]], np.r_[Y_NEW[:500], Y[:1]])
    before = model.certificate_
    with pytest.raises(ReusedData):
        model.calibrate(X, Y)
    assert model.certificate_ is before, "a refused calibration leaves the model as it was"
    assert model.calibrate(X_NEW[:500], Y_NEW[:500]).certificate_.n_samples == 500


def test_the_training_set_itself_is_refused_however_often_its_rows_repeat():
    twice, target = np.repeat(X[:500], 2, axis=0), np.repeat(Y[:500], 2)
    with pytest.raises(ReusedData):
        CertifiedRegressor(Ridge(), **PROMISE).fit(twice, target, calibration=(twice, target))
    with pytest.raises(ReusedData):
        CertifiedRegressor(Ridge(), **PROMISE).fit(twice, target, calibration=(X[:500], Y[:500]))


def test_repeated_rows_of_a_coarse_table_are_no_reuse():
    rng = np.random.default_rng(0)
    coarse, target = rng.integers(0, 5, (4000, 2)), rng.integers(0, 3, 4000)
    model = CertifiedRegressor(Ridge(), **PROMISE)
    model.fit(coarse[:2000], target[:2000], calibration=(coarse[2000:], target[2000:]))
    assert model.certificate_.n_samples == 2000


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_with_text_columns_are_kept_apart_too(frame):
    site = np.where(X[:, 0] > 0, "north", "south")
    table = frame({"x": X[:, 0], "site": site})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge())
    with pytest.raises(ReusedData):
        CertifiedRegressor(model, **PROMISE).fit(table, Y, calibration=(table, Y))


def test_works_inside_search_pipeline_and_cross_validation():
    search = GridSearchCV(
        CertifiedRegressor(Ridge(), random_state=0, **PROMISE), {"estimator__alpha": [0.1, 10.0]}, cv=2
    )
    assert search.fit(X, Y).best_estimator_.certificate_.eps == 0.1
    pipeline = make_pipeline(StandardScaler(), CertifiedRegressor(Ridge(), random_state=0, **PROMISE)).fit(X, Y)
    assert pipeline[-1].certificate_.delta == 0.01
    inner = CertifiedRegressor(make_pipeline(StandardScaler(), Ridge()), random_state=0, **PROMISE)
    assert np.isfinite(cross_val_score(inner, X, Y, cv=3)).all()


def test_text_rows_reach_a_text_pipeline():
    words = np.array(["cold day", "warm day", "hot day", "mild day"] * 200, dtype=object)
    target = np.tile([0.0, 1.0, 2.0, 0.5], 200) + np.random.default_rng(0).normal(size=800)
    model = CertifiedRegressor(make_pipeline(CountVectorizer(), Ridge()), random_state=0, **PROMISE)
    assert model.fit(words, target).predict_interval(words[:3]).shape == (3, 2)


def test_clone_and_pickle():
    family = CertifiedFamily({"ridge": Ridge(alpha=3.0), "bayes": (BayesianRidge(), "std")}, random_state=0, **PROMISE)
    again = clone(family)
    assert again.candidates["ridge"].alpha == 3.0
    family.fit(X, Y)
    again = pickle.loads(pickle.dumps(family))
    np.testing.assert_array_equal(again.predict_interval(X), family.predict_interval(X))
    assert not hasattr(clone(family), "certificate_")


def test_same_random_state_same_certificate():
    def fit():
        return CertifiedRegressor(RandomForestRegressor(10, random_state=0), random_state=3, **PROMISE).fit(X, Y)

    assert fit().certificate_.data_digest == fit().certificate_.data_digest


class _Flat(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.model_ = Ridge().fit(np.reshape(X, (len(X), -1)), y)
        return self

    def predict(self, X):
        return self.model_.predict(np.reshape(X, (len(X), -1)))


def test_calibrate_renews_what_was_fitted_also_where_rows_cannot_be_compared(rng):
    # A container unknown to us: rows cannot be compared, but the model was fitted all the same.
    cube = rng.standard_normal((900, 2, 2))
    y = cube[:, 0, 0] + 0.1 * rng.standard_normal(900)
    model = CertifiedRegressor(_Flat(), eps=0.1, delta=0.1, random_state=0).fit(cube[:600], y[:600])
    coefficients = model.estimator_.model_.coef_.copy()
    model.calibrate(cube[600:], y[600:])
    assert np.array_equal(model.estimator_.model_.coef_, coefficients)


def test_sparse_training_rows_are_recognised(rng):
    X = csr_matrix(rng.poisson(0.3, (800, 30)) * rng.standard_normal((800, 30)))
    y = rng.standard_normal(800)
    model = CertifiedRegressor(Ridge(), eps=0.1, delta=0.1, random_state=0)
    with pytest.raises(ReusedData):
        model.fit(X, y, calibration=(X.tocsc(), y))
    model.fit(X[:500], y[:500], calibration=(X[500:], y[500:]))
    with pytest.raises(ReusedData):
        model.calibrate(X[200:600], y[200:600])


def test_prediction_and_scale_are_those_of_the_band():
    plain = CertifiedRegressor(sine, **PROMISE).calibrate(X_NEW, Y_NEW)
    prediction, scale = plain.predict_with_scale(X)
    np.testing.assert_array_equal(prediction, sine(X))
    assert scale is None
    scaled = CertifiedRegressor(sine, scale=datasets.paper_scale, **PROMISE).calibrate(X_NEW, Y_NEW)
    prediction, scale = scaled.predict_with_scale(X)
    np.testing.assert_array_equal(scale, datasets.paper_scale(X))
    np.testing.assert_array_equal(scaled.certificate_.interval(prediction, scale), scaled.predict_interval(X))
    with pytest.raises(NotFittedError):
        CertifiedRegressor(Ridge()).predict_with_scale(X)


@pytest.mark.parametrize("scale", [None, NeighborScale()])
def test_what_fit_leaves_as_it_is_may_change_later(scale):
    class Fitted:
        """A model of another library, without fit."""

        def __init__(self, inner):
            self.inner = inner

        def predict(self, X):
            return self.inner.predict(X)

    for wrap in (FrozenEstimator, Fitted):
        inner = LinearRegression().fit(X_NEW, Y_NEW)
        model = CertifiedRegressor(wrap(inner), scale=scale, random_state=0, eps=0.2, delta=0.1).fit(X, Y)
        before = model.predict_interval(X)
        inner.fit(X_NEW, -Y_NEW)
        np.testing.assert_array_equal(model.predict_interval(X), before)
