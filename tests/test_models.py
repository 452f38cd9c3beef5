"""Model files: the loaded model is the saved one to the last bit, and nothing in a file is run or believed unseen."""

import importlib
import inspect
import json
import os
import pkgutil
import struct
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
import zlib
from functools import partial
from hashlib import sha256
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
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
from sklearn.utils.validation import check_array

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
from pacband._auto import screening
from pacband._auto.defaults import ScaleModel
from pacband._storage import document_bytes
from pacband.models import load_certificate
from pacband.models.archive import write_archive
from pacband.models.parts import certificates_of, kind_of, take_apart
from pacband.models.trust import UntrustedTypes, _unpacked, dump, versions
from pacband.models.types import KNOWN

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


def test_every_estimator_of_ours_is_known_and_every_known_name_is_there():
    ours = set()
    for module in pkgutil.walk_packages(pacband.__path__, "pacband."):
        if module.name.startswith(("pacband._auto", "pacband.local", "pacband.scale")):
            for kind in vars(importlib.import_module(module.name)).values():
                if inspect.isclass(kind) and issubclass(kind, BaseEstimator) and kind.__module__ == module.name:
                    ours.add(f"{kind.__module__}.{kind.__name__}")
    abstract = {"pacband.local.estimator.LocalRegressor", "pacband.scale.base.BaseScale"}
    assert ours - abstract <= KNOWN
    for name in KNOWN:
        module, _, attribute = name.rpartition(".")
        if name.startswith("pacband.") and not name.endswith("Factor.features"):
            found = getattr(importlib.import_module(module), attribute)
            assert inspect.isclass(found) or attribute == "_nothing", name
        elif name.startswith("sklearn.") and not name.endswith(("_sgd_fast.Huber", "SquaredLoss", "ColsList")):
            # These three are of some releases only.
            assert hasattr(importlib.import_module(module), attribute), name


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
        (hidden, "<lambda>, which cannot be imported"),
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
    path = model.save(tmp_path / "model.pacband")
    with pytest.raises(UntrustedTypes, match=r"lightgbm\.sklearn\.LGBMRegressor") as caught:
        pacband.load(path)
    same(model, pacband.load(path, trusted=caught.value.types), X)
    some = [name for name in caught.value.types if "Booster" not in name]
    with pytest.raises(UntrustedTypes, match=r"1 type\(s\) .*Booster"):
        pacband.load(path, trusted=some)
    with pytest.raises(InvalidInput, match="trusted must be a list of names of types, got True"):
        pacband.load(path, trusted=True)


@pytest.fixture(scope="module")
def saved(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.pacband"
    CertifiedRegressor(LinearRegression(), **PROMISE).fit(*rows).save(path)
    return path.read_bytes()


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
        where = archive.getinfo("model.skops").header_offset + 200
    path.write_bytes(saved[:where] + bytes([saved[where] ^ 1]) + saved[where + 1 :])
    with pytest.raises(CertificateError, match="is damaged: Bad CRC-32"):
        pacband.load(path)


def forged(saved, *, sign=True, **changes):
    """Return the file with other entries, and a manifest that fits them where it is signed."""
    with zipfile.ZipFile(BytesIO(saved)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files |= {name.replace("__", "."): entry for name, entry in changes.items()}
    if sign:
        content = json.loads(files.pop("manifest.json"))["content"]
        content["files"] = {name: sha256(entry).hexdigest() for name, entry in files.items()}
        files = {"manifest.json": document_bytes("pacband/model", 1, content), **files}
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, entry in files.items():
            archive.writestr(name, entry)
    return buffer.getvalue()


def entry(saved, name):
    with zipfile.ZipFile(BytesIO(saved)) as archive:
        return archive.read(name)


def test_edits_are_seen(saved, tmp_path):
    path = tmp_path / "model.pacband"
    manifest = entry(saved, "manifest.json")
    certificate = entry(saved, "certificate.json")
    other = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "other.json")
    for data, message in (
        (forged(saved, sign=False, certificate__json=other.read_bytes()), "was edited: its files are not those"),
        (forged(saved, certificate__json=certificate.replace(b'"eps": 0.1', b'"eps": 0.2')), "edited or damaged"),
        (forged(saved, sign=False, manifest__json=manifest.replace(b'"regressor"', b'"family"')), "edited or damaged"),
        (forged(saved, more__txt=b"more"), "was edited: it must hold certificate.json and model.skops"),
        (
            forged(saved, sign=False, manifest__json=manifest.replace(b'"schema_version": 1', b'"schema_version": 9')),
            "written by a newer pacband: its schema_version is 9",
        ),
        (forged(saved, model__skops=b"PK\x03\x04"), "cannot be rebuilt here: BadZipFile"),
    ):
        path.write_bytes(data)
        with pytest.raises(CertificateError, match=message):
            pacband.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("anything.txt", "any archive")
    with pytest.raises(CertificateError, match="an archive without a manifest"):
        pacband.load(path)


def test_a_file_that_would_run_something_is_refused_and_runs_nothing(saved, tmp_path):
    def rewired(node, where):
        return forged(saved, model__skops=_skops_with(entry(saved, "model.skops"), where, node))

    touched = tmp_path / "touched"
    text = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(str(touched))}
    arguments = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode", "content": [text]}
    for module, name in (("os", "mkdir"), ("builtins", "open"), ("pacband._storage", "replace_file")):
        node = {
            "__class__": name,
            "__module__": module,
            "__loader__": "ConstructorFromReduceNode",
            "content": arguments,
        }
        path = tmp_path / "model.pacband"
        path.write_bytes(rewired(node, "grouping"))
        with pytest.raises(UntrustedTypes, match=rf"{module}\.{name}"):
            pacband.load(path)
        assert not touched.exists()


