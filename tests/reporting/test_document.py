"""`report`: every kind of certificate and of table, refusals, and files."""

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pacband
from pacband.draws import Spaced, Units, Weighted
from pacband.exceptions import InvalidInput, InvalidScale
from support.pages import EVIL
from support.units import machines


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dataframes_do_as_well_as_arrays(paper, frame):
    X, y, predicted, scale, cert = paper
    data = frame({"x": X[:, 0], "y": y, "p": predicted, "s": scale})
    found = pacband.report(cert, data["y"], data["p"], data["s"], X=data[["x"]]).to_dict()
    assert found["verdict"]["state"] == "recomputed"
    assert found["band"]["x_name"] == "x"


def kinds_of_report(table):
    X, y, prediction = table
    spread = 0.5 + np.abs(X["load"].to_numpy())
    outputs, promise = np.column_stack([y, prediction]), {"eps": 0.1, "delta": 1e-2}
    candidates = {"one|sided": prediction, EVIL: (prediction, spread)}
    groups = pacband.certify_groups(y, prediction, X["site"], **promise)
    family = pacband.certify_family(y, candidates, **promise)
    pair, covariance, zero = (spread, 2 * spread), [[1, 0.5], [0.5, 2]], 0 * y
    return {
        "groups": lambda: pacband.report(groups, y * 3, prediction, groups=X["site"]),
        "family": lambda: pacband.report(family, y, candidates=candidates, X=X),
        "alone": lambda: pacband.report(family),
        "upper": lambda: pacband.report(pacband.certify(y, prediction, side="upper", **promise), y, prediction),
        "lower": lambda: pacband.report(pacband.certify(y, prediction, side="lower", **promise), y, prediction),
        "pair": lambda: pacband.report(pacband.certify(y, prediction, pair, **promise), y, prediction, pair),
        "box": lambda: pacband.report(pacband.certify(outputs, outputs + 1, **promise), outputs, outputs + 1),
        "ellipsoid": lambda: pacband.report(
            pacband.certify(outputs, 0 * outputs, gauge=covariance, **promise), outputs, 0 * outputs
        ),
        "constant": lambda: pacband.report(pacband.certify(y, prediction, 2.0, **promise), y, prediction, 2.0),
        "zero": lambda: pacband.report(pacband.certify(zero, zero, **promise), zero, zero),
    }


@pytest.mark.parametrize(
    "kind", ["groups", "family", "alone", "upper", "lower", "pair", "box", "ellipsoid", "constant", "zero"]
)
def test_every_kind_of_certificate(table, kind):
    report = kinds_of_report(table)[kind]()
    assert len(report.html.encode()) < 1_000_000
    assert EVIL not in report.html
    assert report.to_markdown().startswith("# How wrong can the model be?")
    json.dumps(report.to_dict(), allow_nan=False)
    assert "<iframe" in report._repr_html_()
    assert str(report).startswith(report.summary.certificate.promise)


def test_infinite_errors_are_drawn_around(rng):
    y, prediction = rng.standard_normal(300), np.zeros(300)
    prediction[:5] = np.nan
    for rank in (1, 10):
        cert = pacband.certify(y, prediction, eps=0.2, delta=0.01, rank=rank, nonfinite="violate")
        assert math.isinf(cert.gamma) == (rank == 1)
        report = pacband.report(cert, y, prediction)
        json.dumps(report.to_dict(), allow_nan=False)
        assert report.html


def test_saving_is_atomic(paper, tmp_path, monkeypatch):
    _, _, _, _, cert = paper
    report = pacband.report(cert)
    path = report.save(tmp_path / "report.html")
    before = path.read_bytes()
    assert before.startswith(b"<!DOCTYPE html>")

    def crash(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", crash)
    with pytest.raises(OSError, match="no space left"):
        pacband.report(cert, title="another").save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_refusals(paper, table):
    X, y, predicted, scale, cert = paper
    with pytest.raises(InvalidScale, match="calibrated with a scale"):
        pacband.report(cert, y, predicted)
    with pytest.raises(InvalidInput, match="y_pred must be given with y"):
        pacband.report(cert, y)
    with pytest.raises(InvalidInput, match="X and y must have one length, got 3 and 1500"):
        pacband.report(cert, y, predicted, scale, X=X[:3])
    with pytest.raises(InvalidInput, match="one name for each of 1 columns, got 2"):
        pacband.report(cert, y, predicted, scale, X=X, feature_names=["a", "b"])
    with pytest.raises(InvalidInput, match="certificate must be one that pacband made, got dict"):
        pacband.report({}, y, predicted)
    frame, y, predicted = table
    groups = pacband.certify_groups(y, predicted, frame["site"], eps=0.1, delta=1e-2)
    with pytest.raises(InvalidInput, match="promises within groups: pass the group of every row"):
        pacband.report(groups, y, predicted)


def test_reports_and_figures_of_arrays_need_no_duckdb():
    code = (
        "import sys; sys.modules['duckdb'] = None; import pacband; "
        "X, y = pacband.datasets.paper_sample(300, random_state=0); p = pacband.datasets.paper_predictor(X); "
        "c = pacband.certify(y, p, eps=.1, delta=.1); pacband.plot_band(c, y, p); print(pacband.report(c, y, p).html[:15])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "<!DOCTYPE html>", done.stderr


@pytest.mark.parametrize("within", ["all", 0.8, "one"])
def test_units_are_reported_as_units(within, rng):
    error, unit = machines(rng, 300, 5, 0.5)
    X = pd.DataFrame({"x": rng.standard_normal(1500), "site": np.where(unit % 3, "a", "b")})
    draws = Units(unit, within, name="<b>machine</b>")
    cert = pacband.certify(error, 0 * error, eps=0.1, delta=0.05, draws=draws)
    page = pacband.report(cert, error, 0 * error, X=X, draws=draws)
    found = page.to_dict()
    assert found["verdict"]["state"] == "recomputed"
    assert (found["rows"]["n_rows"], found["rows"]["n_violations"]) == (300, cert.rank - 1)
    assert "of 300 <b>machine</b>s (" in found["verdict"]["text"]
    assert "<b>machine</b>" not in page.html
    assert "is one draw, and is shown by the row whose score it has" in page.html
    fresh = pacband.report(cert, 3 * error, 0 * error, X=X, draws=draws).to_dict()
    assert fresh["verdict"]["state"] == "contradicted"
    with pytest.raises(InvalidInput, match="pass draws=Units"):
        pacband.report(cert, error, 0 * error)


def test_a_series_is_reported_by_its_draws_and_nothing_is_read_off_dependent_ones(rng):
    y = rng.standard_normal(6000)
    for mixing in (None, 0.1):
        cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=Spaced(6, mixing))
        page = pacband.report(cert, y, 0 * y)
        found = page.to_dict()
        assert (found["verdict"]["state"], found["rows"]["n_rows"]) == ("recomputed", 1000)
        assert "Every 6-th row is a draw" in page.html
        # Other ranks of dependent draws would need other parts of δ.
        assert bool(found["alternatives"]) == bool(found["sample_sizes"]) == (mixing is None)
        assert "Every 6-th row is a draw" in page.to_markdown()


def test_the_rows_of_a_weighted_certificate_are_those_that_were_accepted(rng):
    y, draws = rng.standard_normal(4000), Weighted(rng.uniform(0, 2, 4000), at_most=2.0)
    cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=draws)
    found = pacband.report(cert, y, 0 * y, draws=draws).to_dict()
    assert (found["verdict"]["state"], found["rows"]["n_rows"]) == ("recomputed", cert.n_samples)
