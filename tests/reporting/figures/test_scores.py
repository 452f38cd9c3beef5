"""The histogram of the scores."""

from dataclasses import replace

import numpy as np
import pytest

import pacband
from pacband.draws import Units
from pacband.reporting.figures.scores import caption_scores
from support.units import machines


def test_scores_are_a_histogram_with_the_bound(paper, axes):
    _, y, predicted, scale, cert = paper
    pacband.plot_scores(cert, y, predicted, scale, ax=axes)
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1.0, abs=0.01)
    assert any(np.allclose(line.get_xdata(), cert.gamma) for line in axes.get_lines())
    assert len(pacband.plot_scores(cert, y, predicted, scale).figure.axes) == 2


def test_figures_of_units_show_one_row_of_every_unit(rng, axes):
    error, unit = machines(rng, 300, 4, 0.5)
    cert = pacband.certify(error, 0 * error, eps=0.1, delta=0.05, draws=Units(unit))
    draws = {"draws": Units(unit)}
    pacband.plot_scores(cert, error, 0 * error, **draws, ax=axes)
    assert axes.patches
    pacband.plot_band(cert, error, 0 * error, x=np.arange(1200.0), **draws)
    ax = pacband.plot_slices(cert, error, 0 * error, by=unit % 2, **draws)
    assert ax.get_ylabel() == "rows outside"


def test_scores_beyond_the_figure_are_counted(paper):
    _, y, predicted, scale, cert = paper
    numbers = pacband.report(cert, y, predicted, scale).summary.numbers["scores"]
    notes = [caption_scores(replace(numbers, beyond=beyond)).text for beyond in (0, 1, 2000)]
    assert [note.rpartition(" outside the figure.")[0].rpartition(". ")[2] for note in notes] == [
        "", "1 score lies", "2,000 scores lie"
    ]  # fmt: skip


@pytest.mark.parametrize("grouped", [False, True])
def test_a_negative_bound_is_in_the_figure_with_the_rows_beyond_it(rng, grouped):
    """A model that predicts far too much has a negative bound on y − T(x)."""
    y, kind = -10.0 + rng.standard_normal(2000), rng.choice(["a", "b"], 2000)
    y[kind == "b"] += 4.0
    options = {"eps": 0.1, "delta": 0.05, "side": "upper"}
    if grouped:
        cert, groups = pacband.certify_groups(y, 0 * y, groups=kind, **options), {"groups": kind}
        beyond = (y > np.where(kind == "a", cert.groups["a"].gamma, cert.groups["b"].gamma)).mean()
    else:
        cert, groups = pacband.certify(y, 0 * y, **options), {}
        beyond = (y > cert.gamma).mean()
    numbers = pacband.report(cert, y, 0 * y, **groups).summary.numbers["scores"]
    assert numbers.edges[0] < numbers.gamma < numbers.edges[-1]
    assert numbers.beyond <= 2, "the figure ends at the quantile 0.999"
    over = (numbers.edges[1:] + numbers.edges[:-1]) / 2 > numbers.gamma
    assert numbers.shares[over].sum() == pytest.approx(beyond, abs=0.03)
