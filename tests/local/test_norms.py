"""The norms that decide which samples are near."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pacband.exceptions import InvalidInput
from pacband.local.norms import resolve_norm


@pytest.mark.parametrize("norm", [1, 2, np.inf, "matrix"])
def test_distances_are_the_norm_of_the_difference(norm):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((6, 3)), rng.standard_normal((9, 3))
    if norm == "matrix":
        root = rng.standard_normal((2, 3))
        matrix = root.T @ root
        norm = resolve_norm(matrix, 3)
        expected = np.sqrt([[(a - b) @ matrix @ (a - b) for b in B] for a in A])
        assert norm.factor.shape == (2, 3)
    else:
        expected = [[np.linalg.norm(a - b, ord=norm) for b in B] for a in A]
        norm = resolve_norm(norm, 3)
    assert_allclose(norm.distances(norm.embed(A), norm.embed(B)), expected, rtol=1e-12)
    assert_allclose(norm.lengths(norm.embed(A)[:, None] - norm.embed(B)), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("norm", "message"),
    [
        (3, r"norm must be 1, 2, inf or a positive semidefinite matrix, got 3\."),
        ("l2", r"norm must be 1, 2, inf or a positive semidefinite matrix, got 'l2'\."),
        (np.eye(3), r"norm as a matrix must have shape \(2, 2\).*got \(3, 3\)\."),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "norm as a matrix must be symmetric and finite"),
        (np.diag([1.0, -0.5]), r"norm as a matrix must be positive semidefinite, got an eigenvalue of -0\.5\."),
    ],
)
def test_bad_norms_are_named(norm, message):
    with pytest.raises(InvalidInput, match=message):
        resolve_norm(norm, 2)
