"""Saving a model: what is refused, what has to be trusted, and the old file that stays."""

import json
import os
import sys
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import pacband
from pacband import CertifiedRegressor, InvalidInput
from pacband.models.trust import UntrustedTypes
from support.estimators import MODEL_PROMISE, same


def entry(saved, name):
    with zipfile.ZipFile(BytesIO(saved)) as archive:
        return archive.read(name)


def test_functions_are_refused_and_the_old_file_stays(rows, tmp_path):
    X, y = rows
    path = tmp_path / "model.pacband"
    path.write_bytes(b"old")
    function = CertifiedRegressor(lambda X: X[:, 0], **MODEL_PROMISE).fit(X, y)
    scaled = CertifiedRegressor(LinearRegression(), scale=lambda X: np.ones(len(X)), **MODEL_PROMISE).fit(X, y)
    grouped = CertifiedRegressor(LinearRegression(), groups=lambda X: X[:, 0] > 0, **MODEL_PROMISE).fit(X, y)
    inside = make_pipeline(FunctionTransformer(lambda X: X), LinearRegression())
    hidden = CertifiedRegressor(inside, **MODEL_PROMISE).fit(X, y)
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
    model = CertifiedRegressor(LinearRegression(), **MODEL_PROMISE).fit(*rows)
    path = model.save(tmp_path / "model.pacband")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        model.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.pacband"]


def test_other_packages_have_to_be_trusted_by_name(rows, tmp_path, monkeypatch):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = (pd.DataFrame(rows[0], columns=["a", "b"]), rows[1])
    model = CertifiedRegressor(lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1), **MODEL_PROMISE).fit(X, y)
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
    # Without the package the file is as good as before.
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(pacband.MissingExtra) as missing:
        pacband.load(path, trusted=["lightgbm.LGBMRegressor"])
    assert str(missing.value) == (
        "a model with a lightgbm.LGBMRegressor needs the package 'lightgbm': pip install lightgbm"
    )


def test_a_file_that_needs_trust_states_it_at_its_top(rows, tmp_path):
    X, y = rows
    clusters = make_pipeline(KMeans(3, n_init=1, random_state=0), LinearRegression())
    model = CertifiedRegressor(clusters, **MODEL_PROMISE).fit(X, y)
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


def test_what_is_not_as_declared_can_be_saved_if_the_user_trusts_it(rows, tmp_path):
    X, y = rows
    model = CertifiedRegressor(GradientBoostingRegressor(n_estimators=2, init=LinearRegression()), **MODEL_PROMISE).fit(
        X, y
    )
    path = tmp_path / "model.pacband"
    with pytest.raises(InvalidInput, match=r"init of a .* cannot be a .*\. Save it with trusted="):
        model.save(path)
    model.save(path, trusted=[GradientBoostingRegressor])
    with pytest.raises(UntrustedTypes) as caught:
        pacband.load(path)
    same(model, pacband.load(path, trusted=caught.value.types), X)


def test_an_attribute_that_is_not_declared_is_not_saved_silently(rows, tmp_path):
    model = CertifiedRegressor(LinearRegression(), **MODEL_PROMISE).fit(*rows)
    model.estimator_.note = 3
    with pytest.raises(
        InvalidInput, match="has the attribute note, which pacband does not know and which may be needed"
    ):
        model.save(tmp_path / "model.pacband")


def test_the_same_model_gives_the_same_bytes(rows, tmp_path):
    model = CertifiedRegressor(RandomForestRegressor(3, random_state=0), **MODEL_PROMISE).fit(*rows)
    first = model.save(tmp_path / "one.pacband").read_bytes()
    assert model.save(tmp_path / "two.pacband").read_bytes() == first
    assert pacband.load(tmp_path / "one.pacband").save(tmp_path / "three.pacband").read_bytes() == first
