"""Diagnostics: few findings in sound data, at the rate stated, and those that matter where something is wrong."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest

import pacband
from pacband.diagnostics.order import check_drift, check_serial_dependence
from pacband.diagnostics.shape import largest_share_tail
from pacband.exceptions import InvalidInput


def sound(rng, n, noise=None):
    x = rng.standard_normal((n, 2))
    scale = np.exp(0.5 * x[:, 0])
    return {
        "y": x[:, 1] + scale * (rng.standard_normal(n) if noise is None else noise),
        "y_pred": x[:, 1],
        "scale": scale,
        "X": x,
        "groups": rng.integers(0, 5, n),
        "training": (rng.standard_normal((300, 2)), rng.standard_normal(300)),
    }


def autoregressive(rng, rho, n=1000):
    noise = rng.standard_normal(n)
    for i in range(1, n):
        noise[i] = rho * noise[i - 1] + math.sqrt(1 - rho**2) * noise[i]
    return noise


def checks(diagnosis):
    return [finding.check for finding in diagnosis.findings]


def false_findings(rng, runs, n, draw, level=0.05):
    return sum(bool(pacband.diagnose(**sound(rng, n, draw(n)), level=level).findings) for _ in range(runs))


@pytest.mark.parametrize("n", [100, 600])
def test_sound_data_raise_findings_at_most_at_the_stated_level(rng, n):
    """At level .05 over 400 data sets with exponential tails, where Fisher's test is exact."""
    assert false_findings(rng, 400, n, lambda n: rng.laplace(size=n)) <= binom.ppf(1 - 1e-6, 400, 0.05)


@pytest.mark.verify
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("tails", ["normal", "exponential", "uniform"])
def test_sound_data_over_many_simulations(rng, n, tails):
    draw = {"normal": rng.standard_normal, "exponential": lambda n: rng.laplace(size=n), "uniform": rng.random}[tails]
    assert false_findings(rng, 2500, n, draw, level=0.05) <= 0.05 * 2500
    assert false_findings(rng, 2500, n, draw, level=0.01) <= binom.ppf(1 - 1e-3, 2500, 0.01)


@pytest.mark.parametrize("check", [check_serial_dependence, check_drift])
def test_order_checks_hold_their_size_in_the_tail(rng, check):
    """Over 3000 orders of 100 rows: p-values below .002 and .02 at most that often."""
    p_values = np.array([check(rng.random(100)).p_value for _ in range(3000)])
    for level in (0.002, 0.02):
        assert np.count_nonzero(p_values <= level) <= binom.ppf(1 - 1e-6, 3000, level)


@pytest.mark.parametrize("rho", [0.6, 0.9])
def test_serial_dependence_is_found(rng, rho):
    for _ in range(30):
        diagnosis = pacband.diagnose(autoregressive(rng, rho), np.zeros(1000))
        assert "serial dependence" in checks(diagnosis)
    (finding,) = (finding for finding in diagnosis.findings if finding.check == "serial dependence")
    assert "are worth about" in finding.effect
    assert finding.p_value < 1e-6


def test_drift_is_found_and_placed(rng):
    for _ in range(30):
        noise = rng.standard_normal(1000)
        noise[600:] += 1.0
        drift = next(f for f in pacband.diagnose(noise, np.zeros(1000)).findings if f.check == "drift")
        row = int(drift.seen.split("row ")[1].split()[0])
        assert 500 <= row <= 700
        assert "calibrate on rows since then" in drift.advice


def test_one_percent_of_training_rows_is_found(rng):
    for _ in range(20):
        data = sound(rng, 1000)
        X_train, y_train = data["training"]
        rows = rng.choice(1000, 10, replace=False)
        data["X"][rows], data["y"][rows] = X_train[:10], y_train[:10]
        assert "overlap with training" in checks(pacband.diagnose(**data))
    assert "10 of 1000 calibration rows" in str(pacband.diagnose(**data))


def test_copied_rows_are_found_and_coarse_tables_are_not_accused(rng):
    data = sound(rng, 1000)
    for column in ("y", "y_pred", "scale", "X"):
        data[column][:3] = data[column][500:503]
    finding = pacband.diagnose(**data).findings[0]
    assert finding.check == "duplicated rows"
    assert finding.p_value < 1e-12
    assert finding.seen.startswith("3 of 1000 rows")
    for levels in (3, 30, 300):
        x = rng.integers(0, levels, (1000, 2)).astype(float)
        y = x[:, 0] + rng.standard_normal(1000).round(1)
        assert "duplicated rows" not in checks(pacband.diagnose(y, x[:, 0], X=x))
    rounded = rng.standard_normal(1000).round(1)
    assert checks(pacband.diagnose(rounded, np.zeros(1000))) == ["tied scores"]


