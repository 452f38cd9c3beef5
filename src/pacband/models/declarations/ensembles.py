"""Models made of other models: averages, stacks, votes and searches."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

_ESTIMATORS = "estimators_!=list(model)"
_SEARCH = (
    "best_estimator_!=model best_params_=dict(any) best_score_=num best_index_=int n_splits_=int refit_time_=num "
    "multimetric_=bool"
)


def _restore_names(model: Any, state: dict[str, Any]) -> None:
    """Rebuild the names of the members, as scikit-learn does. A member that was dropped is a text."""
    members = iter(state["estimators_"])
    try:
        state["named_estimators_"] = Bunch(
            **{name: part if isinstance(part, str) else next(members) for name, part in model.estimators}
        )
    except (StopIteration, TypeError, ValueError):
        raise Unsound("the members of a model do not match their names") from None


def _restore_scorer(model: Any, state: dict[str, Any]) -> None:
    from sklearn.metrics import check_scoring

    if not (model.scoring is None or isinstance(model.scoring, str)) or state.get("multimetric_"):
        return
    try:
        state["scorer_"] = check_scoring(model.estimator, model.scoring)
    except (TypeError, ValueError):
        raise Unsound("a search has an unknown score") from None


def _check_columns(model: Any) -> None:
    if len(model.estimators_) != len(model.estimators_features_):
        raise Unsound("a sklearn.BaggingRegressor has members without columns")
    for columns in model.estimators_features_:
        if ((columns < 0) | (columns >= model.n_features_in_)).any():
            raise Unsound("a sklearn.BaggingRegressor uses columns that do not exist")


def _check_order(model: Any) -> None:
    if sorted(model.order_) != list(range(len(model.estimators_))):
        raise Unsound("a sklearn.RegressorChain has an invalid order")


KINDS = (
    Kind(
        "sklearn.BaggingRegressor",
        "sklearn.ensemble",
        "BaggingRegressor",
        declaration=f"{_ESTIMATORS} estimator_=model estimators_features_!=list(i[*]) _n_samples=nat _max_samples=num "
        "_max_features=num oob_score_=num oob_prediction_=f _seeds=n[*]",
        not_saved="_sample_weight",
        check=_check_columns,
    ),
    Kind(
        "sklearn.AdaBoostRegressor",
        "sklearn.ensemble",
        "AdaBoostRegressor",
        declaration=f"{_ESTIMATORS} estimator_=model estimator_weights_!=f[*] estimator_errors_=f[*]",
    ),
    Kind(
        "sklearn.VotingRegressor",
        "sklearn.ensemble",
        "VotingRegressor",
        declaration=_ESTIMATORS,
        not_saved="named_estimators_",
        restore=_restore_names,
    ),
    Kind(
        "sklearn.StackingRegressor",
        "sklearn.ensemble",
        "StackingRegressor",
        declaration=f"{_ESTIMATORS} final_estimator_!=model stack_method_!=list(str) _n_feature_outs=list(int)",
        not_saved="named_estimators_",
        restore=_restore_names,
    ),
    Kind("sklearn.MultiOutputRegressor", "sklearn.multioutput", "MultiOutputRegressor", declaration=_ESTIMATORS),
    Kind(
        "sklearn.RegressorChain",
        "sklearn.multioutput",
        "RegressorChain",
        declaration=f"{_ESTIMATORS} order_!=list(int)|i[*]",
        check=_check_order,
    ),
    *(
        # The scores of all candidates of a search are not needed for predictions.
        Kind(
            f"sklearn.{name}",
            "sklearn.model_selection",
            name,
            declaration=_SEARCH,
            not_saved="cv_results_ scorer_ _checked_cv_orig",
            restore=_restore_scorer,
        )
        for name in ("GridSearchCV", "RandomizedSearchCV")
    ),
    Kind("sklearn.FrozenEstimator", "sklearn.frozen", "FrozenEstimator"),
)
