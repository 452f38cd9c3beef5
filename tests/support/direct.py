"""The weighted ridge problem solved the plain way: no code shared with the package."""

import mpmath
import numpy as np
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import pairwise_kernels


def distances(x, X, norm):
    gaps = X - x
    if np.ndim(norm) == 2:
        return np.sqrt(np.einsum("ji,ik,jk->j", gaps, norm, gaps))
    return np.linalg.norm(gaps, ord=norm, axis=1)


def quartic(t):
    return 1.0 / (1.0 + t**4)


def weights(x, X, *, weight, decay, norm, n_neighbors=None):
    d = distances(x, X, norm)
    t = decay * d
    gamma = {
        "exponential": lambda: np.exp(-t),
        "gaussian": lambda: np.exp(-(t**2)),
        "epanechnikov": lambda: np.where(t < 1, 1 - t**2, 0.0),
        "tricube": lambda: np.where(t < 1, (1 - np.minimum(t, 1) ** 3) ** 3, 0.0),
        quartic: lambda: quartic(t),
    }[weight]()
    if n_neighbors is not None:
        outside = np.argsort(d, kind="stable")[n_neighbors:]
        gamma[outside] = 0.0
    assert gamma.sum() > 0
    return gamma


def ridge(Phi, phi_x, gamma, y, sigma):
    """lstsq on [√Γ Φ; Σ^½] θ ≈ [√Γ y; 0]: (T, σ̂)."""
    root = np.linalg.cholesky(sigma * np.eye(Phi.shape[1]) if np.ndim(sigma) == 0 else sigma).T
    stacked = np.vstack([np.sqrt(gamma)[:, None] * Phi, root])
    target = np.concatenate([np.sqrt(gamma) * y, np.zeros(Phi.shape[1])])
    theta = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return phi_x @ theta, np.sqrt(np.sum(gamma * (y - Phi @ theta) ** 2) / gamma.sum())


def explicit_features(gram):
    """Φ with ΦΦᵀ = K for a kernel without an explicit φ."""
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def kernel_ridge(K, k_x, k_xx, gamma, y, alpha):
    """`ridge` in explicit features of the samples and x together."""
    joint = np.block([[K, k_x[:, None]], [k_x[None, :], np.array([[k_xx]])]])
    features = explicit_features(joint)
    return ridge(features[:-1], features[-1], gamma, y, alpha)


def precise_kernel_ridge(K, k_x, gamma, y, alpha, *, twin=False, digits=50):
    """T = k_xᵀ(D⁻¹ + 𝕂)⁻¹y/α and σ̂ = ‖(I − 𝕂(D⁻¹ + 𝕂)⁻¹)y‖_D / √tr D in long arithmetic; `twin` is the misprint."""
    with mpmath.workdps(digits):
        gram = mpmath.matrix((K / alpha).tolist())
        inverse = [mpmath.mpf(g) if twin else 1 / mpmath.mpf(g) for g in gamma.tolist()]
        system = gram + mpmath.diag(inverse)
        column = mpmath.matrix(y.tolist())
        dual = mpmath.lu_solve(system, column)
        errors = column - gram * dual
        total = mpmath.fsum(gamma.tolist())
        square = mpmath.fsum(mpmath.mpf(g) * e**2 for g, e in zip(gamma.tolist(), errors, strict=True))
        prediction = mpmath.fsum(mpmath.mpf(k) * c for k, c in zip((k_x / alpha).tolist(), dual, strict=True))
        return float(prediction), float(mpmath.sqrt(square / total))


def long_kernel_ridge(K, k_x, gamma, y, alpha):
    """T and σ̂ of the stable form, S = D^½𝕂D^½, by a Cholesky factorization in `np.longdouble`: some 19 digits."""
    K, k_x, gamma, y = (np.asarray(part, dtype=np.longdouble) for part in (K, k_x, gamma, y))
    roots, n = np.sqrt(gamma), len(y)
    C = roots[:, None] * K * roots / np.longdouble(alpha) + np.eye(n, dtype=np.longdouble)
    for j in range(n):
        C[j, j] = np.sqrt(C[j, j])
        C[j + 1 :, j] /= C[j, j]
        C[j + 1 :, j + 1 :] -= np.outer(C[j + 1 :, j], C[j + 1 :, j])
    u = roots * y
    for j in range(n):
        u[j] = (u[j] - C[j, :j] @ u[:j]) / C[j, j]
    for j in reversed(range(n)):
        u[j] = (u[j] - C[j + 1 :, j] @ u[j + 1 :]) / C[j, j]
    return float((k_x * roots) @ u / np.longdouble(alpha)), float(np.sqrt(u @ u / gamma.sum()))


MATERN = Matern(length_scale=1.5, nu=1.5)

# name → (parameters of LocalKernelRidge, the same kernel by scikit-learn)
KERNELS = {
    "linear": ({"kernel": "linear"}, lambda A, B: pairwise_kernels(A, B, metric="linear")),
    "poly": (
        {"kernel": "poly", "gamma": 0.3, "degree": 2, "coef0": 1.5},
        lambda A, B: pairwise_kernels(A, B, metric="poly", gamma=0.3, degree=2, coef0=1.5),
    ),
    "rbf": (
        {"kernel": "rbf", "gamma": 0.4},
        lambda A, B: pairwise_kernels(A, B, metric="rbf", gamma=0.4),
    ),
    # tanh is positive semidefinite to rounding only where it is nearly straight.
    "sigmoid": (
        {"kernel": "sigmoid", "gamma": 1e-7, "coef0": 0, "alpha": 1e-7},
        lambda A, B: pairwise_kernels(A, B, metric="sigmoid", gamma=1e-7, coef0=0),
    ),
    "matern": ({"kernel": MATERN}, lambda A, B: MATERN(A, B)),
}
