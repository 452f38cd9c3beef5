"""Model files: the loaded model is the saved one to the last bit, and nothing in a file is run or believed unseen."""

import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
import warnings
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVR, LinearSVR, NuSVR

import pacband
from pacband import (
    CertificateError,
    CertifiedFamily,
    CertifiedRegressor,
    InvalidInput,
    LocalKernelRidge,
    LocalRidge,
    ReusedData,
    scale,
)
from pacband.candidates import screening
from pacband.candidates.defaults import ScaleModel
from pacband.models import load_certificate
from pacband.models.declarations import KINDS
from pacband.models.trust import UntrustedTypes

PROMISE = {"eps": 0.1, "delta": 0.05, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 2))
    return X, X[:, 0] + (0.2 + np.abs(X[:, 1])) * rng.normal(size=400)


def boosted(**options):
    return HistGradientBoostingRegressor(max_iter=5, random_state=0, **options)


MODELS = {
    "linear": (LinearRegression(), None),
    "pipeline": (make_pipeline(StandardScaler(), SplineTransformer(), LinearRegression()), None),
    "logarithm": (make_pipeline(FunctionTransformer(np.arctan), LinearRegression()), None),
    "forest": (RandomForestRegressor(5, random_state=0), scale.EnsembleScale()),
    "boosting": (boosted(), scale.ResidualScale(boosted())),
    "stages": (GradientBoostingRegressor(n_estimators=5, random_state=0), None),
    "neighbours": (KNeighborsRegressor(), scale.NeighborScale()),
    "ball": (KNeighborsRegressor(algorithm="ball_tree"), None),
    "brute": (KNeighborsRegressor(algorithm="brute"), None),
    "machine": (SVR(), None),
    "nu machine": (NuSVR(kernel="poly"), None),
    "linear machine": (LinearSVR(random_state=0), None),
    "categories": (boosted(categorical_features=[1]), None),
    "indicators": (
        make_pipeline(
            FunctionTransformer(np.rint), OneHotEncoder(max_categories=3, handle_unknown="ignore"), LinearRegression()
        ),
        None,
    ),
    "process": (GaussianProcessRegressor(alpha=0.1), "std"),
    "parzen": (LinearRegression(), scale.ParzenScale(LinearRegression())),
    "leverage": (LinearRegression(), scale.LeverageScale()),
    "quantile": (LinearRegression(), scale.QuantileScale(boosted(loss="quantile", quantile=0.5))),
    "band": (scale.QuantileBand(boosted(loss="quantile", quantile=0.5)), "std"),
    "product": (LinearRegression(), scale.ProductScale([scale.ResidualScale(boosted()), scale.NeighborScale()])),
    "floor": (LinearRegression(), scale.FloorScale(scale.NeighborScale())),
    "local ridge": (LocalRidge(), "std"),
    "local kernel": (LocalKernelRidge(), "std"),
    "local nearest": (LocalKernelRidge(n_neighbors=20), "std"),
}


def same(one, other, X, **options):
    np.testing.assert_array_equal(one.predict(X, **options), other.predict(X, **options))
    np.testing.assert_array_equal(one.predict_interval(X, **options), other.predict_interval(X, **options))


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one_to_the_last_bit(name, rows, tmp_path):
    X, y = rows if name != "categories" else (np.rint(np.abs(rows[0])), rows[1])
    estimator, spread = MODELS[name]
    model = CertifiedRegressor(estimator, scale=spread, **PROMISE).fit(X, y)
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    assert type(loaded) is CertifiedRegressor
    same(model, loaded, X)
    assert loaded.certificate_ == model.certificate_
    assert loaded.certificate_.digest == model.certificate_.digest
    assert load_certificate(tmp_path / "model.pacband") == model.certificate_
    assert repr(loaded) == repr(model)


def test_a_loaded_model_still_refuses_the_rows_it_was_trained_on(rows, tmp_path):
    X, y = rows
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(X[:300], y[:300])
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    with pytest.raises(ReusedData, match="calibration needs rows the model has not seen"):
        loaded.calibrate(X[:300], y[:300])
    fresh = loaded.calibrate(X[300:], y[300:]).certificate_
    assert fresh.gamma == model.calibrate(X[300:], y[300:]).certificate_.gamma
    same(model, loaded, X)


