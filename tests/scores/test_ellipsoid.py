"""The matrix gauge: the Mahalanobis norm, and no row of a small score outside the box."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pacband
from pacband.scores import ScoreRule, band, scores_of
from pacband.scores.ellipsoid import Ellipsoid

FLOATS = st.floats(-1e6, 1e6, allow_subnormal=False)
SCALES = st.floats(1e-3, 1e3)


def columns(n=50, k=None, seed=0):
    rng = np.random.default_rng(seed)
    shape = n if k is None else (n, k)
    return rng.normal(size=shape), rng.normal(size=shape), rng.uniform(0.1, 3, size=shape)


def test_ellipsoid_gauge_is_the_mahalanobis_norm():
    y, p, s = columns(k=2)
    sigma = np.array([[2.0, 0.7], [0.7, 1.0]])
    rule = ScoreRule.create(side="both", gauge=sigma, min_scale=None, nonfinite="raise")
    e = y - p
    expected = np.sqrt(np.einsum("ni,ij,nj->n", e, np.linalg.inv(sigma), e))
    np.testing.assert_allclose(scores_of(rule, y, p), expected, rtol=1e-13)
    np.testing.assert_allclose(scores_of(rule, y, p, s[:, 0]), expected / s[:, 0], rtol=1e-13)
    box = band(rule, 1.5, p)
    np.testing.assert_allclose(box[..., 1] - p, np.broadcast_to(1.5 * np.sqrt(np.diag(sigma)), p.shape), rtol=1e-12)


def ill_conditioned(rng, k, condition):
    """A positive definite matrix with this condition number, but for rounding."""
    axes = np.linalg.qr(rng.standard_normal((k, k)))[0]
    matrix = (axes * np.geomspace(1.0, 1.0 / condition, k)) @ axes.T * 10 ** rng.uniform(-3, 3)
    return (matrix + matrix.T) / 2


def contacts(matrix, lengths):
    """Errors where the ellipsoid touches its box, ± Σ[:, j] for each output j, in several lengths."""
    return np.concatenate([sign * length * matrix for sign in (-1, 1) for length in lengths])


def outside(rule, gamma, y, p, scale=None):
    ends = band(rule, gamma, p, scale)
    y = y.reshape(ends.shape[:-1])
    return ((y < ends[..., 0]) | (y > ends[..., 1])).reshape(len(y), -1).any(axis=1)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6, 1e9, 1e12])
def test_no_row_whose_score_is_at_most_gamma_lies_outside_the_box_of_an_ellipsoid(k, condition):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rule = ScoreRule.create(
            side="both", gauge=ill_conditioned(rng, k, condition), min_scale=None, nonfinite="raise"
        )
        errors = contacts(np.array(rule.gauge), [1.0, 0.1, 3.0, *rng.uniform(0.1, 10, 10)])
        for scale in (None, rng.uniform(0.01, 100, len(errors)), np.full(len(errors), 0.1)):
            p = rng.standard_normal(errors.shape) * 10 ** rng.uniform(-2, 2)
            for y, centre in ((errors, np.zeros_like(errors)), (p + errors, p)):
                scores = scores_of(rule, y, centre, scale)
                for gamma in scores:
                    inside = scores <= gamma
                    part = None if scale is None else scale[inside]
                    assert not outside(rule, float(gamma), y[inside], centre[inside], part).any()


@given(
    hnp.arrays(np.float64, (3, 3), elements=st.floats(-1, 1)),
    hnp.arrays(np.float64, (6, 3), elements=FLOATS),
    hnp.arrays(np.float64, 12, elements=SCALES),
    st.sampled_from([1.0, 1e-3, 1e-6, 1e-9]),
)
def test_an_ellipsoid_lies_in_its_box(root, errors, scale, ridge):
    gauge = root @ root.T + ridge * np.eye(3)
    assume(np.linalg.eigvalsh(gauge)[0] > 1e-15 * np.trace(gauge))
    rule = ScoreRule.create(side="both", gauge=(gauge + gauge.T) / 2, min_scale=None, nonfinite="raise")
    y = np.concatenate([errors, contacts(gauge, [1.0])])
    scores = scores_of(rule, y, np.zeros_like(y), scale)
    for gamma in scores:
        inside = scores <= gamma
        assert not outside(rule, float(gamma), y[inside], np.zeros((inside.sum(), 3)), scale[inside]).any()


def test_a_check_that_counts_no_violation_means_that_no_row_lies_outside_the_band():
    rng = np.random.default_rng(0)
    gauge = np.array(
        [
            [0.8315, -0.8058, -0.6407, -0.4758],
            [-0.8058, 1.0199, 0.9693, 0.8225],
            [-0.6407, 0.9693, 1.009, 0.9465],
            [-0.4758, 0.8225, 0.9465, 2.4494],
        ]
    )
    errors = np.where((rng.random(2000) < 0.3)[:, None], gauge[:, 2], 0.0)
    cert = pacband.certify(errors, np.zeros((2000, 4)), gauge=gauge)
    assert pacband.check(cert, errors, np.zeros((2000, 4))).counts[""].violations == 0
    assert not outside(cert.basis.scoring, cert.gamma, errors, np.zeros((2000, 4))).any()


def test_a_row_has_the_same_score_alone_and_among_others():
    rng = np.random.default_rng(0)
    rule = ScoreRule.create(side="both", gauge=ill_conditioned(rng, 9, 1e6), min_scale=None, nonfinite="raise")
    y, scale = rng.standard_normal((200, 9)), rng.uniform(1, 2, 200)
    together = scores_of(rule, y, np.zeros_like(y), scale)
    alone = [scores_of(rule, y[i : i + 1], np.zeros((1, 9)), scale[i : i + 1])[0] for i in range(200)]
    np.testing.assert_array_equal(together, alone)


def test_a_gauge_of_one_output_is_a_scale():
    y, p, s = columns()
    rule = ScoreRule.create(side="both", gauge=[[4.0]], min_scale=None, nonfinite="raise")
    np.testing.assert_array_equal(scores_of(rule, y, p, s), np.abs(y - p) / (2 * s))
    np.testing.assert_array_equal(band(rule, 3.0, p, s), band(ScoreRule(), 3.0, p, 2 * s))
    np.testing.assert_array_equal(band(rule, 3.0, p), band(ScoreRule(), 3.0, p, np.full(len(p), 2.0)))


def test_no_score_is_smaller_than_that_of_one_output():
    # Errors where the ellipsoid touches its box: the norm alone comes out smaller in some rows.
    rng = np.random.default_rng(0)
    root = np.linalg.qr(rng.standard_normal((3, 3)))[0] * [1.0, 1e-3, 1e-6]
    sigma = root @ root.T
    ellipsoid = Ellipsoid.of((sigma + sigma.T) / 2)
    errors = np.outer(rng.uniform(1.0, 2.0, 1000), sigma[0])
    scores = ellipsoid.scores(errors.copy(), ())
    assert (scores >= np.abs(errors / ellipsoid.widths).max(axis=1)).all()
    scaled = ellipsoid.scores(errors.copy(), (np.full(1000, 3.0),))
    assert (scaled >= np.abs(errors / (3.0 * ellipsoid.widths)).max(axis=1)).all()
