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