def test_what_was_calibrated_only_can_be_calibrated_again(rows, tmp_path):
    X, y = rows
    model = CertifiedRegressor(FrozenEstimator(LinearRegression().fit(X[:200], y[:200])), **PROMISE)
    model.calibrate(X[200:], y[200:])
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    assert loaded.calibrate(X[200:], y[200:]).certificate_.gamma == model.certificate_.gamma


def test_families_come_back_whole(rows, tmp_path):
    X, y = rows
    family = CertifiedFamily.from_grid(
        LocalKernelRidge(n_neighbors=20), {"decay": [0.5, 2.0]}, progress=print, **PROMISE
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
    monkeypatch.setattr(screening, "default_predictors", lambda *_, **__: few)
    monkeypatch.setattr(screening, "default_scales", lambda *_, **__: {"trees": trees})
    X, y = rows
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "site": np.where(np.arange(len(X)) % 2, "north", "south")})
    frame.loc[::7, "b"] = np.nan
    family = CertifiedFamily("auto", groups="site", calibration_size=0.5, n_jobs=1, **PROMISE).fit(frame, y)
    path = family.save(tmp_path / "auto.pacband")
    loaded = pacband.load(path)
    assert len(family.certificates_) > 1
    for name in family.certificates_:
        same(family, loaded, frame, candidate=name)
    assert list(loaded.certificates_.items()) == list(family.certificates_.items())
    assert str(loaded.auto_) == str(family.auto_)
    # All bands read one stack: it is in the file once, and is one again.
    assert len({id(band.stack) for band in loaded.estimators_.values()}) == 1
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "other"}))


def test_every_estimator_of_ours_is_declared():
    ours = set()
    for module in pkgutil.walk_packages(pacband.__path__, "pacband."):
        if module.name.startswith(("pacband.candidates", "pacband.local", "pacband.scale")):
            for kind in vars(importlib.import_module(module.name)).values():
                if inspect.isclass(kind) and issubclass(kind, BaseEstimator) and kind.__module__ == module.name:
                    ours.add(kind)
    declared = {kind.load() for kind in KINDS.values() if kind.name.startswith("pacband.")}
    # Those of a fold, which live for one fit, those that are abstract, and the stand-in for a family not yet found.
    left = {"Automatic", "_Ensemble", "_Fold", "LocalRegressor", "BaseScale", "QuantileEnds"}
    assert {kind.__name__ for kind in ours - declared} == left


