"""Local kernel ridge regression: kernel central prediction (Section 5, "based on a kernel formulation")."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pacband.core.arrays import Floats
from pacband.core.checks import check_positive, check_probability
from pacband.exceptions import InvalidInput
from pacband.local.choice import check_solver, choose_for_features, uses_few
from pacband.local.design import Gram, Regressors, regressors
from pacband.local.estimator import LocalRegressor
from pacband.local.factor import ROUNDING_OF_TRACE, check_positive_semidefinite, pivoted_cholesky
from pacband.local.kernels import Kernel, resolve_kernel
from pacband.local.memory import budget
from pacband.local.model import Model
from pacband.local.shared import Shared
from pacband.local.weights import resolve_weight

__all__ = ["LocalKernelRidge"]

# So many samples are checked for a positive semidefinite kernel, where the whole Gram matrix is never formed.
_TRIAL = 512
# So many columns are few: the sums over them take less time than a product with the Gram matrix.
_FEW = 128
# Above so many samples a dense solution takes a large part of a second for each point.
_MANY = 1000


class LocalKernelRidge(LocalRegressor):
    r"""Local kernel ridge regression: T(x) and σ̂(x) from one local fit.

    The paper's kernel central prediction (Section 5 and its appendix, with (D⁻¹ + 𝕂)⁻¹ where it prints (D + 𝕂)⁻¹).
    With D = diag Γ(x, x_j) and 𝕂 = k(x_i, x_j)/alpha,

    .. math::

        T(x) = \tfrac{1}{α} k_xᵀ (D^{-1} + 𝕂)^{-1} y, \qquad
        σ̂(x) = \frac{\|(I - 𝕂 (D^{-1} + 𝕂)^{-1})\, y\|_D}{\sqrt{\mathrm{tr}\, D}}.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid"} or callable
        k, as in scikit-learn's KernelRidge; or a callable K(A, B) that returns a matrix, such as any kernel of
        `sklearn.gaussian_process`. It must be positive semidefinite (Mercer's condition). The sigmoid is so only for
        some parameters.
    gamma, degree, coef0 : float
        Parameters of the named kernels; gamma=None is 1 / n_features.
    alpha : float
        Σ_θ = alpha·I. The paper's kernel 50·exp(−\|x − z\|²/0.2) is gamma=5, alpha=0.02.
    weight, decay, norm, n_neighbors
        Γ, as in :class:`LocalRidge`.
    solver : {"auto", "dense", "lowrank", "line", "neighbors"}
        How the same systems are solved.

        - "dense": one M × M factorization a point.
        - "lowrank": the Gram matrix as L Lᵀ with p columns, then p × p systems, all of a batch in one matrix product.
        - "line": "lowrank" for exponential weights on one feature. A point costs a sum over √M samples, not M.
        - "neighbors": L × L systems of the nearest samples.
        - "auto": "neighbors" if `n_neighbors` is given; else "line" or "lowrank" if at most M/2 columns reach `tol`;
          else "dense".
    tol : float
        Low rank: the largest error of T(x), in units of max \|y\|, and the largest relative error of σ̂(x), compared
        with the exact formulas, at every x. Where k(x, x) is m² times as large as at all samples, T may be m times as
        far off. Rounding errors come on top, some 1e-15·tr(K)/alpha, as with "dense". The proof is in
        `pacband/local/fits/certified.py`: every point has a bound of its own. Where the bound exceeds `tol`, such as
        far from all samples, the fit is refined with the exact kernel, at the cost of M² kernel values a batch.
    n_jobs : int or None
        Threads, as in joblib. None is as many threads as the linear algebra library uses.

    Attributes
    ----------
    solver_ : str
        The solver in use.
    rank_ : int or None
        p, for the low-rank solvers.

    Notes
    -----
    Floors, underflow and reach are as in :class:`LocalRidge`. Limits: as decay → 0 this is
    `KernelRidge(alpha, kernel, gamma)`; with `n_neighbors=1`, and as decay → ∞, it is the kernel ridge fit to the
    nearest sample alone, T = Γ₁ k(x, x₁) y₁ / (alpha + Γ₁ k(x₁, x₁)), which for alpha → 0 and a kernel that is flat
    between x and x₁ is y₁.

    Examples
    --------
    >>> import numpy as np
    >>> from pacband.local import LocalKernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (500, 1))
    >>> y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(500)
    >>> model = LocalKernelRidge(gamma=5, alpha=0.02, decay=3).fit(X, y)
    >>> prediction, scale = model.predict([[0.5]], return_std=True)
    >>> prediction.round(1), scale.round(1), model.solver_
    (array([1.]), array([0.1]), 'line')

    A family shares its distances and factorizations:

    >>> family = LocalKernelRidge(gamma=5, alpha=0.02).fit_grid(X, y, [{"decay": d} for d in (1, 2, 3)])
    >>> [float(scale[0].round(1)) for _, scale in LocalKernelRidge.predict_grid(family, [[0.5]])]
    [0.1, 0.1, 0.1]
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        alpha: float = 1.0,
        weight: Any = "exponential",
        decay: float = 1.0,
        norm: Any = 2,
        n_neighbors: int | None = None,
        solver: str = "auto",
        tol: float = 1e-10,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.weight = weight
        self.decay = decay
        self.norm = norm
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs

    def _threads(self) -> int | None:
        return self.n_jobs

    def _fit(self, X: Floats, y: Floats, unit: float, shared: Shared) -> Model:
        check_positive("alpha", self.alpha)
        check_probability("tol", self.tol)
        weight = resolve_weight(self.weight, self.decay, self.n_neighbors)
        names = (self.kernel, self.gamma, self.degree, self.coef0)
        kernel = shared.get(lambda: resolve_kernel(*names, X), "kernel", *names)
        locality = shared.locality(self.norm, X)
        solver, alpha = check_solver(self.solver, weight, locality), float(self.alpha)
        self.rank_ = None
        if solver == "neighbors" or (solver == "auto" and uses_few(weight, locality)):
            local = shared.get(lambda: _local_gram(kernel, X), "local", *names)
            return Model("neighbors", locality, weight, local, alpha, y, unit)
        if solver != "dense":
            max_rank = len(y) // 2 if solver == "auto" else len(y)
            traces = shared.get(
                lambda: _trace_tolerances(kernel, X, alpha, self.tol), "traces", *names, alpha, self.tol
            )
            basis = shared.get(
                lambda: _low_rank(kernel, X, y, self.tol, traces, max_rank), "basis", *names, self.tol, traces, max_rank
            )
            if basis is not None:
                self.rank_ = basis.matrix.shape[1]
                quickest = choose_for_features(weight, locality) if solver == "auto" else solver
                return Model(quickest, locality, weight, basis, alpha, y, unit)
        if solver == "auto" and len(y) > _MANY:
            warnings.warn(
                f"solver='auto' falls back to 'dense', one {len(y)} × {len(y)} factorization for every point, as this "
                "kernel has no low rank here: set n_neighbors for a quick local model.",
                stacklevel=4,
            )
        whole = shared.get(lambda: _whole_gram(kernel, X), "whole", *names)
        return Model("dense", locality, weight, whole, alpha, y, unit)


