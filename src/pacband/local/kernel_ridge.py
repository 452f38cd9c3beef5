"""Local kernel ridge regression: kernel central prediction (Section 5, "based on a kernel formulation")."""

from __future__ import annotations

import warnings
from typing import Any, Self

from pacband.core.arrays import Floats
from pacband.core.callers import caller_level
from pacband.core.checks import check_jobs, check_positive, check_probability
from pacband.local.choice import check_solver, choose_for_features, uses_few
from pacband.local.estimator import LocalRegressor
from pacband.local.kernel_designs import local_gram, low_rank, trace_tolerances, whole_gram
from pacband.local.kernels import resolve_kernel
from pacband.local.model import Model
from pacband.local.shared import Shared
from pacband.local.tuning import LOO, Tunable, has_gamma
from pacband.local.weights import resolve_weight

__all__ = ["LocalKernelRidge"]

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
        Parameters of the named kernels; gamma=None is 1 / n_features, and gamma="loo" is chosen at `fit`.
    alpha : float or "loo"
        Σ_θ = alpha·I. The paper's kernel 50·exp(−\|x − z\|²/0.2) is gamma=5, alpha=0.02.
    weight, decay, norm, n_neighbors
        Γ, as in :class:`LocalRidge`; decay and n_neighbors may be "loo".
    solver : {"auto", "dense", "lowrank", "line", "neighbors"}
        How the same systems are solved.

        - "dense": one M × M factorization a point.
        - "lowrank": the Gram matrix as L Lᵀ with p columns, then p × p systems, all of a batch in one matrix product.
        - "line": "lowrank" for exponential weights on one feature. A point costs a sum over some √M samples, not M.
        - "neighbors": L × L systems of the nearest samples.
        - "auto": "neighbors" if `n_neighbors` is given; else "line" or "lowrank" if at most M/2 columns reach `tol`;
          else "dense".
    tol : float
        Low rank: the largest error of T(x), in units of max \|y\|, and the largest relative error of σ̂(x), compared
        with the exact formulas, at every x. Where k(x, x) is m² times as large as at all samples, T may be m times as
        far off. Rounding errors come on top, some 1e-15·tr(K)/alpha, as with "dense". The proof is in
        ``pacband/local/fits/certified.py``: every point has a bound of its own. Where the bound exceeds `tol`, such as
        far from all samples, the fit is refined with the exact kernel, at the cost of M² kernel values a batch.
    n_jobs : int or None
        Threads, as in joblib. None is as many threads as the linear algebra library uses.
    normalize_y : bool
        Subtract the mean of y before the fit, and add it to T. The penalty then pulls T to the mean and not to zero.
    random_state : int, RandomState or None
        Draws the samples at which "loo" compares parameters. 0 by default, so that equal fits are equal.

    Attributes
    ----------
    gamma_, alpha_, decay_, n_neighbors_
        The parameters in use: those given, or those chosen by "loo". `gamma_` is None for a kernel without it.
    loo_error_ : float or None
        The root mean square of the leave-one-out errors, if a parameter was "loo".
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

    Parameters that are "loo" get the values with the least leave-one-out error y_i − T₋ᵢ(x_i) of the local fits, which
    has a closed form (``local/leave_one_out.py``). Copies of samples, unless they agree by chance, are looked at once.
    A grid is searched at 100 samples and refined at up to 1,000. The search uses n_neighbors as given, at most 200, and
    200 for None. If n_neighbors is "loo", the grid has 50 neighbours and the refinement 2 to 200. The grid is relative
    to the spread of the samples: gamma to the median squared distance, decay to the median distance. The features are
    not scaled: put a `StandardScaler` before columns of different units. :meth:`tuned` makes all four parameters "loo".

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

    Parameters chosen by leave-one-out errors:

    >>> tuned = LocalKernelRidge.tuned().fit(X, y)
    >>> bool(0.09 < tuned.loo_error_ < 0.12)
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        alpha: float | str = 1.0,
        weight: Any = "exponential",
        decay: float | str = 1.0,
        norm: Any = 2,
        n_neighbors: int | str | None = None,
        solver: str = "auto",
        tol: float = 1e-10,
        n_jobs: int | None = None,
        normalize_y: bool = False,
        random_state: Any = 0,
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
        self.normalize_y = normalize_y
        self.random_state = random_state

    @classmethod
    def tuned(cls, kernel: Any = "rbf", **parameters: Any) -> Self:
        """Return an estimator that chooses gamma, alpha, decay and n_neighbors at `fit`, with `normalize_y`.

        Parameters
        ----------
        kernel : str or callable
            As in the constructor.
        **parameters
            Other parameters of the constructor. One of the four that is given here is not chosen.
        """
        chosen: dict[str, Any] = {"alpha": LOO, "decay": LOO, "n_neighbors": LOO, "normalize_y": True}
        if has_gamma(kernel):
            chosen["gamma"] = LOO
        return cls(kernel, **(chosen | parameters))

    def _offset(self, y: Floats) -> float:
        return float(y.mean()) if self.normalize_y else 0.0

    def _threads(self) -> int | None:
        return self.n_jobs

    def _fit(self, X: Floats, y: Floats, unit: float, shared: Shared) -> Model:
        check_probability("tol", self.tol)
        check_jobs(self.n_jobs)
        locality = shared.locality(self.norm, X)
        given = Tunable(self.gamma, self.alpha, self.decay, self.n_neighbors)
        form, more = (self.kernel, self.degree, self.coef0), (self.weight, self.solver)
        tunable = shared.get(
            lambda: given.choose(form, *more, locality, X, y, self.random_state),
            *("tunable", given, *form, *more, self.norm, self.random_state),
        )
        alpha = check_positive("alpha", tunable.alpha)
        weight = resolve_weight(self.weight, tunable.decay, tunable.n_neighbors)
        names = (self.kernel, tunable.gamma, self.degree, self.coef0)
        kernel = shared.get(lambda: resolve_kernel(*names, X), "kernel", *names)
        solver = check_solver(self.solver, weight, locality)
        self.gamma_ = kernel.gamma if has_gamma(self.kernel) else None
        self.alpha_, self.decay_, self.n_neighbors_ = alpha, weight.decay, weight.n_neighbors
        self.loo_error_ = None if tunable.error is None else tunable.error * unit
        self.rank_ = None
        if solver == "neighbors" or (solver == "auto" and uses_few(weight, locality)):
            local = shared.get(lambda: local_gram(kernel, X), "local", *names)
            return Model("neighbors", locality, weight, local, alpha, y, unit)
        if solver != "dense":
            max_rank = len(y) // 2 if solver == "auto" else len(y)
            traces = shared.get(lambda: trace_tolerances(kernel, X, alpha, self.tol), "traces", *names, alpha, self.tol)
            basis = shared.get(
                lambda: low_rank(kernel, X, y, self.tol, traces, max_rank), "basis", *names, self.tol, traces, max_rank
            )
            if basis is not None:
                self.rank_ = basis.matrix.shape[1]
                quickest = choose_for_features(weight, locality) if solver == "auto" else solver
                return Model(quickest, locality, weight, basis, alpha, y, unit)
        if solver == "auto" and len(y) > _MANY:
            warnings.warn(
                f"solver='auto' falls back to 'dense', one {len(y)} × {len(y)} factorization for every point, as this "
                "kernel has no low rank here: set n_neighbors for a quick local model.",
                stacklevel=caller_level(),
            )
        whole = shared.get(lambda: whole_gram(kernel, X), "whole", *names)
        return Model("dense", locality, weight, whole, alpha, y, unit)
