"""The operating characteristic."""

import numpy as np
import pytest

import pacband
from pacband.reporting.figures.acceptance import acceptance_numbers


def test_the_numbers_are_those_of_the_plan():
    plan = pacband.plan_acceptance(0.05, 0.05, eps_good=0.01)
    numbers = acceptance_numbers(plan)
    assert numbers.accepted.tolist() == [plan.accept_probability(p) for p in numbers.p.tolist()]
    assert np.all(np.diff(numbers.accepted) <= 1e-15)
    assert numbers.p[0] == 0.0
    assert numbers.p[-1] > plan.eps


def test_both_risks_are_marked(axes):
    plan = pacband.plan_acceptance(0.05, 1e-6, eps_good=0.02)
    assert pacband.plot_acceptance(plan, ax=axes) is axes
    texts = [text.get_text() for text in axes.texts]
    assert texts[0].startswith("good: p = 2 %")
    assert texts[1].startswith("bad: p = 5 %\naccepted with probability")
    assert axes.get_title(loc="left") == "Accept if at most 35 of 1,422 violate"


def test_bad_input(axes):
    with pytest.raises(pacband.InvalidInput, match="plan must be an acceptance plan, got Plan"):
        pacband.plot_acceptance(pacband.plan())
    with pytest.raises(pacband.InvalidInput, match="ax must be matplotlib axes"):
        pacband.plot_acceptance(pacband.plan_acceptance(0.05, 0.05, eps_good=0.01), ax="here")
