"""The explanation pages: every block runs, and every table and figure is computed."""

import importlib.util
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from scipy.stats import binom, binomtest

from support.blocks import DOCS, blocks_of, run_page, sections_without_library, shows, text_of

PAGES = ("index", "start", "which_promise", "choosing", "marginal", "independence", "reading_a_certificate")
# What fits between the two lists of a page at 1280 px.
COLUMNS = 88
HOW_TO = sorted(f"how_to/{path.stem}" for path in (DOCS / "how_to").glob("*.md") if path.stem != "index")


@pytest.fixture
def computed(monkeypatch):
    """Import a module of docs/computed."""
    monkeypatch.syspath_prepend(str(DOCS / "computed"))
    before = set(sys.modules)

    def load(name):
        spec = importlib.util.spec_from_file_location(name, DOCS / "computed" / f"{name}.py")
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
    # MLflow needs a store, which takes seconds to make: tests/test_mlflow.py has one, and runs its section.
    run_page(path, run, without=("mlflow",))


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


def test_the_widths_are_those_of_plan_table(computed):
    import pacband

    text = computed("widths").markdown("0.1")
    row = pacband.plan_table(120, eps=0.1, deltas=0.05).rows[0]
    line = next(line for line in text.splitlines() if line.startswith("| 120 |"))
    assert line.split("|")[3].strip() == f"× {row.relative_width:.2f}"
    # One in a million needs 132 samples.
    assert (line.split("|")[6].strip(), text.splitlines()[-1].split("|")[6].strip()) == ("–", "132")


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
        "candidates": lambda y, p, scale=None, **given: pacband.certify_family(
            y, {"a": p, "b": p + 1 if scale is None else (p + 1, scale)}, **promise, **given
        ),
        "tolerance": lambda *rows, **given: pacband.certify_tolerance(*rows, 2.0, delta=0.1, **given),
        "curve": lambda *rows, **given: pacband.certify_curve(*rows, delta=0.1, **given),
    }
    outputs = np.column_stack([y, y])
    ways = [((y, 0 * y), {"side": "upper"}), ((outputs, 0 * outputs), {}), ((y, 0 * y), {"clip": (-9, 9)})]
    ways += [((y.reshape(n, 1, 1), 0 * y.reshape(n, 1, 1)), {}), ((y, 0 * y), {"scale": (np.ones(n), np.full(n, 2.0))})]

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


def test_the_limits_of_sides_and_scales_are_those_of_the_page():
    import numpy as np

    import pacband

    y = np.random.default_rng(0).standard_normal((500, 2))
    pair, matrix = (np.ones(500), 2 * np.ones(500)), np.eye(2)
    told = "an ellipsoid has no sides; two scales need both sides, and no ellipsoid;"
    assert told in text_of("which_promise")
    for given in (
        {"gauge": matrix, "side": "upper"},
        {"scale": pair, "side": "upper"},
        {"scale": pair, "gauge": matrix},
    ):
        with pytest.raises(pacband.InvalidInput):
            pacband.certify(y, 0 * y, eps=0.1, delta=0.01, **given)
        # Each alone is allowed.
        for name, value in given.items():
            pacband.certify(y, 0 * y, eps=0.1, delta=0.01, **{name: value})


def test_the_columns_of_several_outputs_and_of_one_side_are_those_of_the_page(run):
    import numpy as np
    import pandas as pd

    y = np.random.default_rng(0).standard_normal((500, 2))
    pd.DataFrame({"y1": y[:, 0], "y2": y[:, 1], "p1": 0.0, "p2": 0.0}).to_csv("two.csv", index=False)
    which = (DOCS / "which_promise.md").read_text("utf-8")
    outputs = ("--target", "y1", "--target", "y2", "--prediction", "p1", "--prediction", "p2")
    assert f"`{' '.join(outputs)}`" in which
    one_side = ("--target", "y1", "--prediction", "p1", "--side", "upper")
    for name, options in {"box": outputs, "side": one_side}.items():
        done = run("certify", "two.csv", *options, "--delta", "0.001", "-o", f"{name}.json")
        assert done.returncode == 0, done.stderr
        assert run("apply", f"{name}.json", "two.csv", "-o", f"{name}.csv").returncode == 0
    new = list(pd.read_csv("box.csv").columns[4:])
    assert "`, `".join(new[:3]) + f"` and `{new[3]}`: the outputs are counted from 0" in which
    assert Path("side.csv").read_text("utf-8").splitlines()[1].split(",")[4] == "-inf"
    assert "`apply` writes `-inf` to the column `lower`" in which


def test_check_notices_all_calibration_rows_and_no_part_of_them():
    """As the pages say, on which a reader relies."""
    import numpy as np

    import pacband

    rng = np.random.default_rng(0)
    y, fresh = rng.standard_normal(1000), rng.standard_normal(1)
    certificate = pacband.certify(y, 0 * y, eps=0.05, delta=0.01)
    holds = [
        pacband.check(certificate, rows, 0 * rows).holds
        for rows in (rng.permutation(y), y[:-1], np.concatenate([y, fresh]))
    ]
    assert holds == [None, True, True]
    for page, said in {
        "reading_a_certificate": "If all of them are there and no others, `check` notices it when their scores are the same to the last bit, in any",
        "how_to/production": "if they are all there, in any order, and no others. It does not notice a part of them",
        "how_to/recalibration": "if they are all there and no others; it does not notice a part of them",
    }.items():
        assert said in text_of(page)


