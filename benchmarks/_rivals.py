"""Fit one rival on training rows, and write what it predicts for the others. A program of its own environment.

``python _rivals.py NAME FOLDER SECONDS SEED`` reads train.parquet, whose last column is the target, and unseen.parquet.
It writes predictions.parquet: `centre`; `centre` and `scale`; or `low` and `high`. It prints the seconds of the fit as
JSON. AutoGluon needs other versions of the libraries than pacband, so the rivals have an environment of their own, and
this file imports nothing of pacband.

"absolute" is the model as it comes; "normalised" divides its error by a second model, of the cross-fitted absolute
errors; "CQR" is the model's own pair of quantiles at ε/2 and 1 − ε/2. All with the defaults of their libraries.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from joblib import cpu_count

LEVELS = (0.05, 0.5, 0.95)  # for ε = 0.1
CORES = cpu_count()  # as many as pacband uses

Frame = pd.DataFrame
# A rival fits to X and y in about so many seconds, and predicts columns for the unseen rows.
Rival = Callable[[Frame, Any, Frame, float, int], dict[str, Any]]


def main() -> None:
    name, folder, seconds, seed = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    table, unseen = (_read(folder / f"{part}.parquet") for part in ("train", "unseen"))
    X, y = table.iloc[:, :-1], table.iloc[:, -1].to_numpy(np.float64)
    for column in X.select_dtypes("category"):
        X, unseen = (part.assign(**{column: part[column].astype(str)}) for part in (X, unseen))
        levels = pd.concat([X[column], unseen[column]]).unique()
        X, unseen = (part.assign(**{column: pd.Categorical(part[column], levels)}) for part in (X, unseen))
    rival = _rivals()[name]
    start = perf_counter()
    found = rival(X, y, unseen, seconds, seed)
    took = perf_counter() - start
    Frame(found).to_parquet(folder / "predictions.parquet")
    package = name.split(",")[0]
    version = metadata.version({"AutoGluon": "autogluon.tabular", "XGBoost": "xgboost-cpu"}.get(package, package))
    print(json.dumps({"seconds": took, "version": version}))


def _rivals() -> dict[str, Rival]:
    return {
        "AutoGluon, absolute": _autogluon,
        "AutoGluon, CQR": _autogluon_quantiles,
        **{
            f"{library}, {score}": how(library)
            for library in ("CatBoost", "LightGBM", "XGBoost")
            for score, how in (("absolute", _absolute), ("normalised", _normalised), ("CQR", _quantiles))
        },
        "NGBoost, normalised": _ngboost,
        "quantile-forest, CQR": _quantile_forest,
    }


def _read(path: Path) -> Frame:
    table = pd.read_parquet(path)
    return table.astype(dict.fromkeys(table.select_dtypes(["object", "string"]), "category"))


def _autogluon(X: Frame, y: Any, unseen: Frame, seconds: float, seed: int) -> dict[str, Any]:
    return {"centre": _predict_autogluon(X, y, unseen, seconds, problem_type="regression")}


def _autogluon_quantiles(X: Frame, y: Any, unseen: Frame, seconds: float, seed: int) -> dict[str, Any]:
    found = _predict_autogluon(X, y, unseen, seconds, problem_type="quantile", quantile_levels=list(LEVELS))
    return {"low": found[:, 0], "high": found[:, -1]}


def _predict_autogluon(X: Frame, y: Any, unseen: Frame, seconds: float, **options: Any) -> Any:
    """Return its predictions. If its trial of stacking ends with an error, it gets the whole time again without it."""
    try:
        return _run_autogluon(X, y, unseen, options, time_limit=seconds)
    except (AssertionError, RuntimeError):
        return _run_autogluon(X, y, unseen, options, time_limit=seconds, dynamic_stacking=False)


def _run_autogluon(X: Frame, y: Any, unseen: Frame, options: dict[str, Any], **limits: Any) -> Any:
    from autogluon.tabular import TabularPredictor

    with tempfile.TemporaryDirectory(prefix="pacband-rival-", ignore_cleanup_errors=True) as folder:
        predictor = TabularPredictor(label="target of the table", path=folder, verbosity=0, **options)
        table = X.assign(**{"target of the table": y})
        predictor.fit(table, presets="good_quality", num_cpus=CORES, num_gpus=0, **limits)
        return predictor.predict(unseen).to_numpy(np.float64)


def _absolute(library: str) -> Rival:
    def fit(X: Frame, y: Any, unseen: Frame, seconds: float, seed: int) -> dict[str, Any]:
        return {"centre": _model(library, seed, X).fit(X, y).predict(unseen)}

    return fit


def _normalised(library: str) -> Rival:
    def fit(X: Frame, y: Any, unseen: Frame, seconds: float, seed: int) -> dict[str, Any]:
        folds = np.random.default_rng(seed).integers(5, size=len(y))
        errors = np.empty(len(y))
        for fold in range(5):
            train, test = folds != fold, folds == fold
            errors[test] = np.abs(y[test] - _model(library, seed, X).fit(X[train], y[train]).predict(X[test]))
        # The log keeps the scale positive; a tenth of the median keeps tiny errors from ruling it.
        logs = np.log(np.maximum(errors, 0.1 * np.median(errors)))
        return {
            "centre": _model(library, seed, X).fit(X, y).predict(unseen),
            "scale": np.exp(_model(library, seed, X).fit(X, logs).predict(unseen)),
        }

    return fit


def _quantiles(library: str) -> Rival:
    def fit(X: Frame, y: Any, unseen: Frame, seconds: float, seed: int) -> dict[str, Any]:
        low, high = (_model(library, seed, X, level).fit(X, y).predict(unseen) for level in (LEVELS[0], LEVELS[-1]))
        return {"low": low, "high": high}

    return fit


def _model(library: str, seed: int, X: Frame, level: float | None = None) -> Any:
    """Return a model with the defaults of its library: of the mean, or of a quantile."""
    if library == "CatBoost":
        from catboost import CatBoostRegressor

        loss = "RMSE" if level is None else f"Quantile:alpha={level}"
        categories = list(X.select_dtypes("category").columns)
        return CatBoostRegressor(
            loss_function=loss,
            cat_features=categories,
            random_seed=seed,
            thread_count=CORES,
            verbose=False,
            allow_writing_files=False,
        )
    if library == "LightGBM":
        from lightgbm import LGBMRegressor

        quantile = {} if level is None else {"objective": "quantile", "alpha": level}
        return LGBMRegressor(random_state=seed, n_jobs=CORES, verbose=-1, **quantile)
    from xgboost import XGBRegressor

    quantile = {} if level is None else {"objective": "reg:quantileerror", "quantile_alpha": level}
    return XGBRegressor(random_state=seed, n_jobs=CORES, enable_categorical=True, **quantile)


def _ngboost(X: Frame, y: Any, unseen: Frame, seconds: float, seed: int) -> dict[str, Any]:
    from ngboost import NGBRegressor

    model = NGBRegressor(random_state=seed, verbose=False).fit(_numbers(X), y)
    found = model.pred_dist(_numbers(unseen))
    return {"centre": found.loc, "scale": found.scale}


def _quantile_forest(X: Frame, y: Any, unseen: Frame, seconds: float, seed: int) -> dict[str, Any]:
    from quantile_forest import RandomForestQuantileRegressor

    model = RandomForestQuantileRegressor(random_state=seed, n_jobs=CORES).fit(_numbers(X), y)
    found = model.predict(_numbers(unseen), quantiles=[LEVELS[0], LEVELS[-1]])
    return {"low": found[:, 0], "high": found[:, 1]}


def _numbers(X: Frame) -> Any:
    """Return categories as codes."""
    return X.apply(lambda column: column.cat.codes if column.dtype == "category" else column).to_numpy(np.float64)


if __name__ == "__main__":
    main()
