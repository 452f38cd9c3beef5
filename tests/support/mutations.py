"""Changes to model files at random, and the process in which they are tried.

    python mutations.py FOLDER FIRST LAST STEP FD

tries the mutations FIRST, FIRST + STEP, … of the files in FOLDER and writes a line to the descriptor before and after
each. The k-th mutation is a function of k alone.
"""

import json
import os
import resource
import sys
import warnings
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import numpy as np

import pacband
from pacband import CertificateError, InvalidInput
from support.forge import Forged
from support.gallery import TABLES

NAMES = (
    "__array_interface__", "__array__", "__class__", "__dict__", "__getstate__", "predict", "transform", "_loss",
    "_asarray", "check_format", "_validate_params", "n_features_in_", "coef_", "nodes", "counts", "kernel", "metric",
    "n_jobs", "steps", "estimators_", "n_outputs_", "points",
)  # fmt: skip
NUMBERS = (
    0,
    1,
    -1,
    2,
    255,
    256,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63 - 1,
    -(2**63),
    2**64,
    10**30,
    0.5,
    -0.0,
    1e308,
    5e-324,
)
TEXTS = ("", "drop", "zero", "passthrough", "precomputed", "poly", "std", "nan", "a" * 300, "\x1b[31m", "\x00", "é")
TAGS = (
    "list",
    "tuple",
    "dict",
    "slice",
    "float",
    "scalar",
    "array",
    "object",
    "texts",
    "objects",
    "random",
    "function",
)
ROWS = 12
TAGS += ("type", "dtype", "sparse", "trusted", "partial")


def mutated(data, k, kinds):
    """Return the k-th mutation of a file, and how it was made: "raw" bytes, or "signed" with every digest right."""
    rng = np.random.default_rng([k, 20])
    if rng.uniform() < 0.15:
        return _raw(bytearray(data), rng), "raw"
    forged = Forged(data)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        change = (_document, _document, _table, _elements, _elements, _elements, _swap)[rng.integers(7)]
        # A change may not fit what an earlier one left.
        with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            change(forged, rng, kinds)
    changes = _manifest(rng) if rng.uniform() < 0.05 else {}
    try:
        return forged.data(compressed=bool(rng.uniform() < 0.8), **changes), "signed"
    except CertificateError:
        # Not even the schema of the manifest lets it be written.
        return b"PK\x03\x04", "signed"


def _raw(data, rng):
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(data)))
        action = rng.integers(4)
        if action == 0:
            data[place] ^= 1 << int(rng.integers(8))
        elif action == 1:
            data[place] = int(rng.integers(256))
        elif action == 2:
            del data[place : place + int(rng.integers(1, 9))]
        else:
            data[place:place] = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), dtype=np.uint8))
    return bytes(data)


