"""The certificate of runs: its words, its tube and its file."""

import numpy as np
import pytest

import pacband
from pacband import CertificateError, InvalidInput, Share, certify, certify_curve, certify_groups, certify_tolerance
from pacband.core.wording import bound
from pacband.draws import Units
from support.rewriting import redigested

PROMISE = {"eps": 0.2, "delta": 0.1}
N, H = 120, 6


@pytest.fixture
def y(rng):
    return rng.standard_normal((N, H, 2)).cumsum(axis=1)


SIGMA = np.array([[2.0, 0.5], [0.5, 1.0]])
GROWTH = np.broadcast_to(np.sqrt(np.arange(1.0, H + 1)), (N, H))
KINDS = {
    "plain": ({}, None, "|yₜₖ − Tₜₖ(x)| ≤ {} in every step t and output k"),
    "scaled": ({}, GROWTH, "|yₜₖ − Tₜₖ(x)| ≤ {}·σ̂ₜₖ(x) in every step t and output k"),
    "upper": ({"side": "upper"}, None, "yₜₖ − Tₜₖ(x) ≤ {} in every step t and output k"),
    "pair": ({}, (GROWTH, 2 * GROWTH), "−{}·σ̂ₜₖ⁻(x) ≤ yₜₖ − Tₜₖ(x) ≤ {}·σ̂ₜₖ⁺(x) in every step t and output k"),
    "floor": ({"min_scale": 0.5}, GROWTH, "|yₜₖ − Tₜₖ(x)| ≤ {}·max(σ̂ₜₖ(x), 0.5) in every step t and output k"),
    "ellipsoid": ({"gauge": SIGMA}, None, "sqrt((yₜ − Tₜ(x))ᵀ Σ⁻¹ (yₜ − Tₜ(x))) ≤ {} in every step t"),
    "ellipsoids": ({"gauge": [SIGMA] * H}, GROWTH, "sqrt((yₜ − Tₜ(x))ᵀ Σₜ⁻¹ (yₜ − Tₜ(x))) ≤ {}·σ̂ₜ(x) in every step t"),
    "share": ({"gauge": Share(0.75)}, None, "|yₜₖ − Tₜₖ(x)| ≤ {} for all outputs k in at least 75 % of the steps t"),
    "share of ellipsoids": ({"gauge": Share(0.75, of=[SIGMA] * H)}, GROWTH, "sqrt((yₜ − Tₜ(x))ᵀ Σₜ⁻¹ (yₜ − Tₜ(x))) ≤ {}·σ̂ₜ(x) in at least 75 % of the steps t"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_words_file_and_tube(kind, y, tmp_path):
    options, scale, words = KINDS[kind]
    cert = certify(y, 0 * y, scale, **PROMISE, **options)
    assert cert.inequality == words.replace("{}", bound(cert.gamma))
    assert cert.promise == f"With confidence 90 %, at least 80 % of future runs satisfy {cert.inequality}."
    assert "among 120 calibration runs" in str(cert)
    assert cert.assumptions[0] == "calibration runs and future runs are independent draws from one distribution"
    path = cert.save(tmp_path / "cert.json")
    before = path.read_bytes()
    loaded = pacband.load(path)
    assert loaded == cert
    assert loaded.verify(y, 0 * y, scale)
    loaded.save(path)
    assert path.read_bytes() == before
    tube = loaded.tube(0 * y, scale)
    assert tube.shape == (N, H, 2, 2)
    np.testing.assert_array_equal(tube, loaded.interval(0 * y, scale))
    verdict = pacband.check(loaded, y, 0 * y, scale)
    assert verdict.reused
    assert "of 120 runs" in str(verdict)


def test_one_output_needs_no_axis_of_its_own(y):
    cert = certify(y[..., :1], 0 * y[..., :1], **PROMISE)
    assert (cert.n_steps, cert.n_outputs) == (H, 1)
    assert cert.inequality.endswith("in every step t")
    np.testing.assert_array_equal(cert.tube(0 * y[..., 0]), cert.tube(0 * y[..., :1]))
    assert cert.tube(0 * y[..., 0]).shape == (N, H, 2)
    assert cert.verify(y[..., 0], 0 * y[..., 0])


def test_a_share_of_all_digits_is_printed(y):
    assert certify(y, 0 * y, gauge=Share(0.995), **PROMISE).inequality.endswith("in at least 99.5 % of the steps t")
    assert certify(y, 0 * y, gauge=Share(0.9995), **PROMISE).inequality.endswith("at least 99.95 % of the steps t")


def test_a_monitor_takes_runs_one_by_one_and_many(y):
    for cert, one, many in (
        (certify(y, 0 * y, **PROMISE), y[0], y[:5]),
        (certify(y[..., :1], 0 * y[..., :1], **PROMISE), y[0, :, 0], y[:5, :, 0]),
    ):
        monitor = pacband.Monitor(cert)
        assert monitor.update(one, 0 * one).rows == 1
        missing = many.copy()
        missing[1] = np.nan
        batch = monitor.update(missing, 0 * many)
        assert (batch.rows, batch.unlabelled) == (4, 1)
        with pytest.raises(InvalidInput, match="bounds runs of 6 steps"):
            monitor.update(one[:3], 0 * one[:3])


def test_all_kinds_of_certificates_know_runs(y):
    groups = certify_groups(y, 0 * y, np.arange(N) % 2, **PROMISE)
    assert "at least 80 % of future runs in each of the 2 groups" in groups.promise
    assert groups.interval(0 * y, np.arange(N) % 2).shape == (N, H, 2, 2)
    tolerance = certify_tolerance(y, 0 * y, 8.0, delta=0.1)
    assert (tolerance.n_steps, tolerance.n_outputs) == (H, 2)
    assert "calibration runs exceed the bound" in str(tolerance)
    curve = certify_curve(y, 0 * y, delta=0.1)
    assert "1 − ε of future runs stay" in curve.promise
    assert curve.certificate(0.3).n_steps == H
    assert pacband.recalibrate(certify(y, 0 * y, **PROMISE), 2 * y, 0 * y).n_steps == H
    chunked = pacband.certify_chunks([(y[:50], 0 * y[:50]), (y[50:], 0 * y[50:])], gauge=Share(0.5), **PROMISE)
    whole = certify(y, 0 * y, gauge=Share(0.5), **PROMISE)
    assert (chunked.basis, chunked.gamma, chunked.data_digest) == (whole.basis, whole.gamma, whole.data_digest)


def test_runs_that_the_model_was_fitted_on_are_refused(rng):
    y = rng.standard_normal((N, H, 2))
    assert certify(y, 0 * y, training=(0 * y + 1.0, 2 * y), **PROMISE).n_steps == H
    with pytest.raises(pacband.ReusedData):
        certify(y, 0 * y, training=(0 * y[:50], y[:50]), **PROMISE)


def test_units_have_runs(y):
    machine = np.repeat(np.arange(N // 2), 2)
    words = {
        "all": "future machines keep all their runs within |yₜₖ",
        0.5: "future machines keep at least 50 % of their runs within |yₜₖ",
        "one": "of future runs, with all machines counted equally, satisfy |yₜₖ",
        "average": "of the runs of future machines, on average over machines, satisfy |yₜₖ",
    }
    for within, sentence in words.items():
        draws = Units(machine, within, name="machine")
        cert = certify(y, 0 * y, draws=draws, eps=0.3, delta=0.2)
        assert sentence in cert.promise
        if within != "one":
            assert pacband.check(cert, y, 0 * y, draws=draws).reused


def test_a_report_shows_no_runs_and_says_what_does(y):
    cert = certify(y, 0 * y, **PROMISE)
    with pytest.raises(InvalidInput, match=r"this certificate is about runs: .* check and plot_tube"):
        pacband.report(cert, y, 0 * y)
    assert "future runs" in pacband.report(cert).to_markdown()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_steps": 7}, "a gauge of 6 steps is for as many, got n_steps 7"),
        ({"n_steps": 0}, "does not follow its schema"),
        ({"gauge": {"share": 1.5, "of": "max"}}, "does not follow its schema"),
        ({"gauge": {"share": 0.5}}, "does not follow its schema"),
        ({"gauge": {"share": 0.5, "of": [[[-1.0]]] * H}, "n_outputs": 1}, "gauge of step 0 must be positive definite"),
        ({"gauge": [[1.0, 0.0], [0.0, 1.0]], "n_steps": 10**13}, "does not follow its schema"),
    ],
)
def test_a_file_that_states_something_else_is_refused(change, message, y, tmp_path):
    path = certify(y, 0 * y, gauge=[SIGMA] * H, **PROMISE).save(tmp_path / "cert.json")
    redigested(path, lambda content: content.update(change))
    with pytest.raises(CertificateError, match=message):
        pacband.load(path)
