"""The scikit-learn face: conventions, splits, rows kept apart, and frames in and out."""

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
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pacband import (
    CertifiedFamily,
    CertifiedRegressor,
    InvalidInput,
    InvalidScale,
    LocalRidge,
    NotEnoughSamples,
    ReusedData,
    certify,
    certify_family,
    datasets,
    plan,
)

PROMISE = {"eps": 0.1, "delta": 0.01}
X, Y = datasets.paper_sample(3000, random_state=7)
X_NEW, Y_NEW = datasets.paper_sample(1000, random_state=8)


@parametrize_with_checks(
    [
        CertifiedRegressor(Ridge(), eps=0.5, delta=0.5),
        CertifiedFamily({"ridge": Ridge(), "line": (LinearRegression(), None)}, eps=0.5, delta=0.5),
    ]
)
def test_follows_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_fitted_model_and_held_out_rows_make_a_certificate():
    model = LinearRegression().fit(X, Y)
    certified = CertifiedRegressor(model, **PROMISE).calibrate(X_NEW, Y_NEW)
    expected = certify(Y_NEW, model.predict(X_NEW), **PROMISE)
    assert certified.certificate_.gamma == expected.gamma
    np.testing.assert_array_equal(certified.predict(X), model.predict(X))
    np.testing.assert_array_equal(certified.predict_interval(X), expected.interval(model.predict(X)))


def test_the_certificate_keeps_speaking_of_the_model_it_was_made_for():
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


def test_shared_work_never_bypasses_a_models_own_predict():
    class Shifted(LocalRidge):
        def predict(self, X, return_std=False):
            answer = super().predict(X, return_std)
            return (answer[0] + 100, answer[1]) if return_std else answer + 100

    family = CertifiedFamily.from_grid(Shifted(), {"decay": [1.0, 2.0]}, random_state=0, **PROMISE).fit(
        X[:600], Y[:600]
    )
    band = family.predict_interval(X_NEW)
    assert np.mean((band[:, 0] > Y_NEW) | (band[:, 1] < Y_NEW)) < 0.15


def test_representation_never_raises():
    for broken in (CertifiedFamily({}), CertifiedRegressor(3)):
        assert broken._repr_html_()


