"""`certify_tolerance`: the bound is given, and the share is found."""

import json
import math

import numpy as np
import pytest

import pacband
from pacband import CertificateError, InvalidInput, attained_eps, certify_tolerance
from pacband.certification.tolerance import ToleranceTerms
from pacband.draws import Weighted
from pacband.scores import ScoreRule

FACTS = {
    (1000, 12, 0.05): 0.019370,
    (1000, 12, 1e-6): 0.037290,
    (59, 0, 0.05): 0.049508,
    (10000, 300, 1e-3): 0.035644,
}


def errors(n, k, tolerance=1.0):
    """Return n errors of which k exceed the tolerance, and one that equals it."""
    values = np.linspace(0.0, tolerance, n)
    values[:k] = tolerance * (2 + np.arange(k))
    return np.random.default_rng(0).permutation(values)


@pytest.fixture
def rows(rng):
    return 3.0 * rng.standard_normal(500), np.zeros(500), np.full(500, 3.0)


@pytest.mark.parametrize(("case", "expected"), FACTS.items())
def test_known_shares(case, expected):
    n, k, delta = case
    cert = certify_tolerance(errors(n, k), np.zeros(n), 1.0, delta=delta)
    assert cert.eps == attained_eps(n, k + 1, delta)
    assert round(cert.eps, 6) == expected
    assert (cert.gamma, cert.rank, cert.n_samples, cert.bound_given) == (1.0, k + 1, n, True)
    assert cert.attained_delta <= delta


def test_an_error_that_equals_the_tolerance_is_within_it():
    assert certify_tolerance([2.0] * 100, [0.0] * 100, 2.0).rank == 1
    assert certify_tolerance([2.0] * 99 + [np.nextafter(2.0, 3.0)], [0.0] * 100, 2.0).rank == 2
    assert certify_tolerance([0.0] * 100, [0.0] * 100, 0).gamma == 0.0


def test_it_is_the_certificate_of_the_same_rank(rows):
    """The tolerance that is a score: certify at this rank has the same numbers, but for what was given."""
    y, prediction, scale = rows
    ranked = pacband.certify(y, prediction, scale, eps=0.1, delta=1e-3)
    given = certify_tolerance(y, prediction, ranked.gamma, scale, delta=1e-3)
    assert (given.gamma, given.rank, given.data_digest) == (ranked.gamma, ranked.rank, ranked.data_digest)
    # Of all ranks, this one is beyond the tolerance for the last time: ε found is at most ε asked.
    assert given.eps <= ranked.eps


@pytest.mark.parametrize("options", [{"side": "upper"}, {"side": "lower"}, {"n_candidates": 7}, {"min_scale": 5.0}])
def test_options_are_those_of_certify(rows, options):
    y, prediction, scale = rows
    cert = certify_tolerance(y, prediction, 1.2, scale, delta=1e-3, **options)
    scores = pacband.certify(y, prediction, scale, eps=0.5, delta=1e-3, **options).basis.scores(y, prediction, scale)
    k = int((scores > 1.2).sum())
    assert cert.rank == k + 1
    assert cert.eps == attained_eps(500, k + 1, 1e-3, options.get("n_candidates", 1))
    assert cert.verify(y, prediction, scale)


def test_several_outputs_and_a_matrix(rng):
    y = rng.standard_normal((400, 2))
    for gauge, score in (("max", np.abs(y).max(axis=1)), (np.eye(2), np.sqrt((y**2).sum(axis=1)))):
        cert = certify_tolerance(y, np.zeros((400, 2)), 2.0, gauge=gauge, delta=0.01)
        assert (cert.rank - 1, cert.n_outputs) == (int((score > 2.0).sum()), 2)
        assert cert.verify(y, np.zeros((400, 2)))


def test_infinite_errors_count(rows):
    y, prediction, _ = rows
    prediction[7] = math.nan
    expected = int((np.abs(np.delete(y, 7)) > 4.0).sum()) + 1
    assert certify_tolerance(y, prediction, 4.0, nonfinite="violate").rank == expected + 1
    with pytest.raises(InvalidInput, match="y_pred must be finite"):
        certify_tolerance(y, prediction, 4.0)


