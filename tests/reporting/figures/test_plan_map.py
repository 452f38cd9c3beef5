"""The place of a plan among other sizes."""

import numpy as np
import pytest

import pacband
from pacband.core import look
from pacband.exceptions import InvalidInput
from pacband.reporting.figures.plan_map import draw_plan, label_places, plan_numbers


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


def test_what_is_no_plan_is_refused():
    with pytest.raises(InvalidInput, match="plan must be a plan"):
        pacband.plot_plan(0.05)


@pytest.mark.parametrize(
    ("n_samples", "n_candidates", "delta", "rank"),
    [
        (3000, 1, 1e-6, None),
        (600, 5, 1e-3, None),
        (120, 1, 0.05, None),
        (29, 1, 0.05, None),
        (2407, 10, 1e-6, None),
        (100_000, 1, 1e-9, None),
        (3000, 1, 1e-6, 1),
        (30_000, 1, 1e-6, 3),
    ],
)
def test_no_label_is_over_another_or_over_an_axis(n_samples, n_candidates, delta, rank):
    eps = 0.1 if n_samples < 500 else 0.05
    plan = pacband.plan(eps=eps, delta=delta, n_samples=n_samples, n_candidates=n_candidates, rank=rank)
    with look.default_settings():
        axes = draw_plan(plan_numbers(plan))
        axes.figure.draw_without_rendering()
        boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
        frame = axes.get_window_extent()
    names = [name for name in boxes if not name.startswith("ε")]
    assert len(names) >= 4
    over = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :] if boxes[a].overlaps(boxes[b])]
    assert over == []
    outside = [
        name
        for name, box in boxes.items()
        if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1
    ]
    assert outside == []


def test_a_confidence_that_needs_more_samples_than_the_figure_shows_has_no_line():
    numbers = plan_numbers(pacband.plan(0.1, 0.9, rank=1))
    assert 0.9 in [delta for delta, _, _ in numbers.lines]
    assert all(len(sizes) for _, sizes, _ in numbers.lines)
    assert len(label_places(numbers)) == len(numbers.lines)
