"""The limits in force are the defaults, but for a block that puts others in force."""

import dataclasses

import pytest

from pacband.selection import Limits, current_limits, use_limits


def test_limits_hold_inside_of_their_block_and_add_to_those_around():
    assert current_limits() == Limits()
    with use_limits(few=7) as outer:
        assert outer == current_limits() == Limits(few=7)
        with use_limits(sample=9):
            assert current_limits() == Limits(few=7, sample=9)
        with pytest.raises(ZeroDivisionError), use_limits(few=1):
            raise ZeroDivisionError
        assert current_limits() == Limits(few=7)
    assert current_limits() == Limits()


def test_limits_cannot_be_changed_in_place_and_have_no_other_names():
    with pytest.raises(dataclasses.FrozenInstanceError):
        current_limits().few = 1
    with pytest.raises(TypeError), use_limits(fewer=1):
        pass
