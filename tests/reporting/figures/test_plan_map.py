"""The place of a plan among other sizes."""

import numpy as np
import pytest

import pacband
from pacband.exceptions import InvalidInput


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
