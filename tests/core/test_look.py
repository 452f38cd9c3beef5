"""Figures look the same whatever the settings of matplotlib, and leave these settings alone."""

import os
import subprocess
import sys
import threading

import matplotlib as mpl
import numpy as np
import pytest

import pacband
from pacband.core import look

CODE = """
import numpy as np, pacband
y = np.random.default_rng(0).standard_normal(300)
cert = pacband.certify_family(y, {"zero": np.zeros(300), "half": y / 2}, eps=0.1, delta=0.01)
page = pacband.report(cert, y, y / 2, X=np.c_[y, y > 0], feature_names=["a", "b"])
import re, sys
sys.stdout.write(re.sub(r"\\d{4}-\\d\\d-\\d\\dT[^<\\"\\s]*|[0-9a-f]{64}", "", page.html))
"""

SETTINGS = {
    "usetex": "text.usetex: True\n",
    "look": "figure.facecolor: red\naxes.titlesize: 40\nlines.linewidth: 30\nfont.family: serif\nsavefig.dpi: 5\nsvg.fonttype: path\n",
    "layout": "figure.autolayout: True\nfigure.constrained_layout.w_pad: 2\naxes.xmargin: 3\naxes.formatter.use_mathtext: True\n",
}

NAMES = ["$$", "a$b$c", r"$\frac{1}{$", "$", r"a\$b", "\ud800", "\x1b[2J", "\udcff$$"]


def page_of(folder):
    return subprocess.run(
        [sys.executable, "-c", CODE], cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"}
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    done = page_of(tmp_path_factory.mktemp("alone"))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_in_the_working_directory_change_nothing(settings, alone, tmp_path):
    (tmp_path / "matplotlibrc").write_text(SETTINGS[settings])
    done = page_of(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == alone


@pytest.fixture
def pacband_command(tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "pacband", *arguments], cwd=tmp_path, capture_output=True, text=True
        )

    return run


def test_settings_that_nobody_can_read_are_named(tmp_path, pacband_command):
    (tmp_path / "matplotlibrc").write_bytes(b"\xff\xfe\x00\x01")
    pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(tmp_path / "cert.json")
    done = pacband_command("report", "cert.json")
    assert done.returncode == 2
    assert "matplotlibrc" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "report.html").exists()


def test_a_report_leaves_the_settings_of_the_process_alone():
    cert = pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05)
    with mpl.rc_context({"lines.linewidth": 7.5}):
        before = dict(mpl.rcParams)
        threads = [threading.Thread(target=lambda: pacband.report(cert).html) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert dict(mpl.rcParams) == before


def test_no_global_state_is_touched():
    code = (
        "import sys, pacband, matplotlib; keys = [k for k in matplotlib.rcParams if k != 'backend']; "
        "state = lambda: [repr(matplotlib.rcParams[k]) for k in keys]; before = state(); "
        "X, y = pacband.datasets.paper_sample(300, random_state=0); p = pacband.datasets.paper_predictor(X); "
        "c = pacband.certify(y, p, eps=.1, delta=.1); pacband.plot_band(c, y, p); pacband.report(c, y, p).html; "
        "print('matplotlib.pyplot' in sys.modules, state() == before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_any_name_of_a_column_can_be_drawn(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (400, len(NAMES)))
    y = X[:, 0] + rng.standard_normal(400)
    labels = np.resize(np.array(NAMES, dtype=object), 400)
    cert = pacband.certify_groups(y, X[:, 0], labels, eps=0.3, delta=0.2)
    rows = {"groups": labels, "X": X, "feature_names": NAMES, "title": "".join(NAMES)}
    pacband.report(cert, y, X[:, 0], **rows).save(tmp_path / "report.html")
    svg = (tmp_path / "report.html").read_text("utf-8").partition("<svg")[2]
    # As it is, and not as a product in italics.
    assert "a$b$c" in svg
    assert "font-style: italic" not in svg
    family = pacband.certify_family(y, dict(zip(NAMES, X.T, strict=True)), eps=0.3, delta=0.2)
    axes = [pacband.plot_family(family)]
    axes += [pacband.plot_band(cert, y, X[:, 0], groups=labels, x=X[:, 0], x_name=name, y_name=name) for name in NAMES]
    for ax in axes:
        # To the pixel: this is where matplotlib reads mathematics.
        ax.figure.savefig(tmp_path / "drawn.png")


@pytest.mark.parametrize(
    ("size", "names"),
    [
        (2.0, ["0.0", "0.5", "1.0", "1.5", "2.0"]),
        (-2e6, ["−2 M", "−1.5 M", "−1 M", "−0.5 M", "0"]),
        (2e12, ["0", "5 × 10¹¹", "1 × 10¹²", "1.5 × 10¹²", "2 × 10¹²"]),
        (2e-7, ["0", "5 × 10⁻⁸", "1 × 10⁻⁷", "1.5 × 10⁻⁷", "2 × 10⁻⁷"]),
    ],
)
def test_ticks_have_no_factor_of_their_own(size, names):
    ax = look.axes_of(None)
    look.style_axes(ax)
    formatter, ticks = ax.yaxis.get_major_formatter(), sorted(size * k / 4 for k in range(5))
    ax.set_ylim(ticks[0], ticks[-1])
    assert formatter.format_ticks(ticks) == names
    assert formatter.get_offset() == ""


def test_ticks_far_from_zero_differ():
    ax = look.axes_of(None)
    look.style_axes(ax)
    assert ax.yaxis.get_major_formatter().format_ticks([1e9 + 1, 1e9 + 2]) == ["1.000000001 bn", "1.000000002 bn"]


def test_long_ticks_side_by_side_leave_room_for_each_other():
    ax = look.axes_of(None)
    look.style_axes(ax)
    names = ax.xaxis.get_major_formatter().format_ticks([k * 1e-7 for k in range(8)])
    assert names == ["0", "", "2 × 10⁻⁷", "", "4 × 10⁻⁷", "", "6 × 10⁻⁷", ""]


def test_long_ticks_of_common_size_leave_room_as_well():
    ax = look.axes_of(None)
    look.style_axes(ax)
    ax.set_xlim(0.0, 0.00225)
    names = ax.xaxis.get_major_formatter().format_ticks([k * 0.00025 for k in range(10)])
    assert names == ["0.00000", "", "0.00050", "", "0.00100", "", "0.00150", "", "0.00200", ""]


def test_a_cut_name_keeps_its_unit():
    assert look.short_text("a long name of a target, in mm", 20).endswith("…, in mm")
    assert len(look.short_text("a long name of a target, in mm", 20)) == 20
    assert look.short_text("a name, in a unit that is far too long", 20) == "a name, in a unit t…"
