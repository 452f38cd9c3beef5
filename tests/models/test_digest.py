"""The digest of a model: the same for the fitted model and for its file, whatever certificate is beside it."""

import json
import shutil
from hashlib import sha256

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pacband
from pacband import CertificateError, InvalidInput, model_digest
from pacband.models import digest as home
from pacband.models.digest import members_digest
from pacband.scale import ResidualScale
from support.twins import put_in_place

PROMISE = {"eps": 0.1, "delta": 0.05, "random_state": 0}
ABOUT = {"name": "x"}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=400)
MODELS = {
    "linear": lambda: pacband.CertifiedRegressor(LinearRegression(), about=ABOUT, **PROMISE),
    "forest with a scale": lambda: pacband.CertifiedRegressor(
        RandomForestRegressor(3, random_state=0), scale=ResidualScale(LinearRegression()), about=ABOUT, **PROMISE
    ),
    "histograms": lambda: pacband.CertifiedRegressor(HistGradientBoostingRegressor(max_iter=5), about=ABOUT, **PROMISE),
    "local": lambda: pacband.CertifiedRegressor(pacband.LocalKernelRidge(), scale="std", about=ABOUT, **PROMISE),
    "sparse": lambda: pacband.CertifiedRegressor(
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), LinearRegression()), about=ABOUT, **PROMISE
    ),
    "family": lambda: pacband.CertifiedFamily(
        {"a": LinearRegression(), "array": (LinearRegression(fit_intercept=False), None)}, about=ABOUT, **PROMISE
    ),
}


def stated(model):
    return model.certificate_.about.model.digest


@pytest.mark.parametrize("name", MODELS)
def test_the_file_of_a_model_has_the_digest_of_its_certificate(name, tmp_path):
    model = MODELS[name]().fit(X.round(), Y)
    path = model.save(tmp_path / "model.pacband")
    assert model_digest(path) == stated(model)
    loaded = pacband.load(path)
    assert members_digest(loaded.members_) == stated(model)
    assert model_digest(loaded.save(tmp_path / "again.pacband")) == stated(model)


def test_it_is_of_the_model_and_not_of_its_certificate(tmp_path):
    one = MODELS["linear"]().fit(X, Y)
    digest = stated(one)
    fresh = RNG.normal(size=(300, 2))
    one.calibrate(fresh, fresh[:, 0] + 0.3)
    assert stated(one) == digest == model_digest(one.save(tmp_path / "model.pacband"))
    assert stated(MODELS["linear"]().fit(X, Y)) == digest
    assert stated(MODELS["linear"]().fit(X, Y + 1e-9)) != digest
    assert stated(MODELS["histograms"]().fit(X, Y)) != digest


def test_places_in_tables_would_be_noticed(monkeypatch, tmp_path):
    class Placed(home._References):
        def resolve(self, node):
            return node

    put_in_place(monkeypatch, home._References, Placed)
    with pytest.raises(AssertionError):
        test_the_file_of_a_model_has_the_digest_of_its_certificate("forest with a scale", tmp_path)


def test_every_number_of_a_model_counts():
    models = [LinearRegression().fit(X, Y) for _ in range(3)]
    models[1].coef_ = np.nextafter(models[1].coef_, np.inf)
    models[2].intercept_ = np.nextafter(models[2].intercept_, np.inf)
    found = {members_digest({"m": pacband_member(model)}) for model in models}
    assert len(found) == 3
    assert members_digest({"other": pacband_member(models[0])}) not in found
    assert members_digest({"m": pacband_member(models[0], models[0])}) not in found


def pacband_member(predictor, scale=None):
    from pacband.candidates.members import Member

    return Member(predictor, scale)


def test_a_function_has_no_digest():
    model = pacband.CertifiedRegressor(lambda X: X[:, 0], about=ABOUT, **PROMISE).fit(X, Y)
    assert model.certificate_.about.model is None
    assert members_digest({"m": pacband_member(lambda X: X[:, 0])}) is None


def test_any_other_file_has_the_digest_of_its_bytes(tmp_path):
    for name, data in {"weights.bin": b"abc" * 1000, "empty": b"", "other.zip": b"PK\x03\x04 other"}.items():
        (tmp_path / name).write_bytes(data)
        assert model_digest(tmp_path / name) == sha256(data).hexdigest()
    with pytest.raises(InvalidInput, match="must be one file, got the directory"):
        model_digest(tmp_path)
    with pytest.raises(FileNotFoundError):
        model_digest(tmp_path / "none")


def test_trusted_types_count_by_their_bytes(tmp_path):
    pytest.importorskip("skops")
    from sklearn.cluster import KMeans

    def fitted(seed):
        made = make_pipeline(KMeans(3, n_init=1, random_state=seed), LinearRegression())
        return pacband.CertifiedRegressor(made, about=ABOUT, **PROMISE).fit(X, Y)

    digests = {model_digest(fitted(seed).save(tmp_path / f"{seed}.pacband", trusted=[KMeans])) for seed in (0, 1)}
    assert len(digests) == 2
    shutil.copy(tmp_path / "0.pacband", tmp_path / "copy.pacband")
    assert model_digest(tmp_path / "copy.pacband") in digests
    # It cannot be loaded without trust, so no digest is stated.
    assert fitted(0).certificate_.about.model is None


@pytest.mark.parametrize(
    "change",
    [
        {"value": ["list", 1]},
        {"value": ["dict", ["names", ["list"]]]},
        {"objects": [{"kind": "trusted", "file": 9}]},
        {"objects": 3},
        {"arrays": [["f8", "C", None]]},
        {"objects": [{"kind": "sklearn.Ridge", "parameters": [], "state": {}}]},
    ],
)
def test_a_document_that_makes_no_model_is_refused(change, tmp_path, monkeypatch):
    path = MODELS["linear"]().fit(X, Y).save(tmp_path / "model.pacband")
    whole = home.read_archive

    def changed(*args):
        from dataclasses import replace

        archive = whole(*args)
        return replace(archive, model=json.dumps({**json.loads(archive.model), **change}).encode())

    monkeypatch.setattr(home, "read_archive", changed)
    with pytest.raises(CertificateError, match="its objects do not make a model"):
        model_digest(path)


def test_a_damaged_model_file_has_none(tmp_path):
    path = MODELS["linear"]().fit(X, Y).save(tmp_path / "model.pacband")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(CertificateError, match="truncated or damaged"):
        model_digest(path)


def test_a_model_that_its_own_package_reads_has_a_digest_without_trust(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    made = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1)
    model = pacband.CertifiedRegressor(made, about=ABOUT, **PROMISE).fit(X, Y)
    path = model.save(tmp_path / "model.pacband", trusted=["lightgbm.LGBMRegressor"])
    assert model_digest(path) == stated(model)
