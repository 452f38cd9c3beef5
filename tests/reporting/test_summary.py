"""The report: its numbers are those of the certificate, its page is safe and small, its files whole."""

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom, binomtest, norm

import pacband
from pacband import datasets
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.judging.counts import exact_interval, exceedance
from pacband.reporting import rows as report_rows
from pacband.reporting.bins import quantile_codes, slice_rows
from pacband.reporting.numbers import slice_numbers
from pacband.reporting.summary import _curve

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def paper():
    X, y = datasets.paper_sample(1500, random_state=0)
    predicted, scale = datasets.paper_predictor(X), datasets.paper_scale(X)
    return X, y, predicted, scale, pacband.certify(y, predicted, scale, eps=0.05, delta=1e-3)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((2000, 3)), columns=[EVIL, "a$b|c", "load"])
    X["site"] = np.where(rng.random(2000) < 0.3, "<b>north</b>", "south")
    prediction = X["load"].to_numpy() * 2
    y = prediction + rng.standard_normal(2000) * (0.5 + np.abs(X["load"].to_numpy()))
    return X, y, prediction


class Outline(HTMLParser):
    """The tags of a page, its ids and what it would load."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.sources, self.text = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attributes = dict(attrs)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        for name in ("src", "href", "xlink:href"):
            if attributes.get(name):
                self.sources.append(attributes[name])

    def handle_data(self, data):
        self.text.append(data)


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


def test_the_verdict_on_fresh_rows_is_the_exact_test(paper):
    _, _, _, _, cert = paper
    for spread, state in ((1.0, "kept"), (1.6, "contradicted")):
        X, y = datasets.paper_sample(1000, random_state=9)
        predicted, scale = datasets.paper_predictor(X), datasets.paper_scale(X)
        y = predicted + spread * (y - predicted)
        found = pacband.report(cert, y, predicted, scale, X=X)
        outside = int(np.sum(np.abs(y - predicted) > cert.gamma * scale))
        assert found.to_dict()["rows"]["n_violations"] == outside
        assert (binom.sf(outside - 1, 1000, 0.05) <= 0.01) == (state == "contradicted")
        assert found.summary.verdict.state == state
        # What only calibration rows can tell is not shown.
        assert found.to_dict()["curve"] is None
        assert found.to_dict()["alternatives"] == []


def test_exact_intervals_and_p_values_are_scipys():
    for k, n in [(0, 10), (3, 10), (10, 10), (17, 4000)]:
        interval = binomtest(k, n).proportion_ci(0.95, method="exact")
        assert exact_interval(k, n) == pytest.approx((interval.low, interval.high), abs=1e-12)
        assert exceedance(k, n, 0.1) == pytest.approx(binom.sf(k - 1, n, 0.1), rel=1e-9)


def test_slices_hold_every_row_once(rng):
    column = np.round(rng.standard_normal(1001), 1)
    labels, codes = quantile_codes(column, 8)
    assert len(labels) == codes.max() + 1
    bounds = [tuple(map(float, label.split(" to "))) for label in labels]
    for k, (low, high) in enumerate(bounds):
        inside = column[codes == k]
        assert inside.max() <= high + 1e-9
        assert inside.min() >= low - 1e-9
    outside = rng.random(1001) < 0.1
    slicing = slice_rows("x", column, outside, np.ones(1001))
    assert sum(part.n_rows for part in slicing.slices) == 1001
    assert sum(part.n_violations for part in slicing.slices) == outside.sum()
    labels, codes = quantile_codes(np.array([1.0, np.nan, 2.0]), 8)
    assert [labels[k] for k in codes] == ["1", "missing", "2"]


def test_weak_slices_are_found_and_seldom_made_up(table, rng):
    X, y, prediction = table
    cert = pacband.certify(y, prediction, eps=0.1, delta=1e-3)
    slicings = pacband.report(cert, y, prediction, X=X).summary.slicings
    assert slicings[0].feature == "load"
    assert [part.weak for part in slicings[0].slices] == [True, *[False] * 6, True]
    # 200 sound tables at a level of 1 %: more than 13 with any weak slice has probability below 1e-6.
    alarms = 0
    for _ in range(200):
        noise, features = rng.standard_normal(400), rng.standard_normal((400, 2))
        cert = pacband.certify(noise, np.zeros(400), eps=0.1, delta=0.1)
        rows = report_rows.read_rows(cert, rng.standard_normal(400), np.zeros(400), X=features)
        alarms += any(part.weak for slicing in slice_numbers(rows, 0.1, level=0.01) for part in slicing.slices)
    assert alarms <= 13


def test_the_page_is_one_sound_document(table):
    X, y, prediction = table
    cert = pacband.certify(y, prediction, eps=0.1, delta=1e-3)
    page = pacband.report(cert, y, prediction, X=X, title=f"Title {EVIL}", command=f"run {EVIL} && 'x'").html
    outline = Outline(page)
    assert EVIL not in page
    assert outline.tags.count("script") == 1
    assert "b" not in outline.tags
    assert any(EVIL in text for text in outline.text)
    assert len(outline.ids) == len(set(outline.ids))
    assert all(source.startswith(("#", "data:")) for source in outline.sources)
    assert not re.search(r"https?://(?!www\.w3\.org/)", page)
    assert outline.tags.count("h1") == 1
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        assert re.search(r"<title id=[^>]*>[^<]+</title><desc id=[^>]*>[^<]+</desc>", svg)
        # Colours are the page's, so that figures follow it into the dark.
        assert not re.search(r"#[0-9a-f]{6}", svg)


def test_every_url_reference_in_the_figures_is_to_an_id_of_the_page(paper):
    X, y, predicted, scale, cert = paper
    page = pacband.report(cert, y, predicted, scale, X=X).html
    ids = set(Outline(page).ids)
    references = set(re.findall(r'url\(#([^)]*)\)|xlink:href="#([^"]*)"', page))
    assert references
    assert {first or second for first, second in references} <= ids


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


def test_what_if_spends_the_share_of_the_candidate(table):
    _, y, prediction = table
    candidates, weights = {"a": prediction, "b": prediction + 1}, {"a": 0.9, "b": 0.1}
    for spent in (None, weights):
        family = pacband.certify_family(y, candidates, eps=0.05, delta=1e-3, weights=spent)
        found = pacband.report(family, y, candidates=candidates).to_dict()
        for each in (each for each in found["alternatives"] if each["eps"] >= 0.05):
            again = pacband.certify_family(y, candidates, eps=each["eps"], delta=each["delta"], weights=spent)
            assert again.certificate.gamma == each["gamma"]


def test_infinite_errors_are_drawn_around(rng):
    y, prediction = rng.standard_normal(300), np.zeros(300)
    prediction[:5] = np.nan
    for rank in (1, 10):
        cert = pacband.certify(y, prediction, eps=0.2, delta=0.01, rank=rank, nonfinite="violate")
        assert math.isinf(cert.gamma) == (rank == 1)
        report = pacband.report(cert, y, prediction)
        json.dumps(report.to_dict(), allow_nan=False)
        assert report.html


def test_markdown_takes_names_literally(table):
    X, y, prediction = table
    cert = pacband.certify(y, prediction, eps=0.1, delta=1e-3)
    text = pacband.report(cert, y, prediction, X=X).to_markdown()
    assert EVIL not in text
    assert r"a\$b\|c" in text
    head, rule, *lines = next(block.split("\n") for block in text.split("\n\n") if block.startswith("| feature"))
    assert all(len(re.split(r"(?<!\\)\|", line)) == len(rule.split("|")) for line in [head, *lines])
    assert "\n\n\n" not in text


def test_findings_of_the_diagnosis_are_shown(rng):
    noise = rng.standard_normal(1000)
    for i in range(1, 1000):
        noise[i] += 0.8 * noise[i - 1]
    cert = pacband.certify(noise, np.zeros(1000), eps=0.1, delta=1e-3)
    page = pacband.report(cert, noise, np.zeros(1000))
    assert "Finding: serial dependence" in page.html
    assert "serial dependence" in page.to_markdown()


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


def test_many_rows_make_no_larger_page(monkeypatch, rng):
    monkeypatch.setattr(report_rows, "SAMPLE", 3000)
    y, X = rng.standard_normal(40_000), rng.standard_normal((40_000, 3))
    cert = pacband.certify(y, np.zeros(40_000))
    large = pacband.report(cert, y, np.zeros(40_000), X=X)
    assert large.summary.rows.sampled
    assert large.summary.rows.n_violations == cert.rank - 1
    assert large.summary.verdict.state == "recomputed"
    assert "drawn with seed 0" in large.html
    small = pacband.report(pacband.certify(y[:2500], 0 * y[:2500]), y[:2500], 0 * y[:2500], X=X[:2500])
    assert len(large.html) < 1.2 * len(small.html)


def test_a_thousand_candidates_or_groups_make_no_book(rng):
    y = rng.standard_normal(30_000)
    candidates = {f"model {k}": y * (k / 1e4) for k in range(1000)}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.1)
    groups = pacband.certify_groups(y, 0 * y, np.arange(30_000) % 600, eps=0.4, delta=0.5)
    for page in (pacband.report(family).html, pacband.report(groups).html):
        assert len(page) < 1_000_000
        assert page.count("<tr>") < 450
    assert "model 999 (best)" in pacband.report(family).html


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
    with pytest.raises(InvalidInput, match="groups must be given"):
        pacband.report(groups, y, predicted)


def ten_candidates(rng, n=300):
    """Errors of ten candidates that are equally good: the best one is chosen by its luck."""
    return {f"m{k}": rng.standard_normal(n) for k in range(10)}


@pytest.mark.parametrize("weights", [None, [0.91, *[0.01] * 9]])
def test_the_curve_of_a_chosen_candidate_is_said_to_hold_with_the_confidence_of_the_family(rng, weights):
    candidates = ten_candidates(rng)
    family = pacband.certify_family(np.zeros(300), candidates, eps=0.1, delta=0.3, weights=weights)
    page = pacband.report(family, np.zeros(300), candidates=candidates)
    curve = page.to_dict()["curve"]
    assert curve["delta"] == 0.3
    assert curve["local_delta"] < 0.3 * float(family.certificate.share.fraction)
    assert curve["promise"].startswith("With confidence 70 %, ")
    assert page.summary.curve.certificate(0.1).delta == 0.3
    for text in (page.html, page.to_markdown()):
        (sentence,) = re.findall(r"bounds (?:in this section )?hold for every ε[^.:]*", text)
        assert re.findall(r"confidence ([\d.]+ %)", sentence) == ["70 %"]
    # Declared beforehand, or a point of another curve: what is promised is promised for all of them.
    declared = pacband.certify(np.zeros(300), candidates["m0"], eps=0.1, delta=0.3, n_candidates=10)
    assert pacband.report(declared, np.zeros(300), candidates["m0"]).to_dict()["curve"]["delta"] == 0.3


def test_the_curve_of_the_best_of_ten_fails_as_seldom_as_is_said(rng):
    """Over 300 calibrations; more failures than the quantile have a probability below 1e-6. At δ/10 it would fail."""
    failures, said = 0, set()
    for _ in range(300):
        candidates = ten_candidates(rng)
        family = pacband.certify_family(np.zeros(300), candidates, eps=0.1, delta=0.5)
        curve = _curve(family.certificate, np.abs(candidates[family.best]))
        said.add(curve.delta)
        failures += bool((2 * norm.sf(curve.gammas) > curve.levels).any())
    (delta,) = said
    assert failures <= binom.ppf(1 - 1e-6, 300, delta)
    assert failures > binom.ppf(1 - 1e-6, 300, delta / 10)


def test_what_is_to_be_expected_of_a_chosen_candidate_is_left_out(rng):
    candidates = ten_candidates(rng)
    family = pacband.certify_family(np.zeros(300), candidates, eps=0.1, delta=0.5)
    declared = pacband.certify(np.zeros(300), candidates["m0"], eps=0.1, delta=0.5, n_candidates=10)
    for cert in (family, declared):
        page = pacband.report(cert, np.zeros(300), candidates[family.best if cert is family else "m0"])
        for text in (page.html, page.to_markdown()):
            assert "violation to expect" not in text
            assert "Where the true violation lies" not in text
        assert "chosen beforehand" in page.html
        assert all(size["expected_violation"] is None for size in page.to_dict()["sample_sizes"])
    alone = pacband.certify(np.zeros(300), candidates["m0"], eps=0.1, delta=0.5)
    page = pacband.report(alone, np.zeros(300), candidates["m0"])
    assert page.html.count("violation to expect") > 1
    assert "violation to expect" in page.to_markdown()
    assert "Where the true violation lies" in page.html
    groups = pacband.certify_groups(np.zeros(300), candidates["m0"], np.arange(300) % 2, eps=0.1, delta=0.5)
    assert "violation to expect" in pacband.report(groups).html
    chosen = pacband.certify_groups(
        np.zeros(300), candidates["m0"], np.arange(300) % 2, eps=0.1, delta=0.5, n_candidates=2
    )
    assert "violation to expect" not in pacband.report(chosen).html


def one_sided_family(rng, n=400):
    """Candidates that overshoot: γ̄ falls with the overshoot, and the distance from y to the bound grows."""
    y = rng.standard_normal(n)
    candidates = {f"over {k}": y * 0.9 + 10.0 * k + rng.standard_normal(n) * (0.1 + k) for k in range(40)}
    return y, candidates, pacband.certify_family(y, candidates, eps=0.1, delta=0.1, side="upper")


def test_one_sided_families_are_ranked_by_what_the_best_minimises(rng):
    y, candidates, family = one_sided_family(rng)
    assert family.best == "over 0"
    assert min(family.mean_bound, key=family.mean_bound.__getitem__) == "over 39"
    page = pacband.report(family, y, candidates=candidates)
    body = page.html.split('id="candidates"')[1].split("</table>")[0]
    names = re.findall(r'<th scope="row">(over \d+)', body)
    assert names == sorted(candidates, key=family.sharpness.__getitem__)
    shown = [float(value) for value in re.findall(r"</th><td data-value=\"([^\"]*)\"", body)]
    assert shown == [family.sharpness[name] for name in names]
    assert "mean distance from y to the bound" in body
    assert "half-width" not in body
    text = page.to_markdown()
    assert re.findall(r"^\| (over \d+)", text, flags=re.MULTILINE) == names
    assert "| candidate | mean distance from y to the bound |" in text
    widths = [float(width) for width in re.findall(r'<span style="width:([\d.]+)%', body)]
    assert widths == sorted(widths)
    assert widths[-1] == 100.0


@pytest.mark.parametrize("rule", ["exact", "paper", "maximum"])
def test_sample_sizes_follow_the_rule_of_the_certificate(rng, rule):
    y = rng.standard_normal(3000)
    cert = pacband.certify(y, np.zeros(3000), eps=0.05, delta=1e-3, rule=rule)
    sizes = {each["n_samples"]: each["rank"] for each in pacband.report(cert).to_dict()["sample_sizes"]}
    assert list(sizes) == [1500, 3000, 6000, 12000, 30000]
    for n_samples, rank in sizes.items():
        assert rank == pacband.plan(0.05, 1e-3, n_samples=n_samples, rule=rule).rank


def test_a_rank_chosen_by_hand_stands_beside_the_largest_ones(rng):
    cert = pacband.certify(rng.standard_normal(3000), np.zeros(3000), eps=0.05, delta=1e-3, rank=40)
    page = pacband.report(cert)
    sizes = [(each["n_samples"], each["rank"]) for each in page.to_dict()["sample_sizes"]]
    others = [(n, pacband.max_rank(n, 0.05, 1e-3)) for n in (1500, 3000, 6000, 12000, 30000)]
    assert sizes == [others[0], (3000, 40), *others[1:]]
    assert "All rows but that of the certificate have the largest valid rank." in page.html
    assert page.html.count('<tr class="mine">') == 1
