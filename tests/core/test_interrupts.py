"""Interrupts that a block loses are raised at its end."""

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from pacband.core.interrupts import keep_interrupts


class Stopped(KeyboardInterrupt):
    """What a handler of another signal raises."""


def stop(number, frame):
    raise Stopped


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("then", [None, ValueError("no such buffer")])
def test_what_the_block_loses_or_turns_into_another_error_is_raised_at_its_end(set_handler, name, then):
    number = getattr(signal, name)
    set_handler(number, stop)
    reached = []

    def lose():
        with suppress(BaseException):
            signal.raise_signal(number)
        reached.append(number)
        if then is not None:
            raise then

    with pytest.raises(Stopped), keep_interrupts():
        lose()
    assert reached == [number]
    assert signal.getsignal(number) is stop


def test_what_the_block_lets_through_is_raised_at_once(set_handler):
    set_handler(signal.SIGINT, stop)

    def let_through():
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the block goes on")

    with pytest.raises(Stopped), keep_interrupts():
        let_through()
    assert signal.getsignal(signal.SIGINT) is stop


def test_a_handler_that_raises_nothing_ends_nothing(set_handler):
    seen = []
    set_handler(signal.SIGINT, lambda number, frame: seen.append(number))
    with keep_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert seen == [signal.SIGINT]


def test_an_ignored_signal_stays_ignored(set_handler):
    set_handler(signal.SIGINT, signal.SIG_IGN)
    with keep_interrupts():
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_another_error_passes():
    with pytest.raises(ZeroDivisionError), keep_interrupts():
        raise ZeroDivisionError


def test_other_threads_set_no_handlers():
    def handler_in_block():
        with keep_interrupts():
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(handler_in_block).result() is signal.getsignal(signal.SIGINT)
