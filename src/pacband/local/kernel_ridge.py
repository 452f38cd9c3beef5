"""Local kernel ridge regression: kernel central prediction (Section 5, "based on a kernel formulation")."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.local.design import Gram, Regressors, regressors
from pacband.local.estimator import LocalRegressor, Shared
from pacband.local.factor import check_positive_semidefinite, pivoted_cholesky
from pacband.local.kernels import Kernel, is_number, resolve_kernel
from pacband.local.locality import Locality
from pacband.local.ridge import feature_solver
from pacband.local.solvers.jobs import Model, budget
from pacband.local.weights import Weight, resolve_weight

__all__ = ["LocalKernelRidge"]

_SOLVERS = ("auto", "dense", "lowrank", "line", "neighbors")
# How many samples show that a kernel is not positive semidefinite, where the whole Gram matrix is never formed.
_TRIAL = 512
# Above so many samples a dense solve takes the better part of a second for each point.
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
        k, with the meanings of scikit-learn's KernelRidge; or a callable K(A, B) that returns a matrix, such as any
        kernel of `sklearn.gaussian_process`. It must be positive semidefinite (Mercer's condition), which the
        sigmoid is only at times.
    gamma, degree, coef0 : float
        Of the named kernels; gamma=None is 1 / n_features.
    alpha : float
        Σ_θ = alpha·I. The paper's kernel 50·exp(−\|x − z\|²/0.2) is gamma=5, alpha=0.02.
    weight, decay, norm, n_neighbors
        Γ, as in :class:`LocalRidge`.
    solver : {"auto", "dense", "lowrank", "line", "neighbors"}
        How the same systems are solved.

        - "dense": one M × M factorization a point.
        - "lowrank": the Gram matrix as L Lᵀ with p columns, then p × p systems, all of a batch in one matrix product.
        - "line": "lowrank" for exponential weights on one feature, at a cost that does not grow with M for each point.
        - "neighbors": L × L systems of the nearest samples.
        - "auto": "neighbors" if `n_neighbors` is given; else "line" or "lowrank" if at most M/2 columns reach `tol`;
          else "dense".
    tol : float
        Low rank: how far T(x), in units of max \|y\|, may be from that of "dense", at any x; σ̂(x) is as near,
        relative to itself, but for a factor of a few. L Lᵀ leaves out at most tol·min(1/100, alpha/5k) of tr(K), with k
        a typical k(x, x), which keeps both errors below these in practice; it cannot keep them below the rounding
        errors, some 1e-15·tr(K)/alpha. Where x is so far from the samples that L Lᵀ does not hold k(x, ·), T(x) is
        completed by what is missing, at the cost of one more pass over the samples.
    n_jobs : int or None
        Threads, as in joblib. None leaves threading to the linear algebra library.

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
        if not is_number(self.alpha, above=0.0):
            raise InvalidInput(f"alpha must be > 0 and finite, got {self.alpha!r}.")
        if not is_number(self.tol, above=0.0) or self.tol >= 1.0:
            raise InvalidInput(f"tol must be in (0, 1), got {self.tol!r}.")
        if not isinstance(self.solver, str) or self.solver not in _SOLVERS:
            raise InvalidInput(f"solver must be one of {list(_SOLVERS)}, got {self.solver!r}.")
        weight = resolve_weight(self.weight, self.decay, self.n_neighbors)
        names = (self.kernel, self.gamma, self.degree, self.coef0)
        kernel = shared.get(lambda: resolve_kernel(*names, X), "kernel", *names)
        locality = shared.locality(self.norm, X)
        few = weight.n_neighbors is not None and weight.n_neighbors < len(y)
        if self.solver == "neighbors" and weight.n_neighbors is None:
            raise InvalidInput("solver='neighbors' needs n_neighbors, got None.")
        if self.solver == "line":
            self._check_line(weight, locality)

        self.rank_ = None
        if self.solver == "neighbors" or (self.solver == "auto" and few):
            local = shared.get(lambda: _local_gram(kernel, X), "local", *names)
            return Model("neighbors", locality, weight, local, float(self.alpha), y, unit)
        if self.solver != "dense":
            max_rank = len(y) // 2 if self.solver == "auto" else len(y)
            alpha = float(self.alpha)
            trace = shared.get(lambda: _trace_tolerance(kernel, X, alpha, self.tol), "trace", *names, alpha, self.tol)
            basis = shared.get(
                lambda: _low_rank(kernel, X, y, self.tol, trace, max_rank), "basis", *names, self.tol, trace, max_rank
            )
            if basis is not None:
                self.rank_ = basis.matrix.shape[1]
                solver = self.solver if self.solver != "auto" else feature_solver(weight, locality.is_line, len(y))
                return Model(solver, locality, weight, basis, float(self.alpha), y, unit)
        if self.solver == "auto" and len(y) > _MANY:
            warnings.warn(
                f"solver='auto' falls back to 'dense', one {len(y)} × {len(y)} factorization for every point, as this "
                "kernel has no low rank here: set n_neighbors for a quick local model.",
                stacklevel=4,
            )
        whole = shared.get(lambda: _whole_gram(kernel, X), "whole", *names)
        return Model("dense", locality, weight, whole, float(self.alpha), y, unit)

    def _check_line(self, weight: Weight, locality: Locality) -> None:
        if weight.profile != "exponential":
            raise InvalidInput(f"solver='line' needs weight='exponential', got {self.weight!r}.")
        if weight.n_neighbors is not None:
            raise InvalidInput(f"solver='line' needs n_neighbors=None, got {self.n_neighbors!r}.")
        if not locality.is_line:
            raise InvalidInput(
                f"solver='line' needs distances along one direction, got {locality.points.shape[1]} dimensions."
            )


def _local_gram(kernel: Kernel, X: Floats) -> Gram:
    trial = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), _TRIAL)).astype(int))]
    check_positive_semidefinite(kernel, kernel(trial, trial))
    return Gram(kernel, X)


def _low_rank(kernel: Kernel, X: Floats, y: Floats, tol: float, trace: float, max_rank: int) -> Regressors | None:
    """A basis F with tr(K − F Fᵀ) of about 2·trace·tr(K), once for the pivots and once for the leading directions."""
    factor = pivoted_cholesky(kernel, X, tol=trace, max_rank=max_rank)
    if factor is None:
        return None
    return regressors(factor.columns, y, factor.features, drop=trace, exact=Gram(kernel, X), tol=tol)


def _trace_tolerance(kernel: Kernel, X: Floats, alpha: float, tol: float) -> float:
    """What part of tr(K) the basis may leave out.

    T and σ̂ feel the error of K divided by alpha. A hundredth of tol takes a few columns more than tol and keeps their
    error below tol, unless alpha is below a twentieth of a typical k(x, x): then it has to be as much less.
    """
    typical = float(np.abs(kernel.diagonal(X)).mean()) or 1.0
    return tol * min(0.01, 0.2 * alpha / typical)


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
