"""A band that is clipped to the range of y has the promise of the band: it loses no row whose y is in the range."""

from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband import Monitor, certify, check, check_frame, recalibrate, report
from pacband.draws import Units
from pacband.exceptions import InvalidInput
from pacband.scores import ScoreRule, band, scores_of
from pacband.scores.clip import clip_ends
from pacband.scores.gauge import Share
from support.twins import put_in_place

NUMBERS = st.floats(-1e3, 1e3)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, st.floats(0.01, 10.0)), min_size=1, max_size=20)
LIMITS = st.floats(-900.0, 900.0)


@given(ROWS, LIMITS, st.floats(0.5, 500.0), st.floats(0.0, 5.0), st.sampled_from(["both", "upper", "lower"]))
def test_a_row_is_inside_if_its_score_is_at_most_the_bound(rows, low, width, gamma, side):
    y, prediction, scale = np.array(rows).T
    clip = (low, low + width)
    y = np.clip(y, *clip)
    kept = scores_of(ScoreRule(side=side, clip=clip), y, prediction, scale) <= gamma
    ends = band(ScoreRule(side=side, clip=clip), gamma, prediction, scale)
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    assert (inside | ~kept).all(), "no row is lost"
    unclipped = band(ScoreRule(side=side), gamma, prediction, scale)
    was_inside = (unclipped[:, 0] <= y) & (y <= unclipped[:, 1])
    met = (unclipped[:, 0] <= clip[1]) & (unclipped[:, 1] >= clip[0])
    # Nothing is gained either, except the nearest value where the whole band is outside of the range.
    np.testing.assert_array_equal(inside[met], was_inside[met])
    assert (ends[:, 1] - ends[:, 0] <= unclipped[:, 1] - unclipped[:, 0]).all()
    assert (ends >= clip[0]).all()
    assert (ends <= clip[1]).all()


def draw(rng, n):
    """Waiting times, and a poor prediction of them: the band reaches below 0, where no time is."""
    rate = rng.uniform(0.2, 2.0, n)
    return rng.exponential(1.0 / rate), 0.7 / rate - 0.3, 1.0 / rate


def coverage(rng, n=2000):
    """The shares of rows inside the clipped band and inside the band."""
    cert = certify(*draw(rng, 1000), eps=0.1, delta=0.01, clip=(0, None))
    y, prediction, scale = draw(rng, n)
    ends = cert.interval(prediction, scale)
    inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
    return inside.mean(), (cert.basis.scores(y, prediction, scale) <= cert.gamma).mean(), ends


def test_the_clipped_band_covers_as_much_and_is_narrower(rng):
    clipped, band_alone, ends = coverage(rng)
    assert clipped >= band_alone
    assert ends.min() == 0.0


def test_bands_cut_by_another_rule_lose_rows(rng, monkeypatch):
    def twin(clip, ends):
        # The half-width around a prediction that is moved into the range first: a different band.
        ends[:, 1] -= np.maximum(clip[0] - ends[:, 0], 0.0)
        clip_ends(clip, ends)

    put_in_place(monkeypatch, clip_ends, twin)
    clipped, band_alone, _ = coverage(rng)
    assert clipped < band_alone


@pytest.mark.parametrize("clip", [None, (0, None), (0, 100)])
def test_the_bound_the_rank_and_the_verdict_do_not_depend_on_the_range(clip):
    y, prediction, scale = draw(np.random.default_rng(1), 1000)
    cert = certify(y, prediction, scale, eps=0.1, delta=0.01, clip=clip)
    plain = certify(y, prediction, scale, eps=0.1, delta=0.01)
    assert (cert.gamma, cert.rank, cert.data_digest) == (plain.gamma, plain.rank, plain.data_digest)
    fresh = draw(np.random.default_rng(2), 500)
    assert check(cert, *fresh) == check(plain, *fresh)


@given(ROWS, LIMITS, st.floats(0.5, 500.0), st.sampled_from(["both", "upper", "lower"]))
def test_fresh_rows_outside_of_the_range_violate_and_no_row_changes_otherwise(rows, low, width, side):
    y, prediction, scale = np.array(rows).T
    clip = (low, low + width)
    rule = ScoreRule(side=side, clip=clip)
    outside = (y < clip[0]) | (y > clip[1])
    judged = scores_of(rule.judging, y, prediction, scale)
    plain = scores_of(ScoreRule(side=side), y, prediction, scale)
    np.testing.assert_array_equal(judged, np.where(outside, np.inf, plain))
    ends = band(rule, 2.0, prediction, scale)
    assert not ((ends[:, 0] <= y) & (y <= ends[:, 1]))[outside].any(), "no clipped band holds them"


