"""Merge monitors that watched different rows under the same certificate."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from pacband.exceptions import InvalidInput
from pacband.monitoring.ledger import Ledger

if TYPE_CHECKING:
    from pacband.monitoring.monitor import Monitor

    M = TypeVar("M", bound=Monitor)

__all__ = ["merge_monitors"]


def merge_monitors(monitors: Sequence[M]) -> M:
    """Return one monitor over the rows of all monitors; see `Monitor.merge`."""
    first = monitors[0]
    if len({(m.certificate_digest, m.alpha, m.false_alarm_interval) for m in monitors}) > 1:
        raise InvalidInput(
            "monitors that are merged must have one certificate, alpha and false_alarm_interval, got different ones."
        )
    if len({id(monitor) for monitor in monitors}) < len(monitors):
        raise InvalidInput("monitors that are merged must have watched different rows, got one of them twice.")
    with ExitStack() as locks:
        # All threads take the locks in the same order, so that no two of them wait for each other.
        for monitor in sorted(monitors, key=id):
            locks.enter_context(monitor.lock)
        ledgers = [monitor.ledger for monitor in monitors]
        _refuse_shared(Ledger.shared(ledgers))
        watched = first.certificate if first.model is None else first.model
        whole = type(first)(watched, alpha=first.alpha, false_alarm_interval=first.false_alarm_interval)
        whole.counting = first.counting.merged([monitor.counting for monitor in monitors])
        whole.watches.merge([monitor.watches for monitor in monitors])
        whole.ledger = Ledger.merged(ledgers)
        whole.n_out_of_range = sum(monitor.n_out_of_range for monitor in monitors)
        if whole.training is not None:
            whole.training.merge([monitor.training for monitor in monitors if monitor.training is not None])
        return whole


def _refuse_shared(shared: Sequence[str]) -> None:
    """Raise if rows are known to be counted by more than one of the monitors."""
    if shared:
        named = ", ".join(shared[:5]) + (f" and {len(shared) - 5} more" if len(shared) > 5 else "")
        raise InvalidInput(
            f"monitors that are merged must have watched different rows; several of them have counted {named}."
        )
