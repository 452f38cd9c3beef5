"""The promise after deployment: count violations, measure the evidence against the promise, and keep the state.

Start with `Monitor`. Its instruments are `eprocess` (is the violation rate above ε?), `detector` (has the rate risen
lately?) and `sequence` (an interval for the rate). `state` keeps a monitor in a file, `streams` reads rows from a file
or a pipe, and `metrics` writes the numbers for Prometheus.
"""

from __future__ import annotations

from pacband.monitoring.monitor import Batch, Monitor
from pacband.monitoring.state import StateFile

__all__ = ["Batch", "Monitor", "StateFile"]