def _local_gram(kernel: Kernel, X: Floats) -> Gram:
    trial = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), _TRIAL)).astype(int))]
    check_positive_semidefinite(kernel, kernel(trial, trial))
    return Gram(kernel, X)


def _low_rank(
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


def _trace_tolerances(kernel: Kernel, X: Floats, alpha: float, tol: float) -> tuple[float, float]:
    """Return which part of tr(K) the basis may leave out: so that all x are certified beforehand, and at most.

    With ΣΓ ≤ M and Γe² ≤ y² ≤ 4 (in its unit), and with gaps of twice their mean, the theorem of `fits.certified`
    gives errors below tol if tr(R)/α is below tol / 2 and tol / (2√(Mk/α)), with k a typical k(x, x). The result is
    rounded down to a power of 100, so that penalties of similar size share a basis. Below the rounding errors it is 0.

    Where that takes too many columns, the part is a hundredth of tol, or tol·α/(5k) if that is less. This keeps the
    errors below tol at most points, and the others are refined.
    """
    typical = float(np.abs(kernel.diagonal(X)).mean()) or 1.0
    certified = tol * alpha / (2.0 * len(X) * typical) * min(1.0, (alpha / (len(X) * typical)) ** 0.5)
    level = 100.0 ** np.floor(np.log10(certified) / 2.0)
    return (level if level > ROUNDING_OF_TRACE else 0.0), tol * min(0.01, 0.2 * alpha / typical)


def _whole_gram(kernel: Kernel, X: Floats) -> Gram:
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
