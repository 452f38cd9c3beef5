"""Boosting of other packages, in the formats of their own: text or JSON, never pickles.

Their readers are compiled code that was not written for hostile files. So such a model is saved and loaded only with
the user's word, like a kind that is not declared at all.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from pacband.models.declare import Kind

__all__ = ["KINDS"]

_LIGHTGBM = (
    "_best_iteration=int|none _objective=str|none _n_features=int _n_features_in=int _n_classes=int fitted_=bool "
    "_fitted_with_feature_names=bool _other_params=dict(plain)"
)


def _take_lightgbm(model: Any) -> dict[str, Any]:
    return {"text": model._Booster.model_to_string(num_iteration=-1)} if model._Booster is not None else {}


def _give_lightgbm(_: Any, state: dict[str, Any]) -> None:
    from lightgbm import Booster

    if "text" in state:
        state["_Booster"] = Booster(model_str=state.pop("text"))
        state["_Booster"].best_iteration = state.get("_best_iteration") or -1


def _take_xgboost(model: Any) -> dict[str, Any]:
    try:
        booster = model.get_booster()
    except Exception:  # its own error for a model that is not fitted
        return {}
    return {"text": bytes(booster.save_raw("json")).decode()}


def _give_xgboost(model: Any, state: dict[str, Any]) -> None:
    model.load_model(bytearray(state.pop("text").encode()))


def _take_catboost(model: Any) -> dict[str, Any]:
    if not model.is_fitted():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        model.save_model(path, format="json")
        with open(path, encoding="utf-8") as file:
            return {"text": file.read()}


def _give_catboost(model: Any, state: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(state.pop("text"))
        model.load_model(path, format="json")


KINDS = (
    Kind(
        "lightgbm.LGBMRegressor",
        "lightgbm",
        "LGBMRegressor",
        declaration=f"text=str {_LIGHTGBM}",
        left="_Booster _evals_result _best_score _class_weight _class_map _classes",
        take=_take_lightgbm,
        give=_give_lightgbm,
        trusted=True,
    ),
    Kind(
        "xgboost.XGBRegressor",
        "xgboost",
        "XGBRegressor",
        declaration="text!=str",
        left="_Booster",
        take=_take_xgboost,
        give=_give_xgboost,
        trusted=True,
    ),
    Kind(
        "catboost.CatBoostRegressor",
        "catboost",
        "CatBoostRegressor",
        declaration="text!=str",
        left="_object _random_seed _init_params _prediction_values_change _loss_value_change",
        take=_take_catboost,
        give=_give_catboost,
        parameters=lambda model: model.get_params(),
        trusted=True,
    ),
)
