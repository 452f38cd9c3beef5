"""The promise after deployment: violations counted, evidence weighed, state kept.

`Monitor` is the way in. Its instruments: `eprocess` (does the rate exceed ε?), `detector` (has it risen lately?),
`sequence` (what is it?); `state` keeps them in a file, `streams` reads rows from one, `metrics` tells Prometheus.
"""

from __future__ import annotations

from pacband.monitoring.monitor import Batch, Monitor
from pacband.monitoring.state import StateFile

__all__ = ["Batch", "Monitor", "StateFile"]