def test_a_certificate_of_a_tolerance_does_what_others_do(rows, rng, tmp_path):
    y, prediction, scale = rows
    cert = certify_tolerance(y, prediction, 2.5, scale, delta=1e-3)
    assert cert.verify(y, prediction, scale)
    assert cert.verify(y[::-1], prediction, scale)
    assert not cert.verify(1.0001 * y, prediction, scale)
    assert not cert.verify(y[:-1], prediction[:-1], scale[:-1])
    assert pacband.load(cert.save(tmp_path / "cert.json")) == cert
    assert cert.interval([10.0], [2.0]).round(12).tolist() == [[5.0, 15.0]]
    assert pacband.check(cert, 3.0 * rng.standard_normal(400), np.zeros(400), np.full(400, 3.0)).holds
    assert not pacband.check(cert, 9.0 * rng.standard_normal(400), np.zeros(400), np.full(400, 3.0)).holds
    assert pacband.check(cert, y, prediction, scale).reused
    monitor = pacband.Monitor(cert)
    assert monitor.update(3.0 * rng.standard_normal(400), np.zeros(400), np.full(400, 3.0)).state == "ok"
    low, high = cert.violation_interval(0.95)
    assert low <= (cert.rank - 1) / 500 <= high
    assert certify_tolerance(errors(59, 0), np.zeros(59), 1.0).violation_interval()[0] == 0.0


def test_a_successor_has_the_same_tolerance(rows, rng):
    y, prediction, scale = rows
    first = certify_tolerance(y, prediction, 2.5, scale, delta=1e-3)
    fresh = 3.0 * rng.standard_normal(800)
    second = pacband.recalibrate(first, fresh, np.zeros(800), np.full(800, 3.0))
    assert (second.gamma, second.bound_given, second.generation, second.delta) == (2.5, True, 2, 5e-4)
    assert second.eps == attained_eps(800, int((np.abs(fresh / 3.0) > 2.5).sum()) + 1, 5e-4)
    with pytest.raises(pacband.ReusedData):
        pacband.recalibrate(first, y, prediction, scale)
    with pytest.raises(InvalidInput, match="a tolerance cannot be combined with rank or rule"):
        pacband.recalibrate(first, fresh, np.zeros(800), np.full(800, 3.0), rule="paper")


def test_the_words_say_what_was_given_and_what_was_found():
    cert = certify_tolerance(errors(1000, 12), np.zeros(1000), 1.0, delta=0.05)
    assert cert.promise == "With confidence 95 %, at least 98.0629 % of future errors satisfy |y − T(x)| ≤ 1."
    assert "The bound was given and the share was found: 12 of 1000 calibration samples exceed the bound." in str(cert)
    assert "δ, the candidates, the tolerance and all seeds were chosen before looking at the scores" in cert.assumptions
    assert "expected violation" not in str(cert) + cert._repr_html_()
    assert "samples N, beyond the bound" in cert._repr_html_()


def test_only_these_files_state_that_the_bound_was_given(rows, tmp_path):
    y, prediction, scale = rows
    given = json.loads(certify_tolerance(y, prediction, 2.5, scale).save(tmp_path / "a.json").read_text())
    ranked = json.loads(pacband.certify(y, prediction, scale).save(tmp_path / "b.json").read_text())
    assert given["content"]["bound"] == "given"
    assert "bound" not in ranked["content"]
    assert set(given["content"]) - {"bound"} == set(ranked["content"])


def test_the_count_is_part_of_what_is_verified(rows):
    """The wrong twin: one score more beyond the bound than there are."""
    y, prediction, scale = rows
    cert = certify_tolerance(y, prediction, 2.5, scale, delta=1e-3)
    content = {**cert.to_dict(), "rank": cert.rank + 1, "eps": attained_eps(500, cert.rank + 1, 1e-3)}
    assert not pacband.Certificate.from_dict(content).verify(y, prediction, scale)
    # A share that the count does not support makes no certificate.
    with pytest.raises(CertificateError, match="does not certify"):
        pacband.Certificate.from_dict({**cert.to_dict(), "eps": np.nextafter(cert.eps, 0.0)})
    with pytest.raises(CertificateError, match="a bound that was given must be finite, got inf"):
        pacband.Certificate.from_dict({**cert.to_dict(), "gamma": "Infinity"})


@pytest.mark.parametrize("tolerance", [-1.0, math.nan, math.inf, "2", True, None, 10**400, [1.0, 2.0]])
def test_bad_tolerances(tolerance):
    with pytest.raises(InvalidInput, match="tolerance must be zero or a positive finite number, got"):
        certify_tolerance([1.0, 2.0], [0.0, 0.0], tolerance)


