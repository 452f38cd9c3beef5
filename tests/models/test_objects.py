"""Forged objects, with every digest right: a file cannot set what is not declared."""

import subprocess
import sys
import zlib

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacband
from pacband import CertificateError, CertifiedFamily, CertifiedRegressor, scale
from pacband.estimators.saving import certificates_of, take_apart
from pacband.models.archive import Archive, write_archive
from pacband.models.content import write_content
from pacband.models.trust import Trust
from pacband.models.versions import versions
from support.forge import ADDRESS
from support.gallery import PLAIN, Y

PROMISE = {"eps": 0.1, "delta": 0.1, "random_state": 0}


def test_no_attribute_can_make_numpy_read_at_an_address(forge, refused):
    forged = forge(make_pipeline(StandardScaler(), LinearRegression()).fit(PLAIN, Y))
    scaler, linear = forged.objects("sklearn.StandardScaler")[0], forged.objects("sklearn.LinearRegression")[-1]
    linear["state"]["intercept_"] = ["object", forged.document["objects"].index(scaler)]
    refused(forged, "intercept_ of a sklearn.LinearRegression does not match its declaration")
    scaler["state"]["__array_interface__"] = ADDRESS
    refused(forged, "a sklearn.StandardScaler has an attribute that is not declared")


@pytest.mark.parametrize("name", ["_loss", "_raw_predict_init", "predict", "__class__", "_validate_X_predict"])
def test_no_loss_or_method_can_be_said(name, forge, refused):
    forged = forge(GradientBoostingRegressor(n_estimators=2).fit(PLAIN, Y))
    for node in (["function", "numpy.exp"], ["dict", ["link", ["function", "numpy.exp"]]], None):
        forged.objects("sklearn.GradientBoostingRegressor")[-1]["state"][name] = node
        refused(forged, "a sklearn.GradientBoostingRegressor has an attribute that is not declared")


def test_kinds_have_names_that_a_file_cannot_choose(forge, refused):
    for kind in (
        "sklearn.linear_model._base.LinearRegression",
        "os.system",
        "sklearn.KMeans",
        "x; touch y",
        "\x1b[31m",
    ):
        forged = forge(LinearRegression().fit(PLAIN, Y))
        forged.objects("sklearn.LinearRegression")[-1]["kind"] = kind
        refused(forged, "an object has a kind that this version of pacband does not know")
    forged = forge(LinearRegression().fit(PLAIN, Y))
    forged.objects("sklearn.LinearRegression")[-1]["state"]["\x1b[31m; touch y"] = 1
    refused(forged, "a sklearn.LinearRegression has an attribute that is not declared")


def test_shared_objects_cannot_be_walked_through_for_ever(forge, refused):
    forged = forge(LinearRegression().fit(PLAIN, Y))
    objects = forged.document["objects"]
    last = len(objects) - 1
    for _ in range(30):
        pair = [["tuple", name, ["object", last]] for name in ("a", "b")]
        template = {"estimators": ["list", *pair], "n_jobs": None, "verbose": False, "weights": None}
        both = {"estimators_": ["list", ["object", last], ["object", last]]}
        objects.append({"kind": "sklearn.VotingRegressor", "parameters": template, "state": both})
        last += 1
    refused(forged, "objects are shared too often or nested too deeply")


def test_no_file_can_make_a_model_keep_a_cache(forge, refused, tmp_path):
    """joblib would unpickle what it finds in the cache when the model is fitted again."""
    cache = str(tmp_path / "cache")
    forged = forge(make_pipeline(StandardScaler(), Ridge(), memory=cache).fit(PLAIN, Y))
    (entry,) = forged.objects("sklearn.Pipeline")[-1:]
    assert entry["parameters"]["memory"] is None
    entry["parameters"]["memory"] = cache
    refused(forged, "memory of a sklearn.Pipeline must be None")
    searched = GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0, 2.0]}).fit(PLAIN, Y)
    forged = forge(searched)
    (entry,) = forged.objects("sklearn.GridSearchCV")[-1:]
    for grid in (["dict", ["memory", ["list", cache]]], ["list", ["dict", ["ridge__memory", ["list", cache]]]]):
        entry["parameters"]["param_grid"] = grid
        refused(forged, "memory of a sklearn.GridSearchCV must be None")


def written(path, model, certificate=None, **changes):
    """Write a model with some of its parts replaced, and another certificate that it claims as its own."""
    certificates = certificates_of(model)[1] if certificate is None else (certificate,)
    parts = {**take_apart(model), "certificates": [cert.digest for cert in certificates], **changes}
    document, arrays = write_content(parts, Trust())
    return write_archive(path, Archive(model.file_kind, (), versions(), {}, (), certificates, document, arrays))


def test_only_known_attributes_are_set(tmp_path):
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(PLAIN, Y)
    for changes, said in (
        ({"of_x": {"n_features_in_": 3, "predict": np.exp}}, "of_x of a pacband model does not match its declaration"),
        ({"parameters": {"eps": 0.1, "predict": 1}}, "other parameters than this pacband"),
        ({"more": 1}, "other parts than those of a model"),
        ({"predictors": ["predict"]}, "a predictor has no predict method"),
        ({"scales": ["mad"]}, "a scale is not 'std' and has no predict method"),
    ):
        with pytest.raises(CertificateError, match=said):
            pacband.load(written(tmp_path / "model.pacband", model, **changes))


def test_a_model_that_does_not_fit_its_certificate_is_refused(tmp_path):
    path = tmp_path / "model.pacband"
    plain = CertifiedRegressor(LinearRegression(), **PROMISE).fit(PLAIN, Y)
    scaled = CertifiedRegressor(LinearRegression(), scale=scale.NeighborScale(), **PROMISE).fit(PLAIN, Y)
    many = np.random.default_rng(0).normal(size=(400, 2))
    grouped = CertifiedRegressor(LinearRegression(), groups=1, **PROMISE).fit(
        np.c_[many[:, 0], many[:, 1] > 0], many[:, 0]
    )
    family = CertifiedFamily({"estimator": LinearRegression()}, **PROMISE).fit(PLAIN, Y)
    with pytest.raises(CertificateError, match="does not fit its certificate"):
        pacband.load(written(path, plain, names=[]))
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
    other = CertifiedRegressor(LinearRegression(), **PROMISE).fit(PLAIN, np.exp(Y)).certificate_
    with pytest.raises(CertificateError, match="it was saved with another one"):
        pacband.load(written(path, plain, other, certificates=[plain.certificate_.digest]))


def test_loading_makes_nothing_that_was_not_declared(forge, tmp_path):
    """Whatever the process can reach, a file cannot import: no module comes in by loading one."""
    forged = forge(make_pipeline(StandardScaler(), Ridge()).fit(PLAIN, Y))
    (tmp_path / "forged.pacband").write_bytes(forged.data())
    code = (
        "import sys, pacband\n"
        f"pacband.load({str(tmp_path / 'forged.pacband')!r})\n"
        "print([name for name in ('skops', 'pickle5', 'lightgbm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert zlib.decompress(zlib.compress(b"")) == b""
