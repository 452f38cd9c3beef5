"""The tables of the benchmarks, and their splits into rows to train, to calibrate and to test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import train_test_split

__all__ = ["TABLES", "Array", "Split", "load_table", "split_rows", "split_table"]

Array = np.ndarray[Any, Any]

# The tables, and how many rows of each are drawn if it has more.
TABLES = {
    "power_plant": None,
    "concrete": None,
    "protein": 12_000,
    "diabetes": None,
    "diamonds": None,
    "ames": None,
    "wages": None,
    "friedman": None,
    "borehole": None,
}
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Split:
    """Rows to train, to calibrate and to test."""

    X: pd.DataFrame
    y: Array
    X_cal: pd.DataFrame
    y_cal: Array
    X_test: pd.DataFrame
    y_test: Array


@cache
def load_table(name: str) -> tuple[pd.DataFrame, Array]:
    """Return the features and the target of all rows of a table."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        return X, y.to_numpy()
    if name == "friedman":
        columns, y = make_friedman1(5000, n_features=10, noise=1.0, random_state=0)
        return pd.DataFrame(columns).add_prefix("x"), y
    if name == "borehole":
        return _borehole(3000, np.random.default_rng(0))
    table = pd.read_parquet(_DATA / f"{name}.parquet")
    return table.iloc[:, :-1], table.iloc[:, -1].to_numpy(np.float64)


def _borehole(n_rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Array]:
    """Return inputs and outputs of a simulator without noise: the water that flows through a borehole, in m³ a year.

    The function is that of Harper and Gupta (1983); the ranges are those of Morris, Mitchell and Ylvisaker (1993).
    """
    ranges = {
        "radius": (0.05, 0.15),
        "influence": (100.0, 50_000.0),
        "upper_transmissivity": (63_070.0, 115_600.0),
        "upper_head": (990.0, 1_110.0),
        "lower_transmissivity": (63.1, 116.0),
        "lower_head": (700.0, 820.0),
        "length": (1_120.0, 1_680.0),
        "conductivity": (9_855.0, 12_045.0),
    }
    X = pd.DataFrame({name: rng.uniform(*ends, n_rows) for name, ends in ranges.items()})
    log = np.log(X.influence / X.radius)
    leak = 2 * X.length * X.upper_transmissivity / (log * X.radius**2 * X.conductivity)
    drop = X.upper_head - X.lower_head
    flow = (
        2 * np.pi * X.upper_transmissivity * drop / (log * (1 + leak + X.upper_transmissivity / X.lower_transmissivity))
    )
    return X, flow.to_numpy(np.float64)


def split_table(name: str, seed: int) -> Split:
    """Return 60 % of the rows of a table to train, 20 % to calibrate and 20 % to test."""
    X, y = load_table(name)
    rows = TABLES[name]
    if rows is not None:
        drawn = np.random.default_rng(0).choice(len(y), rows, replace=False)
        X, y = X.iloc[drawn], y[drawn]
    return split_rows(X, y, seed)


def split_rows(X: pd.DataFrame, y: Array, seed: int) -> Split:
    """Return 60 % of the rows to train, 20 % to calibrate and 20 % to test."""
    X, X_rest, y, y_rest = train_test_split(X, y, test_size=0.4, random_state=seed)
    X_cal, X_test, y_cal, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=seed)
    return Split(X, y, X_cal, y_cal, X_test, y_test)