def test_frames_with_words_are_told_apart(rng):
    frame = pd.DataFrame({"site": rng.choice(["a", "b"], 400), "x": rng.standard_normal(400)})
    y = frame["x"] + rng.standard_normal(400)
    twice = pd.concat([frame, frame.iloc[:1]], ignore_index=True)
    y_twice = pd.concat([y, y.iloc[:1]], ignore_index=True)
    assert pacband.diagnose(y, frame["x"], X=frame).sound
    assert checks(pacband.diagnose(y_twice, twice["x"], X=twice)) == ["duplicated rows"]


def test_dominating_scores_are_found(rng):
    noise = rng.standard_normal(1000)
    noise[rng.choice(1000, 3)] = [40.0, -50.0, 60.0]
    assert checks(pacband.diagnose(noise, np.zeros(1000))) == ["a few scores dominate"]


def test_largest_share_against_simulation(rng):
    """Fisher's formula; each share of 10⁵ draws lies within five standard errors of it."""
    draws = rng.exponential(size=(10**5, 12))
    shares = draws.max(axis=1) / draws.sum(axis=1)
    for share in (0.15, 0.25, 0.35, 0.5):
        assert largest_share_tail(share, 12) == pytest.approx((shares > share).mean(), abs=5 * 0.5 / math.sqrt(10**5))
    assert largest_share_tail(0.05, 12) == pytest.approx(1.0)
    assert largest_share_tail(0.3, 100) == pytest.approx(100 * 0.7**99)


def test_groups_beyond_the_bound_are_found(rng):
    groups = rng.choice(["calm", "rough"], 3000, p=[0.9, 0.1])
    noise = np.where(groups == "rough", 3.0, 1.0) * rng.standard_normal(3000)
    (finding,) = pacband.diagnose(noise, np.zeros(3000), groups=groups).findings
    assert "in group 'rough'" in finding.seen
    assert "certify_groups" in finding.advice
    violated = np.abs(noise) > pacband.certify(noise, np.zeros(3000)).gamma
    tails = [
        binomtest(int(violated[groups == name].sum()), int((groups == name).sum()), 0.05, alternative="greater").pvalue
        for name in ("calm", "rough")
    ]
    assert finding.p_value == pytest.approx(2 * min(tails), rel=1e-9, abs=0.0)


def test_a_scale_that_misses_is_found(rng):
    data = sound(rng, 1000)
    del data["training"], data["groups"]
    wrong = rng.permutation(data["scale"])
    assert pacband.diagnose(**data).sound
    assert checks(pacband.diagnose(**{**data, "scale": wrong})) == ["scale and error size"]
    assert pacband.diagnose(data["y"], data["y_pred"], scale=2.0).n_rows == 1000


def test_a_diagnosis_says_itself_in_words_html_and_json(rng):
    noise = autoregressive(rng, 0.9)
    diagnosis = pacband.diagnose(noise, np.zeros(1000), groups=np.repeat(["<b>", "c"], 500))
    assert str(diagnosis).startswith(f"{len(diagnosis.findings)} finding(s) in 6 checks of 1000 rows")
    assert "probability 1 % at most" in str(diagnosis)
    assert "<b>" not in diagnosis._repr_html_()
    content = json.loads(json.dumps(diagnosis.to_dict()))
    assert content["findings"][0]["check"] == diagnosis.findings[0].check
    assert set(content["p_values"]) == set(diagnosis.p_values)
    calm = pacband.diagnose(rng.standard_normal(300), np.zeros(300))
    assert str(calm).startswith("Nothing speaks against the promise in 5 checks of 300 rows")
    assert calm.to_dict()["sound"]


def test_few_rows_infinite_scores_and_several_outputs_are_taken(rng):
    assert pacband.diagnose([1.0, 2.0], [0.0, 0.0]).sound
    assert pacband.diagnose(np.zeros(200), np.zeros(200)).findings[0].check == "tied scores"
    broken = np.zeros(300)
    broken[7] = math.nan
    assert pacband.diagnose(rng.standard_normal(300), broken, nonfinite="violate").n_rows == 300
    both = rng.standard_normal((300, 2))
    assert pacband.diagnose(both, np.zeros((300, 2)), scale=np.ones((300, 2))).sound


def test_arguments_are_checked(rng):
    y = rng.standard_normal(20)
    for options, message in [
        ({"training": (y, y)}, "but not X"),
        ({"X": y, "training": y}, r"must be a pair \(X, y\)"),
        ({"X": y[:5]}, "y and X must have one length, got 20 and 5"),
        ({"groups": [1, 2]}, "y and groups must have one length, got 20 and 2"),
        ({"level": 2}, r"level must be in \(0, 1\)"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            pacband.diagnose(y, y, **options)
