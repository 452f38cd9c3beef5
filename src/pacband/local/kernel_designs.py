"""What a kernel model regresses on: Gram matrices of a few samples or of all, or a basis of few columns."""

from __future__ import annotations

import numpy as np

from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.local.design import Gram, Regressors, regressors
from pacband.local.factor import ROUNDING_OF_TRACE, check_positive_semidefinite, pivoted_cholesky
from pacband.local.kernels import Kernel
from pacband.local.memory import budget

__all__ = ["local_gram", "low_rank", "trace_tolerances", "whole_gram"]

# So many samples are checked for a positive semidefinite kernel, where the whole Gram matrix is never formed.
_TRIAL = 512
# So many columns are few: the sums over them take less time than a product with the Gram matrix.
_FEW = 128


def local_gram(kernel: Kernel, X: Floats) -> Gram:
    """Return the samples without a matrix, after a check of the kernel on some of them."""
    trial = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), _TRIAL)).astype(int))]
    check_positive_semidefinite(kernel, kernel(trial, trial))
    return Gram(kernel, X)


def low_rank(
    kernel: Kernel, X: Floats, y: Floats, tol: float, traces: tuple[float, float], max_rank: int
) -> Regressors | None:
    """Return a basis F with tr(K − F Fᵀ) ≲ 2·trace·tr(K): once for the pivots, once for the leading directions.

    The first trace is taken if few columns reach it, else the second one.
    """
    for trace, rank in zip(traces, (min(_FEW, max_rank), max_rank), strict=True):
        factor = pivoted_cholesky(kernel, X, tol=trace, max_rank=rank)
        if factor is not None:
            return regressors(factor.columns, y, factor.features, drop=trace, exact=Gram(kernel, X), tol=tol)
    return None


def trace_tolerances(kernel: Kernel, X: Floats, alpha: float, tol: float) -> tuple[float, float]:
    """Return which part of tr(K) the basis may leave out: so that all x are certified beforehand, and at most.

    With ΣΓ ≤ M and Γe² ≤ y² ≤ 4 (in its unit), and with gaps of twice their mean, the theorem of `fits.certified`
    gives errors below tol if tr(R)/α is below tol / 2 and tol / (2√(Mk/α)), with k a typical k(x, x). The result is
    rounded down to a power of 100, so that penalties of similar size share a basis. Below the rounding errors it is 0.

    Where that takes too many columns, the part is a hundredth of tol, or tol·α/(5k) if that is less. This keeps the
    errors below tol at most points, and the others are refined.
    """
    typical = float(np.abs(kernel.diagonal(X)).mean()) or 1.0
    certified = tol * alpha / (2.0 * len(X) * typical) * min(1.0, (alpha / (len(X) * typical)) ** 0.5)
    level = 100.0 ** np.floor(np.log10(certified) / 2.0) if certified > 0.0 else 0.0
    return (level if level > ROUNDING_OF_TRACE else 0.0), tol * min(0.01, 0.2 * alpha / typical)


def whole_gram(kernel: Kernel, X: Floats) -> Gram:
    """Return the samples with their whole Gram matrix, or raise if it does not fit in memory."""
    needed, available = 3 * len(X) ** 2, budget()
    if needed > available:
        raise InvalidInput(
            f"a dense solution of {len(X)} samples needs {needed >> 17} MiB, and working_memory is "
            f"{available >> 17} MiB: set n_neighbors, take a larger tol for a low-rank solution, or raise the "
            "budget by sklearn.set_config(working_memory=...)."
        )
    matrix = kernel(X, X)
    check_positive_semidefinite(kernel, matrix)
    return Gram(kernel, X, matrix)