def test_one_sided_tolerances_may_be_negative(rng):
    y = rng.standard_normal(300)
    assert certify_tolerance(y, np.zeros(300), -0.5, side="upper", delta=0.1).rank == int((y > -0.5).sum()) + 1
    for tolerance in (math.inf, math.nan, "x", True, 10**400):
        with pytest.raises(InvalidInput, match="tolerance must be a finite number, got"):
            certify_tolerance(y, np.zeros(300), tolerance, side="upper")


def test_nothing_can_be_promised_if_all_exceed_the_tolerance():
    with pytest.raises(InvalidInput, match=r"all 50 calibration scores exceed the tolerance 1: no share can be pro"):
        certify_tolerance([2.0] * 50, [0.0] * 50, 1.0)
    # With one score within it, something tiny can be.
    assert 0.99 < certify_tolerance([2.0] * 49 + [1.0], [0.0] * 50, 1.0, delta=0.05).eps < 1.0
    with pytest.raises(InvalidInput, match=r"1 of 2 .* at delta=1e-20 no share can be promised"):
        certify_tolerance([2.0, 1.0], [0.0] * 2, 1.0, delta=1e-20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 1.5}, r"delta must be in \(0, 1\), got 1.5"),
        ({"n_candidates": 0}, r"n_candidates must be at least 1, got 0"),
        ({"delta": 1e-299, "n_candidates": 1000}, r"delta / n_candidates must be at least 1e-300"),
        ({"side": "left"}, "side must be one of"),
        ({"side": "own"}, "side must be one of"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InvalidInput, match=message):
        certify_tolerance([1.0, 2.0], [0.0, 0.0], 1.5, **options)


def test_very_many_samples_promise_no_less_than_the_smallest_eps():
    terms = ToleranceTerms.create(tolerance=1.0, delta=1e-6, scoring=ScoreRule())
    from pacband.selection import Tally

    cert = terms.certify_count(Tally(10**12, (0,), 0, np.empty(0)), n_outputs=1, scale_kind="none")
    assert cert.eps == 1e-9


def test_units_are_counted_where_they_are_the_draws(rng):
    machine = np.repeat(np.arange(200), 10)
    y = rng.standard_normal(200)[machine] + 0.2 * rng.standard_normal(2000)
    units = pacband.draws.Units(machine, name="machine")
    cert = certify_tolerance(y, np.zeros(2000), 2.0, delta=0.01, draws=units)
    k = int((np.abs(y).reshape(200, 10).max(axis=1) > 2.0).sum())
    assert (cert.n_samples, cert.rank, cert.eps) == (200, k + 1, attained_eps(200, k + 1, 0.01))
    assert cert.verify(y, np.zeros(2000), draws=units)
    assert "of future machines keep all their errors within |y − T(x)| ≤ 2." in cert.promise
    assert f"{k} of 200 calibration machines exceed the bound" in str(cert)
    assert "calibration machines and future machines are independent draws" in cert.assumptions[0]


def test_dependence_uses_up_a_part_of_delta(rng):
    y = rng.standard_normal(4000)
    spaced = pacband.draws.Spaced(10, mixing=0.2)
    cert = certify_tolerance(y, np.zeros(4000), 2.0, delta=0.01, draws=spaced)
    k = int((np.abs(y[9::10]) > 2.0).sum())
    slack = 400 * 0.2**10
    assert cert.eps == pytest.approx(attained_eps(400, k + 1, 0.01 - slack), rel=1e-12)
    assert cert.eps > attained_eps(400, k + 1, 0.01)
    with pytest.raises(InvalidInput, match="no share can be promised"):
        certify_tolerance(y, np.zeros(4000), 2.0, delta=1e-6, draws=spaced)


def test_an_interval_of_importance_that_uses_up_delta_is_refused_before_any_row():
    draws = Weighted(([0.5], [0.6]), at_most=1.0, interval_delta=0.02)
    for delta, n_candidates in ((0.02, 1), (0.05, 3)):
        with pytest.raises(InvalidInput, match=r"interval_delta or mixing of the draws uses up 0.02 or more, and"):
            certify_tolerance(None, None, 1.0, delta=delta, n_candidates=n_candidates, draws=draws)
