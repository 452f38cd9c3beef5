"""The band is drawn where it is."""

import numpy as np
import pytest

import pacband
from pacband import datasets
from pacband.exceptions import InvalidInput


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


def test_axes_of_another_kind_are_refused(paper):
    _, y, predicted, scale, cert = paper
    with pytest.raises(InvalidInput, match="ax must be matplotlib axes, got int"):
        pacband.plot_band(cert, y, predicted, scale, ax=3)