def test_methods_of_methods_run_nothing(rows, tmp_path):
    """What skops 0.11 took for methods of a known type: the way from an array to the shell (CVE-2025-54412)."""
    X, y = rows
    steps = make_pipeline(FunctionTransformer(np.exp), FunctionTransformer(np.exp), LinearRegression())
    path = CertifiedRegressor(steps, **PROMISE).fit(X, y).save(tmp_path / "model.pacband")
    touched = tmp_path / "touched"

    def method(of, name):
        content = {"obj": of, "func": name}
        return {
            "__class__": "StdScale",
            "__module__": "pacband.scale.std",
            "__loader__": "MethodNode",
            "content": content,
        }

    def nodes(node):
        for key, value in list(node.items()) if isinstance(node, dict) else enumerate(node):
            if isinstance(value, (dict, list)):
                yield node, key, value
                yield from nodes(value)

    def crafted(schema):
        array = next(v for _, _, v in nodes(schema) if isinstance(v, dict) and v.get("type") == "numpy")
        shell = {key: value for key, value in array.items() if key != "__id__"}
        for name in ("ctypes", "_ctypes", "_os", "system"):
            shell = method(shell, name)
        command = {
            "__class__": "str",
            "__module__": "builtins",
            "__loader__": "JsonNode",
            "content": json.dumps(f"touch {touched}"),
        }
        functions = [
            (n, k) for n, k, v in nodes(schema) if k == "func" and isinstance(v, dict) and v["__class__"] == "exp"
        ]
        for place, (node, key) in enumerate(functions):
            node[key] = shell if place % 2 else method(command, "format")

    data = path.read_bytes()
    path.write_bytes(forged(data, model__skops=_changed(entry(data, "model.skops"), schema=crafted)))
    with pytest.raises(CertificateError, match="cannot be rebuilt here: ValueError: Expected object of type"):
        pacband.load(path).predict(X)
    assert not touched.exists()


@pytest.mark.parametrize("version", ["0.11.0", "0.14.0"])
def test_a_skops_that_can_be_made_to_run_code_is_refused(version, saved, rows, tmp_path, monkeypatch):
    import skops

    path = tmp_path / "model.pacband"
    path.write_bytes(saved)
    model = pacband.load(path)
    monkeypatch.setattr(skops, "__version__", version)
    with pytest.raises(InvalidInput, match=f"skops 0.15 or newer, .* this is {version}"):
        pacband.load(path)
    with pytest.raises(InvalidInput, match=f"this is {version}"):
        model.save(path)
    assert path.read_bytes() == saved
    assert load_certificate(path).eps == 0.1


def _skops_with(data, key, node):
    """Return a dump in which this part of the model is another node."""

    def change(schema):
        schema["content"][key] = node

    return _changed(data, schema=change)


def _changed(data, *, schema=lambda content: None, array=lambda name, values: values):
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "schema.json":
                document = json.loads(content)
                schema(document)
                content = json.dumps(document).encode()
            elif name.endswith(".npy"):
                stored = BytesIO()
                np.save(stored, array(name, np.load(BytesIO(content))))
                content = stored.getvalue()
            new.writestr(name, content)
    return buffer.getvalue()


def _set(field, value):
    def array(_, values):
        if values.dtype.names and field in values.dtype.names:
            values = values.copy()
            values[field][0] = value
        return values

    return array


