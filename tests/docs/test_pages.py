"""The explanation pages: every block runs, and every table and figure is computed."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest
from scipy.stats import beta, binomtest, norm

from support.blocks import blocks_of, run_page, sections_without_library, shows

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("index", "start", "which_promise", "choosing", "marginal", "independence", "reading_a_certificate")
HOW_TO = sorted(f"how_to/{path.stem}" for path in (DOCS / "how_to").glob("*.md") if path.stem != "index")


@pytest.fixture
def table(monkeypatch):
    """Import a module of docs/tables, or of another folder of docs."""
    monkeypatch.syspath_prepend(str(DOCS / "tables"))
    before = set(sys.modules)

    def load(name):
        spec = importlib.util.spec_from_file_location(name, DOCS / "tables" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in set(sys.modules) - before:
        if str(DOCS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize("page", [*PAGES, *HOW_TO])
def test_every_block_of_a_page_runs(page, run):
    path = DOCS / f"{page}.md"
    assert blocks_of(path)
    run_page(path, run)


def test_only_sections_of_a_library_that_is_missing_are_left_out(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("```python\na = 1\n```\n## one\n```python\nimport xgboost\n```\n## two\n```python\nb = a\n```\n")
    monkeypatch.setattr("support.blocks.find_spec", lambda name: None)
    assert sections_without_library(page) == {1}
    run_page(page, None)
    monkeypatch.setattr("support.blocks.find_spec", lambda name: name)
    assert sections_without_library(page) == set()


def test_a_block_that_shows_something_else_is_noticed():
    assert shows("With confidence 95 %, at\nleast 90 %.", "With confidence 95 %, … 90 %.")
    assert not shows("With confidence 95 %, at least 90 %.", "With confidence 99 %, at least 90 %.")
    # What is left out is marked.
    assert not shows("one\ntwo\nthree", "one\nthree")
    assert not shows("one\ntwo", "one")
    assert shows("one\ntwo\nthree", "one\n…\nthree")
    assert shows("one\ntwo", "one\n…")


def test_numbers_are_not_divided_from_their_signs(table):
    pytest.importorskip("sphinx")
    unbreak = table("../_ext/unbroken").unbreak
    assert unbreak("at least 95 % with ε = 0.05") == "at least 95\u00a0% with ε\u00a0=\u00a00.05"
    assert unbreak("N = 1,000 and × 1.15") == "N\u00a0=\u00a01,000 and ×\u00a01.15"
    assert unbreak("a row is one draw = independent") == "a row is one draw = independent"
    assert unbreak("confidence 1 − δ of Beta(r, N − r + 1)").count(" ") == 4
    assert unbreak("a weight w(x) = 2x") == "a weight w(x)\u00a0=\u00a02x"
    assert unbreak("a draw − a row – and a sentence") == "a draw − a row – and a sentence"


def test_the_widths_are_those_of_plan_table(table):
    import pacband

    text = table("widths").markdown("0.1")
    row = pacband.plan_table(120, eps=0.1, deltas=0.05).rows[0]
    line = next(line for line in text.splitlines() if line.startswith("| 120 |"))
    assert line.split("|")[3].strip() == f"×\u00a0{row.relative_width:.2f}"
    # One in a million needs 132 samples.
    assert (line.split("|")[6].strip(), text.splitlines()[-1].split("|")[6].strip()) == ("–", "132")


def test_the_widths_that_the_pages_quote():
    import pacband

    def width(n, eps, delta):
        return round(pacband.plan_table(n, eps=eps, deltas=delta).rows[0].relative_width, 2)

    assert {width(1000, eps, 0.05) for eps in (0.05, 0.1)} == {1.05}
    assert {width(100_000, eps, 1e-6) for eps in (0.05, 0.1)} == {1.01}
    assert {width(1000, eps, 1e-6) for eps in (0.05, 0.1)} == {1.15, 1.18}
    assert (width(120, 0.1, 0.05), width(120, 0.05, 0.05)) == (1.15, 1.22)
    narrower = [norm.isf(pacband.plan(0.1, 0.05, n_samples=n).expected_violation / 2) for n in (29, 58, 145)]
    assert narrower[1] / narrower[0] == pytest.approx(1, abs=0.005)
    assert narrower[2] / narrower[0] == pytest.approx(1 - 0.12, abs=0.005)
    for n, eps, delta, cost in ((120, 0.1, 0.05, 0.12), (1000, 0.1, 0.05, 0.03), (2500, 0.05, 1e-6, 0.01)):
        one, ten = (norm.isf(pacband.max_rank(n, eps, delta, k) / (n + 1) / 2) for k in (1, 10))
        assert ten / one - 1 == pytest.approx(cost, abs=0.005)


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")
def test_what_can_be_combined_is_what_the_page_says():
    import numpy as np

    import pacband
    from pacband import draws

    rng, n = np.random.default_rng(0), 2000
    y, unit = rng.standard_normal(n), np.repeat(np.arange(200), 10)
    kinds = {
        "rows": draws.Rows(),
        "units": draws.Units(unit),
        "units on average": draws.Units(unit, "average"),
        "series": draws.Spaced(4),
        "shift": draws.Weighted(np.full(n, 1.5), at_most=2, random_state=0),
    }
    promise = {"eps": 0.2, "delta": 0.1}
    forms = {
        "groups": lambda *rows, **given: pacband.certify_groups(*rows, unit % 2, **promise, **given),
        "candidates": lambda y, p, **given: pacband.certify_family(y, {"a": p, "b": p + 1}, **promise, **given),
        "tolerance": lambda *rows, **given: pacband.certify_tolerance(*rows, 2.0, delta=0.1, **given),
        "curve": lambda *rows, **given: pacband.certify_curve(*rows, delta=0.1, **given),
    }
    outputs = np.column_stack([y, y])
    ways = [((y, 0 * y), {"side": "upper"}), ((outputs, 0 * outputs), {}), ((y, 0 * y), {"clip": (-9, 9)})]
    ways += [((y.reshape(n, 1, 1), 0 * y.reshape(n, 1, 1)), {})]

    def answer(form, way, kind):
        rows, given = way
        try:
            form(*rows, **given, **({} if kind.kind == draws.ROWS else {"draws": kind}))
        except (pacband.InvalidInput, TypeError):
            return "no"
        return "yes"

    lines = (DOCS / "which_promise.md").read_text("utf-8").splitlines()
    start = lines.index("| draws | groups | candidates | tolerance | curve |")
    told = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start + 2 : start + 2 + len(kinds)]]
    for way in ways:
        assert told == [[name, *(answer(form, way, kind) for form in forms.values())] for name, kind in kinds.items()]


def test_the_share_of_split_conformal_bands_beyond_eps(table):
    """48 % at N = 1000: the binomial tail, and a simulation that errs by at most six standard errors."""
    import numpy as np

    module = table("split_conformal")
    share = module.too_large(1000)
    assert share == pytest.approx(0.48, abs=0.005)
    ranked = np.random.default_rng(0).beta(50, 951, 20_000)
    assert np.mean(ranked > 0.05) == pytest.approx(share, abs=6 * (0.25 / 20_000) ** 0.5)
    assert "48 %" in module.draw()[1].text
    # By how much, in one of a hundred calibrations.
    for n, much in ((100, 0.112), (1000, 0.067), (10_000, 0.055)):
        rank = int(0.05 * (n + 1))
        assert beta.isf(0.01, rank, n - rank + 1) == pytest.approx(much, abs=0.0005)


def test_the_stored_failure_rates_are_those_of_the_script(table):
    """The first 30 calibrations again: nothing that is declared fails more often than δ allows, by far."""
    module = table("failures")
    stored = json.loads((DOCS / "tables" / "failures.json").read_text("utf-8"))["rows"]
    again = module.measure(30)
    assert [(row["study"], row["draws"]) for row in again] == [(row["study"], row["draws"]) for row in stored]
    for now, then in zip(again, stored, strict=True):
        assert now["bound"] == pytest.approx(then["bound"], rel=0.1)
        wrong = then["draws"].endswith("(wrong)")
        assert (then["failures"] > 2 * module.DELTA) == wrong
        assert wrong or then["failures"] <= module.DELTA


def test_the_stored_comparison_is_the_one_described(table):
    module = table("peers")
    rows = {row["method"]: row for row in module.measured.read("peers")["rows"]}
    assert list(rows) == list(module.PROMISES)
    certified, same = rows["pacband, δ = 0.05"], rows["MAPIE, at the level of pacband's rank"]
    assert certified["width"] == same["width"]
    n_failures = round(certified["failures"] * module.CALIBRATIONS)
    assert binomtest(n_failures, module.CALIBRATIONS, module.DELTA, alternative="greater").pvalue >= 1e-6
    assert len(module.markdown().splitlines()) == len(rows) + 4
    assert len(module.markdown("times").splitlines()) == len(rows) + 2


def test_the_sample_is_one_page_without_the_network(table):
    page = table("sample_certificate").page()
    assert "<script" not in page
    # The only addresses are the names of the two vocabularies of SVG.
    assert set(re.findall(r'https?://[^"\s]+', page)) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "@page" in page
