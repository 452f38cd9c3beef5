"""Forged arrays and documents, with every digest right."""

import json
import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

import pacband
from pacband.core.documents import document_bytes
from pacband.models.archive import _zip
from support.gallery import PLAIN, Y


@pytest.mark.parametrize("kind", ["c16", "O", "V8", "M8", "f16", "U3", "S1", ">f8", "masked", "f8,f8"])
def test_arrays_are_plain(kind, forge, refused):
    forged = forge(SVR().fit(PLAIN, Y))
    forged.document["arrays"][0][0] = kind
    refused(forged, "an array has an unknown type")
    forged = forge(SVR().fit(PLAIN, Y))
    for node in (["masked", 0], ["array", 0, 1], ["array", -1], ["array", 10**6], ["array", 0.0], ["array", True]):
        forged.objects("sklearn.SVR")[-1]["state"]["support_"] = node
        refused(forged, "a value has an unknown type|a reference does not point to an earlier entry")


def test_arrays_have_memory_of_their_own(forge, tmp_path):
    forged = forge(SVR().fit(PLAIN, Y))
    (tmp_path / "forged.pacband").write_bytes(forged.data(compressed=False))
    model = pacband.load(tmp_path / "forged.pacband").estimator_
    for array in (model.support_, model.support_vectors_, model._dual_coef_):
        assert type(array) is np.ndarray
        assert array.flags.owndata
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_values_nested_deep_are_refused(forge, refused):
    for levels in (100, 100_000):
        forged = forge(LinearRegression().fit(PLAIN, Y))
        text = json.dumps(forged.document).encode()
        deep = b'["list",' * levels + b"1" + b"]" * levels
        data = text.replace(b'"objects":', b'"value":' + deep + b',"objects":', 1)
        files = {**forged.others, "model.json": data, "model.arrays": forged.block}
        from hashlib import sha256

        content = forged.manifest | {
            "files": {name: {"bytes": len(part), "sha256": sha256(part).hexdigest()} for name, part in files.items()},
            "arrays": {"bytes": len(forged.block), "compressed": False},
        }
        refused(
            _zip({"manifest.json": document_bytes("pacband/model", 2, content), **files}),
            "not the JSON that pacband writes",
        )


def test_arrays_cannot_be_larger_than_their_block(forge, refused):
    for shape in ([2**47], [10**9, 10**9], [2**64], [-1], [1, 1, 1, 1, 1], [0.5], None):
        forged = forge(LinearRegression().fit(PLAIN, Y))
        forged.document["arrays"][0][2] = shape
        refused(forged, "an array has an invalid shape|do not fill their block of bytes exactly")
    forged = forge(LinearRegression().fit(PLAIN, Y))
    node = ["texts", [20_000], ["a" * 20_000] + ["b"] * 19_999]
    forged.objects("sklearn.LinearRegression")[-1]["state"]["coef_"] = node
    tracemalloc.start()
    try:
        refused(forged, "far longer than the others")
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()
