"""The curve as a value: its points are certificates, its words, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest

import pacband
from pacband.certificate.curve import Curve
from pacband.certificate.promise import RUNS
from pacband.exceptions import NotEnoughSamples
from pacband.scores import ScoreRule


def test_points_of_the_curve_are_certificates(rng):
    y, scale = rng.standard_normal(500), rng.uniform(1, 2, 500)
    curve = pacband.certify_curve(y, np.zeros(500), scale, delta=1e-3)
    for eps in (curve.smallest_eps, 0.03, 0.05, 0.2, 0.7):
        single = curve.certificate(eps)
        assert (single.eps, single.delta, single.gamma) == (eps, 1e-3, curve.gamma(eps))
        assert single.attained_delta <= 1e-3 * (1 + 1e-8)
        assert single.verify(y, np.zeros(500), scale)
        np.testing.assert_array_equal(curve.interval([1.0], [2.0], eps=eps), single.interval([1.0], [2.0]))
    assert all(low >= high for low, high in pairwise(curve.gammas))
    assert all(low < high for low, high in pairwise(curve.levels))


def test_readings(rng):
    curve = pacband.certify_curve(rng.standard_normal(2000), np.zeros(2000), delta=0.01)
    assert str(curve).startswith("With confidence 99 %, for all ε ≥ 0.00")
    assert "ε = 0.05" in str(curve)
    assert "<table" in curve._repr_html_()
    content = curve.to_dict()
    assert len(content["levels"]) == len(content["gammas"]) == len(content["ranks"])


def test_a_point_of_the_curve_is_the_certificate_of_one_model(rng):
    curve = pacband.certify_curve(rng.standard_normal(500), np.zeros(500), delta=0.01)
    assert "candidates" not in curve.certificate(0.1).promise


def curve(levels=(0.01, 0.05, 0.2), n_samples=1000, **options):
    scores = np.arange(float(n_samples), 0.0, -1.0)
    ranks = tuple(max(1, int(n_samples * level / 4)) for level in levels)
    values = {"scoring": ScoreRule(), "n_outputs": 1, "scale_kind": "none", "scores": scores, **options}
    return Curve(
        delta=0.1, local_delta=1e-3, n_samples=n_samples, levels=levels, ranks=ranks,
        gammas=tuple(float(n_samples + 1 - rank) for rank in ranks), **values,
    )  # fmt: skip


def test_a_point_is_scored_as_the_curve_is():
    scoring = ScoreRule(side="upper", min_scale=0.5, nonfinite="violate")
    single = curve(scoring=scoring, n_outputs=2, scale_kind="symmetric").certificate(0.05)
    assert (single.basis.scoring, single.n_outputs, single.scale_kind) == (scoring, 2, "symmetric")
    assert (single.eps, single.delta, single.rank, single.gamma) == (0.05, 0.1, 12, 989.0)


def test_a_point_rests_on_what_the_curve_rests_on():
    assumptions = curve().certificate(0.2).assumptions
    assert assumptions == (
        "calibration rows and future rows are independent draws from one distribution",
        "predictor and scale were built without the calibration rows",
        "δ and all seeds were chosen before looking at the scores; ε need not be",
    )


def test_between_two_levels_the_lower_one_holds():
    c = curve()
    assert [c.rank(eps) for eps in (0.01, 0.049, 0.05, 0.19, 0.2, 0.9)] == [2, 2, 12, 12, 50, 50]
    assert c.gamma(0.05) == 989.0


def test_below_the_smallest_level_there_is_no_bound():
    with pytest.raises(
        NotEnoughSamples, match=r"eps must be at least 0\.01, the smallest .* 1000 samples certifies, got 0\.002"
    ) as caught:
        curve().rank(0.002)
    error = caught.value
    assert (error.n_samples, error.eps_here) == (1000, 0.01)
    assert error.needed == pacband.min_samples(0.002, 1e-3)


def test_the_values_of_a_curve_as_json():
    c = curve(levels=(0.05, 0.2))
    assert c.to_dict() == {
        "kind": "curve", "promise": c.promise, "delta": 0.1, "n_candidates": 1, "local_delta": 1e-3, "n_samples": 1000,
        "levels": [0.05, 0.2], "ranks": [12, 50], "gammas": [989.0, 951.0],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("levels", "shown"),
    [
        ((0.001, 0.6), [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
        ((0.01, 0.5), [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
        ((0.03, 0.3), [0.05, 0.1, 0.2]),
        ((0.06, 0.07), [0.06]),
    ],
)
def test_the_examples_are_those_round_levels_that_the_curve_covers(levels, shown):
    c = curve(levels=levels)
    lines = str(c).split("\n")
    assert lines[0] == c.promise
    assert lines[1:] == [f"  ε = {eps:<6g} bound {c.gamma(eps):g}, rank {c.rank(eps)}" for eps in shown]
    for eps in shown:
        assert f"ε = {eps:g}" in c._repr_html_()


@pytest.mark.parametrize(("n_candidates", "words"), [(1, ""), (2, ", for all 2 candidates at once")])
def test_the_promise_names_the_candidates_that_share_delta(n_candidates, words):
    promise = curve(share=pacband.planning.DeltaShare(n_candidates)).promise
    assert promise.startswith(f"With confidence 90 %{words}, for all ε ≥ 0.01 at once: at least 1 − ε of future errors")


def test_bad_levels_are_named():
    for read in (curve().gamma, curve().certificate):
        with pytest.raises(pacband.InvalidInput, match=r"^eps must be in \(0, 1\), got 2\.0"):
            read(2.0)


def test_a_curve_of_a_summary_has_no_certificates():
    made = curve(scores=np.arange(7.0))
    with pytest.raises(pacband.InvalidInput, match="made from a summary of the scores"):
        made.certificate(0.05)


def test_a_point_of_a_curve_of_runs_rests_on_runs():
    assert curve(n_steps=3).certificate(0.2).assumptions[0] == RUNS