@pytest.mark.parametrize(
    ("estimator", "field", "value", "kind"),
    [
        (ExtraTreesRegressor(2, random_state=0), "left_child", 10**6, "Tree"),
        (ExtraTreesRegressor(2, random_state=0), "right_child", 0, "Tree"),
        (ExtraTreesRegressor(2, random_state=0), "feature", 2, "Tree"),
        (boosted(), "left", 10**6, "HistGradientBoostingRegressor"),
        (boosted(), "feature_idx", -1, "HistGradientBoostingRegressor"),
        (boosted(), "is_categorical", 1, "HistGradientBoostingRegressor"),
        (boosted(categorical_features=[1]), "bitset_idx", 999, "HistGradientBoostingRegressor"),
        (KNeighborsRegressor(), "idx_end", 10**6, "KDTree"),
    ],
    ids=lambda value: value if isinstance(value, (str, int)) else type(value).__name__,
)
def test_positions_that_compiled_code_would_follow_are_checked(estimator, field, value, kind, rows, tmp_path):
    X, y = rows[0].copy(), rows[1]
    if field == "bitset_idx":
        X[:, 1] = np.arange(len(X)) % 5
        y = 10.0 * (X[:, 1] % 2) + y
    path = CertifiedRegressor(estimator, **PROMISE).fit(X, y).save(tmp_path / "model.pacband")
    pacband.load(path)
    data = path.read_bytes()
    path.write_bytes(forged(data, model__skops=_changed(entry(data, "model.skops"), array=_set(field, value))))
    with pytest.raises(CertificateError, match=f"it holds a {kind} that is not sound"):
        pacband.load(path)


def _machine(**state):
    def forge(model):
        for name, change in state.items():
            setattr(model, name, change(getattr(model, name)))

    return forge


def _two_columns(model):
    model.estimators_ = np.hstack([model.estimators_, model.estimators_])


def _other_start(model):
    model.init_ = make_pipeline(FunctionTransformer(partial(np.matmul, np.ones((1, 9)))), LinearRegression())


def _fewer_columns(model):
    model._preprocessor = ColumnTransformer([("numerical", "passthrough", [0])]).fit(np.zeros((2, 2)))


def _steps(change):
    return lambda model: change(model[1])


def _unsorted(encoder):
    encoder.categories_[0] = encoder.categories_[0][::-1].copy()


def _beyond(encoder):
    encoder._default_to_infrequent_mappings[0] = encoder._default_to_infrequent_mappings[0] + 10**6


def _narrower(encoder):
    encoder._n_features_outs = [1, 1]


def _sparse(model):
    model.coef_ = csr_matrix(np.ones((1, 2)))
    model.coef_.indices[1] = 10**8


def _hidden(**attributes):
    return lambda model: vars(model).update(attributes)


def _in_partial(model):
    machine = SVR().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0])
    machine._dual_coef_ = machine._dual_coef_[:, :1].copy()
    model[1].func = partial(check_array, estimator=machine)


INDICATORS = make_pipeline(
    FunctionTransformer(np.rint), OneHotEncoder(max_categories=3, handle_unknown="ignore"), LinearRegression()
)
PASSED_ON = make_pipeline(StandardScaler(), FunctionTransformer(), LinearRegression())


@pytest.mark.parametrize(
    ("estimator", "forge", "kind"),
    [
        (SVR(), _machine(_dual_coef_=lambda c: c[:, :1].copy()), "SVR"),
        (SVR(), _machine(_n_support=lambda n: n[:1].copy()), "SVR"),
        (SVR(), _machine(_intercept_=lambda c: c[:0].copy()), "SVR"),
        (NuSVR(), _machine(support_vectors_=lambda v: v[:, :1].copy()), "NuSVR"),
        (SVR(), _machine(support_=lambda s: s[:1].copy()), "SVR"),
        (SVR(), _machine(_sparse=lambda _: True), "SVR"),
        (SVR(), _hidden(_impl="c_svc"), "SVR"),
        (SVR(), _hidden(kernel="precomputed", shape_fit_=(2, 2)), "SVR"),
        (PASSED_ON, _in_partial, "SVR"),
        (GradientBoostingRegressor(n_estimators=2), _two_columns, "GradientBoostingRegressor"),
        (GradientBoostingRegressor(n_estimators=2), _other_start, "GradientBoostingRegressor"),
        (boosted(categorical_features=[1]), _fewer_columns, "HistGradientBoostingRegressor"),
        (KNeighborsRegressor(algorithm="brute"), _machine(_fit_X=lambda X: X[:, :1].copy()), "KNeighborsRegressor"),
        (KNeighborsRegressor(), _hidden(effective_metric_params_={"Y_norm_squared": np.ones(1)}), "KNeighborsRegressor"),
        (INDICATORS, _steps(_unsorted), "OneHotEncoder"),
        (INDICATORS, _steps(_beyond), "OneHotEncoder"),
        (INDICATORS, _steps(_narrower), "OneHotEncoder"),
        (LinearRegression(), _sparse, "csr_matrix"),
        (ExtraTreesRegressor(2), _hidden(_validate_X_predict=np.exp), "ExtraTreesRegressor"),
    ],
)  # fmt: skip
def test_what_compiled_code_would_believe_is_checked(estimator, forge, kind, rows, tmp_path):
    X, y = np.rint(2 * np.abs(rows[0])), rows[1]
    model = CertifiedRegressor(estimator, **PROMISE).fit(X, y)
    pacband.load(model.save(tmp_path / "model.pacband"))
    forge(model.estimator_)
    with pytest.raises(CertificateError, match=f"it holds a {kind} that is not sound"):
        pacband.load(model.save(tmp_path / "model.pacband"))


