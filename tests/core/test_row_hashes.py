"""Fingerprints of rows: the same in any container and precision."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacband import ReusedData
from pacband.core.row_hashes import row_fingerprints
from support.copied_rows import nearest, sound


@pytest.mark.parametrize("kind", ["float32", "float16 of few digits", "frame", "objects", "texts"])
def test_training_rows_are_known_again_in_another_type(rng, kind):
    X, y = sound(rng, 1000)
    if kind.startswith("float16"):
        X, y = X.astype(np.float16).astype(float), y.astype(np.float16).astype(float)
    model = nearest().fit(X, y, calibration=sound(rng, 500))
    copies = {
        "float32": (X.astype(np.float32), y.astype(np.float32)),
        "float16 of few digits": (X.astype(np.float16), y.astype(np.float16)),
        "frame": (pd.DataFrame(X, columns=list("abc")).astype("Float32"), pl.Series(y)),
        "objects": (X.astype(object), y.astype(object)),
        "texts": (X.astype(str).astype(object), y),
    }
    seen = row_fingerprints(*copies[kind])
    np.testing.assert_array_equal(seen, model.training_rows_)
    if kind.startswith("float"):
        with pytest.raises(ReusedData):
            model.calibrate(*copies[kind])
    # One bit more than float32 has is the same row; a difference that float32 can tell is another one.
    assert not np.isin(row_fingerprints(X * (1 + 1e-6), y), seen).any()