def sine(X):
    return datasets.paper_predictor(X)


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
    CertifiedRegressor(Ridge(), **PROMISE).fit(coarse[:2000], target[:2000], calibration=(coarse[2000:], target[2000:]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_with_text_columns_are_kept_apart_too(frame):
    site = np.where(X[:, 0] > 0, "north", "south")
    table = frame({"x": X[:, 0], "site": site})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge())
    with pytest.raises(ReusedData):
        CertifiedRegressor(model, **PROMISE).fit(table, Y, calibration=(table, Y))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frame_in_frame_out(frame):
    table = frame({"x": X[:, 0]})
    model = CertifiedRegressor(LinearRegression(), random_state=0, **PROMISE).fit(table, Y)
    assert list(model.feature_names_in_) == ["x"]
    result = model.predict_interval(table, output="frame")
    assert isinstance(result, frame)
    assert list(result.columns) == ["prediction", "lower", "upper"]
    np.testing.assert_array_equal(result[["lower", "upper"]].to_numpy(), model.predict_interval(table))


def test_pandas_index_is_kept():
    table = pd.DataFrame({"lower": X[:4, 0]}, index=list("abcd"))
    model = CertifiedRegressor(sine, **PROMISE).calibrate(pd.DataFrame({"lower": X_NEW[:, 0]}), Y_NEW)
    result = model.predict_interval(table, output="frame")
    assert list(result.index) == list("abcd")
    np.testing.assert_array_equal(result["lower"], model.predict_interval(table)[:, 0])


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


def test_multi_output():
    targets = np.c_[Y, -Y]
    model = CertifiedRegressor(Ridge(), gauge=np.cov(targets.T) + np.eye(2), random_state=0, **PROMISE).fit(X, targets)
    assert model.predict_interval(X_NEW).shape == (1000, 2, 2)
    boxes = CertifiedRegressor(Ridge(), random_state=0, **PROMISE).fit(pd.DataFrame({"x": X[:, 0]}), targets)
    frame = boxes.predict_interval(pd.DataFrame({"x": X_NEW[:, 0]}), output="frame")
    assert list(frame.columns) == [f"{name}_{k}" for k in (0, 1) for name in ("prediction", "lower", "upper")]


def test_family_certifies_all_and_predicts_with_the_sharpest():
    candidates = {"line": LinearRegression(), "near": KNeighborsRegressor(30), "process": (BayesianRidge(), "std")}
    family = CertifiedFamily(candidates, random_state=0, **PROMISE).fit(X, Y, calibration=(X_NEW, Y_NEW))
    columns = {
        "line": LinearRegression().fit(X, Y).predict(X_NEW),
        "near": KNeighborsRegressor(30).fit(X, Y).predict(X_NEW),
        "process": BayesianRidge().fit(X, Y).predict(X_NEW, return_std=True),
    }
    expected = certify_family(Y_NEW, columns, **PROMISE)
    assert family.certificate_.mean_bound == expected.mean_bound
    assert family.best_name_ == "near"
    assert set(family.estimators_) == set(candidates)
    np.testing.assert_array_equal(family.predict(X), family.estimators_["near"].predict(X))
    assert family.predict_interval(X).shape == (3000, 2)
    weighted = CertifiedFamily(candidates, weights={"line": 0.2, "near": 0.7, "process": 0.1}, **PROMISE)
    assert weighted.fit(X, Y).certificate_.candidates["near"].weight == pytest.approx(0.7)


def test_family_of_fitted_candidates_is_calibrated():
    family = CertifiedFamily({"sine": sine, "line": LinearRegression().fit(X, Y)}, **PROMISE).calibrate(X_NEW, Y_NEW)
    assert family.best_name_ == "sine"


def test_grid_candidates_with_the_same_words_are_both_kept():
    matrices = [np.eye(200), 2 * np.eye(200)]
    family = CertifiedFamily.from_grid(LocalRidge(), [{"norm": matrices}, {"decay": [2.0]}])
    assert len(family.candidates) == 3


def test_family_from_grid():
    family = CertifiedFamily.from_grid(
        KNeighborsRegressor(), {"n_neighbors": range(5, 30, 5), "weights": ["uniform", "distance"]}, **PROMISE
    )
    assert len(family.candidates) == 10
    assert "n_neighbors=5, weights=uniform" in family.candidates
    assert all(scale is None for _, scale in family.candidates.values())
    steps = []
    own = CertifiedFamily.from_grid(
        BayesianRidge(), {"max_iter": [10, 20]}, progress=lambda *step: steps.append(step), **PROMISE
    )
    assert own.fit(X, Y).certificate_.certificate.scale_kind == "symmetric"
    assert steps == [(100, 200), (200, 200)]


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


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: CertifiedRegressor(Ridge()).fit(X[:100], Y[:100]), NotEnoughSamples, "50 of 100 rows were kept for calibration.*need at least 270 samples at rank 1, got n_samples=50"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).fit(X, Y, calibration=(X_NEW[:9], Y_NEW[:9])), NotEnoughSamples, "got n_samples=9"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).fit(X, Y, calibration=X_NEW), InvalidInput, r"calibration must be a pair \(X_cal, y_cal\), got ndarray"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).fit(X, Y[:5]), ValueError, "inconsistent numbers of samples"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).fit(X, None), ValueError, "requires y to be passed"),
        (lambda: CertifiedRegressor(Ridge(), **PROMISE).calibrate(X, Y), NotFittedError, "Ridge instance is not fitted"),
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
        (lambda: CertifiedFamily({}, **PROMISE).fit(X, Y), InvalidInput, "candidates must be a non-empty mapping"),
        (lambda: CertifiedFamily([Ridge()], **PROMISE).fit(X, Y), InvalidInput, "candidates must be a non-empty mapping"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_rule_and_value(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_gaussian_process_family_shares_nothing_and_still_works():
    family = CertifiedFamily.from_grid(GaussianProcessRegressor(), {"alpha": [1.0, 20.0]}, **PROMISE)
    assert family.fit(X[:400], Y[:400]).best_name_ in family.candidates


def test_calibrate_renews_what_was_fitted_also_where_rows_cannot_be_told_apart(rng):
    # A container unknown to us: rows cannot be compared, but the model was fitted all the same.
    cube = rng.standard_normal((900, 2, 2))
    y = cube[:, 0, 0] + 0.1 * rng.standard_normal(900)
    model = CertifiedRegressor(_Flat(), eps=0.1, delta=0.1, random_state=0).fit(cube[:600], y[:600])
    coefficients = model.estimator_.model_.coef_.copy()
    model.calibrate(cube[600:], y[600:])
    assert np.array_equal(model.estimator_.model_.coef_, coefficients)


class _Flat(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.model_ = Ridge().fit(np.reshape(X, (len(X), -1)), y)
        return self

    def predict(self, X):
        return self.model_.predict(np.reshape(X, (len(X), -1)))


def test_sparse_rows_are_known_again(rng):
    X = csr_matrix(rng.poisson(0.3, (800, 30)) * rng.standard_normal((800, 30)))
    y = rng.standard_normal(800)
    model = CertifiedRegressor(Ridge(), eps=0.1, delta=0.1, random_state=0)
    with pytest.raises(ReusedData):
        model.fit(X, y, calibration=(X.tocsc(), y))
    model.fit(X[:500], y[:500], calibration=(X[500:], y[500:]))
    with pytest.raises(ReusedData):
        model.calibrate(X[200:600], y[200:600])
