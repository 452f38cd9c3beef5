"""What one draw is: numbers of any library are kept as numbers of Python."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacband import certify, certify_frame, check_frame, load
from pacband.draws import Spaced, Units, Weighted
from pacband.draws.kinds import SpacedDraws, UnitDraws, WeightedDraws, draw_kind

PROMISE = {"eps": 0.1, "delta": 0.01}
PAIRS = [
    (UnitDraws(np.float64(0.9)), UnitDraws(0.9)),
    (UnitDraws(np.float32(0.9)), UnitDraws(float(np.float32(0.9)))),
    (UnitDraws("one", seed=np.int64(7)), UnitDraws("one", seed=7)),
    (SpacedDraws(np.int32(24), np.float32(0.25)), SpacedDraws(24, 0.25)),
    (WeightedDraws(np.float32(2.5), np.uint8(3)), WeightedDraws(2.5, 3)),
    (WeightedDraws(2, 3, True, np.float32(0.125)), WeightedDraws(2.0, 3, True, 0.125)),
]


@pytest.mark.parametrize(("given", "plain"), PAIRS)
def test_numbers_of_numpy_are_kept_as_numbers_of_python(given, plain):
    assert given == plain
    assert repr(given) == repr(plain)
    text = json.dumps(given.to_dict())
    assert text == json.dumps(plain.to_dict())
    assert draw_kind(json.loads(text)) == plain


MACHINES = np.repeat(np.arange(300), 10)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (Units(MACHINES, np.float64(0.9)), Units(MACHINES, 0.9)),
        (Units(MACHINES, np.float32(0.9)), Units(MACHINES, float(np.float32(0.9)))),
        (Spaced(np.int64(5), np.float32(0.125)), Spaced(5, 0.125)),
        (Weighted(np.ones(3000), at_most=np.float32(1.5)), Weighted(np.ones(3000), at_most=1.5)),
    ],
)
def test_a_certificate_of_such_numbers_is_saved_and_loaded(given, plain, rng, tmp_path):
    y = rng.standard_normal(3000)
    cert = certify(y, 0 * y, eps=0.1, delta=0.3, draws=given)
    path = cert.save(tmp_path / "cert.json")
    assert load(path) == cert == certify(y, 0 * y, eps=0.1, delta=0.3, draws=plain)
    assert load(path).verify(y, 0 * y, draws=plain)


@pytest.mark.parametrize("share", [np.float64(0.9), np.float32(0.9)])
@pytest.mark.parametrize(
    "library", [duckdb.from_df, lambda frame: pl.from_pandas(frame).lazy()], ids=["duckdb", "polars"]
)
def test_engines_take_a_share_of_numpy(library, share, rng):
    frame = pd.DataFrame({"machine": MACHINES, "y": rng.standard_normal(3000), "p": 0.0})
    named = {"target": "y", "prediction": "p"}
    found = certify_frame(library(frame), draws=Units("machine", share), **named, **PROMISE)
    wanted = certify_frame(frame, draws=Units("machine", float(share)), **named, **PROMISE)
    assert found == wanted
    assert check_frame(found, library(frame), draws=Units("machine", share)).reused
