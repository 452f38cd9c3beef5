"""The numbers of a report are those of the certificate and of all rows."""

import json

import numpy as np
import pytest

import pacband
from pacband.tables import sample
from support.twins import use_number


def test_calibration_rows_are_recognised_and_the_numbers_are_the_certificates(paper):
    X, y, predicted, scale, cert = paper
    found = pacband.report(cert, y, predicted, scale, X=X).to_dict()
    assert found["verdict"]["state"] == "recomputed"
    assert found["certificate"] == cert.to_dict()
    assert found["rows"]["n_violations"] == cert.rank - 1
    assert found["rows"]["mean_half_width"] == pytest.approx(cert.gamma * scale.mean(), rel=1e-12)
    mine = [each for each in found["alternatives"] if (each["eps"], each["delta"]) == (cert.eps, cert.delta)]
    assert [each["gamma"] for each in mine] == [cert.gamma]
    for each in found["alternatives"]:
        if each["rank"] is None:
            assert each["needed"] == pacband.min_samples(each["eps"], each["delta"]) > 1500
        else:
            again = pacband.certify(y, predicted, scale, eps=each["eps"], delta=each["delta"])
            assert (again.rank, again.gamma) == (each["rank"], each["gamma"])
    curve = pacband.certify_curve(y, predicted, scale, delta=cert.delta)
    assert found["curve"]["gammas"] == list(curve.gammas)
    sizes = {each["n_samples"]: each["rank"] for each in found["sample_sizes"]}
    assert sizes[3000] == pacband.max_rank(3000, 0.05, 1e-3)
    json.dumps(found, allow_nan=False)


def test_calibration_rows_are_recognised_when_rounded_otherwise(paper, rng):
    _, y, predicted, scale, cert = paper
    again = pacband.report(cert, y, predicted * (1 + 1e-12), scale).to_dict()
    assert (again["rows"]["calibration"], again["rows"]["fingerprint_agrees"]) == (True, False)
    assert again["verdict"]["state"] == "recomputed"
    # Fresh errors in round numbers have the same γ̄ by chance: that is no sign.
    coarse, fresh = (rng.integers(0, 5, 1000) for _ in range(2))
    tied = pacband.certify(coarse, np.zeros(1000), eps=0.1, delta=0.1)
    assert pacband.certify(fresh, np.zeros(1000), eps=0.1, delta=0.1).gamma == tied.gamma
    assert not pacband.report(tied, fresh, np.zeros(1000)).summary.rows.calibration


def test_many_rows_make_no_larger_page(monkeypatch, rng):
    use_number(monkeypatch, sample, "SAMPLE", 3000)
    y, X = rng.standard_normal(40_000), rng.standard_normal((40_000, 3))
    cert = pacband.certify(y, np.zeros(40_000))
    large = pacband.report(cert, y, np.zeros(40_000), X=X)
    assert large.summary.rows.sampled
    assert large.summary.rows.n_violations == cert.rank - 1
    assert large.summary.answer.state == "recomputed"
    assert "drawn with seed 0" in large.html
    small = pacband.report(pacband.certify(y[:2500], 0 * y[:2500]), y[:2500], 0 * y[:2500], X=X[:2500])
    assert len(large.html) < 1.2 * len(small.html)
