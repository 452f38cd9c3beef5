"""Gaussian processes, their kernels, and the splitters for cross-fitting."""

from __future__ import annotations

from typing import Any

from pacband.models.kind import Kind

__all__ = ["KINDS"]

_KERNELS = (
    "CompoundKernel", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Matern",
    "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel",
)  # fmt: skip
_SPLITTERS = {
    "KFold": ("n_splits", "shuffle", "random_state"),
}


def _kernel(value: Any) -> dict[str, Any]:
    # A composed kernel has its parts as parameters, and not the parameters of its parts.
    parameters: dict[str, Any] = value.get_params(deep=False)
    return parameters


def _splitter(names: tuple[str, ...]) -> Any:
    return lambda value: {name: getattr(value, name) for name in names}


KINDS = (
    Kind(
        "sklearn.GaussianProcessRegressor",
        "sklearn.gaussian_process",
        "GaussianProcessRegressor",
        declaration="kernel_!=kernel X_train_!=f[n,p] y_train_!=n[n]|n[n,k] alpha_!=f[n]|f[n,k] L_!=f[n,n] "
        "_y_train_mean!=num|f _y_train_std!=num|f log_marginal_likelihood_value_=num",
        not_saved="_rng _K_inv",
    ),
    *(
        Kind(f"sklearn.kernels.{name}", "sklearn.gaussian_process.kernels", name, role="kernel", parameters=_kernel)
        for name in _KERNELS
    ),
    *(
        Kind(f"sklearn.{name}", "sklearn.model_selection", name, role="splitter", parameters=_splitter(names))
        for name, names in _SPLITTERS.items()
    ),
)
