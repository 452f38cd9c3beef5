"""`certify_scores`: Property 1 for any scalar."""

import math

import numpy as np
import pytest

import pacband
from pacband import CertificateError, InvalidInput, InvalidScale, attained_eps, certify_scores, max_rank


@pytest.fixture
def scores(rng):
    return rng.gamma(2.0, 0.5, 1000) - 1.0


def test_the_bound_is_the_score_at_the_rank(scores):
    cert = certify_scores(scores, eps=0.1, delta=1e-3)
    rank = max_rank(1000, 0.1, 1e-3)
    assert (cert.rank, cert.gamma) == (rank, float(np.sort(scores)[-rank]))
    assert certify_scores(scores, eps=0.1, delta=1e-3, rank=3).gamma == float(np.sort(scores)[-3])
    assert certify_scores(scores, eps=0.1, delta=1e-3, rule="maximum").gamma == scores.max()
    assert certify_scores(scores, eps=0.1, delta=1e-3, n_candidates=10).rank == max_rank(1000, 0.1, 1e-3, 10)


def test_it_is_the_certificate_of_one_sided_errors(scores):
    own = certify_scores(scores, eps=0.1, delta=1e-3)
    errors = pacband.certify(scores, np.zeros(1000), eps=0.1, delta=1e-3, side="upper")
    assert (own.gamma, own.rank, own.data_digest) == (errors.gamma, errors.rank, errors.data_digest)


def test_the_words_are_about_scores(scores):
    cert = certify_scores(scores + 2.0, eps=0.05, delta=1e-3, rank=20)
    bound = f"{pacband.core.wording.round_up(cert.gamma, 6):g}"
    assert cert.promise == f"With confidence 99.9 %, at least 95 % of future scores are at most {bound}."
    assert cert.inequality == f"score ≤ {bound}"
    assert "error" not in str(cert)
    assert "predictor" not in str(cert)
    infinite = certify_scores([math.inf] * 300, nonfinite="violate", eps=0.05, delta=0.01)
    assert "calibration scores count as infinite" in infinite.promise


def test_there_is_no_band(scores):
    cert = certify_scores(scores)
    assert cert.bound() == cert.gamma
    for refused in (lambda: cert.interval([1.0]), lambda: pacband.apply_frame(cert, {"a": [1.0]}, prediction="a")):
        with pytest.raises(InvalidInput, match=r"this certificate bounds a score: there is no band around a predic"):
            refused()
    with pytest.raises(InvalidScale, match="calibrated with no scale"):
        cert.bound([1.0])


def test_scores_stand_in_place_of_y_everywhere(scores, rng, tmp_path):
    cert = certify_scores(scores, eps=0.1, delta=1e-3)
    assert cert.verify(scores)
    assert not cert.verify(scores + 1e-3)
    assert pacband.load(cert.save(tmp_path / "cert.json")) == cert
    fresh = rng.gamma(2.0, 0.5, 2000) - 1.0
    verdict = pacband.check(cert, fresh)
    assert verdict.holds
    assert verdict.counts[""].violations == int((fresh > cert.gamma).sum())
    assert not pacband.check(cert, 2 * fresh + 1).holds
    assert pacband.check(cert, scores).reused
    second = pacband.recalibrate(cert, fresh)
    assert second.side == "own"
    assert second.generation == 2
    with pytest.raises(pacband.ReusedData):
        pacband.recalibrate(cert, scores)
    assert pacband.report(cert, scores).summary.answer.state == "recomputed"
    assert pacband.report(cert, fresh).summary.answer.state == "kept"


@pytest.mark.parametrize("use", ["verify", "check", "update"])
def test_predictions_and_scales_are_refused(scores, use):
    cert = certify_scores(scores, eps=0.1, delta=1e-3)
    call = {
        "verify": cert.verify,
        "check": lambda *columns: pacband.check(cert, *columns),
        "update": pacband.Monitor(cert).update,
    }[use]
    with pytest.raises(InvalidInput, match=r"bounds a score: pass the scores alone, without predictions\."):
        call(scores, np.zeros(1000))
    with pytest.raises(InvalidScale, match="calibrated with no scale"):
        call(scores, None, np.ones(1000))


@pytest.mark.parametrize("use", ["verify", "check", "update"])
def test_a_certificate_of_errors_needs_predictions(scores, use):
    cert = pacband.certify(scores, np.zeros(1000), eps=0.1, delta=1e-3)
    call = {
        "verify": cert.verify,
        "check": lambda column: pacband.check(cert, column),
        "update": pacband.Monitor(cert).update,
    }[use]
    with pytest.raises(InvalidInput, match=r"y_pred must be given: the errors y − T\(x\) are bounded\."):
        call(scores)


