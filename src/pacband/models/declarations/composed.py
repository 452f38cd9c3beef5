"""Pipelines, unions, and transformers of columns and of the target."""

from __future__ import annotations

from typing import Any

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

# How columns are given: by names, positions or masks, or by a slice of these.
_PLACES = "str|int|slice|bool|list(str|int|bool)|b[*]|i[*]|t[*]"
_COLUMNS = (
    f"transformers_!=list(tuple(model|{_PLACES})) output_indices_=dict(slice) sparse_output_!=bool "
    f"_columns=list({_PLACES}) _transformer_to_input_indices!=dict(list(int)) _remainder=tuple(model|{_PLACES}|none) "
    "_n_features=nat _name_to_fitted_passthrough=dict(model) _transformers_feature_names_out=t[*]"
)


def _extract_columns(model: Any) -> dict[str, Any]:
    """Return the columns as plain lists. One release of scikit-learn uses its own list class."""
    return {
        "transformers_": [(name, part, _plain(columns)) for name, part, columns in model.transformers_],
        "_remainder": tuple(_plain(part) for part in model._remainder),
        "_transformer_to_input_indices": {
            name: [int(k) for k in places] for name, places in model._transformer_to_input_indices.items()
        },
    }


def _plain(columns: Any) -> Any:
    if type(columns).__name__ == "_RemainderColsList":
        return list(columns.data)
    return list(columns) if isinstance(columns, list) else columns


def _check_columns(model: Any) -> None:
    for entry in model.transformers_:
        if len(entry) != 3 or type(entry[0]) is not str or not _is_part(entry[1]):
            raise Unsound("a sklearn.ColumnTransformer has a part without a name or columns")
        if entry[0] not in model._transformer_to_input_indices:
            raise Unsound("a sklearn.ColumnTransformer has a part without columns")


def _is_part(part: Any) -> bool:
    return part in ("drop", "passthrough") if isinstance(part, str) else hasattr(part, "transform")


def _check_pairs(name: str) -> Any:
    def check(model: Any) -> None:
        entries = getattr(model, name)
        if not isinstance(entries, list) or not all(
            type(entry) is tuple and len(entry) == 2 and type(entry[0]) is str for entry in entries
        ):
            raise Unsound(f"{name} of a {type(model).__name__} are not pairs of a name and a part")

    return check


KINDS = (
    Kind("sklearn.Pipeline", "sklearn.pipeline", "Pipeline", check=_check_pairs("steps"), also_unfitted=True),
    Kind(
        "sklearn.FeatureUnion",
        "sklearn.pipeline",
        "FeatureUnion",
        check=_check_pairs("transformer_list"),
        also_unfitted=True,
    ),
    Kind(
        "sklearn.ColumnTransformer",
        "sklearn.compose",
        "ColumnTransformer",
        declaration=_COLUMNS,
        extract=_extract_columns,
        check=_check_columns,
    ),
    Kind(
        "sklearn.TransformedTargetRegressor",
        "sklearn.compose",
        "TransformedTargetRegressor",
        declaration="regressor_!=model transformer_!=model _training_dim!=nat",
    ),
)
