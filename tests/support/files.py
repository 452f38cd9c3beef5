"""Certificates of tables in files, and what arrays give for the same rows."""

import os

import pandas as pd
import pytest

from pacband import certify, certify_frame
from pacband.tables.opening import open_table

PROMISE = {"eps": 0.1, "delta": 0.01}
# What Dask imports warns.
ENGINES = ["duckdb", pytest.param("dask", marks=pytest.mark.filterwarnings("ignore"))]


def certified(*paths, engine="duckdb", scale=None, group=None):
    """Return the certificate of files."""
    numeric = ["y", "yhat", *([scale] if scale else [])]
    with open_table(paths, numeric, also=[group] if group else [], engine=engine) as table:
        return certify_frame(table, target="y", prediction="yhat", scale=scale, group=group, **PROMISE)


def expected(*frames, scale=None):
    """Return the certificate of arrays."""
    table = pd.concat(frames)
    return certify(
        table.y.to_numpy(float),
        table.yhat.to_numpy(float),
        None if scale is None else table[scale].to_numpy(float),
        **PROMISE,
    )


def same(found, wanted):
    assert (found.gamma, found.n_samples, found.data_digest) == (wanted.gamma, wanted.n_samples, wanted.data_digest)


def write(frame, path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    frame.to_csv(path, index=False) if path.endswith("csv") else frame.to_parquet(path)