def test_functions_are_refused_and_the_old_file_stays(rows, tmp_path):
    X, y = rows
    path = tmp_path / "model.pacband"
    path.write_bytes(b"old")
    function = CertifiedRegressor(lambda X: X[:, 0], **PROMISE).fit(X, y)
    scaled = CertifiedRegressor(LinearRegression(), scale=lambda X: np.ones(len(X)), **PROMISE).fit(X, y)
    grouped = CertifiedRegressor(LinearRegression(), groups=lambda X: X[:, 0] > 0, **PROMISE).fit(X, y)
    inside = make_pipeline(FunctionTransformer(lambda X: X), LinearRegression())
    hidden = CertifiedRegressor(inside, **PROMISE).fit(X, y)
    for model, message in (
        (function, "the predictor of 'estimator' is one"),
        (scaled, "the scale of 'estimator' is one"),
        (grouped, "groups must be a column of X"),
        (hidden, "it contains the function .*<lambda>, which would have to be run from the file"),
    ):
        with pytest.raises(InvalidInput, match=message):
            model.save(path)
    with pytest.raises(NotFittedError):
        CertifiedRegressor(LinearRegression()).save(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.pacband"]


def test_a_save_that_fails_leaves_the_old_file(rows, tmp_path, monkeypatch):
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(*rows)
    path = model.save(tmp_path / "model.pacband")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        model.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.pacband"]


def test_other_packages_have_to_be_trusted_by_name(rows, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = (pd.DataFrame(rows[0], columns=["a", "b"]), rows[1])
    model = CertifiedRegressor(lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1), **PROMISE).fit(X, y)
    path = tmp_path / "model.pacband"
    with pytest.raises(InvalidInput, match=r"Save it with trusted=\['lightgbm.LGBMRegressor'\]"):
        model.save(path)
    assert not path.exists()
    for word in ("lightgbm.LGBMRegressor", lightgbm.LGBMRegressor):
        model.save(path, trusted=[word])
        with pytest.raises(UntrustedTypes, match=r"1 type\(s\) .*: lightgbm\.LGBMRegressor") as caught:
            pacband.load(path)
        same(model, pacband.load(path, trusted=caught.value.types), X)
        same(model, pacband.load(path, trusted=[word]), X)
    # In the format of its own, as text.
    document = json.loads(entry(path.read_bytes(), "model.json"))
    (fitted,) = [held for held in document["objects"] if "text" in held.get("state", ())]
    assert fitted["state"]["text"].startswith("tree\nversion=")
    with pytest.raises(InvalidInput, match="trusted must be a list of names of types, got True"):
        pacband.load(path, trusted=True)


def test_a_file_that_needs_trust_says_so_at_its_top(rows, tmp_path):
    X, y = rows
    clusters = make_pipeline(KMeans(3, n_init=1, random_state=0), LinearRegression())
    model = CertifiedRegressor(clusters, **PROMISE).fit(X, y)
    path = tmp_path / "model.pacband"
    with pytest.raises(InvalidInput, match=r"contains a sklearn\.cluster\._kmeans\.KMeans, which pacband cannot check"):
        model.save(path)
    model.save(path, trusted=[KMeans])
    content = json.loads(entry(path.read_bytes(), "manifest.json"))["content"]
    assert content["trusted"] == ["sklearn.cluster._kmeans.KMeans"]
    assert content["notice"].startswith("This file holds objects that pacband cannot check.")
    assert list(content)[:3] == ["kind", "trusted", "notice"]
    with pytest.raises(UntrustedTypes, match=r"1 type\(s\) .*: sklearn\.cluster\._kmeans\.KMeans\."):
        pacband.load(path)
    same(model, pacband.load(path, trusted=[KMeans]), X)


def test_what_is_not_as_declared_can_be_saved_with_the_users_word(rows, tmp_path):
    X, y = rows
    model = CertifiedRegressor(GradientBoostingRegressor(n_estimators=2, init=LinearRegression()), **PROMISE).fit(X, y)
    path = tmp_path / "model.pacband"
    with pytest.raises(InvalidInput, match=r"init of a .* cannot be a .*\. Save it with trusted="):
        model.save(path)
    model.save(path, trusted=[GradientBoostingRegressor])
    with pytest.raises(UntrustedTypes) as caught:
        pacband.load(path)
    same(model, pacband.load(path, trusted=caught.value.types), X)


def test_an_attribute_that_is_not_declared_is_not_saved_silently(rows, tmp_path):
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(*rows)
    model.estimator_.note = 3
    with pytest.raises(
        InvalidInput, match="has the attribute note, which pacband does not know and which may be needed"
    ):
        model.save(tmp_path / "model.pacband")


@pytest.mark.parametrize("version", ["0.11.0", "0.14.0"])
def test_a_skops_that_can_be_made_to_run_code_is_refused(version, rows, tmp_path, monkeypatch):
    import skops

    X, y = rows
    model = CertifiedRegressor(make_pipeline(KMeans(3, n_init=1), LinearRegression()), **PROMISE).fit(X, y)
    path = model.save(tmp_path / "model.pacband", trusted=[KMeans])
    before = path.read_bytes()
    monkeypatch.setattr(skops, "__version__", version)
    with pytest.raises(InvalidInput, match=f"skops 0.15 or newer, .* this is {version}"):
        pacband.load(path, trusted=[KMeans])
    with pytest.raises(InvalidInput, match=f"this is {version}"):
        model.save(path, trusted=[KMeans])
    assert path.read_bytes() == before
    assert load_certificate(path).eps == 0.1


@pytest.fixture(scope="module")
def saved(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.pacband"
    CertifiedRegressor(LinearRegression(), **PROMISE).fit(*rows).save(path)
    return path.read_bytes()


def entry(saved, name):
    with zipfile.ZipFile(BytesIO(saved)) as archive:
        return archive.read(name)


def test_damage_is_seen(saved, tmp_path):
    path = tmp_path / "model.pacband"
    for length in (*range(0, 60, 7), len(saved) // 2, len(saved) - 1):
        path.write_bytes(saved[:length])
        with pytest.raises(CertificateError, match=r"truncated|damaged"):
            pacband.load(path)
    path.write_bytes(saved + b"more")
    with pytest.raises(CertificateError, match="truncated or damaged"):
        pacband.load(path)
    with zipfile.ZipFile(BytesIO(saved)) as archive:
        where = archive.getinfo("model.json").header_offset + 200
    path.write_bytes(saved[:where] + bytes([saved[where] ^ 1]) + saved[where + 1 :])
    with pytest.raises(CertificateError, match="is damaged: Bad CRC-32"):
        pacband.load(path)
    # The thirtieth byte begins the name of the first entry.
    path.write_bytes(saved[:30] + bytes([saved[30] ^ 1]) + saved[31:])
    with pytest.raises(CertificateError, match=r"is damaged: File name in directory .* differ\.$"):
        pacband.load(path)


def test_the_same_model_gives_the_same_bytes(rows, tmp_path):
    model = CertifiedRegressor(RandomForestRegressor(3, random_state=0), **PROMISE).fit(*rows)
    first = model.save(tmp_path / "one.pacband").read_bytes()
    assert model.save(tmp_path / "two.pacband").read_bytes() == first
    assert pacband.load(tmp_path / "one.pacband").save(tmp_path / "three.pacband").read_bytes() == first


def test_what_members_share_is_in_the_file_once_and_is_one_again(rows, tmp_path):
    X, y = rows
    forest = RandomForestRegressor(20, random_state=0)
    one = CertifiedFamily({"forest": forest}, **PROMISE).fit(X, y)
    many = {f"forest {k}": (forest, scale.FloorScale(scale.EnsembleScale(), share=0.1 * k)) for k in range(1, 6)}
    family = CertifiedFamily(many, **PROMISE).fit(X, y)
    assert len({id(model) for model in family.estimators_.values()}) == 1
    sizes = [model.save(tmp_path / f"{k}.pacband").stat().st_size for k, model in enumerate((one, family))]
    assert sizes[1] < 1.5 * sizes[0]
    loaded = pacband.load(tmp_path / "1.pacband")
    assert len({id(model) for model in loaded.estimators_.values()}) == 1
    for name in many:
        assert loaded.members_[name].scale.scale_.estimator_ is loaded.estimators_[name]
        same(family, loaded, X, candidate=name)


def test_models_of_sparse_rows_come_back(rows, tmp_path):
    X, y = csr_array(rows[0] * (rows[0] > 0)), rows[1]
    for estimator in (SVR(), KNeighborsRegressor()):
        model = CertifiedRegressor(estimator, **PROMISE).fit(X, y)
        same(model, pacband.load(model.save(tmp_path / "model.pacband")), X)


def test_another_release_of_scikit_learn_is_said_once(rows, tmp_path, monkeypatch):
    from pacband.models import versions

    model = CertifiedRegressor(RandomForestRegressor(3, random_state=0), **PROMISE).fit(*rows)
    with monkeypatch.context() as patch:
        patch.setattr(versions, "versions", lambda: {"pacband": "0", "scikit-learn": "1.2.3"})
        path = model.save(tmp_path / "model.pacband")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        same(model, pacband.load(path), rows[0])
    (warning,) = caught
    assert "was saved with scikit-learn 1.2.3" in str(warning.message)
    assert warning.filename == __file__


def test_model_files_need_no_skops_but_for_what_is_trusted(saved, rows, tmp_path, monkeypatch):
    path = tmp_path / "model.pacband"
    path.write_bytes(saved)
    X, y = rows
    trusting = CertifiedRegressor(make_pipeline(KMeans(3, n_init=1), LinearRegression()), **PROMISE).fit(X, y)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert pacband.load(path).certificate_.eps == 0.1
    with pytest.raises(InvalidInput, match=r"pip install 'pacband\[cli\]'"):
        trusting.save(path, trusted=[KMeans])


def test_loading_a_certificate_starts_no_scikit_learn(tmp_path):
    path = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "cert.json")
    code = f"import sys, pacband; pacband.load({str(path)!r}); print([m for m in ('sklearn', 'skops') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
