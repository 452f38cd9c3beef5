"""Half-widths in increasing order."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

import pacband
from pacband.core import look
from pacband.reporting.figures.widths import draw_widths


def test_half_widths_are_sorted_and_end_at_the_widest(paper):
    _, y, predicted, scale, cert = paper
    numbers = pacband.report(cert, y, predicted, scale).summary.numbers["widths"]
    assert (np.diff(numbers.half_width) >= 0).all()
    np.testing.assert_allclose(numbers.half_width[[0, -1]], cert.gamma * np.array([scale.min(), scale.max()]))
    np.testing.assert_allclose(numbers.share[[0, -1]], [0.5 / len(y), 1 - 0.5 / len(y)])


def test_a_constant_band_has_no_such_figure(paper):
    _, y, predicted, _, _ = paper
    cert = pacband.certify(y, predicted, eps=0.05, delta=1e-3)
    assert pacband.report(cert, y, predicted).summary.numbers["widths"] is None


def test_rows_above_the_line_have_the_colour_of_the_limit(paper):
    _, y, predicted, scale, cert = paper
    numbers = pacband.report(cert, y, predicted, scale).summary.numbers["widths"]
    outside = next(each for each in draw_widths(numbers).collections if each.get_label() == "outside")
    assert len(outside.get_offsets()) == int((np.abs(y - predicted) > cert.bound(scale)).sum()) > 0
    # Opaque: a few faint points would not be seen.
    assert tuple(outside.get_facecolor()[0]) == pytest.approx(to_rgba(look.LIMIT))


@pytest.mark.parametrize(("side", "sign"), [("upper", 1.0), ("lower", -1.0)])
def test_with_one_side_the_rows_outside_are_those_above_the_line(rng, side, sign):
    """Errors on the other side are far, and within the bound."""
    scale = rng.uniform(1.0, 2.0, 600)
    y = sign * (0.3 * np.abs(rng.standard_normal(600)) - 5.0 * (rng.random(600) < 0.2)) * scale
    cert = pacband.certify(y, 0 * y, scale, eps=0.1, delta=0.05, side=side)
    numbers = pacband.report(cert, y, 0 * y, scale).summary.numbers["widths"]
    within, outside = numbers.cloud.points, numbers.violations.points
    widths = np.sort(cert.gamma * scale)
    assert (within[1] <= np.interp(within[0], (np.arange(600) + 0.5) / 600, widths) + 1e-12).all()
    assert (outside[1] > np.interp(outside[0], (np.arange(600) + 0.5) / 600, widths)).all()
    assert numbers.error == {"upper": "error", "lower": "−error"}[side]
    assert numbers.y_range[0] < -4.0