def test_models_of_sparse_rows_come_back(rows, tmp_path):
    X, y = csr_array(rows[0] * (rows[0] > 0)), rows[1]
    for estimator in (SVR(), KNeighborsRegressor()):
        model = CertifiedRegressor(estimator, **PROMISE).fit(X, y)
        same(model, pacband.load(model.save(tmp_path / "model.pacband")), X)
    model = CertifiedRegressor(SVR(), **PROMISE).fit(X, y)
    model.estimator_._dual_coef_ = csr_matrix(model.estimator_._dual_coef_[:, :1])
    with pytest.raises(CertificateError, match="it holds a SVR that is not sound"):
        pacband.load(model.save(tmp_path / "model.pacband"))


def test_what_of_scikit_learn_cannot_be_checked_has_to_be_named(rows, tmp_path):
    X, y = rows
    clusters = make_pipeline(KMeans(3, n_init=1, random_state=0), LinearRegression())
    model = CertifiedRegressor(clusters, **PROMISE).fit(X, y)
    path = model.save(tmp_path / "model.pacband")
    with pytest.raises(UntrustedTypes, match=r"1 type\(s\) .*: sklearn\.cluster\._kmeans\.KMeans\."):
        pacband.load(path)
    same(model, pacband.load(path, trusted=[KMeans]), X)


def test_what_is_beyond_the_checks_can_be_trusted_by_name(rows, tmp_path):
    X, y = rows
    model = CertifiedRegressor(GradientBoostingRegressor(n_estimators=2, init=LinearRegression()), **PROMISE).fit(X, y)
    path = model.save(tmp_path / "model.pacband")
    with pytest.raises(CertificateError, match=r"name sklearn\.ensemble\._gb\.GradientBoostingRegressor in trusted"):
        pacband.load(path)
    same(model, pacband.load(path, trusted=[GradientBoostingRegressor]), X)


def written(path, model, certificate=None, **changes):
    """Write a model with some of its parts replaced, and another certificate that it claims as its own."""
    certificates = certificates_of(model)[1] if certificate is None else (certificate,)
    parts = {**take_apart(model), "certificates": [cert.digest for cert in certificates], **changes}
    return write_archive(
        path, kind=kind_of(model), candidates=(), versions=versions(), columns={}, certificates=certificates,
        model=dump(parts),
    )  # fmt: skip


def test_only_known_attributes_are_set(rows, tmp_path):
    X, y = rows
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(X, y)
    path = written(
        tmp_path / "model.pacband", model, of_x={"n_features_in_": 2, "predict": np.exp, "certificate_": None}
    )
    same(model, pacband.load(path), X)
    for place in ("predict", "coef_"):
        path = written(tmp_path / "model.pacband", model, shared=[[np.exp, [[0, place]]]])
        with pytest.raises(CertificateError, match="does not fit its certificate"):
            pacband.load(path)


