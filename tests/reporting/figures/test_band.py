"""The band is drawn where it is."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

import pacband
from pacband import datasets
from pacband.core import look
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


def colours(ax):
    """Return how many points have which colour, by the label of the legend."""
    return {each.get_label(): (each.get_facecolor()[0][:3], len(each.get_offsets())) for each in ax.collections[:2]}


def test_violations_have_their_own_colour(paper, axes):
    x, y, predicted, scale, cert = (part[:700] if hasattr(part, "shape") else part for part in paper)
    pacband.plot_band(cert, y, predicted, scale, x=x, ax=axes)
    outside = int((np.abs(y - predicted) > cert.bound(scale)).sum())
    assert outside > 0
    drawn = colours(axes)
    assert drawn["rows"][1] == 700 - outside
    assert drawn["outside"] == (pytest.approx(to_rgb(look.LIMIT)), outside)


def test_against_one_of_several_features_the_errors_are_drawn():
    """The rows that seem outside are those that are outside. The band of a mean over x would leave out many more."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 2))
    predicted = X @ [3.0, 1.0]
    y = predicted + 0.1 * rng.standard_normal(700)
    cert = pacband.certify(y, predicted, eps=0.1, delta=0.01, about={"target": "wear", "unit": "mm"})
    ax = pacband.plot_band(cert, y, predicted, x=X[:, 1], x_name="flow")
    drawn = lines(ax)
    np.testing.assert_allclose(drawn["prediction"][:, 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(drawn["certified band"][:, 1]), cert.gamma)
    inside, outside = (each.get_offsets()[:, 1] for each in ax.collections[:2])
    assert np.abs(inside).max() <= cert.gamma * (1 + 1e-9)
    assert np.abs(outside).min() > cert.gamma * (1 - 1e-9)
    assert ax.get_title(loc="left") == "The errors and their band"
    assert ax.get_ylabel() == "error of wear, in mm"
    page = pacband.report(cert, y, predicted, X=X[:, 1:])
    assert page.to_dict()["band"]["of_errors"]
    assert "so that errors are shown" in page.html
    # Against the only feature that the prediction depends on, and against the prediction itself, it is the band.
    for column in (predicted / 3, None):
        ax = pacband.plot_band(cert, y, predicted, x=column)
        assert (ax.get_title(loc="left"), ax.get_ylabel()) == ("The band over data", "wear, in mm")