def test_monitor_counts_scores(scores):
    monitor = pacband.Monitor(certify_scores(scores, eps=0.1, delta=1e-3))
    batch = monitor.update([*scores[:100], math.nan])
    assert (batch.rows, batch.unlabelled, batch.state) == (100, 1, "ok")
    assert monitor.update(5.0).violations == 1
    with pytest.raises(InvalidInput, match="scores must be finite: NaN or infinite in 1 row"):
        monitor.update([math.inf])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_not_finite(scores, bad):
    column = scores.copy()
    column[3] = bad
    with pytest.raises(InvalidInput, match=r"scores must be finite: NaN or infinite in row 3|in 1 row"):
        certify_scores(column)
    cert = certify_scores(column, nonfinite="violate", eps=0.1, delta=1e-3)
    column[3] = math.inf
    assert cert.gamma == float(np.sort(column)[-cert.rank])
    assert certify_scores(column, nonfinite="violate", tolerance=scores.max()).rank == 2
    assert cert.verify(column)
    # What counts as a violation at calibration is one ever after.
    batch = pacband.Monitor(cert).update([bad, 0.0])
    assert (batch.rows, batch.violations, batch.unlabelled) == (2, 1, 0)


def test_success_run_testing_and_tolerances(scores):
    cert = certify_scores(np.zeros(59), tolerance=0.5, delta=0.05)
    assert cert.eps == attained_eps(59, 1, 0.05) <= 0.05
    assert certify_scores(np.zeros(58), tolerance=0.5, delta=0.05).eps > 0.05
    k = int((scores > 0.7).sum())
    cert = certify_scores(scores, tolerance=0.7)
    assert (cert.rank, cert.eps, cert.bound_given) == (k + 1, attained_eps(1000, k + 1, 1e-6), True)
    assert cert.verify(scores)
    assert certify_scores(scores, tolerance=-0.9, delta=0.5).gamma == -0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 1.0, "rank": 3}, "a tolerance cannot be combined with rank or rule"),
        ({"tolerance": 1.0, "rule": "paper"}, "a tolerance cannot be combined with rank or rule"),
        ({"tolerance": 1.0, "eps": 0.1}, r"with a tolerance, eps is found: leave it out, got 0.1\."),
        ({"tolerance": 1.0, "eps": 0.05}, r"with a tolerance, eps is found: leave it out, got 0.05\."),
        ({"tolerance": math.inf}, "tolerance must be a finite number, got inf"),
        ({"nonfinite": "skip"}, "nonfinite must be one of"),
        ({"rule": "best"}, "rule must be one of"),
        ({"n_candidates": 0}, "n_candidates must be at least 1"),
        ({"eps": 2.0}, r"eps must be in \(0, 1\)"),
    ],
)
def test_bad_options(scores, options, message):
    with pytest.raises(InvalidInput, match=message):
        certify_scores(scores, **options)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([], "scores is empty"),
        (["a"], "scores must be numeric"),
        ([[1.0, 2.0]] * 300, r"scores must have shape \(n,\): one score a row, got \(300, 2\)"),
        (None, "scores"),
    ],
)
def test_bad_scores(column, message):
    with pytest.raises(InvalidInput, match=message):
        certify_scores(column)


def test_too_few_scores():
    with pytest.raises(pacband.NotEnoughSamples, match="need at least 270 samples"):
        certify_scores(np.arange(100.0))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scale_kind": "symmetric"}, "own scores have no scale and one output"),
        ({"n_outputs": 2}, "own scores have no scale and one output"),
        ({"min_scale": 1.0}, "own scores have no gauge, no min_scale and no clip"),
        ({"gauge": [[1.0]]}, "own scores have no gauge, no min_scale and no clip"),
        ({"clip": [0.0, None]}, "own scores have no gauge, no min_scale and no clip"),
    ],
)
def test_a_file_cannot_state_more_about_scores(scores, values, message):
    cert = certify_scores(scores)
    with pytest.raises(CertificateError, match=message):
        pacband.Certificate.from_dict({**cert.to_dict(), **values})
    columns = {"target": ["s"], "prediction": ["p"], "scale": [], "group": None}
    with pytest.raises(CertificateError, match="states prediction columns, except for own scores"):
        pacband.Certificate.from_dict({**cert.to_dict(), "columns": columns})


def test_scores_of_units(rng):
    machine = np.repeat(np.arange(300), 5)
    loss = rng.gamma(2.0, 0.5, 300)[machine] + 0.1 * rng.random(1500)
    units = pacband.draws.Units(machine, name="machine")
    cert = certify_scores(loss, eps=0.1, delta=0.01, draws=units)
    assert cert.gamma == float(np.sort(loss.reshape(300, 5).max(axis=1))[-cert.rank])
    assert "of future machines keep all their scores within " in cert.promise
    assert cert.verify(loss, draws=units)
    with pytest.raises(InvalidInput, match="draws must be Units, Spaced or Weighted"):
        certify_scores(loss, draws="machine")
