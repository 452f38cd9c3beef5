"""The figures: drawn on given axes or on new ones, with no state left behind, of any size of data."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import pacband
from pacband import datasets
from pacband.exceptions import InvalidInput


@pytest.fixture(scope="module")
def paper():
    X, y = datasets.paper_sample(1600, random_state=0)
    predicted, scale = datasets.paper_predictor(X), datasets.paper_scale(X)
    return X[:, 0], y, predicted, scale, pacband.certify(y, predicted, scale, eps=0.05, delta=1e-3)


@pytest.fixture
def axes():
    return Figure().subplots()


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def test_the_band_is_drawn_where_it_is(paper, axes):
    x, y, predicted, scale, cert = paper
    assert pacband.plot_band(cert, y, predicted, scale, x=x, ax=axes) is axes
    drawn = lines(axes)
    at = drawn["prediction"][:, 0]
    np.testing.assert_allclose(drawn["prediction"][:, 1], datasets.paper_predictor(at), atol=0.3)
    half = np.abs(drawn["certified band"][:, 1] - drawn["prediction"][:, 1])
    np.testing.assert_allclose(half, cert.gamma * datasets.paper_scale(at), rtol=0.02)


def test_one_sided_bands_have_one_end(paper, axes):
    x, y, predicted, scale, _ = paper
    upper = pacband.certify(y, predicted, scale, side="upper", eps=0.05, delta=1e-3)
    pacband.plot_band(upper, y, predicted, scale, x=x, ax=axes)
    assert len(axes.get_lines()) == 2
    assert (lines(axes)["certified band"][:, 1] > lines(axes)["prediction"][:, 1]).all()


def test_many_rows_are_a_density_and_never_markers(axes, rng):
    y = rng.standard_normal(50_000)
    cert = pacband.certify(y, np.zeros(50_000))
    pacband.plot_band(cert, y, np.zeros(50_000), x=rng.random(50_000), ax=axes)
    assert sum(len(points.get_offsets()) for points in axes.collections if hasattr(points, "get_offsets")) <= 2
    assert len(axes.get_images()) == 1


def test_scores_are_a_histogram_with_the_bound(paper, axes):
    _, y, predicted, scale, cert = paper
    pacband.plot_scores(cert, y, predicted, scale, ax=axes)
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1.0, abs=0.01)
    assert any(np.allclose(line.get_xdata(), cert.gamma) for line in axes.get_lines())
    assert len(pacband.plot_scores(cert, y, predicted, scale).figure.axes) == 2


def test_the_plan_stands_on_its_own_line(axes):
    plan = pacband.plan(eps=0.05, delta=1e-6, n_samples=2065)
    pacband.plot_plan(plan, ax=axes)
    marker = next(line for line in axes.get_lines() if line.get_marker() == "o")
    np.testing.assert_allclose(marker.get_xydata(), [[2065, 60 / 2066]])
    for line in axes.get_lines():
        x, y = line.get_xydata().T
        if len(x) > 2:
            assert (np.diff(x) > 0).all()
            assert (y < 0.05).all()
    assert pacband.plot_plan(pacband.certify(range(500), [0] * 500)).figure


def test_the_family_is_ranked(rng, axes):
    y = rng.standard_normal(500)
    candidates = {f"model {k}": y * k / 30 for k in range(30)}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.01)
    pacband.plot_family(family, ax=axes)
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == sorted(widths, reverse=True)
    assert len(widths) == 20
    assert axes.get_yticklabels()[-1].get_text() == family.best == "model 29"


def test_a_one_sided_family_is_ranked_by_the_distance_to_the_bound(rng, axes):
    y = rng.standard_normal(400)
    candidates = {f"over {k}": y * 0.9 + 10.0 * k + rng.standard_normal(400) * (0.1 + k) for k in range(30)}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.1, side="upper")
    pacband.plot_family(family, ax=axes)
    ranked = sorted(family.sharpness.values())
    assert [bar.get_width() for bar in axes.patches] == ranked[19::-1]
    assert axes.get_yticklabels()[-1].get_text() == family.best == "over 0"
    assert axes.get_xlabel().startswith("mean distance from y to the bound (10 ")


def test_the_law_of_the_violation_is_drawn_only_of_what_was_chosen_beforehand(rng):
    y, errors = np.zeros(300), {"a": rng.standard_normal(300), "b": rng.standard_normal(300)}
    family = pacband.certify_family(y, errors, eps=0.1, delta=0.1)
    assert len(pacband.plot_scores(family, y, errors[family.best]).figure.axes) == 1
    assert (
        len(pacband.plot_scores(pacband.certify(y, errors["a"], eps=0.1, delta=0.1), y, errors["a"]).figure.axes) == 2
    )
    assert pacband.plot_plan(family).get_ylabel() == "r/(N + 1), if chosen beforehand"
    assert pacband.plot_plan(pacband.plan(n_candidates=3)).get_ylabel() == pacband.plot_plan(family).get_ylabel()
    assert pacband.plot_plan(pacband.plan()).get_ylabel() == "violation to expect, r/(N + 1)"


def test_slices_show_counts(paper, axes):
    x, y, predicted, _, _ = paper
    cert = pacband.certify(y, predicted, eps=0.05, delta=1e-3)
    ax = pacband.plot_slices(cert, y, predicted, by=np.abs(x), name="|x|", n_bins=3, ax=axes)
    third = np.argsort(np.argsort(np.abs(x))) * 3 // len(x)
    expected = [np.mean(np.abs(y - predicted)[third == k] > cert.gamma) for k in range(3)]
    drawn = np.sort(np.concatenate([line.get_ydata() for line in ax.get_lines() if line.get_marker() in "oD"]))
    np.testing.assert_allclose(drawn, np.sort(expected), atol=0.004)


def test_refusals(paper):
    _, y, predicted, scale, cert = paper
    with pytest.raises(InvalidInput, match="ax must be matplotlib axes, got int"):
        pacband.plot_band(cert, y, predicted, scale, ax=3)
    with pytest.raises(InvalidInput, match="certificate must be a FamilyCertificate, got Certificate"):
        pacband.plot_family(cert)
    with pytest.raises(InvalidInput, match="one value only"):
        pacband.plot_slices(cert, y, predicted, scale, by=np.ones(len(y)))
    with pytest.raises(InvalidInput, match="plan must be a plan"):
        pacband.plot_plan(0.05)


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


def test_reports_and_figures_of_arrays_need_no_duckdb():
    code = (
        "import sys; sys.modules['duckdb'] = None; import pacband; "
        "X, y = pacband.datasets.paper_sample(300, random_state=0); p = pacband.datasets.paper_predictor(X); "
        "c = pacband.certify(y, p, eps=.1, delta=.1); pacband.plot_band(c, y, p); print(pacband.report(c, y, p).html[:15])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "<!DOCTYPE html>", done.stderr
