"""The exact r-th largest score: in an array, over chunks, in an engine; and the fingerprint of the scores."""

from pacband.selection.search import (
    Measured,
    Request,
    Search,
    Tally,
    Window,
    check_unchanged,
    edges_above,
    measure,
    rth_largest,
    select,
    sum_tallies,
    tally,
    within,
)

__all__ = [
    "Measured",
    "Request",
    "Search",
    "Tally",
    "Window",
    "check_unchanged",
    "edges_above",
    "measure",
    "rth_largest",
    "select",
    "sum_tallies",
    "tally",
    "within",
]
