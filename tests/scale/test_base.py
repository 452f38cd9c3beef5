"""What every scale shares: scikit-learn conventions, checks of the target, and σ̂ > 0."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LinearRegression, QuantileRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import pacband
from pacband import CertifiedRegressor, InvalidInput
from pacband.scale import (
    EnsembleScale,
    FloorScale,
    LeverageScale,
    NeighborScale,
    ParzenScale,
    ProductScale,
    QuantileBand,
    QuantileScale,
    ResidualScale,
    StdScale,
)
from pacband.scale.crossfit import Predictor

LOW, HIGH = (QuantileRegressor(quantile=level, alpha=0.0) for level in (0.1, 0.9))
FOREST = RandomForestRegressor(5, random_state=0)
PROCESS = GaussianProcessRegressor(RBF(1.0, "fixed") + WhiteKernel(0.1, "fixed"))
SCALES = {
    "neighbour": NeighborScale(LinearRegression()),
    "residual": ResidualScale(LinearRegression(), Ridge()),
    "forest": EnsembleScale(FOREST, cv=2),
    "models": EnsembleScale(LinearRegression(), [LinearRegression(), Ridge()]),
    "std": StdScale(PROCESS),
    "quantile": QuantileScale(LOW, HIGH, LinearRegression()),
    "leverage": LeverageScale(),
    "random coefficients": LeverageScale(coefficients="random", alpha=0.1),
    "product": ProductScale([NeighborScale(LinearRegression()), LeverageScale()]),
    "floor": FloorScale(NeighborScale(LinearRegression())),
}


def expected_failures(scale):
    if isinstance(scale, QuantileScale):
        pair = "predict gives a pair of arrays, which cannot be indexed by rows"
        return dict.fromkeys(
            ["check_methods_sample_order_invariance", "check_estimator_sparse_array", "check_estimator_sparse_matrix"],
            pair,
        )
    return {}


def sides(scale, X):
    found = scale.predict(X)
    return found if isinstance(found, tuple) else (found,)


def positive(scale, X):
    return all(side.shape == (len(X),) and (side > 0).all() and np.isfinite(side).all() for side in sides(scale, X))


each_scale = pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)


@parametrize_with_checks(
    [
        *SCALES.values(),
        ResidualScale(HistGradientBoostingRegressor(max_iter=3), HistGradientBoostingRegressor(max_iter=3), cv=2),
        QuantileBand(LOW, HIGH),
    ],
    expected_failed_checks=expected_failures,
)
def test_follows_scikit_learn_conventions(estimator, check):
    check(estimator)


@each_scale
@pytest.mark.parametrize("rows", [3, 5])
def test_a_few_rows_are_enough(scale, rows, rng):
    X, y = rng.standard_normal((rows, 2)), rng.standard_normal(rows)
    assert positive(clone(scale).fit(X, y), np.vstack([X, 100 * X]))


@each_scale
def test_two_rows_of_one_feature(scale):
    assert positive(clone(scale).fit([[0.0], [1.0]], [0.0, 1.0]), np.array([[0.0], [0.5], [9.0]]))


@each_scale
@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_extreme_units(scale, size, rng):
    X, y = rng.standard_normal((40, 2)), size * rng.standard_normal(40)
    if type(scale) in (NeighborScale, EnsembleScale, ResidualScale, ProductScale, FloorScale, LeverageScale):
        assert positive(clone(scale).fit(X, y), X)


@each_scale
@pytest.mark.parametrize("level", [0.0, 7.0, -1e9])
def test_a_constant_target_has_a_positive_scale(scale, level, rng):
    X = rng.standard_normal((30, 2))
    assert positive(clone(scale).fit(X, np.full(30, level)), X)


@each_scale
def test_copies_of_one_row(scale):
    X, y = np.repeat([[1.0], [2.0]], 20, axis=0), np.tile([0.0, 1.0], 20)
    assert positive(clone(scale).fit(X, y), X)


@each_scale
def test_pickles_and_fits_anew_to_the_same_values(scale, rng):
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    fitted = clone(scale).fit(X, y)
    for other in (pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(X, y)):
        for mine, theirs in zip(sides(fitted, X), sides(other, X), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@each_scale
def test_scales_with_the_target(scale, rng):
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    if isinstance(scale, StdScale):
        pytest.skip("the noise of this Gaussian process is fixed, whatever y is")
    for part, large in zip(sides(clone(scale).fit(X, y), X), sides(clone(scale).fit(X, 1024 * y), X), strict=True):
        np.testing.assert_allclose(large, 1024 * part, rtol=0.01)


@each_scale
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([0.0, np.nan, 1.0], "y must be finite: it is NaN or infinite in 1 row, row 1"),
        (np.zeros((3, 2)), "one target a row, got y of shape \\(3, 2\\)"),
        (["a", "b", "c"], "y must be numeric"),
    ],
)
def test_bad_targets_are_refused(scale, target, message):
    with pytest.raises(InvalidInput, match=message):
        clone(scale).fit(np.eye(3), target)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    "scale",
    [
        NeighborScale(),
        ResidualScale(),
        ResidualScale(regressor=make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge())),
        EnsembleScale(),
        QuantileScale(),
    ],
    ids=["neighbour", "residual", "own regressor", "ensemble", "quantile"],
)
def test_a_scale_takes_the_tables_that_the_predictor_takes(frame, scale, rng):
    table = frame({"x": rng.standard_normal(150), "site": rng.choice(["north", "south"], 150)})
    y = rng.standard_normal(150)
    prepare = make_column_transformer((StandardScaler(), ["x"]), (OneHotEncoder(), ["site"]))
    model = CertifiedRegressor(make_pipeline(prepare, FOREST), scale=scale, eps=0.3, delta=0.1, random_state=0)
    model.fit(table, y)
    assert list(model.scale_.feature_names_in_) == ["x", "site"]
    assert positive(model.scale_, table)


@pytest.mark.parametrize("scale", [NeighborScale, ResidualScale])
def test_gaps_are_no_obstacle_where_the_predictor_takes_them(scale, rng):
    X, y = rng.standard_normal((120, 2)), rng.standard_normal(120)
    X[::7, 0] = np.nan
    assert positive(scale(HistGradientBoostingRegressor(max_iter=3)).fit(X, y), X)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (NeighborScale(Ridge(), n_neighbors=0), "n_neighbors must be at least 1, got 0"),
        (NeighborScale(Ridge(), cv=1), "cv must be at least 2 folds, got 1"),
        (ResidualScale(Ridge(), Ridge(), eps=1.5), "eps must be in \\(0, 1\\), got 1.5"),
        (NeighborScale("forest"), "must have a predict method or be a function, got 'forest'"),
        (NeighborScale(lambda X: np.zeros((len(X), 2))), "one number a row, \\(8,\\), got shape \\(8, 2\\)"),
        (NeighborScale(lambda X: np.full(len(X), np.nan)), "predictions must be finite .* 8 rows, the first 0, 1, 2"),
        (QuantileScale(LOW, HIGH, Ridge(), floor=0), "floor must be a positive finite number, got 0"),
        (QuantileScale(estimator=Ridge(), alpha=2), "alpha must be in \\(0, 1\\), got 2"),
        (LeverageScale(coefficients="free"), "coefficients must be one of 'fixed', 'random', got 'free'"),
        (LeverageScale(alpha=-1), "alpha must be zero or a positive finite number, got -1"),
        (ProductScale(3), "scales must be a non-empty list of scales, got 3"),
        (EnsembleScale(Ridge(), models=3), "models must be a list of at least 2 estimators, got 3"),
        (ProductScale([]), "scales must be a non-empty list"),
        (ProductScale([LeverageScale()], powers=[1, 2]), "powers must be 1 finite numbers"),
        (FloorScale(LeverageScale(), share=-1), "share must be zero or a positive finite number, got -1"),
    ],
)
def test_bad_options_are_refused_with_rule_and_value(scale, message, rng):
    with pytest.raises(InvalidInput, match=message):
        scale.fit(rng.standard_normal((8, 2)), rng.standard_normal(8))


@pytest.mark.parametrize(
    "scale", [ParzenScale(), LeverageScale(), LeverageScale(coefficients="random"), NeighborScale(), ResidualScale()]
)
def test_scales_take_the_tables_that_a_pipeline_takes(scale, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(size=600), "city": rng.choice(["Athens", "Oslo", "München"], 600)})
    y = 2 * table.x + rng.standard_normal(600) * np.where(table.city == "Oslo", 5.0, 1.0)
    encode = make_column_transformer((OneHotEncoder(), ["city"]), (StandardScaler(), ["x"]))
    model = CertifiedRegressor(make_pipeline(encode, Ridge()), scale=scale, eps=0.1, delta=0.1, random_state=0)
    model.fit(table, y)
    bands = model.predict_interval(table[:9])
    np.testing.assert_array_equal(
        pacband.load(model.save(tmp_path / "model.pacband")).predict_interval(table[:9]), bands
    )
    if not isinstance(scale, LeverageScale):
        wide = (bands[:, 1] - bands[:, 0])[table.city[:9] == "Oslo"]
        assert wide.min() > 1.2 * np.median(bands[:, 1] - bands[:, 0])


@pytest.mark.parametrize("name", ["ParzenScale", "LeverageScale"])
def test_features_are_those_of_the_pipeline_or_those_given(name):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(200, 2)) * [1.0, 100.0]
    y = X[:, 0] + rng.standard_normal(200)
    pipeline = make_pipeline(StandardScaler(), Ridge())
    given = {"ParzenScale": lambda: ParzenScale(transformer=StandardScaler()), "LeverageScale": lambda: LeverageScale(StandardScaler())}[name]  # fmt: skip
    plain = {"ParzenScale": ParzenScale, "LeverageScale": LeverageScale}[name]
    own = plain().used_with(Predictor(pipeline)).fit(X, y)
    np.testing.assert_array_equal(own.predict(X), given().used_with(Predictor(pipeline)).fit(X, y).predict(X))
    if name == "ParzenScale":
        raw = plain().used_with(Predictor(Ridge())).fit(X, y)
        assert (raw.predict(X) != own.predict(X)).any()