def test_a_model_that_does_not_fit_its_certificate_is_refused(saved, rows, tmp_path):
    def fewer(schema):
        schema["content"]["names"]["content"] = []

    path = tmp_path / "model.pacband"
    path.write_bytes(forged(saved, model__skops=_changed(entry(saved, "model.skops"), schema=fewer)))
    with pytest.raises(CertificateError, match="does not fit its certificate"):
        pacband.load(path)
    X, y = rows
    plain = CertifiedRegressor(LinearRegression(), **PROMISE).fit(X, y)
    scaled = CertifiedRegressor(LinearRegression(), scale=scale.NeighborScale(), **PROMISE).fit(X, y)
    grouped = CertifiedRegressor(LinearRegression(), groups=1, **PROMISE).fit(np.c_[X[:, 0], X[:, 1] > 0], y)
    family = CertifiedFamily({"estimator": LinearRegression()}, **PROMISE).fit(X, y)
    for model, other, message in (
        (plain, scaled, "one has a scale, the other has none"),
        (scaled, plain, "one has a scale, the other has none"),
        (plain, grouped, "one has groups, the other has none"),
        (grouped, plain, "one has groups, the other has none"),
        (plain, family, "one is of a family, the other is not"),
        (family, plain, "does not fit its certificate"),
    ):
        with pytest.raises(CertificateError, match=message):
            pacband.load(written(path, model, other.certificate_))
    two = CertifiedRegressor(LinearRegression(), **PROMISE).fit(X, np.c_[y, y])
    for other in (two, CertifiedRegressor(LinearRegression(), **PROMISE).fit(-X, y + 1.0)):
        cert = other.certificate_
        with pytest.raises(CertificateError, match="it was saved with another one"):
            pacband.load(written(path, plain, cert, certificates=[plain.certificate_.digest]))


def _packed(*entries):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def test_a_small_file_cannot_unpack_to_a_large_one(saved, tmp_path):
    path = tmp_path / "model.pacband"
    zeros = bytes(100 << 20)
    with zipfile.ZipFile(BytesIO(saved)) as archive:
        files = [(name, archive.read(name)) for name in archive.namelist()]
    outside = _packed(*files, ("more", zeros))
    inside = forged(saved, model__skops=_packed(("schema.json", "{}"), ("more.npy", zeros)))
    del zeros
    for data, message in (
        (outside, "was edited: its files are compressed"),
        (inside, "cannot be rebuilt here: ValueError: it would unpack to 104857602 bytes"),
    ):
        path.write_bytes(data)
        tracemalloc.start()
        try:
            with pytest.raises(CertificateError, match=message):
                pacband.load(path)
            assert tracemalloc.get_traced_memory()[1] < 20 << 20
        finally:
            tracemalloc.stop()


def test_sizes_that_lie_are_seen(saved, tmp_path):
    (where,) = struct.unpack("<I", saved[-6:-2])
    lying = saved[: where + 20] + struct.pack("<II", 2**30, 2**30) + saved[where + 28 :]
    (tmp_path / "model.pacband").write_bytes(lying)
    with pytest.raises(CertificateError, match="its files would be larger than itself"):
        pacband.load(tmp_path / "model.pacband")
    # One that says it is ten bytes, and would give a hundred million.
    packed = bytearray(_packed(("more.npy", bytes(100 << 20))))
    where = packed.index(b"PK\x01\x02")
    packed[where + 16 : where + 20] = struct.pack("<I", zlib.crc32(bytes(10)))
    packed[where + 24 : where + 28] = struct.pack("<I", 10)
    tracemalloc.start()
    try:
        with zipfile.ZipFile(BytesIO(_unpacked(bytes(packed)))) as archive:
            assert archive.read("more.npy") == bytes(10)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_a_model_that_packs_very_well_is_stored_as_it_is(rows, tmp_path, monkeypatch):
    from pacband.models import trust

    monkeypatch.setattr(trust, "_UNPACKED_BYTES", 2000)
    monkeypatch.setattr(trust, "_UNPACKED_TIMES", 1)
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(*rows)
    same(model, pacband.load(model.save(tmp_path / "model.pacband")), rows[0])


def test_another_release_of_scikit_learn_is_said_once(rows, tmp_path, monkeypatch):
    from pacband.models import trust

    model = CertifiedRegressor(RandomForestRegressor(3, random_state=0), **PROMISE).fit(*rows)
    with monkeypatch.context() as patch:
        patch.setattr(trust, "versions", lambda: {"pacband": "0", "scikit-learn": "1.2.3"})
        path = model.save(tmp_path / "model.pacband")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        same(model, pacband.load(path), rows[0])
    (warning,) = caught
    assert "was saved with scikit-learn 1.2.3" in str(warning.message)
    assert warning.filename == __file__


def test_without_skops_the_error_says_what_to_install(saved, rows, tmp_path, monkeypatch):
    path = tmp_path / "model.pacband"
    path.write_bytes(saved)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(InvalidInput, match=r"pip install 'pacband\[cli\]'"):
        pacband.load(path)
    assert load_certificate(path).eps == 0.1


def test_loading_a_certificate_starts_no_scikit_learn(tmp_path):
    path = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "cert.json")
    code = f"import sys, pacband; pacband.load({str(path)!r}); print([m for m in ('sklearn', 'skops') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
