"""A model put together again: the same members, the same certificates, the same refusals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import pacband
from pacband import CertifiedFamily, CertifiedRegressor, LocalKernelRidge, ReusedData, scale
from pacband.candidates.defaults import ScaleModel, default_predictors, default_scales
from support.estimators import MODEL_PROMISE, boosted, same
from support.twins import put_in_place


def test_a_loaded_model_still_refuses_the_rows_it_was_trained_on(rows, tmp_path):
    X, y = rows
    model = CertifiedRegressor(LinearRegression(), **MODEL_PROMISE).fit(X[:300], y[:300])
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    with pytest.raises(ReusedData, match="calibration needs rows the model has not seen"):
        loaded.calibrate(X[:300], y[:300])
    fresh = loaded.calibrate(X[300:], y[300:]).certificate_
    assert fresh.gamma == model.calibrate(X[300:], y[300:]).certificate_.gamma
    same(model, loaded, X)


def test_what_was_calibrated_only_can_be_calibrated_again(rows, tmp_path):
    X, y = rows
    model = CertifiedRegressor(FrozenEstimator(LinearRegression().fit(X[:200], y[:200])), **MODEL_PROMISE)
    model.calibrate(X[200:], y[200:])
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    assert loaded.calibrate(X[200:], y[200:]).certificate_.gamma == model.certificate_.gamma


def test_families_come_back_whole(rows, tmp_path):
    X, y = rows
    family = CertifiedFamily.from_grid(
        LocalKernelRidge(n_neighbors=20), {"decay": [0.5, 2.0]}, progress=print, **MODEL_PROMISE
    ).fit(X, y)
    loaded = pacband.load(family.save(tmp_path / "family.pacband"))
    for name in family.certificates_:
        same(family, loaded, X, candidate=name)
    assert loaded.best_name_ == family.best_name_
    assert loaded.certificates_ == family.certificates_
    assert loaded.progress is None


def test_the_automatic_family_with_groups_comes_back_whole(rows, tmp_path, monkeypatch):
    few = {"linear": make_pipeline(SimpleImputer(), LinearRegression()), "boosting": boosted(categorical_features=[2])}
    trees = ScaleModel(ExtraTreesRegressor(5, random_state=0))
    put_in_place(monkeypatch, default_predictors, lambda *_, **__: few)
    put_in_place(monkeypatch, default_scales, lambda *_, **__: {"trees": trees})
    X, y = rows
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "site": np.where(np.arange(len(X)) % 2, "north", "south")})
    frame.loc[::7, "b"] = np.nan
    family = CertifiedFamily("auto", groups="site", calibration_size=0.5, n_jobs=1, **MODEL_PROMISE).fit(frame, y)
    path = family.save(tmp_path / "auto.pacband")
    loaded = pacband.load(path)
    assert len(family.certificates_) > 1
    for name in family.certificates_:
        same(family, loaded, frame, candidate=name)
    assert list(loaded.certificates_.items()) == list(family.certificates_.items())
    assert str(loaded.auto_) == str(family.auto_)
    # All bands read one stack: it is in the file once, and is one again.
    assert len({id(band.stack) for band in loaded.estimators_.values()}) == 1
    with pytest.raises(ValueError, match="'a' is missing"):
        loaded.predict(frame.rename(columns={"a": "other"}))


def test_what_members_share_is_in_the_file_once_and_is_one_again(rows, tmp_path):
    X, y = rows
    forest = RandomForestRegressor(20, random_state=0)
    one = CertifiedFamily({"forest": forest}, **MODEL_PROMISE).fit(X, y)
    many = {f"forest {k}": (forest, scale.FloorScale(scale.EnsembleScale(), share=0.1 * k)) for k in range(1, 6)}
    family = CertifiedFamily(many, **MODEL_PROMISE).fit(X, y)
    assert len({id(model) for model in family.estimators_.values()}) == 1
    sizes = [model.save(tmp_path / f"{k}.pacband").stat().st_size for k, model in enumerate((one, family))]
    assert sizes[1] < 1.5 * sizes[0]
    loaded = pacband.load(tmp_path / "1.pacband")
    assert len({id(model) for model in loaded.estimators_.values()}) == 1
    for name in many:
        assert loaded.members_[name].scale.scale_.estimator_ is loaded.estimators_[name]
        same(family, loaded, X, candidate=name)
