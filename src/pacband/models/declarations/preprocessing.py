"""Transformers and feature selectors that use numpy only."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from pacband.models.kind import Kind
from pacband.models.values import Unsound

__all__ = ["KINDS"]

_MOST_FEATURES = 10**6
_MOST_POWERS = 10**8
_SUPPORT = "support_=b[p] ranking_=i[p] n_features_=int n_features_to_select_=int"
_SCORES = "scores_=f[p] pvalues_=f[p]|none"
_TABLE = {
    "sklearn.preprocessing": {
        "Binarizer": "",
        "KernelCenterer": "K_fit_rows_!=f[n] K_fit_all_!=num",
        "MaxAbsScaler": "scale_!=f[p] max_abs_=f[p] n_samples_seen_=num|n[p]",
        "MinMaxScaler": "scale_!=f[p] min_!=f[p] data_min_=f[p] data_max_=f[p] data_range_=f[p] "
        "n_samples_seen_=num|n[p]",
        "Normalizer": "",
        "PowerTransformer": "lambdas_!=f[p] _scaler=@StandardScaler",
        "QuantileTransformer": "quantiles_!=f[q,p] references_!=f[q] n_quantiles_!=nat",
        "RobustScaler": "center_=f[p]|none scale_=f[p]|none",
        "StandardScaler": "scale_=f[p]|none mean_=f[p]|none var_=f[p]|none n_samples_seen_=num|n[p]",
        "KBinsDiscretizer": "bin_edges_!=o[p] n_bins_!=i[p] _encoder=@OneHotEncoder",
    },
    "sklearn.impute": {
        "SimpleImputer": "statistics_!=n[p]|o[p] indicator_=@MissingIndicator|none _fit_dtype=dtype _fill_dtype=dtype",
        "MissingIndicator": "features_!=i[*] _n_features=nat _precomputed=bool",
        "KNNImputer": "_fit_X!=f[n,p] _mask_fit_X!=b[n,p] _valid_mask!=b[p] indicator_=@MissingIndicator|none",
    },
    "sklearn.decomposition": {
        "PCA": "components_!=f[c,p] mean_!=f[p] explained_variance_!=f[c] explained_variance_ratio_=f[c] "
        "singular_values_=f[c] noise_variance_=num n_components_=int n_samples_=int _fit_svd_solver=str",
        "TruncatedSVD": "components_!=f[c,p] explained_variance_=f[c] explained_variance_ratio_=f[c] "
        "singular_values_=f[c]",
    },
    "sklearn.kernel_approximation": {
        "Nystroem": "components_!=f[c,p]|sparse normalization_!=f[c,c] component_indices_=i[c] _n_features_out=nat",
        "RBFSampler": "random_weights_!=f[p,c] random_offset_!=f[c] _gamma=num _n_features_out=nat",
    },
    "sklearn.feature_selection": {
        "SelectFromModel": "estimator_!=model threshold_=num max_features_=int",
        "RFE": f"{_SUPPORT} estimator_=model",
        "RFECV": f"{_SUPPORT} estimator_=model",
        "SequentialFeatureSelector": _SUPPORT,
        "VarianceThreshold": "variances_!=f[p]",
        **dict.fromkeys(
            ("GenericUnivariateSelect", "SelectFdr", "SelectFpr", "SelectFwe", "SelectKBest", "SelectPercentile"),
            _SCORES,
        ),
    },
}


def _check_function(model: Any) -> None:
    """Raise if a function would get more arguments than rows: a ufunc can write to its arguments."""
    for options in (model.kw_args, model.inv_kw_args):
        if options:
            raise Unsound("a sklearn.FunctionTransformer passes its function more than rows")


def _extract_function(model: Any) -> dict[str, Any]:
    _check_function(model)
    return {}


def _restore_powers(model: Any, state: dict[str, Any]) -> None:
    """Fit again: fitting learns the number of features only. Wrong numbers from a file would expose memory."""
    n_features = int(state["n_features_in_"])
    if n_features > _MOST_FEATURES:
        raise Unsound("a sklearn.PolynomialFeatures has too many features")
    _refuse_many_powers(model, n_features)
    model.fit(np.zeros((1, n_features)))


def _refuse_many_powers(model: Any, n_features: int) -> None:
    """Raise if there would be too many columns. scikit-learn would compute their exact number, however large.

    There are C(n + d, d) products of at most d of n features, or C(n, 0) + … + C(n, d) without repetitions. Both are
    computed factor by factor, and exceed the limit after a few steps or end.
    """
    degree = int(model.degree if isinstance(model.degree, Integral) else model.degree[1])
    smaller, larger = sorted((degree, n_features))
    count = products = 1
    for k in range(1, smaller + 1):
        if model.interaction_only:
            products = products * (n_features - k + 1) // k
            count += products
        else:
            count = count * (larger + k) // k
        if count > _MOST_POWERS:
            raise Unsound("a sklearn.PolynomialFeatures has too many columns")


def _check_edges(model: Any) -> None:
    edges = model.bin_edges_
    if not all(getattr(edge, "ndim", 0) == 1 and edge.dtype.kind == "f" for edge in edges) or [
        len(edge) - 1 for edge in edges
    ] != list(model.n_bins_):
        raise Unsound("the edges of a sklearn.KBinsDiscretizer do not match its bins")


KINDS = (
    *(
        Kind(
            f"sklearn.{name}",
            module,
            name,
            declaration=declaration,
            not_saved="cv_results_ scorer_ n_features_scores_",
            check=_check_edges if name == "KBinsDiscretizer" else None,
        )
        for module, table in _TABLE.items()
        for name, declaration in table.items()
    ),
    Kind(
        "sklearn.PolynomialFeatures",
        "sklearn.preprocessing",
        "PolynomialFeatures",
        declaration="n_features_in_!=nat",
        not_saved="n_output_features_ _min_degree _max_degree _n_out_full",
        restore=_restore_powers,
    ),
    Kind(
        "sklearn.FunctionTransformer",
        "sklearn.preprocessing",
        "FunctionTransformer",
        extract=_extract_function,
        check=_check_function,
        also_unfitted=True,
    ),
)
