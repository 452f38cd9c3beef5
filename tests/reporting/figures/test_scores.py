"""The histogram of the scores."""

import numpy as np
import pytest

import pacband


def test_scores_are_a_histogram_with_the_bound(paper, axes):
    _, y, predicted, scale, cert = paper
    pacband.plot_scores(cert, y, predicted, scale, ax=axes)
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1.0, abs=0.01)
    assert any(np.allclose(line.get_xdata(), cert.gamma) for line in axes.get_lines())
    assert len(pacband.plot_scores(cert, y, predicted, scale).figure.axes) == 2
