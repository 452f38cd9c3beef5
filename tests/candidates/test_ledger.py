"""The ledger of a search."""

import math
import time

import pytest

from pacband.candidates.ledger import Ledger, Tried, late


def test_the_time_left_of_the_budget():
    ledger = Ledger(100.0)
    assert 99.0 < ledger.seconds_left() <= 100.0
    short = Ledger(1e-3)
    time.sleep(2e-3)
    assert short.seconds_left() < 0.0


@pytest.mark.parametrize(("expected", "steps"), [(3, [(1, 3), (2, 3)]), (1, [(1, 1), (2, 2)])])
def test_steps_are_reported_and_never_exceed_their_total(expected, steps):
    seen = []
    ledger = Ledger(1.0, lambda *step: seen.append(step))
    ledger.expect_steps(expected)
    ledger.finish_step()
    ledger.finish_step()
    assert seen == steps


def test_a_drop_keeps_its_reason():
    ledger = Ledger(1.0)
    ledger.drop("forest", 0.5, "it predicts NaN")
    assert ledger.dropped == [Tried("forest", None, 0.5, "dropped: it predicts NaN")]


def test_time_is_kept_for_the_last_fits():
    ledger = Ledger(100.0)
    # A tenth of the budget is for the end, and eight parts in a hundred of it for what is no fit.
    assert 49.0 < ledger.seconds_before(0.4) <= 50.0
    ledger.reserve(2.0)
    assert 49.0 < ledger.seconds_before(0.4) <= 50.0
    assert 48.0 < ledger.seconds_before(0.4, more_last=1.0) <= 49.0
    ledger.reserve(10.0)
    assert 39.0 < ledger.seconds_before(0.4) <= 40.0
    ledger.reserve_share(0.25)
    assert 34.0 < ledger.seconds_before(0.4) <= 35.0
    assert 99.0 < ledger.seconds_left() <= 100.0


def test_a_ledger_without_a_budget_never_ends():
    ledger = Ledger(float("inf"))
    ledger.reserve(1e9)
    assert not ledger.limited
    assert Ledger(1e9).limited


def test_the_end_of_a_search_is_told():
    assert Ledger(60.0).describe_end().startswith("All models were tried in ")
    short = Ledger(0.5)
    short.drop("broken", 0.1, "singular")
    short.drop("forest", 0.1, late("no time to try it"))
    assert short.describe_end() == "The budget of 0.5 s left out forest: with more time, the band may be narrower."
    assert Ledger(math.inf).describe_end() == ""
    with pytest.warns(UserWarning, match="interrupted"):
        short.interrupt()
    told = short.describe_end()
    assert told.startswith("The search was interrupted after ")
    time.sleep(0.02)
    assert short.describe_end() == told, "what follows the interrupt does not count"
