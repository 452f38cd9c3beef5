"""Linear models, and other models that predict by a few matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

_LINEAR = "coef_!=f[p]|f[k,p]|f[k,*] intercept_!=num|f[k]|f[1]"
_ITERATED = f"{_LINEAR} n_iter_=num|n|list(num)|none"
_DESCENT = f"{_ITERATED} dual_gap_=num|n eps_=num"
_PATH = f"{_DESCENT} mse_path_=f alpha_=num alphas_=f l1_ratio_=num"
_ANGLES = f"{_ITERATED} alphas_=f|list(f) alpha_=num active_=list(int)|list(list(int)) coef_path_=f|list(f)"
_ANGLES += " cv_alphas_=f mse_path_=f criterion_=f noise_variance_=num"
_BAYES = f"{_ITERATED} X_offset_=f[p] X_scale_=f[p] alpha_=num lambda_=num|f[p] sigma_=f[*,*] scores_=f|list(num)"
_PARTIAL = "coef_!=f[k,p] intercept_!=f[k] x_weights_=f[p,c] y_weights_=f[k,c] x_loadings_=f[p,c] y_loadings_=f[k,c]"
_PARTIAL += " x_rotations_=f[p,c] y_rotations_=f[k,c] x_scores_=f[n,c] y_scores_=f[n,c] _x_mean!=f[p] _y_mean=f[k]"
_PARTIAL += " _x_std=f[p] _y_std=f[k] n_iter_=list(int) _predict_1d=bool _norm_y_weights=bool _n_features_out=nat"
_TABLE = {
    "LinearRegression": f"{_LINEAR} rank_=int|none|list(int)|i singular_=f|none|list(f)",
    "Ridge": f"{_ITERATED} solver_=str",
    "RidgeCV": f"{_LINEAR} alpha_=num|f best_score_=num|f cv_results_=f cv_values_=f",
    "ARDRegression": _BAYES,
    "BayesianRidge": _BAYES,
    "HuberRegressor": f"{_ITERATED} scale_=num outliers_=b[n]",
    "OrthogonalMatchingPursuit": f"{_ITERATED} n_nonzero_coefs_=int|none",
    "OrthogonalMatchingPursuitCV": f"{_ITERATED} n_nonzero_coefs_=int|none",
    "QuantileRegressor": _ITERATED,
    "TheilSenRegressor": f"{_ITERATED} n_subpopulation_=int breakdown_=num",
    "PassiveAggressiveRegressor": f"{_ITERATED} t_=num",
    "SGDRegressor": f"{_ITERATED} t_=num",
    **dict.fromkeys(("ElasticNet", "Lasso", "MultiTaskElasticNet", "MultiTaskLasso"), _DESCENT),
    **dict.fromkeys(("ElasticNetCV", "LassoCV", "MultiTaskElasticNetCV", "MultiTaskLassoCV"), _PATH),
    **dict.fromkeys(("Lars", "LarsCV", "LassoLars", "LassoLarsCV", "LassoLarsIC"), _ANGLES),
}
# The state for a partial fit: a loaded model can predict, and can be fitted from the start. The last one is an option
# that RidgeCV of scikit-learn 1.6 keeps twice.
_NOT_SAVED = (
    "loss_function_ _expanded_class_weight _standard_coef _standard_intercept _average_coef _average_intercept "
    "_store_cv_results"
)


def _restore_loss(model: Any, _: dict[str, Any]) -> None:
    # The loss depends on the parameters only.
    model._base_loss = model._get_loss()


def _check_layers(model: Any) -> None:
    if len(model.coefs_) != model.n_layers_ - 1 or len(model.intercepts_) != model.n_layers_ - 1:
        raise Unsound("a sklearn.MLPRegressor does not have the stated number of layers")
    if model.out_activation_ not in ("identity", "exp"):
        raise Unsound("a sklearn.MLPRegressor has an output activation that no regressor has")


def _check_constant(model: Any) -> None:
    if model.n_outputs_ != model.constant_.shape[1]:
        raise Unsound("a sklearn.DummyRegressor has different numbers of outputs and constants")


def _restore_steps(model: Any, state: dict[str, Any]) -> None:
    if np.any(np.diff(state["X_thresholds_"]) < 0):
        raise Unsound("a sklearn.IsotonicRegression has thresholds out of order")
    # This is how scikit-learn itself rebuilds the function.
    model._build_f(state["X_thresholds_"], state["y_thresholds_"])


KINDS = (
    *(
        Kind(f"sklearn.{name}", "sklearn.linear_model", name, declaration=declaration, not_saved=_NOT_SAVED)
        for name, declaration in _TABLE.items()
    ),
    *(
        Kind(
            f"sklearn.{name}",
            "sklearn.linear_model",
            name,
            declaration=_ITERATED,
            not_saved="_base_loss",
            restore=_restore_loss,
        )
        for name in ("GammaRegressor", "PoissonRegressor", "TweedieRegressor")
    ),
    Kind(
        "sklearn.RANSACRegressor",
        "sklearn.linear_model",
        "RANSACRegressor",
        declaration="estimator_!=model inlier_mask_=b[n] n_trials_=int n_skips_no_inliers_=int "
        "n_skips_invalid_data_=int n_skips_invalid_model_=int",
    ),
    Kind("sklearn.LinearSVR", "sklearn.svm", "LinearSVR", declaration="coef_!=f[p] intercept_!=num|f[1] n_iter_=int"),
    Kind(
        "sklearn.DummyRegressor",
        "sklearn.dummy",
        "DummyRegressor",
        declaration="constant_!=n[1,k] n_outputs_!=nat",
        check=_check_constant,
    ),
    Kind(
        "sklearn.KernelRidge",
        "sklearn.kernel_ridge",
        "KernelRidge",
        declaration="dual_coef_!=f[n]|f[n,k] X_fit_!=f[n,p]|f[n,*]|sparse",
    ),
    *(
        # Predictions do not need the scores of the training rows.
        Kind(
            f"sklearn.{name}",
            "sklearn.cross_decomposition",
            name,
            declaration=_PARTIAL,
            not_saved="_x_scores _y_scores",
        )
        for name in ("CCA", "PLSCanonical", "PLSRegression")
    ),
    Kind(
        "sklearn.PLSSVD",
        "sklearn.cross_decomposition",
        "PLSSVD",
        declaration="x_weights_!=f[p,c] y_weights_=f[k,c] _x_mean!=f[p] _y_mean=f[k] _x_std=f[p] _y_std=f[k] "
        "_n_features_out=nat",
    ),
    Kind(
        "sklearn.IsotonicRegression",
        "sklearn.isotonic",
        "IsotonicRegression",
        declaration="X_thresholds_!=f[t] y_thresholds_!=f[t] X_min_!=num X_max_!=num increasing_=bool",
        not_saved="f_",
        restore=_restore_steps,
    ),
    Kind(
        "sklearn.MLPRegressor",
        "sklearn.neural_network",
        "MLPRegressor",
        declaration="coefs_!=list(f[*,*]) intercepts_!=list(f[*]) n_layers_!=nat n_outputs_!=nat out_activation_!=str "
        "loss_=num loss_curve_=list(num) best_loss_=num|none validation_scores_=list(num)|none "
        "best_validation_score_=num|none n_iter_=int t_=int",
        not_saved="_random_state _best_coefs _best_intercepts _coef_indptr _intercept_indptr _no_improvement_count "
        "_optimizer _label_binarizer",
        check=_check_layers,
    ),
)
