"""Model files: the loaded model is the saved one to the last bit, and damage is detected."""

import subprocess
import sys
import warnings
import zipfile
from io import BytesIO

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVR, LinearSVR, NuSVR

import pacband
from pacband import CertificateError, CertifiedRegressor, InvalidInput, LocalKernelRidge, LocalRidge, scale
from pacband.models import load_certificate
from pacband.models.versions import versions
from support.estimators import MODEL_PROMISE, boosted, same
from support.twins import put_in_place

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


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one_to_the_last_bit(name, rows, tmp_path):
    X, y = rows if name != "categories" else (np.rint(np.abs(rows[0])), rows[1])
    estimator, spread = MODELS[name]
    model = CertifiedRegressor(estimator, scale=spread, **MODEL_PROMISE).fit(X, y)
    loaded = pacband.load(model.save(tmp_path / "model.pacband"))
    assert type(loaded) is CertifiedRegressor
    same(model, loaded, X)
    assert loaded.certificate_ == model.certificate_
    assert loaded.certificate_.digest == model.certificate_.digest
    assert load_certificate(tmp_path / "model.pacband") == model.certificate_
    assert repr(loaded) == repr(model)


@pytest.mark.parametrize("version", ["0.11.0", "0.14.0"])
def test_a_skops_that_can_be_made_to_run_code_is_refused(version, rows, tmp_path, monkeypatch):
    import skops

    X, y = rows
    model = CertifiedRegressor(make_pipeline(KMeans(3, n_init=1), LinearRegression()), **MODEL_PROMISE).fit(X, y)
    path = model.save(tmp_path / "model.pacband", trusted=[KMeans])
    before = path.read_bytes()
    monkeypatch.setattr(skops, "__version__", version)
    with pytest.raises(InvalidInput, match=f"skops 0.15 or newer, .* this is {version}"):
        pacband.load(path, trusted=[KMeans])
    with pytest.raises(InvalidInput, match=f"this is {version}"):
        model.save(path, trusted=[KMeans])
    assert path.read_bytes() == before
    assert load_certificate(path).eps == 0.1


def test_damage_is_detected(saved, tmp_path):
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


def test_models_of_sparse_rows_come_back(rows, tmp_path):
    X, y = csr_array(rows[0] * (rows[0] > 0)), rows[1]
    for estimator in (SVR(), KNeighborsRegressor()):
        model = CertifiedRegressor(estimator, **MODEL_PROMISE).fit(X, y)
        same(model, pacband.load(model.save(tmp_path / "model.pacband")), X)


def test_another_release_of_scikit_learn_is_warned_of_once(rows, tmp_path, monkeypatch):
    model = CertifiedRegressor(RandomForestRegressor(3, random_state=0), **MODEL_PROMISE).fit(*rows)
    with monkeypatch.context() as patch:
        put_in_place(patch, versions, lambda: {"pacband": "0", "scikit-learn": "1.2.3"})
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
    trusting = CertifiedRegressor(make_pipeline(KMeans(3, n_init=1), LinearRegression()), **MODEL_PROMISE).fit(X, y)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert pacband.load(path).certificate_.eps == 0.1
    with pytest.raises(InvalidInput, match=r"pip install 'pacband\[cli\]'"):
        trusting.save(path, trusted=[KMeans])


def test_loading_a_certificate_starts_no_scikit_learn(tmp_path):
    path = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "cert.json")
    code = f"import sys, pacband; pacband.load({str(path)!r}); print([m for m in ('sklearn', 'skops') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
