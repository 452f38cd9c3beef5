"""Kernels K(x_a, x_b) (appendix of the paper), with the parameter meanings of scikit-learn's KernelRidge."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from pacband.core.arrays import Floats
from pacband.core.checks import check_positive
from pacband.exceptions import InvalidInput

__all__ = ["Kernel", "resolve_kernel"]


_NAMES = ("linear", "poly", "rbf", "sigmoid")


@dataclass(frozen=True, eq=False)
class Kernel:
    """k(a, b) between the rows of two matrices, or of two stacks of matrices.

    ======== =========================
    linear   aᵀb
    poly     (gamma aᵀb + coef0)^degree
    rbf      exp(−gamma ‖a − b‖²)
    sigmoid  tanh(gamma aᵀb + coef0)
    ======== =========================

    Attributes
    ----------
    form : str or callable
        A name above or a function of (A, B) that returns the matrix k(a_i, b_j).
    gamma, degree, coef0 : float
        As above.
    origin : ndarray or None
        What the rbf kernel subtracts from the rows. It does not change the kernel. Squared distances are computed from
        inner products, and lose fewer digits when it is the training mean.
    """

    form: str | Callable[[Floats, Floats], Any]
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0
    origin: Floats | None = None

    def __call__(self, left: Floats, right: Floats) -> Floats:
        """Return Gram matrices of shape (..., n, m) from rows (..., n, d) and (..., m, d)."""
        if not isinstance(self.form, str):
            return self._call(left, right)
        if self.origin is not None:
            left, right = left - self.origin, right - self.origin
        gram: Floats = left @ np.swapaxes(right, -1, -2)
        if self.form != "rbf":
            return self._apply(gram)
        with np.errstate(over="ignore", invalid="ignore"):
            gram *= -2.0
            gram += np.einsum("...d,...d->...", left, left)[..., :, None]
            gram += np.einsum("...d,...d->...", right, right)[..., None, :]
            np.maximum(gram, 0.0, out=gram)
            gram *= -self.gamma
            np.exp(gram, out=gram)
        return self._check_finite(gram)

    def _apply(self, gram: Floats) -> Floats:
        """Turn aᵀb into k(a, b), in place."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.form != "linear":
                gram *= self.gamma
                gram += self.coef0
                if self.form == "poly":
                    np.power(gram, self.degree, out=gram)
                else:
                    np.tanh(gram, out=gram)
        return self._check_finite(gram)

    def _check_finite(self, gram: Floats) -> Floats:
        if not np.isfinite(gram).all():
            raise InvalidInput(f"kernel {self.form!r} must give finite values: scale the features or the kernel.")
        return gram

    def diagonal(self, X: Floats) -> Floats:
        """Return k(x, x) for every row x."""
        if self.form == "rbf":
            return np.ones(len(X))
        if isinstance(self.form, str):
            return self._apply(np.einsum("nd,nd->n", X, X))
        step = 256
        return np.concatenate([np.diagonal(self(X[i : i + step], X[i : i + step])) for i in range(0, len(X), step)])

    def _call(self, left: Floats, right: Floats) -> Floats:
        assert not isinstance(self.form, str)
        if left.ndim > 2:
            return np.stack([self._call(a, b) for a, b in zip(left, right, strict=True)])
        gram = np.array(self.form(left, right), dtype=np.float64)
        if gram.shape != (len(left), len(right)):
            raise InvalidInput(
                f"kernel as a callable must return a matrix of shape {(len(left), len(right))} for inputs of "
                f"{len(left)} and {len(right)} rows, got {gram.shape}."
            )
        if not np.isfinite(gram).all():
            raise InvalidInput("kernel as a callable must return finite values.")
        return gram


def resolve_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any, X: Floats) -> Kernel:
    """Read the parameters `kernel`, `gamma` (None is 1 / n_features), `degree` and `coef0`.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]])
    >>> resolve_kernel("poly", gamma=None, degree=2, coef0=1, X=X)(X, X)
    array([[1., 1.],
           [1., 4.]])
    """
    if callable(kernel):
        return Kernel(kernel)
    if not isinstance(kernel, str) or kernel not in _NAMES:
        raise InvalidInput(f"kernel must be one of {list(_NAMES)} or a callable, got {kernel!r}.")
    rate = 1.0 / X.shape[1] if gamma is None else check_positive("gamma", gamma)
    degree = check_positive("degree", degree)
    if isinstance(coef0, bool) or not isinstance(coef0, Real) or not math.isfinite(coef0):
        raise InvalidInput(f"coef0 must be a finite number, got {coef0!r}.")
    return Kernel(kernel, rate, degree, float(coef0), X.mean(axis=0) if kernel == "rbf" else None)
