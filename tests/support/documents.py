"""One document of every kind, as pacband writes it."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import pacband


def documents():
    """Documents of every kind that a file holds, but for models."""
    rng = np.random.default_rng(0)
    y, p, s = rng.standard_normal(400), np.zeros(400), rng.uniform(1, 2, 400)
    promise = {"eps": 0.1, "delta": 0.05}
    single = pacband.certify(y, p, s, **promise)
    matrix = pacband.certify(np.column_stack([y, y]), np.zeros((400, 2)), gauge=np.eye(2), **promise)
    family = pacband.certify_family(y, {"plain": p, "scaled": (p, s)}, weights={"plain": 0.3, "scaled": 0.7}, **promise)
    groups = pacband.certify_groups(y, p, np.arange(400) % 2, **promise)
    table = pacband.certify_frame(_frame(y, p), target="y", prediction="p", **promise)
    masks = {"even": np.arange(400) % 2 == 0, "all": np.ones(400, dtype=bool)}
    overlapping = pacband.certify_groups(y, p, masks, **promise)
    runs = y.reshape(80, 5)
    share = pacband.certify(runs, 0 * runs, gauge=pacband.Share(0.8), **promise)
    ellipsoids = pacband.certify(runs[..., None], 0 * runs[..., None], gauge=np.ones((5, 1, 1)), **promise)
    steps = _frame(y, p).assign(run=np.repeat(np.arange(80), 5), t=np.tile(np.arange(5), 80), a=p, b=p)
    long = pacband.certify_frame(steps, target="y", prediction="p", run="run", step="t", group=["a", "b"], **promise)
    successor = pacband.recalibrate(single, 2 * y, p, s)
    monitor = pacband.Monitor(groups)
    monitor.update(3 * y, p, groups=np.arange(400) % 2, batch_id="first")
    plan = pacband.SearchPlan(("linear", "extra trees"), ("trees",), all_rows=True, rows=400, columns=3)
    with TemporaryDirectory() as folder:
        kinds = (plan, single, matrix, family, groups, table, successor, monitor, overlapping, share, ellipsoids, long)
        for value in kinds:
            path = Path(folder) / f"{id(value)}.json"
            value.save(path)
            document = json.loads(path.read_text())
            yield document["schema"], document


def _frame(y, p):
    import pandas as pd

    return pd.DataFrame({"y": y, "p": p})


DOCUMENTS = list(documents())
