"""Leave-one-out errors of local fits in closed form."""

from __future__ import annotations

import numpy as np

from pacband.core.arrays import Floats, Indices
from pacband.core.row_hashes import mix_columns
from pacband.core.row_repeats import chance_of_repeats
from pacband.local.fits.bordered import border_weighted, raise_corner
from pacband.local.locality import Locality

__all__ = ["different_samples", "leave_one_out", "others"]


def different_samples(X: Floats, y: Floats) -> Indices:
    """Return which samples are not copies of earlier ones, in x and y; all samples if they may agree by chance.

    A fit that knows a copy of a sample knows the sample: it would not be left out.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((20, 2))
    >>> len(different_samples(np.concatenate([X, X]), np.concatenate([X[:, 0], X[:, 0]])))
    20
    """
    every = np.arange(len(y))
    columns = [np.ascontiguousarray(column + 0.0).view(np.uint64) for column in (*X.T, y)]
    _, first = np.unique(mix_columns(columns), return_index=True)
    if len(first) == len(y):
        return every
    chance = chance_of_repeats((X, y))
    return np.sort(first) if chance is not None and chance.rate == 0.0 else every


def others(locality: Locality, X: Floats, centres: Indices, count: int) -> tuple[Indices, Floats]:
    """Return the `count` nearest other samples of each centre, in training order, and their distances.

    >>> from pacband.local.norms import Norm
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> others(Locality(Norm(2.0), X), X, np.array([1]), 2)
    (array([[0, 2]]), array([[1., 4.]]))
    """
    near, distances = locality.nearest(X[centres], count + 1)
    kept = near != centres[:, None]
    # So many samples may lie exactly at the centre that it is not among the nearest: leave out the last one.
    kept[kept.all(axis=1), -1] = False
    shape = (len(centres), count)
    return near[kept].reshape(shape), distances[kept].reshape(shape)


def leave_one_out(gram: Floats, weights: Floats, y: Floats, alpha: float) -> Floats:
    """Return y_i − T₋ᵢ(x_i) for a batch of samples i, with T₋ᵢ the local fit at x_i that does not know sample i.

    With any weight Γ_i > 0, sample i enters the local fit at x_i as a term Γ_i(y_i − T(x_i))². If y_i were T₋ᵢ(x_i),
    this term would vanish at the fit without i, which therefore is also the fit with i. T(x_i) is linear in y_i, with
    a slope h, the hat value: T(x_i) = T₋ᵢ(x_i) + h·(y_i − T₋ᵢ(x_i)). Hence

        y_i − T₋ᵢ(x_i) = (y_i − T(x_i)) / (1 − h).

    As in `fits.dual`, with S = A𝕂A, A = D^½ and u = (I + S)⁻¹Ay: the error of the fit is u_i/A_i, and
    1 − h = [(I + S)⁻¹]_ii. Let sample i be the last one, and I + S = CCᵀ with C lower triangular. Then
    [(I + S)⁻¹]_ii = 1/C_ii² and u_i = w_i/C_ii with w = C⁻¹Ay. So the error is w_i·C_ii/A_i: one factorization a
    sample, without a back substitution. Γ_i = 1 here.

    Parameters
    ----------
    gram : ndarray of shape (n, L + 1, L + 1)
        k among the L other samples and, last, sample i.
    weights : ndarray of shape (n, L)
        Γ(x_i, x_j) of the others.
    y : ndarray of shape (n, L + 1)
    alpha : float

    Returns
    -------
    ndarray of shape (n,)
        NaN for all of them if a system is too ill-conditioned to be factored.

    Examples
    --------
    Two samples and k = 1: T₋ᵢ is the ridge fit to the other sample alone, y/(1 + alpha).

    >>> leave_one_out(np.ones((1, 2, 2)), np.ones((1, 1)), np.array([[3.0, 5.0]]), alpha=0.5)
    array([3.])
    """
    n, last = weights.shape
    roots = np.ones((n, last + 1))
    np.sqrt(weights, out=roots[:, :last])
    stack = border_weighted(gram, roots, y, alpha)
    raise_corner(stack, 1.0)
    try:
        factors = np.linalg.cholesky(stack)
    except np.linalg.LinAlgError:
        return np.full(n, np.nan)
    errors: Floats = factors[:, last + 1, last] * factors[:, last, last]
    return errors