def left_range(n_outside):
    """Fresh rows in which y becomes negative, where the certificate declares that it never does."""
    cert = certify(*draw(np.random.default_rng(1), 1000), eps=0.1, delta=0.01, clip=(0, None))
    y, prediction, scale = draw(np.random.default_rng(2), 200)
    y = np.where(cert.basis.scores(y, prediction, scale) > cert.gamma, prediction.clip(0), y)
    y[:n_outside], prediction[:n_outside] = -1e-9, 0.0
    return cert, (y, prediction, scale)


def test_a_target_that_leaves_its_range_is_a_violation_for_check_and_monitor(monkeypatch):
    cert, rows = left_range(60)
    verdict = check(cert, *rows)
    (count,) = verdict.counts.values()
    assert (count.violations, verdict.out_of_range, verdict.holds) == (60, 60, False)
    assert "In 60 rows y left its declared range" in str(verdict)
    assert verdict.to_dict()["out_of_range"] == 60
    monitor = Monitor(cert)
    assert monitor.update(*rows).violations == 60
    assert monitor.state == "revoked"
    assert "In 60 rows y left its declared range" in monitor.reason
    assert Monitor.from_dict(monitor.to_dict(), cert).n_out_of_range == 60
    assert monitor.merge(Monitor(cert)).n_out_of_range == 60
    # Judged by the band before it is clipped, the rows seem to keep the promise.
    monkeypatch.setattr(ScoreRule, "judging", property(lambda rule: replace(rule, clip=None)))
    assert check(cert, *rows).holds


def test_a_target_in_its_range_gets_no_words():
    cert, rows = left_range(0)
    assert "range" not in str(check(cert, *rows))
    monitor = Monitor(cert)
    monitor.update(*rows)
    assert "range" not in monitor.reason
    assert "out_of_range" not in monitor.to_dict()


def test_the_verdict_of_a_report_says_it():
    cert, rows = left_range(60)
    answer = report(cert, *rows).to_dict()["verdict"]
    assert answer["state"] == "contradicted"
    assert "In 60 rows y left its declared range" in answer["text"]


@pytest.mark.parametrize("kind", ["polars", "duckdb"])
@pytest.mark.parametrize("columns", [{}, {"group": "g"}])
@pytest.mark.parametrize("nonfinite", ["raise", "violate"])
def test_engines_count_the_same_rows(kind, columns, nonfinite):
    cert, (y, prediction, scale) = left_range(60)
    cert = certify(*draw(np.random.default_rng(1), 1000), eps=0.1, delta=0.01, clip=(0, None), nonfinite=nonfinite)
    frame = pl.DataFrame({"y": y, "p": prediction, "s": scale, "g": np.arange(200) % 2})
    names = {"target": "y", "prediction": "p", "scale": "s"}
    table = frame.lazy() if kind == "polars" else duckdb.sql("select * from frame")
    labels = {"groups": frame["g"].to_numpy()} if columns else {}
    assert check_frame(cert, table, **names, **columns) == check(cert, y, prediction, scale, **labels)


def test_units_are_counted_in_engines_too():
    y, prediction, scale = draw(np.random.default_rng(1), 2000)
    units = np.arange(2000) // 2
    cert = certify(y, prediction, scale, eps=0.1, delta=0.01, clip=(0, None), draws=Units(units, name="u"))
    y[::40] = -1.0
    frame = pl.DataFrame({"y": y, "p": prediction, "s": scale, "u": units})
    verdict = check_frame(cert, frame.lazy(), target="y", prediction="p", scale="s", draws=Units("u"))
    assert verdict.out_of_range == 50
    assert verdict == check(cert, y, prediction, scale, draws=Units(units, name="u"))


def test_calibration_still_refuses_them():
    cert, rows = left_range(60)
    for call in (cert.verify, lambda *rows: recalibrate(cert, *rows)):
        with pytest.raises(InvalidInput, match=r"y must lie in \[0, ∞\), the range of clip"):
            call(*rows)


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_steps_outside_of_the_range_are_outside_and_a_share_of_steps_forgives_them(share):
    rule = ScoreRule(gauge=Share(share), clip=(0.0, None)).judging
    y = np.array([[0.1, 0.2, -1e-9]])
    assert scores_of(rule, y, np.zeros((1, 3))).tolist() == [0.2 if share == 0.5 else np.inf]


def test_rows_without_a_number_are_refused_though_they_are_outside():
    cert, (y, prediction, scale) = left_range(60)
    prediction[0] = np.nan
    with pytest.raises(InvalidInput, match="y_pred must be finite"):
        check(cert, y, prediction, scale)
    frame = pl.DataFrame({"y": y, "p": prediction, "s": scale})
    with pytest.raises(InvalidInput, match="column 'p' must be finite"):
        check_frame(cert, frame.lazy(), target="y", prediction="p", scale="s")
