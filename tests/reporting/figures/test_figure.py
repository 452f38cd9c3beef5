"""A figure is one file: the report computes, draws and captions whatever file it finds in the folder."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

import pacband
from pacband.reporting import figures
from pacband.reporting.figures import report_figures
from pacband.reporting.figures.figure import Caption, CertificateFigure, RowsFigure


def test_the_figures_of_the_page():
    found = report_figures()
    assert list(found) == ["band", "curve", "plan_map", "scale", "scores", "slices", "violation", "widths"]
    assert {name for name, each in found.items() if isinstance(each, CertificateFigure)} == {"plan_map", "violation"}
    assert all(isinstance(each, (CertificateFigure, RowsFigure)) for each in found.values())


def test_the_summary_has_the_numbers_of_every_figure(paper):
    x, y, predicted, scale, cert = paper
    with_rows, alone = pacband.report(cert, y, predicted, scale, X=x).summary, pacband.report(cert).summary
    assert set(with_rows.numbers) == set(alone.numbers) == set(report_figures())
    assert all(numbers is not None for numbers in with_rows.numbers.values())
    assert {name for name, numbers in alone.numbers.items() if numbers is not None} == {"plan_map", "violation"}
    assert {name: alone.to_dict()[name] for name in ("band", "widths", "scores", "scale", "curve", "slices")} == {
        **dict.fromkeys(("band", "widths", "scores", "scale", "curve")),
        "slices": [],
    }


@pytest.fixture
def own_figure(monkeypatch):
    """A new file in the folder of figures."""
    bound = CertificateFigure(
        numbers=lambda certificate: certificate.gamma,
        draw=lambda gamma: figures.report_figures()["plan_map"].draw(own.plan),
        caption=lambda gamma: Caption("Own", "An own figure.", f"The bound is {gamma}."),
        to_dict=lambda gamma: {"gamma": gamma},
    )
    own = SimpleNamespace(FIGURE=bound)
    known = figures.import_module
    names = [*figures.iter_modules(figures.__path__), SimpleNamespace(name="own")]
    monkeypatch.setattr(figures, "iter_modules", lambda _: names)
    monkeypatch.setattr(figures, "import_module", lambda name: own if name.endswith(".own") else known(name))
    report_figures.cache_clear()
    yield own
    report_figures.cache_clear()


def test_a_new_file_is_a_new_figure(paper, own_figure):
    from pacband.reporting.page.svg import draw_figures

    cert = paper[-1]
    summary = pacband.report(cert).summary
    own_figure.plan = summary.numbers["plan_map"]
    assert summary.numbers["own"] == summary.to_dict()["own"]["gamma"] == cert.gamma
    (drawn,) = draw_figures(summary.numbers)["own"]
    assert drawn.caption == f"The bound is {cert.gamma}."
    assert '<title id="figure-own-title">Own</title><desc id="figure-own-desc">An own figure.</desc>' in drawn.svg


def test_numbers_need_no_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None; import pacband; "
        "X, y = pacband.datasets.paper_sample(300, random_state=0); p = pacband.datasets.paper_predictor(X); "
        "c = pacband.certify(y, p, eps=.1, delta=.1); page = pacband.report(c, y, p, X=X); "
        "print(len(page.to_dict()['band']['x']), page.to_markdown()[:5])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["120", "#", "How"], done.stderr
