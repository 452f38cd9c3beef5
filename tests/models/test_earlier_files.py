"""Model files of an earlier tree, whose modules had other paths, load and predict the same numbers."""

import json
import re
import warnings
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

import pacband
from pacband.models.declarations import KINDS
from pacband.models.names import FUNCTIONS

FILES = Path(__file__).parents[1] / "files"
ANSWERS = json.loads((FILES / "models.json").read_text("utf-8"))
PACKAGE = Path(pacband.__file__).parent
MODULES = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("*.py")}
ROOMS = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def load(path):
    with warnings.catch_warnings():
        # The installed scikit-learn may be another one.
        warnings.filterwarnings("ignore", message=".* was saved with scikit-learn")
        return pacband.load(path)


def texts_of(path):
    """Return all texts in the manifest and the model of a file."""
    found = []

    def walk(node):
        if isinstance(node, str):
            found.append(node)
        elif isinstance(node, dict):
            walk([*node, *node.values()])
        elif isinstance(node, list):
            for item in node:
                walk(item)

    with ZipFile(path) as archive:
        for name in ("manifest.json", "model.json"):
            walk(json.loads(archive.read(name)))
    return found


def module_paths(texts):
    """Return the texts that are a path of a module of pacband, or of something in a room."""
    return [
        text
        for text in texts
        if re.match(rf"pacband\.({'|'.join(ROOMS)})\b", text) or text in MODULES or text.startswith("pacband._")
    ]


def names_of(texts):
    """Return the names of pacband that the texts contain."""
    return {text for text in texts if re.fullmatch(r"pacband\.\w+", text)}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_model_file_of_before_predicts_the_same_numbers(name):
    answer = ANSWERS[name]
    model, X = load(FILES / f"{name}.pacband"), np.array(answer["X"])
    assert model.certificate_.digest == answer["digest"]
    assert model.predict(X) == pytest.approx(np.array(answer["prediction"]), rel=1e-12, abs=1e-12)
    assert model.predict_interval(X) == pytest.approx(np.array(answer["interval"]), rel=1e-12, abs=1e-12)


def test_the_files_cover_scales_families_groups_and_local_models():
    kinds = {text for name in ANSWERS for text in texts_of(FILES / f"{name}.pacband")}
    assert {"regressor", "family", "pacband.ResidualScale", "pacband.LocalKernelRidge", "pacband.nothing"} <= kinds
    assert isinstance(load(FILES / "model_groups.pacband").certificate_, pacband.GroupCertificate)
    assert len(load(FILES / "model_family.pacband").certificates_) == 2


@pytest.mark.parametrize("name", ANSWERS)
def test_no_module_path_is_written_into_a_file(name, tmp_path):
    again = load(FILES / f"{name}.pacband").save(tmp_path / "again.pacband")
    for path in (FILES / f"{name}.pacband", again):
        assert module_paths(texts_of(path)) == []
        assert names_of(texts_of(path)) <= {*KINDS, *FUNCTIONS}


def test_no_name_that_a_file_may_contain_is_a_module_path():
    assert module_paths([*KINDS, *FUNCTIONS]) == []
    assert module_paths(["pacband.scale.base.to_dense", "pacband.local", "pacband._auto.blend.Band"]) == [
        "pacband.scale.base.to_dense", "pacband.local", "pacband._auto.blend.Band"
    ]  # fmt: skip