def _nodes(node, found):
    """Collect every place in a document: a container and a key."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], (dict, list)):
            _nodes(node[key], found)
    return found


def _strange(forged, rng, kinds):
    """Return a node that has no business anywhere in particular."""
    document = forged.document
    k = lambda n: int(rng.integers(-1, n + 1))  # noqa: E731
    return [
        None,
        bool(rng.integers(2)),
        NUMBERS[rng.integers(len(NUMBERS))],
        TEXTS[rng.integers(len(TEXTS))],
        ["float", ("nan", "inf", "-inf", "1e400")[rng.integers(4)]],
        ["scalar", ("f8", "i4", "u1", "c16", "O")[rng.integers(5)], NUMBERS[rng.integers(len(NUMBERS))]],
        ["array", k(len(document["arrays"]))],
        ["object", k(len(document["objects"]))],
        [
            "function",
            ("numpy.exp", "numpy.load", "os.system", "pacband.nothing", "sklearn.check_floats")[rng.integers(5)],
        ],
        ["type", ("float64", "object", "eval")[rng.integers(3)]],
        ["dtype", ("f8", "O", "U9", "V1000000000", "M8")[rng.integers(5)]],
        ["sparse", "csr", k(9), k(9), k(9), [k(70), k(70)], True],
        ["random", k(len(document["arrays"])), NUMBERS[rng.integers(len(NUMBERS))], 0, 0.0],
        ["texts", [k(3)], ["a", "b"]],
        ["objects", [1], ["array", 0]],
        ["slice", None, NUMBERS[rng.integers(len(NUMBERS))], None],
        [TAGS[rng.integers(len(TAGS))]],
        ["list", *[["object", 0]] * 3],
        ["dict", ["predict", ["function", "numpy.exp"]]],
        {"__array_interface__": {"data": [4096, False], "shape": [8], "typestr": "<f8", "version": 3}},
        [],
        {},
    ][rng.integers(22)]


def _document(forged, rng, kinds):
    """Change a place in the document: another value, none, twice, under another name, of another kind."""
    places = _nodes(forged.document, [])
    node, key = places[rng.integers(len(places))]
    action = rng.integers(6)
    if action == 0:
        del node[key]
    elif action == 1 and isinstance(node, list):
        node.insert(key, deepcopy(node[key]))
    elif action == 2 and isinstance(node, dict):
        node[NAMES[rng.integers(len(NAMES))]] = node.pop(key)
    elif action == 3 and isinstance(node[key], str):
        node[key] = kinds[rng.integers(len(kinds))] if key == "kind" else TAGS[rng.integers(len(TAGS))]
    elif action == 4 and isinstance(node[key], (int, float)):
        node[key] = [node[key] + 1, node[key] - 1, -node[key], *NUMBERS][rng.integers(3 + len(NUMBERS))]
    else:
        node[key] = _strange(forged, rng, kinds)
    if rng.uniform() < 0.1 and forged.document.get("objects"):
        entry = forged.document["objects"][rng.integers(len(forged.document["objects"]))]
        if isinstance(entry, dict) and isinstance(entry.get("state"), dict):
            entry["state"][NAMES[rng.integers(len(NAMES))]] = _strange(forged, rng, kinds)


def _swap(forged, rng, kinds):
    """Exchange two places in the document."""
    places = _nodes(forged.document, [])
    one, other = (places[k] for k in rng.integers(len(places), size=2))
    one[0][one[1]], other[0][other[1]] = deepcopy(other[0][other[1]]), deepcopy(one[0][one[1]])


def _arrays_of(forged):
    table = forged.document.get("arrays")
    if not isinstance(table, list):
        return []
    found, start = [], 0
    for place, entry in enumerate(table):
        try:
            code, _, shape = entry
            dtype = np.dtype(f"<{code}")
            size = dtype.itemsize * int(np.prod(shape))
        except (TypeError, ValueError, OverflowError):
            return []
        found.append((place, dtype, start, size))
        start += size
    return found if start == len(forged.block) else []


def _table(forged, rng, kinds):
    """Say something else of an array: another type, order or shape, with or without the bytes to go with it."""
    arrays = _arrays_of(forged)
    if not arrays:
        return
    place, dtype, start, size = arrays[rng.integers(len(arrays))]
    entry = forged.document["arrays"][place]
    action = rng.integers(6)
    if action == 0:
        entry[0] = ("f8", "f4", "i8", "i4", "u1", "u4", "b1", "c16", "O", "V8", "S8", "M8")[rng.integers(12)]
    elif action == 1:
        entry[1] = ("C", "F", "K", 1)[rng.integers(4)]
    elif action == 2:
        entry[2] = entry[2][::-1]
    elif action == 3:
        entry[2] = [[1, *entry[2]], [*entry[2], 1], [int(np.prod(entry[2]))], []][rng.integers(4)]
    elif action == 4 and entry[2]:
        entry[2][rng.integers(len(entry[2]))] = NUMBERS[rng.integers(len(NUMBERS))]
    else:
        # Shorter or longer, and consistently so.
        items = size // dtype.itemsize
        count = int(rng.choice([0, 1, max(items - 1, 0), items + 1, 2 * items]))
        bytes_ = (forged.block[start : start + size] * 2 + bytes(dtype.itemsize))[: count * dtype.itemsize]
        forged.block = forged.block[:start] + bytes_ + forged.block[start + size :]
        entry[2] = [count] if len(entry[2]) < 2 else [count // max(int(np.prod(entry[2][1:])), 1), *entry[2][1:]]


def _elements(forged, rng, kinds):
    """Change entries of an array: to the ends of its type, NaN, infinities, or those of others."""
    arrays = [array for array in _arrays_of(forged) if array[3]]
    if not arrays:
        return
    _, dtype, start, size = arrays[rng.integers(len(arrays))]
    values = np.frombuffer(forged.block, dtype, size // dtype.itemsize, start).copy()
    places = rng.integers(len(values), size=int(rng.integers(1, 4)))
    if rng.uniform() < 0.15:
        rng.shuffle(values)
    elif dtype.kind == "f":
        values[places] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 1e-300, 300.0]).astype(dtype)
    elif dtype.kind in "iu":
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        options = [low, high, 0, 1, 2, len(values), len(values) - 1, int(values.max()) + 1, -1, -2]
        value = options[rng.integers(len(options))]
        values[places] = min(max(value, low), high)
    else:
        values = values.view(np.uint8)
        values[places] = rng.integers(256)
    forged.block = forged.block[:start] + values.tobytes() + forged.block[start + size :]


def _manifest(rng):
    return [
        {"kind": "family"},
        {"candidates": ["a", "b"]},
        {"trusted": ["os.system"]},
        {"trusted": ["x; touch y"]},
        {"arrays": {"bytes": 2**52, "compressed": True}},
        {"arrays": {"bytes": 0, "compressed": False}},
        {"versions": {"pacband": "\x1b[31m", "scikit-learn": "0"}},
        {"columns": {"a": "number"}},
    ][rng.integers(8)]


def write_case(folder, number, data, table, expected):
    """Keep a file, the number of a table that its model takes, and what it says of it."""
    (folder / f"{number:03}.case").write_bytes(data)
    (folder / f"{number:03}.json").write_text(json.dumps(table))
    np.save(folder / f"{number:03}.npy", expected, allow_pickle=False)


def read_cases(folder):
    """Return all that were kept."""
    return [
        (
            path.read_bytes(),
            TABLES[json.loads(path.with_suffix(".json").read_text())][:ROWS],
            [np.load(path.with_suffix(".npy"))],
        )
        for path in sorted(folder.glob("*.case"))
    ]


def same(one, other):
    """Whether two lists of answers are equal to the last bit."""
    return len(one) == len(other) and all(
        a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
        for a, b in zip(one, other, strict=True)
    )


def answers_of(model, table):
    """Return what the predictor says of a table."""
    return [np.ascontiguousarray(model.predict(table))]


def outcome(path, data, how, original, table, expected):
    """Try a file, and say in a word what came of it."""
    if data == original:
        return "unchanged"
    path.write_bytes(data)
    try:
        model = pacband.load(path)
    except (CertificateError, InvalidInput) as error:
        text = str(error)
        return "refused" if text.isprintable() else f"FAULT unprintable {text!r}"
    except BaseException as error:
        return f"FAULT load {type(error).__name__} {error}"[:300].replace("\n", " ")
    if how == "raw":
        return "FAULT a changed byte was not seen"
    try:
        found = answers_of(model.estimator_, table)
    except MemoryError as error:
        return f"FAULT memory {error}"[:300]
    except Exception as error:
        return f"error {type(error).__name__}"
    return "same" if same(found, expected) else "other"


def main(folder, first, last, step, descriptor):
    """Try mutations, and write down each before and after."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(folder)
    kinds = json.loads((folder / "kinds.json").read_text())
    kept = read_cases(folder)
    path = folder / f"try-{first}.pacband"
    with os.fdopen(descriptor, "w", buffering=1) as log:
        for k in range(first, last, step):
            original, table, expected = kept[k % len(kept)]
            log.write(f"{k}\n")
            data, how = mutated(original, k, kinds)
            log.write(f"{k} {how} {outcome(path, data, how, original, table, expected)}\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
