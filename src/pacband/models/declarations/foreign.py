"""Boosting models of other packages, in the text or JSON formats of these packages, never as pickles.

The packages read their formats with compiled code that was not written for hostile files. So such a model is saved and
loaded only if the user names its type, like an object of a kind that is not declared.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from pacband.models.kind import Kind

__all__ = ["KINDS"]

_LIGHTGBM = (
    "_best_iteration=int|none _objective=str|none _n_features=int _n_features_in=int _n_classes=int fitted_=bool "
    "_fitted_with_feature_names=bool _other_params=dict(plain)"
)


def _extract_lightgbm(model: Any) -> dict[str, Any]:
    return {"text": model._Booster.model_to_string(num_iteration=-1)} if model._Booster is not None else {}


def _restore_lightgbm(_: Any, state: dict[str, Any]) -> None:
    from lightgbm import Booster

    if "text" in state:
        state["_Booster"] = Booster(model_str=state.pop("text"))
        state["_Booster"].best_iteration = state.get("_best_iteration") or -1


def _extract_xgboost(model: Any) -> dict[str, Any]:
    try:
        booster = model.get_booster()
    except Exception:  # the package's own error for a model that is not fitted
        return {}
    return {"text": bytes(booster.save_raw("json")).decode()}


def _restore_xgboost(model: Any, state: dict[str, Any]) -> None:
    model.load_model(bytearray(state.pop("text").encode()))


def _extract_catboost(model: Any) -> dict[str, Any]:
    if not model.is_fitted():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        model.save_model(path, format="json")
        with open(path, encoding="utf-8") as file:
            return {"text": file.read()}


def _restore_catboost(model: Any, state: dict[str, Any]) -> None:
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
        not_saved="_Booster _evals_result _best_score _class_weight _class_map _classes",
        extract=_extract_lightgbm,
        restore=_restore_lightgbm,
        needs_trust=True,
    ),
    Kind(
        "xgboost.XGBRegressor",
        "xgboost",
        "XGBRegressor",
        declaration="text!=str",
        not_saved="_Booster evals_result_",
        extract=_extract_xgboost,
        restore=_restore_xgboost,
        needs_trust=True,
    ),
    Kind(
        "catboost.CatBoostRegressor",
        "catboost",
        "CatBoostRegressor",
        declaration="text!=str",
        not_saved="_object _random_seed _init_params _prediction_values_change _loss_value_change",
        extract=_extract_catboost,
        restore=_restore_catboost,
        parameters=lambda model: model.get_params(),
        needs_trust=True,
    ),
)
