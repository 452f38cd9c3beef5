import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pacband.exceptions import InvalidInput
from pacband.local.weights import nearest, resolve_weight

NAMES = ["exponential", "gaussian", "epanechnikov", "tricube"]
ROWS = st.lists(st.floats(0, 1e308, width=64), min_size=1, max_size=12)


@pytest.mark.parametrize("name", NAMES)
def test_one_at_the_sample_and_falling_with_distance(name):
    t = np.linspace(0, 3, 301)[None, :]
    gamma = resolve_weight(name, 0.7, None)(t)[0]
    assert gamma[0] == 1.0
    assert (np.diff(gamma) <= 0).all()


@pytest.mark.parametrize(
    ("name", "at_half", "beyond"),
    [
        ("exponential", np.exp(-0.5), np.exp(-2)),
        ("gaussian", np.exp(-0.25), np.exp(-4)),
        ("epanechnikov", 0.75, 0.0),
        ("tricube", 0.875**3, 0.0),
    ],
)
def test_values_at_scaled_distance(name, at_half, beyond):
    gamma = resolve_weight(name, 2.0, None)(np.array([[0.0, 0.25, 1.0]]))
    assert_allclose(gamma, [[1.0, at_half, beyond]], rtol=1e-15)


@given(row=ROWS, name=st.sampled_from(NAMES), decay=st.floats(1e-300, 1e300), count=st.integers(1, 12))
def test_every_row_has_a_finite_positive_sum(row, name, decay, count):
    distances = np.array([row])
    gamma = resolve_weight(name, decay, count)(distances)
    assert np.isfinite(gamma).all()
    assert (gamma >= 0).all()
    assert gamma.sum() >= np.finfo(float).tiny
    assert np.count_nonzero(gamma) <= max(count, 1)
    assert gamma[0, distances[0].argmin()] == gamma.max()


@given(row=st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=20), count=st.integers(1, 20))
def test_nearest_breaks_ties_by_order(row, count):
    count = min(count, len(row))
    kept = nearest(np.array([row]), count)[0]
    assert_array_equal(np.flatnonzero(kept), np.sort(np.argsort(row, kind="stable")[:count]))


def test_callable_gets_the_scaled_distance():
    seen = []

    def record(t):
        seen.append(t.copy())
        return 1.0 / (1.0 + t)

    gamma = resolve_weight(record, 3.0, None)(np.array([[0.0, 1.0]]))
    assert_array_equal(seen[0], [[0.0, 3.0]])
    assert_array_equal(gamma, [[1.0, 0.25]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("triangular", 1.0, None), r"weight must be one of .* or a callable, got 'triangular'\."),
        (("exponential", -1, None), r"decay must be a positive finite number, got -1\."),
        (("exponential", 0.0, None), r"decay must be a positive finite number, got 0\.0\."),
        (("exponential", np.inf, None), r"decay must be a positive finite number, got inf\."),
        (("exponential", np.nan, None), r"decay must be a positive finite number, got nan\."),
        (("exponential", "1", None), r"decay must be a positive finite number, got '1'\."),
        (("exponential", 1.0, 0), r"n_neighbors must be at least 1, got 0\."),
        (("exponential", 1.0, 2.5), r"n_neighbors must be an integer, got 2\.5\."),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        resolve_weight(*arguments)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: t.sum(), "must keep the shape of the distances"),
        (lambda t: t - 1.0, "must return finite numbers >= 0"),
        (lambda t: t * np.nan, "must return finite numbers >= 0"),
    ],
)
def test_bad_callables_are_named(function, message):
    with pytest.raises(InvalidInput, match=message):
        resolve_weight(function, 1.0, None)(np.array([[0.0, 2.0]]))
