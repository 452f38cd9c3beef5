"""Model files that pacband did not write, with every digest right: what a forger would make."""

import json
import zlib
from hashlib import sha256

import numpy as np

from pacband import CertifiedRegressor
from pacband.core.documents import document_bytes
from pacband.estimators.saving import certificates_of, take_apart
from pacband.models.archive import SCHEMA, SCHEMA_VERSION, _entries, _zip, write_archive
from pacband.models.archive import Archive as Whole
from pacband.models.content import write_content
from pacband.models.trust import Trust
from pacband.models.versions import versions

__all__ = ["Forged", "holding"]


class Forged:
    """A model file taken apart: its manifest, its document and its arrays may be changed, and are signed again."""

    def __init__(self, data):
        self.manifest, files = _entries(data, "forged")
        arrays = files.pop("model.arrays")
        self.block = zlib.decompress(arrays) if self.manifest["arrays"]["compressed"] else arrays
        self.document = json.loads(files.pop("model.json"))
        self.others = files
        self.manifest = {key: value for key, value in self.manifest.items() if key not in ("files", "arrays")}

    def objects(self, kind):
        """Return the entries of the objects of this kind."""
        return [entry for entry in self.document["objects"] if entry["kind"] == kind]

    def array(self, node, values=None):
        """Return the array that a node stands for, or put other values in its place, of any type and shape."""
        table = self.document["arrays"]
        sizes = [np.dtype(code).itemsize * int(np.prod(shape)) for code, _, shape in table]
        start, place = sum(sizes[: node[1]]), node[1]
        if values is None:
            code, order, shape = table[place]
            return np.frombuffer(self.block, f"<{code}", int(np.prod(shape)), start).reshape(shape, order=order).copy()
        values = np.asarray(values)
        table[place] = [values.dtype.str[1:], "C", list(values.shape)]
        self.block = self.block[:start] + values.tobytes() + self.block[start + sizes[place] :]
        return None

    def add(self, values):
        """Return the node of a further array."""
        self.document["arrays"].append([values.dtype.str[1:], "C", list(values.shape)])
        self.block += values.tobytes()
        return ["array", len(self.document["arrays"]) - 1]

    def data(self, *, compressed=True, **changes):
        """Return the file."""
        document = json.dumps(self.document, separators=(",", ":")).encode()
        arrays = zlib.compress(self.block) if compressed else self.block
        files = {**self.others, "model.json": document, "model.arrays": arrays}
        content = {
            **self.manifest,
            "files": {name: {"bytes": len(data), "sha256": sha256(data).hexdigest()} for name, data in files.items()},
            "arrays": {"bytes": len(self.block), "compressed": compressed},
        } | changes
        return _zip({"manifest.json": document_bytes(SCHEMA, SCHEMA_VERSION, content), **files})


def holding(model, path):
    """Write a file whose predictor is this model, whatever it is, and return its path."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    from sklearn.linear_model import LinearRegression

    certified = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.1, random_state=0).fit(X, X[:, 0])
    parts = take_apart(certified) | {"predictors": [model], "of_x": {}}
    document, arrays = write_content(parts, Trust())
    whole = Whole("regressor", (), versions(), {}, (), certificates_of(certified)[1], document, arrays)
    return write_archive(path, whole)


def state(forged, kind, name):
    (entry,) = forged.objects(kind)[-1:]
    return entry["state"][name]


# An object whose attribute makes numpy read or write at an address of the file's choice.
ADDRESS = ["dict", ["data", ["tuple", 4096, False]], ["shape", ["tuple"]], ["typestr", "<f8"], ["version", 3]]
