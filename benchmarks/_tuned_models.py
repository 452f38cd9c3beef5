"""`LocalKernelRidge.tuned()` beside a Gaussian process and members of the automatic family: the tables of `sharpness`.

Every contender sees the same standardised columns and the same training rows. A category is a column of zeros and ones
for each of its frequent values; a missing number is the median. The Gaussian process sees at most 1,000
of them, as its time grows with their cube. The half-width is certified at the same (ε, δ) from the same held-out rows:
with the σ̂ of the model where it has one, and with a constant one.
"""

from __future__ import annotations

import warnings
from time import process_time
from typing import Any

import numpy as np
from pandas.api.types import is_numeric_dtype
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from benchmarks._tables import TABLES, load_table
from benchmarks._timing import print_table
from pacband import certify
from pacband.local import LocalKernelRidge

__all__ = ["compare"]

EPS, DELTA = 0.1, 1e-3
MOST_TRAINING, MOST_OF_GP = 4000, 1000
# Rarer values of a category share a column.
FEWEST = 20

Array = np.ndarray[Any, np.dtype[np.float64]]


def compare(quick: bool) -> None:
    """Print time, RMSE and certified half-width of every contender on every table."""
    for name in ("concrete",) if quick else TABLES:
        X, y, points, truth = _split(_table(name))
        rows = [_row(label, model, X, y, points, truth) for label, model in _contenders(X.shape[1]).items()]
        print(f"\n{name}: {len(y):,} training rows × {X.shape[1]}, {len(truth):,} held-out rows (ε={EPS}, δ={DELTA:g})")
        print_table(["", "CPU s", "RMSE", "half-width, own σ̂", "half-width, constant σ̂"], rows)


def _table(name: str) -> Array:
    X, y = load_table(name)
    numbers = X.columns[[is_numeric_dtype(kind) for kind in X.dtypes]]
    encode = make_column_transformer(
        (SimpleImputer(strategy="median"), numbers),
        (OneHotEncoder(min_frequency=FEWEST, drop="first", sparse_output=False), X.columns.difference(numbers)),
    )
    shuffled: Array = np.random.default_rng(0).permutation(np.column_stack([encode.fit_transform(X), y]))
    return shuffled


def _split(table: Array) -> tuple[Array, Array, Array, Array]:
    n = min(1000, len(table) // 3)
    held_out, train = table[:n], table[n : n + MOST_TRAINING]
    centre, spread = train.mean(axis=0)[:-1], np.maximum(train.std(axis=0)[:-1], 1e-9)
    return (train[:, :-1] - centre) / spread, train[:, -1], (held_out[:, :-1] - centre) / spread, held_out[:, -1]


def _contenders(n_columns: int) -> dict[str, Any]:
    process = ConstantKernel() * RBF(np.sqrt(n_columns)) + WhiteKernel(0.1)
    return {
        "LocalKernelRidge.tuned()": LocalKernelRidge.tuned(),
        f"GaussianProcessRegressor, {MOST_OF_GP:,} rows": GaussianProcessRegressor(process, normalize_y=True),
        "linear": RidgeCV(np.logspace(-3, 3, 13)),
        "extra trees": ExtraTreesRegressor(200, random_state=0),
        "boosting": HistGradientBoostingRegressor(random_state=0),
    }


def _row(label: str, model: Any, X: Array, y: Array, points: Array, truth: Array) -> list[str]:
    most, has_scale = len(y), isinstance(model, (LocalKernelRidge, GaussianProcessRegressor))
    if isinstance(model, GaussianProcessRegressor):
        most = MOST_OF_GP
    start = process_time()
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of hyper-parameters at their bounds
        model.fit(X[:most], y[:most])
        prediction, scale = model.predict(points, return_std=True) if has_scale else (model.predict(points), None)
    seconds = process_time() - start
    error = float(np.sqrt(np.mean((truth - prediction) ** 2)))
    own = "" if scale is None else f"{_half_width(truth, prediction, scale):.4g}"
    return [label, f"{seconds:.1f}", f"{error:.4g}", own, f"{_half_width(truth, prediction, np.ones_like(truth)):.4g}"]


def _half_width(truth: Array, prediction: Array, scale: Array) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a public table may repeat rows
        return float(certify(truth, prediction, scale, eps=EPS, delta=DELTA).gamma * scale.mean())