def test_the_share_of_split_conformal_bands_beyond_eps(computed):
    """48 % at N = 1000: the binomial tail, and a simulation that errs by at most six standard errors."""
    import numpy as np

    module = computed("split_conformal")
    share = module.too_large(1000)
    assert share == pytest.approx(0.48, abs=0.005)
    ranked = np.random.default_rng(0).beta(50, 951, 20_000)
    assert np.mean(ranked > 0.05) == pytest.approx(share, abs=6 * (0.25 / 20_000) ** 0.5)
    assert "48 %" in module.draw()[1].text
    # By how much, in one of a hundred calibrations: at that violation, so few samples as the rank exceed it.
    for n, much in ((100, 0.112), (1000, 0.067), (10_000, 0.055)):
        assert module.in_the_worst(n) == pytest.approx(much, abs=0.0005)
        assert binom.cdf(int(0.05 * (n + 1)) - 1, n, module.in_the_worst(n)) == pytest.approx(0.01, rel=1e-6)
        assert f"{100 * module.in_the_worst(n):.3g} %" in module.markdown()


def test_the_stored_failure_rates_are_those_of_the_script(computed):
    """The first 30 calibrations again: nothing that is declared fails more often than δ allows, by far."""
    module = computed("failures")
    stored = json.loads((DOCS / "computed" / "failures.json").read_text("utf-8"))["rows"]
    again = module.measure(30)
    assert [(row["study"], row["draws"]) for row in again] == [(row["study"], row["draws"]) for row in stored]
    for now, then in zip(again, stored, strict=True):
        assert now["bound"] == pytest.approx(then["bound"], rel=0.1)
        wrong = then["draws"].endswith("(wrong)")
        assert (then["failures"] > 2 * module.DELTA) == wrong
        assert wrong or then["failures"] <= module.DELTA
    # What the page says about the table.
    mean = {row["draws"]: row["bound"] for row in stored}
    assert round(100 * (mean['Units(machine, "one")'] / mean['Units(machine, "average")'] - 1)) == 7
    text = text_of("independence")
    assert "it is 7 % larger on average" in text
    machines = f"{module.N_UNITS} machines of the table ({module.ROWS_PER_UNIT} rows each"
    assert f"{machines}, intra-class correlation {module.ICC}, ε = {module.EPS}, δ = {module.DELTA})" in text


def test_the_stored_comparison_is_the_one_described(computed):
    module = computed("peers")
    rows = {row["method"]: row for row in module.measured.read("peers")["rows"]}
    assert list(rows) == list(module.PROMISES)
    certified, same = rows["pacband, δ = 0.05"], rows["MAPIE, at the level of pacband's rank"]
    assert certified["width"] == same["width"]
    n_failures = round(certified["failures"] * module.CALIBRATIONS)
    assert binomtest(n_failures, module.CALIBRATIONS, module.DELTA, alternative="greater").pvalue >= 1e-6
    assert len(module.markdown().splitlines()) == len(rows) + 4
    assert len(module.markdown("times").splitlines()) == len(rows) + 2


def test_the_sample_is_one_page_without_the_network(computed):
    page = computed("sample_certificate").page()
    assert "<script" not in page
    # The only addresses are the names of the two vocabularies of SVG.
    assert set(re.findall(r'https?://[^"\s]+', page)) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "@page" in page


def test_the_page_makes_the_certificate_of_the_sample(computed):
    """With the same scope, and the same words for its numbers."""
    module = computed("sample_certificate")
    text = (DOCS / "reading_a_certificate.md").read_text("utf-8")
    for fact in (module.ABOUT.name, module.ABOUT.target, module.ABOUT.unit, module.ABOUT.scope):
        assert f'="{fact}",\n' in text
    sheet, certificate = module.page(), module.sample()[0]
    # The interval is one of the true share. The expected violation is one number.
    assert "true share, in 95 of 100 calibrations" in sheet
    assert f"{100 * certificate.expected_violation:.2f} % of errors beyond the bound" in " ".join(text.split())


def test_the_command_of_the_sample_recomputes_it(computed, run):
    import numpy as np

    module = computed("sample_certificate")
    certificate, _ = module.sample()
    certificate.save("cert.json")
    form = {"delimiter": ",", "comments": "", "fmt": "%.17g"}
    np.savetxt("rows.csv", np.column_stack(module.rows()), header="pressure,predicted", **form)
    (command,) = re.findall(r"<code>pacband (report .*?)</code>", module.page())
    done = run(*shlex.split(command), "--output", "report.json")
    assert done.returncode == 0, done.stderr
    assert json.loads(Path("report.json").read_text("utf-8"))["verdict"]["state"] == "recomputed"


@pytest.mark.parametrize("folder", ["", "how_to"])
def test_code_of_a_page_is_no_wider_than_its_article(folder):
    pages = sorted((DOCS / folder).glob("*.md"))
    code = [(page, block) for page in pages for block in blocks_of(page) if block.language != "text"]
    long = [
        f"{page.name}, line {block.line + k}: {line}"
        for page, block in code
        for k, line in enumerate(block.code.splitlines())
        if len(line) > COLUMNS
    ]
    assert len(code) > 10
    assert long == []
