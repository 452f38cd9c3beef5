"""Scores and tubes of runs, against a loop over runs, steps and outputs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacband import InvalidInput, InvalidScale, Share, certify, certify_family
from pacband.scores import ScoreRule, as_rows, band, row_shape, scores_of


def naive(y, prediction, scale, side, matrices, share):
    """The score of every run, one number at a time. `scale` is a pair of arrays of the shape of y."""
    found = []
    for run in range(len(y)):
        points = []
        for step in range(y.shape[1]):
            error = y[run, step] - prediction[run, step]
            if matrices is not None:
                sigma, spread = matrices[step], scale[0][run, step, 0]
                points.append(math.sqrt(error @ np.linalg.solve(sigma, error)) / spread)
                continue
            each = []
            for output, e in enumerate(error):
                below, above = (part[run, step, output] for part in scale)
                each.append({"both": max(e / above, -e / below), "upper": e / above, "lower": -e / below}[side])
            points.append(max(each))
        points.sort()
        found.append(points[-1 if share is None else math.ceil(Fraction(repr(share)) * len(points)) - 1])
    return np.array(found)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 3)),
    st.sampled_from(["both", "upper", "lower"]),
    st.sampled_from([None, 0.5, 0.9]),
    st.sampled_from(["none", "run", "step", "output", "pair"]),
)
def test_the_largest_and_the_share_gauge_are_those_of_a_loop(seed, shape, side, share, kind):
    rng = np.random.default_rng(seed)
    y, prediction = rng.standard_normal((2, *shape))
    size = {"none": (), "run": shape[:1], "step": shape[:2], "output": shape, "pair": shape}[kind]
    given_scale = rng.uniform(0.5, 2.0, size)
    wide = np.broadcast_to(given_scale.reshape(*size, *(1,) * (3 - len(size))), shape)
    scale, parts = (None, (np.ones(shape),) * 2) if kind == "none" else (given_scale, (wide, wide))
    if kind == "pair":
        side, other = "both", rng.uniform(0.5, 2.0, shape)
        scale, parts = (given_scale, other), (wide, other)
    rule = ScoreRule(side=side, gauge="max" if share is None else Share(share))
    scores = scores_of(rule, y, prediction, scale)
    np.testing.assert_allclose(scores, naive(y, prediction, parts, side, None, share), rtol=1e-13)
    # A run keeps its share of steps in the tube of its own score, and not in a smaller one.
    inside = _inside(rule, scores, y, prediction, scale)
    needed = shape[1] if share is None else math.ceil(Fraction(repr(share)) * shape[1])
    assert (inside >= needed).all()
    assert (_inside(rule, scores - 1e-9 * np.abs(scores) - 1e-12, y, prediction, scale) < needed).all()


def _inside(rule, gamma, y, prediction, scale):
    """The number of steps of every run with all outputs in the tube."""
    ends = band(rule, gamma, prediction, scale)
    return ((ends[..., 0] <= y) & (y <= ends[..., 1])).all(axis=2).sum(axis=1)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 3)),
    st.sampled_from([None, 0.5, 0.9]),
    st.booleans(),
    st.sampled_from(["none", "run", "step"]),
)
def test_ellipsoids_for_each_step_are_those_of_a_loop(seed, shape, share, per_step, kind):
    rng = np.random.default_rng(seed)
    y, prediction = rng.standard_normal((2, *shape))
    root = rng.standard_normal((shape[1] if per_step else 1, shape[2], shape[2]))
    matrices = root @ np.swapaxes(root, 1, 2) + 0.5 * np.eye(shape[2])
    matrices = (matrices + np.swapaxes(matrices, 1, 2)) / 2
    gauge = matrices if per_step else matrices[0]
    size = {"none": (), "run": shape[:1], "step": shape[:2]}[kind]
    scale = rng.uniform(0.5, 2.0, size)
    wide = np.broadcast_to(scale.reshape(*size, *(1,) * (3 - len(size))), shape)
    options = {"side": "both", "min_scale": None, "nonfinite": "raise"}
    rule = ScoreRule.create(gauge=gauge if share is None else Share(share, of=gauge), **options)
    scores = scores_of(rule, y, prediction, None if kind == "none" else scale)
    parts = (np.ones(shape) if kind == "none" else wide,) * 2
    every = np.broadcast_to(matrices, (shape[1], *matrices.shape[1:]))
    np.testing.assert_allclose(scores, naive(y, prediction, parts, "both", every, share), rtol=1e-9)
    # The box around the ellipsoid holds what the ellipsoid holds.
    needed = shape[1] if share is None else math.ceil(Fraction(repr(share)) * shape[1])
    assert (_inside(rule, scores, y, prediction, None if kind == "none" else scale) >= needed).all()


def test_runs_of_one_output_have_the_scores_of_as_many_outputs(rng):
    y, prediction = rng.standard_normal((2, 300, 7))
    scale = rng.uniform(1.0, 2.0, (300, 7))
    options = {"eps": 0.1, "delta": 0.05}
    runs, outputs = (
        certify(y[..., None], prediction[..., None], scale, **options),
        certify(y, prediction, scale, **options),
    )
    assert (runs.gamma, runs.data_digest) == (outputs.gamma, outputs.data_digest)
    assert (runs.n_steps, runs.n_outputs, outputs.n_steps, outputs.n_outputs) == (7, 1, None, 7)
    np.testing.assert_array_equal(runs.tube(prediction, scale), outputs.tube(prediction, scale))


def test_one_matrix_for_all_steps_equals_the_same_matrix_for_each(rng):
    y, prediction = rng.standard_normal((2, 100, 4, 2))
    sigma = np.array([[2.0, 0.5], [0.5, 1.0]])
    one, each = (certify(y, prediction, gauge=g, eps=0.2, delta=0.1) for g in (sigma, [sigma] * 4))
    assert one.gamma == each.gamma
    np.testing.assert_array_equal(one.tube(prediction), each.tube(prediction))


def test_a_run_has_the_same_score_alone_and_among_others(rng):
    y, prediction = rng.standard_normal((2, 40_000, 3, 2))
    for gauge in ("max", Share(0.6), ((((2.0, 0.3), (0.3, 1.0)),) * 3)):
        rule = ScoreRule(gauge=gauge)
        scores = scores_of(rule, y, prediction)
        for k in (0, 5460, 5461, 39_999):
            assert scores_of(rule, y[k : k + 1], prediction[k : k + 1])[0] == scores[k]


def test_a_share_hides_no_broken_step():
    y, prediction = np.zeros((2, 4)), np.zeros((2, 4))
    prediction[1, 2] = np.nan
    with pytest.raises(InvalidInput, match=r"y_pred must be finite: it is NaN or infinite in 1 row, row 1"):
        scores_of(ScoreRule(gauge=Share(0.5)), y, prediction)
    broken = y.copy()
    broken[0, 0] = np.nan
    for policy in ("raise", "violate"):
        with pytest.raises(InvalidInput, match=r"y must be finite: it is NaN or infinite in 1 row, row 0"):
            scores_of(ScoreRule(gauge=Share(0.5), nonfinite=policy), broken, np.zeros((2, 4)))
    far = y.copy()
    far[1, 0] = 1e300
    with pytest.raises(InvalidInput, match=r"the score overflows float64 in 1 row, row 1"):
        scores_of(ScoreRule(gauge=Share(0.5)), far, np.zeros((2, 4)), scale=np.full((2, 4), 1e-10))


@pytest.mark.parametrize("side", ["both", "upper", "lower"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_broken_step_counts_as_an_infinite_error_of_that_step(side, value):
    y, prediction = np.zeros((1, 4)), np.array([[value, 1.0, -2.0, 3.0]])
    violate = {"side": side, "nonfinite": "violate"}
    step_scores = sorted([*np.array({"both": [1, 2, 3], "upper": [-1, 2, -3], "lower": [1, -2, 3]}[side]), math.inf])
    for share, place in ((0.25, 0), (0.75, 2), (0.9, 3)):
        assert scores_of(ScoreRule(gauge=Share(share), **violate), y, prediction)[0] == step_scores[place]
    assert scores_of(ScoreRule(**violate), y[..., None], prediction[..., None])[0] == math.inf
    ends = band(ScoreRule(gauge=Share(0.5), **violate), 1.0, prediction)
    assert ends[0, 0, 0].tolist() == [-math.inf, math.inf]


def test_shapes():
    assert row_shape(np.zeros(3)) == {"n_outputs": 1, "n_steps": None}
    assert row_shape(np.zeros((3, 4))) == {"n_outputs": 4, "n_steps": None}
    assert row_shape(np.zeros((3, 4, 2))) == {"n_outputs": 2, "n_steps": 4}
    assert as_rows(ScoreRule(), "y", np.zeros((3, 4))).shape == (3, 4)
    assert as_rows(ScoreRule(), "y", np.zeros((3, 4)), steps=4).shape == (3, 4, 1)
    assert as_rows(ScoreRule(), "y", np.zeros((3, 1)), steps=1).shape == (3, 1, 1)
    assert as_rows(ScoreRule(gauge=Share(0.5)), "y", np.zeros((3, 4))).shape == (3, 4, 1)


@pytest.mark.parametrize(
    ("scale", "error", "message"),
    [
        (np.ones(4), InvalidInput, r"one value per row of shape \(9, 4, 2\), got shape \(4,\).*a step \(n, H\)"),
        (np.ones((9, 2)), InvalidInput, r"got shape \(9, 2\)"),
        (np.ones((9, 4, 3)), InvalidInput, r"got shape \(9, 4, 3\)"),
        (np.zeros((9, 4)), InvalidScale, "scale must be positive and finite"),
    ],
)
def test_a_scale_that_does_not_fit_the_runs_is_refused(scale, error, message):
    with pytest.raises(error, match=message):
        certify(np.ones((9, 4, 2)), np.ones((9, 4, 2)), scale, eps=0.5, delta=0.5)


def test_predictions_of_one_output_need_no_axis_of_their_own(rng):
    y = rng.standard_normal((5, 4, 1))
    assert scores_of(ScoreRule(), y, y[..., 0] - 1.0).tolist() == pytest.approx([1.0] * 5)
    assert scores_of(ScoreRule(), y[:, :1], y[:, 0, 0] - 1.0).tolist() == pytest.approx([1.0] * 5)
    with pytest.raises(InvalidInput, match=r"must have the same shape, got \(5, 4, 1\) and \(5,\)"):
        scores_of(ScoreRule(), y, y[:, 0, 0])


def test_runs_of_other_shapes_are_refused(rng):
    y = rng.standard_normal((100, 5, 2))
    cert = certify(y, 0 * y, eps=0.2, delta=0.1)
    with pytest.raises(
        InvalidInput, match=r"bounds runs of 5 steps and 2 output\(s\), got y_pred of shape \(100, 4, 2\)"
    ):
        cert.tube(0 * y[:, :4])
    with pytest.raises(InvalidInput, match=r"y and y_pred must have the same shape"):
        certify(y, 0 * y[:, :4], eps=0.2, delta=0.1)
    with pytest.raises(InvalidInput, match=r"bounds rows without steps, got y_pred of shape \(100, 5, 2\)"):
        certify(y[:, 0], 0 * y[:, 0], eps=0.2, delta=0.1).interval(y)
    with pytest.raises(InvalidInput, match="a tube is around runs"):
        certify(y[:, 0, 0], 0 * y[:, 0, 0], eps=0.2, delta=0.1).tube(y[:, 0, 0])
    assert cert.tube(np.empty((0, 5, 2))).shape == (0, 5, 2, 2)


def test_the_mean_bound_of_a_family_is_the_mean_half_width_of_its_tube(rng):
    y = rng.standard_normal((200, 4, 2))
    matrices = np.array([np.diag([1.0 + t, 2.0]) for t in range(4)])
    scale = rng.uniform(0.5, 2.0, (200, 4))
    family = certify_family(y, {"a": (0 * y, scale), "b": 0 * y}, gauge=matrices, eps=0.2, delta=0.1)
    for name, part in (("a", scale), ("b", None)):
        tube = family.candidates[name].tube(0 * y, part)
        np.testing.assert_allclose(family.mean_bound[name], np.mean(tube[..., 1] - tube[..., 0]) / 2, rtol=1e-9)
    best = {"a": scale, "b": None}[family.best]
    np.testing.assert_array_equal(family.tube(0 * y, best), family.certificate.tube(0 * y, best))
