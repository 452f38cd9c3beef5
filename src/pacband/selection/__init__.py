"""The exact r-th largest score: in an array, over chunks, in an engine; and the fingerprint of the scores."""

from pacband.selection.arrays import Measured, measure, rth_largest
from pacband.selection.limits import Limits, current_limits, use_limits
from pacband.selection.passes import (
    Request,
    Tally,
    Window,
    check_unchanged,
    edges_above,
    sum_tallies,
    tally,
    within,
)
from pacband.selection.search import Search, begin_search, same_share, select

__all__ = [
    "Limits",
    "Measured",
    "Request",
    "Search",
    "Tally",
    "Window",
    "begin_search",
    "check_unchanged",
    "current_limits",
    "edges_above",
    "measure",
    "rth_largest",
    "same_share",
    "select",
    "sum_tallies",
    "tally",
    "use_limits",
    "within",
]
