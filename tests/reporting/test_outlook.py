"""The outlook in reports, and reports of given bounds and own scores."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import pacband
from pacband.draws import Spaced
from pacband.exceptions import InvalidInput
from pacband.reporting.outlook import outlook_of
from pacband.reporting.tables import report_table
from support.pages import Outline


@pytest.fixture
def certificates(rng):
    y = rng.standard_normal(1500)
    return y, {
        "ranked": pacband.certify(y, np.zeros(1500), delta=1e-3),
        "given": pacband.certify_tolerance(y, np.zeros(1500), 2.2, delta=1e-3),
        "own": pacband.certify_scores(y, delta=1e-3),
    }


@pytest.mark.parametrize("kind", ["ranked", "given", "own"])
def test_every_rendering_has_the_outlook(certificates, kind):
    y, found = certificates
    cert = found[kind]
    columns = (y,) if kind == "own" else (y, np.zeros(1500))
    page = pacband.report(cert, *columns, outlook=500)
    words = f"With confidence 99.9 %, at most {cert.outlook(500)} of the next 500 rows exceed the bound."
    assert words in "".join(Outline(page.html).text)
    assert words in page.to_markdown()
    assert page.to_dict()["outlook"]["violations"] == cert.outlook(500)
    assert page.summary.answer.state == "recomputed"
    assert pacband.report(cert).to_dict()["outlook"]["n_future"] == 1000


def test_groups_have_an_outlook_where_it_is_asked_for(rng):
    cert = pacband.certify_groups(
        rng.standard_normal(800), np.zeros(800), np.repeat(["a", "b"], 400), eps=0.1, delta=0.01
    )
    assert outlook_of(cert, None) is None
    assert pacband.report(cert).to_dict()["outlook"] is None
    found = outlook_of(cert, 100)
    assert found.violations == max(cert.outlook(100).values())
    assert "of the next 100 rows of any one group" in str(found)


def test_the_words_name_the_draws(rng):
    y, machine = rng.standard_normal(3000), np.repeat(np.arange(600), 5)
    for draws, words in (
        (pacband.draws.Units(machine, name="machine"), "of the next 50 machines exceed the bound."),
        (pacband.draws.Units(machine, "one", name="machine"), "of the next 50 rows, one of every machine, exceed the"),
        (pacband.draws.Spaced(5), "of the next 50 rows, 5 apart, exceed the bound."),
        (pacband.draws.Weighted(np.ones(3000), at_most=2.0), "of the next 50 rows exceed the bound."),
    ):
        assert words in str(outlook_of(pacband.certify(y, np.zeros(3000), eps=0.1, delta=0.01, draws=draws), 50))


def test_a_report_of_a_given_bound_plans_no_rank(certificates):
    y, found = certificates
    page = pacband.report(found["given"], y, np.zeros(1500))
    assert page.summary.sizes == ()
    assert page.summary.numbers["plan_map"] is None
    assert page.summary.numbers["violation"] is None
    assert "expected violation" not in page.html
    assert "the given bound γ̄" in page.html
    assert "beyond the bound" in page.to_markdown()
    assert "The count and the fingerprint agree" in page.summary.answer.text
    assert "It does not hold if the tolerance was chosen after looking" in page.html
    assert pacband.report(found["given"], y + 0.01, np.zeros(1500)).summary.answer.state == "kept"


def test_a_report_of_scores_draws_no_band(certificates):
    y, found = certificates
    page = pacband.report(found["own"], y, X=np.arange(1500.0))
    assert page.summary.numbers["band"] is None
    assert "of future scores, at least" in page.html
    assert "on the score" in page.html


@pytest.mark.parametrize("kind", ["given", "own"])
@pytest.mark.parametrize("fresh", [False, True])
def test_large_tables_have_the_same_counts(certificates, kind, fresh, monkeypatch):
    y, found = certificates
    cert = found[kind]
    monkeypatch.setattr("pacband.reporting.tables.is_large", lambda relation: True)
    frame = pd.DataFrame({"y": y + (0.01 if fresh else 0.0), "p": 0.0, "x": np.arange(1500.0)})
    relation = duckdb.from_df(frame)
    options = {"score": "y"} if kind == "own" else {"target": "y", "prediction": "p", "tolerance": 2.2}
    columns = pacband.certify_frame(frame, **options).columns
    page = report_table(cert, relation, columns, features=["x"] if kind == "given" else [])
    assert page.summary.answer.state == ("kept" if fresh else "recomputed")
    assert page.summary.rows.n_violations == int((cert.basis.scores(*_columns(frame, kind)) > cert.gamma).sum())
    assert page.html


def _columns(frame, kind):
    return (frame.y,) if kind == "own" else (frame.y, frame.p)


def test_a_point_of_a_curve_has_no_outlook(rng, tmp_path):
    """Its ε may be chosen by the scores, and the counts of all ε together are not bounded by parts of δ."""
    y = rng.standard_normal(2000)
    point = pacband.certify_curve(y, 0 * y, delta=0.05).certificate(0.1)
    for cert in (point, pacband.load(point.save(tmp_path / "point.json"))):
        with pytest.raises(InvalidInput, match="a point of a curve has no outlook"):
            cert.outlook(100)
        assert pacband.report(cert).to_dict()["outlook"] is None


def test_without_a_part_of_delta_for_the_next_draws_there_is_no_outlook(rng):
    y = rng.standard_normal(100_000)
    cert = pacband.certify(y, 0 * y, draws=Spaced(200, 0.9))
    with pytest.raises(InvalidInput, match="choose a smaller m"):
        cert.outlook(1000)
    assert pacband.report(cert).to_dict()["outlook"] is None
    with pytest.raises(InvalidInput, match="choose a smaller m"):
        pacband.report(cert, outlook=1000)
