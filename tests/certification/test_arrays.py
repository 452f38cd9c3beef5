"""certify, certify_family, certify_groups: the r-th largest score, invariances, and families."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband import (
    InvalidInput,
    InvalidScale,
    NotEnoughSamples,
    attained_delta,
    certify,
    certify_family,
    certify_groups,
    max_rank,
)

PROMISE = {"eps": 0.2, "delta": 0.1}


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=n), rng.uniform(0.5, 2.0, size=n)


@pytest.mark.parametrize("n", [11, 200, 5000])
def test_gamma_is_the_score_at_the_largest_valid_rank(n):
    y, p, s = sample(n)
    cert = certify(y, p, s, **PROMISE)
    rank = max_rank(n, **PROMISE)
    assert (cert.rank, cert.gamma) == (rank, np.sort(np.abs(y - p) / s)[-rank])
    assert cert.attained_delta == pytest.approx(attained_delta(n, rank, 0.2), rel=1e-12)


def test_rules_and_ranks():
    y, p, _ = sample(2065)
    scores = np.sort(np.abs(y - p))[::-1]
    assert certify(y, p).rank == 60
    assert certify(y, p, rule="paper").gamma == scores[50]
    assert certify(y, p, rule="maximum").gamma == scores[0]
    assert certify(y, p, rank=7).gamma == scores[6]
    assert certify(y, p, n_candidates=1000).rank == max_rank(2065, 0.05, 1e-6, 1000)


@given(st.integers(0, 2**32 - 1), st.integers(-30, 30), st.sampled_from(["both", "upper", "lower"]))
def test_scaling_sigma_leaves_the_band_unchanged(seed, power, side):
    y, p, s = sample(60, seed)
    plain = certify(y, p, s, side=side, **PROMISE)
    scaled = certify(y, p, s * 2.0**power, side=side, **PROMISE)
    assert scaled.gamma == plain.gamma / 2.0**power
    np.testing.assert_array_equal(scaled.interval(p, s * 2.0**power), plain.interval(p, s))
    tripled = certify(y, p, 3 * s, side=side, **PROMISE)
    np.testing.assert_allclose(tripled.interval(p, 3 * s), plain.interval(p, s), rtol=1e-12, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_row_order_does_not_matter(seed):
    y, p, s = sample(60, seed)
    order = np.random.default_rng(seed).permutation(60)
    one, two = certify(y, p, s, **PROMISE), certify(y[order], p[order], s[order], **PROMISE)
    assert (one.gamma, one.data_digest) == (two.gamma, two.data_digest)


@given(st.integers(0, 2**32 - 1))
def test_a_constant_scale_is_algorithm_1_and_a_family_of_one_is_algorithm_2(seed):
    y, p, s = sample(60, seed)
    np.testing.assert_allclose(
        certify(y, p, 1.0, **PROMISE).interval(p, np.ones(60)), certify(y, p, **PROMISE).interval(p), rtol=1e-14
    )
    assert certify_family(y, {"only": (p, s)}, **PROMISE).certificate.gamma == certify(y, p, s, **PROMISE).gamma


def test_frames_and_arrays_give_one_certificate():
    y, p, s = sample()
    expected = certify(y, p, s, **PROMISE)
    for kind in (pd.Series, pl.Series, list):
        cert = certify(kind(y), kind(p), kind(s), **PROMISE)
        assert (cert.gamma, cert.data_digest) == (expected.gamma, expected.data_digest)


def test_family_certifies_each_candidate_at_its_share():
    y, p, s = sample(300)
    family = certify_family(y, {"a": p, "b": (p, s), "c": (p, (s, s))}, **PROMISE)
    for cert in family.candidates.values():
        assert cert.rank == max_rank(300, n_candidates=3, **PROMISE)
        assert cert.attained_delta == pytest.approx(attained_delta(300, cert.rank, 0.2, 3))
    assert family.candidates["b"].gamma == certify(y, p, s, n_candidates=3, **PROMISE).gamma
    assert family.mean_bound["a"] == family.candidates["a"].gamma
    assert family.mean_bound["b"] == pytest.approx(family.candidates["b"].gamma * s.mean(), rel=1e-12)
    assert family.mean_bound["c"] == pytest.approx(family.mean_bound["b"], rel=1e-12)
    assert family.best == min(family.mean_bound, key=family.mean_bound.get)


def test_weights_share_out_delta():
    y, p, s = sample(300)
    candidates = {"likely": (p, s), "unlikely": p}
    family = certify_family(y, candidates, weights={"unlikely": 0.01, "likely": 0.99}, **PROMISE)
    assert family.candidates["likely"].rank == max_rank(300, 0.2, 0.1 * 0.99)
    assert family.candidates["unlikely"].rank == max_rank(300, 0.2, 0.1 * 0.01)
    assert family == certify_family(y, candidates, weights=iter([0.99, 0.01]), **PROMISE)
    assert sum(0.1 * cert.weight for cert in family.candidates.values()) <= 0.1


def test_one_sided_best_is_the_closest_bound_not_the_smallest_gamma():
    y, p, _ = sample(300)
    family = certify_family(y, {"low": p - 5, "plain": p, "wide": p + 3 * np.abs(p)}, side="upper", **PROMISE)
    assert family.mean_bound["low"] > family.mean_bound["plain"] + 4.9
    assert family.sharpness["low"] == pytest.approx(family.sharpness["plain"])
    assert family.sharpness["wide"] > family.sharpness["plain"]


@pytest.mark.parametrize("dtype", [np.uint8, bool, np.int32])
def test_one_sided_choice_is_computed_in_float64(dtype):
    y = (np.arange(300) % 2).astype(dtype)
    family = certify_family(y, {"late": np.ones(300), "exact": y}, side="upper", **PROMISE)
    assert family.best == "exact"


def test_a_candidate_without_finite_predictions_is_never_chosen():
    y, p, _ = sample(300)
    for side in ("both", "upper", "lower"):
        family = certify_family(
            y, {"lost": np.full(300, np.nan), "plain": p}, side=side, nonfinite="violate", **PROMISE
        )
        assert family.best == "plain"
        assert family.to_dict()


def test_multi_output_family_measures_the_mean_half_width():
    y, p, s = (np.column_stack([column, 2 * column]) for column in sample(300))
    family = certify_family(y, {"box": (p, s)}, **PROMISE)
    assert family.mean_bound["box"] == pytest.approx(family.certificate.gamma * s.mean(), rel=1e-12)
    gauge = np.array([[4.0, 0.0], [0.0, 1.0]])
    ellipse = certify_family(y, {"ellipse": p}, gauge=gauge, **PROMISE)
    assert ellipse.mean_bound["ellipse"] == pytest.approx(ellipse.certificate.gamma * 1.5, rel=1e-12)


def test_groups_are_certified_each_on_its_own_rows():
    y, p, s = sample(400)
    labels = np.where(np.arange(400) % 4 == 0, "rare", "common")
    cert = certify_groups(y, p, labels, s, **PROMISE)
    for label in ("rare", "common"):
        rows = labels == label
        alone = certify(y[rows], p[rows], s[rows], n_candidates=2, **PROMISE)
        assert (cert.groups[label].gamma, cert.groups[label].data_digest) == (alone.gamma, alone.data_digest)


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(400) % 2, pd.Series(np.arange(400) % 2), pl.Series(np.arange(400) % 2), list(np.arange(400) % 2),
        (np.arange(400) % 2).astype(object), (np.arange(400) % 2).astype(float), (np.arange(400) % 2) == 1,
        pd.Series(["a", "b"] * 200, dtype="category"), np.array(["a", 1] * 200, dtype=object),
    ],
)  # fmt: skip
def test_any_kind_of_label_is_understood(labels):
    y, p, _ = sample(400)
    cert = certify_groups(y, p, labels, **PROMISE)
    assert len(cert.groups) == 2
    assert all(type(label) in (str, int, float, bool) for label in cert.groups)
    assert cert.verify(y, p, labels)
    assert cert.interval(p, labels).shape == (400, 2)


ONES = np.ones(50)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: certify(ONES, ONES), NotEnoughSamples, r"need at least 270 samples at rank 1, got n_samples=50. These samples can promise eps=0.242 at this delta, or delta=0.077 at this eps"),
        (lambda: certify(ONES, ONES, eps=0.0), InvalidInput, r"eps must be in \(0, 1\), got 0.0"),
        (lambda: certify(ONES, ONES, delta=1), InvalidInput, r"delta must be in \(0, 1\), got 1"),
        (lambda: certify(ONES, ONES, rank=0, **PROMISE), InvalidInput, "rank must be at least 1, got 0"),
        (lambda: certify(ONES, ONES, rank=0.95, **PROMISE), InvalidInput, "rank must be an integer, got 0.95"),
        (lambda: certify(ONES, ONES, rank=51, **PROMISE), InvalidInput, "rank must not exceed the number of samples, 50, got 51"),
        (lambda: certify(ONES, ONES, rank=40, **PROMISE), NotEnoughSamples, "at rank 40"),
        (lambda: certify(ONES, ONES, n_candidates=0, **PROMISE), InvalidInput, "n_candidates must be at least 1, got 0"),
        (lambda: certify(ONES, ONES, rule="best", **PROMISE), InvalidInput, "rule must be one of 'exact', 'paper', 'maximum', got 'best'"),
        (lambda: certify(ONES, np.ones(49), **PROMISE), InvalidInput, "same shape"),
        (lambda: certify([], [], **PROMISE), InvalidInput, "y is empty"),
        (lambda: certify(ONES, ONES, -ONES, **PROMISE), InvalidScale, "scale must be positive"),
        (lambda: certify_family(ONES, {}, **PROMISE), InvalidInput, "candidates must be a non-empty mapping"),
        (lambda: certify_family(ONES, [ONES], **PROMISE), InvalidInput, "candidates must be a non-empty mapping.*got list"),
        (lambda: certify_family(ONES, {1: ONES}, **PROMISE), InvalidInput, "candidate names must be strings, got 1"),
        (lambda: certify_family(ONES, {"a": np.ones(3)}, **PROMISE), InvalidInput, "y and y_pred of candidate 'a' must have the same shape"),
        (lambda: certify_family(ONES, {"a": (ONES, ONES, ONES)}, **PROMISE), InvalidInput, r"a candidate must be y_pred or \(y_pred, scale\), got 3 parts"),
        (lambda: certify_family(ONES, {"a": ONES, "b": (ONES, 0 * ONES)}, **PROMISE), InvalidScale, "candidate 'b': scale must be positive"),
        (lambda: certify_family(ONES, {"a": ONES * np.nan}, **PROMISE), InvalidInput, "candidate 'a': y_pred must be finite"),
        (lambda: certify_family(ONES, {"a": ONES, "b": ONES}, weights=[0.5, 0.6], **PROMISE), InvalidInput, "weights must be positive and sum to 1"),
        (lambda: certify_family(ONES, {"a": ONES, "b": ONES}, weights=[1.5, -0.5], **PROMISE), InvalidInput, "weights must be positive and sum to 1"),
        (lambda: certify_family(ONES, {"a": ONES, "b": ONES}, weights=[1.0], **PROMISE), InvalidInput, "weights must have one value for each"),
        (lambda: certify_family(ONES, {"a": ONES}, weights={"b": 1.0}, **PROMISE), InvalidInput, "weights must have one value for each"),
        (lambda: certify_family(ONES, {"a": ONES, "b": ONES}, weights=[1 - 1e-9, 1e-9], **PROMISE), NotEnoughSamples, "candidate 'b' with weight 1e-09"),
        (lambda: certify_family(ONES, {"a": ONES, "b": ONES}, weights=[0.5, 0.5], eps=0.2, delta=1.5), InvalidInput, r"delta must be in \(0, 1\), got 1.5"),
        (lambda: certify_family(ONES, {"a": ONES, "b": ONES}, weights=[0.5, 0.5], eps=0.2, delta=np.nan), InvalidInput, r"delta must be in \(0, 1\), got nan"),
        (lambda: certify(pd.Series(ONES), pd.Series(ONES).sample(frac=1, random_state=0), **PROMISE), InvalidInput, "y and y_pred must have the same index, got different ones: align them, or pass .to_numpy"),
        (lambda: certify(pd.Series(ONES), ONES, pd.Series(ONES, index=range(1, 51)), **PROMISE), InvalidInput, "y and scale must have the same index"),
        (lambda: certify_family(pd.Series(ONES), {"a": pd.Series(ONES)[::-1]}, **PROMISE), InvalidInput, "y and candidate 'a' must have the same index"),
        (lambda: certify_groups(pd.Series(ONES), ONES, pd.Series(["a"] * 50)[::-1], **PROMISE), InvalidInput, "y and groups must have the same index"),
        (lambda: certify(np.arange(2**60, 2**60 + 50), np.arange(2**60, 2**60 + 50), **PROMISE), InvalidInput, r"y has integers beyond 2\*\*53"),
        (lambda: certify(np.array(["1.5"] * 50, dtype=object), ONES, **PROMISE), InvalidInput, "y must be numeric"),
        (lambda: certify(ONES, ONES, ONES, min_scale=True, **PROMISE), InvalidScale, "min_scale must be a positive finite number, got True"),
        (lambda: certify_groups(ONES, ONES, ONES * np.inf, **PROMISE), InvalidInput, "group labels must be strings, finite numbers or booleans, got inf"),
        (lambda: certify_groups(ONES, ONES, ["a"] * 49, **PROMISE), InvalidInput, "y and groups must have one length, got 50 and 49"),
        (lambda: certify_groups(ONES, ONES, ["a"] * 49 + ["b"], **PROMISE), NotEnoughSamples, "group 'b': .* shared 2 ways, need at least"),
        (lambda: certify_groups(ONES, ONES, ["a"] * 49 + [None], **PROMISE), InvalidInput, "groups must have a label in every row: it is missing in 1 row, row 49"),
        (lambda: certify_groups(ONES, ONES, ONES * np.nan, **PROMISE), InvalidInput, "groups must have a label"),
        (lambda: certify_groups(ONES, ONES, pd.Series(["a", None] * 25), **PROMISE), InvalidInput, "groups must have a label"),
        (lambda: certify_groups(ONES, ONES, np.ones((50, 2)), **PROMISE), InvalidInput, "groups must have one label per row"),
        (lambda: certify_groups(ONES, ONES, [(1, 2)] * 50, **PROMISE), InvalidInput, "group"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_rule_and_value(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_number_of_rows_is_checked_before_the_rows():
    # The error is about too few rows, although y is full of NaN.
    with pytest.raises(NotEnoughSamples):
        certify(np.full(5, np.nan), np.ones(5))


@pytest.mark.parametrize("side", ["both", "upper", "lower"])
def test_a_candidate_that_does_not_answer_is_infinitely_wide(side):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(3000)
    silent = np.zeros(3000)
    silent[:30] = np.nan
    candidates = {"silent": (silent, np.full(3000, 0.5)), "wide": 0.9 * y[::-1]}
    family = certify_family(y, candidates, nonfinite="violate", side=side, **PROMISE)
    assert family.best == "wide"
    assert family.mean_bound["silent"] == family.sharpness["silent"] == np.inf
    assert np.isinf(family.candidates["silent"].interval(silent, np.full(3000, 0.5))).any()
    answered = certify_family(y[30:], {"silent": silent[30:]}, nonfinite="violate", side=side, **PROMISE)
    assert answered.mean_bound["silent"] < np.inf


def test_where_no_candidate_answers_everywhere_the_one_that_answers_most_is_best():
    y = np.random.default_rng(0).standard_normal(3000)
    predictions = {"thirty": np.zeros(3000), "ten": 0.5 * y[::-1], "ten and sharp": np.zeros(3000)}
    for prediction, rows in zip(predictions.values(), (30, 10, 10), strict=True):
        prediction[:rows] = np.nan
    family = certify_family(y, predictions, nonfinite="violate", **PROMISE)
    assert set(family.sharpness.values()) == {np.inf}
    assert family.best == "ten and sharp"


WEIGHTS = {
    "dict": {"b": 0.9, "a": 0.1},
    "Series": pd.Series({"b": 0.9, "a": 0.1}),
    "sequence": [0.1, 0.9],
    "array": np.array([0.1, 0.9]),
    "polars": pl.Series([0.1, 0.9]),
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_weights_that_have_names_are_matched_by_them(weights):
    y, p, s = sample(400)
    family = certify_family(y, {"a": p, "b": (p, s)}, weights=weights, **PROMISE)
    assert [round(family.candidates[name].weight, 6) for name in "ab"] == [0.1, 0.9]


@pytest.mark.parametrize(
    "weights",
    [
        pd.Series([0.1, 0.9]),
        pd.Series([0.1, 0.9], index=["a", "c"]),
        pd.Series([0.1, 0.9], index=["a", "a"]),
        {"a": 0.1, "c": 0.9},
        pd.DataFrame({"a": [0.1], "b": [0.9]}),
        {0.1, 0.9},
        0.5,
        "ab",
    ],
    ids=repr,
)
def test_weights_whose_names_do_not_fit_are_refused(weights):
    y, p, s = sample(400)
    with pytest.raises(InvalidInput, match="weights must"):
        certify_family(y, {"a": p, "b": (p, s)}, weights=weights, **PROMISE)


def test_labels_that_cannot_name_a_group_are_refused_by_the_rule():
    for odd in (bytearray(b"a"), [1], {"a": 1}, b"a"):
        labels = np.empty(400, dtype=object)
        labels[:] = [odd] * 400
        with pytest.raises(InvalidInput, match="group labels must be strings, finite numbers or booleans, got"):
            certify_groups(np.arange(400.0), np.zeros(400), labels, eps=0.1, delta=0.05)
