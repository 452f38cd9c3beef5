"""The screen that runs inside every `certify` function and every `fit`: cheap checks, and one warning.

It looks at some rows (`sample`), and shares `LEVEL` among its checks by Bonferroni's method. Draws that the user
declared are respected: units are compared with each other, never the rows of one unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.checks.columns import read_labels, read_times, without_ids
from pacband.checks.copies import check_copies, may_repeat
from pacband.checks.finding import Finding, Kind
from pacband.checks.labels import check_labels
from pacband.checks.order import DEPENDENCE, DRIFT, Whole, check_order
from pacband.checks.sample import FEWEST_ROWS, MOST_ROWS, rows_to_look_at
from pacband.checks.scored import Others, Picked, ScoredDraws, Series
from pacband.core.arrays import Numbers
from pacband.draws import Rows, Sample
from pacband.scores import ScoreRule, Spread

__all__ = [
    "LEVEL",
    "check_columns",
    "check_times",
    "explain",
    "in_order_of_draws",
    "is_sorted",
    "screen_columns",
    "screen_rows",
]

# The probability of one or more findings in sound data is at most this in one look. `calibrate` and `pacband fit` look
# twice: at most 1e-4 in all.
LEVEL = 5e-5
# A finding states numbers of all rows, or of the first so many.
_WHOLE = 100_000
# The most columns that are tried for labels.
_MOST_COLUMNS = 100


def screen_rows(
    scoring: ScoreRule,
    sample: Sample,
    target: Numbers,
    prediction: Numbers,
    spread: Spread,
    *,
    groups: npt.NDArray[Any] | None = None,
    others: Others | None = None,
    level: float = LEVEL,
    complete: bool | None = None,
    numbers: npt.NDArray[np.intp] | None = None,
    n_rows: int | None = None,
) -> list[Finding]:
    """Return evidence that the draws are not independent, or not from one distribution.

    Parameters
    ----------
    scoring, target, prediction, spread
        The rows that were certified, and how they are scored.
    sample : Sample
        The draws that they make.
    groups : array, optional
        The group of every row, if the promise is made within groups: rows are then compared within groups.
    others : function, optional
        Returns the other columns of the table at some rows, by name. Columns of declared units and groups are not among
        them.
    level : float
        The probability of one or more findings in sound data, at most.
    complete : bool, optional
        Whether all columns of the table are there. By default they are, if `others` is given.
    numbers : array of int, optional
        The row numbers in the table, if these are some of its rows.
    n_rows : int, optional
        The number of rows of the table, if these are its first rows.
    """
    picked = rows_to_look_at(sample.n_draws, at_least=FEWEST_ROWS if others is None else MOST_ROWS)
    looked = ScoredDraws.of(picked, scoring, sample, target, prediction, spread, groups)
    columns = None if others is None else others(looked.rows)
    signs = looked.signs()
    found: list[Finding] = []

    def ranks_of_all() -> tuple[Series, int]:
        first = slice(0, min(sample.n_draws, _WHOLE))
        return ScoredDraws.of(
            first, scoring, sample, target, prediction, spread, groups
        ).ranks(), n_rows or sample.n_draws

    if in_order_of_draws(target[looked.rows], prediction[looked.rows]):
        whole = ranks_of_all if numbers is None else None
        found += check_order(signs, looked.values(), rows=_numbers(looked.rows, numbers), whole=whole) or ()
    if sample.rows is None and may_repeat(target[looked.rows]):
        complete = others is not None if complete is None else complete
        found += _find_copies(looked.rows, target, prediction, spread, groups, columns, complete)
    unsorted = None if columns is None or not sample.series else check_times(columns)
    if unsorted is not None:
        # What else is found depends on the order.
        return [unsorted]
    if columns is not None:
        found += check_columns(columns, looked, signs, gaps=numbers is not None)
    return explain([finding for finding in found if finding.p_value <= level / len(found)])


def screen_columns(
    scoring: ScoreRule,
    target: Numbers,
    prediction: Numbers,
    spread: Spread,
    columns: Others,
    *,
    groups: npt.NDArray[Any] | None = None,
) -> list[Finding]:
    """Check columns that `screen_rows` was not given, such as those that a model does not use, at the same level."""
    picked = rows_to_look_at(len(target), at_least=MOST_ROWS)
    looked = ScoredDraws.of(picked, scoring, Rows().sample(len(target)), target, prediction, spread, groups)
    found = check_columns(columns(looked.rows), looked, looked.signs())
    return explain([finding for finding in found if finding.p_value <= LEVEL / len(found)])


def check_columns(
    columns: Mapping[str, npt.NDArray[Any]], drawn: ScoredDraws, in_order: Series, *, gaps: bool = False
) -> list[Finding]:
    """Check every other column for labels and for an order of time. `in_order` are the series in the order of rows.

    With `gaps`, rows between these were left out, and nothing is known about neighbours.
    """
    gaps = gaps or not isinstance(drawn.rows, slice)
    found: list[Finding] = []
    ranks: Series | None = None
    for name, column in list(columns.items())[:_MOST_COLUMNS]:
        times = read_times(column)
        if times is not None and not is_sorted(times):
            order = np.argsort(times, kind="stable")
            along = {key: None if z is None else z[order] for key, z in in_order.items()}
            whole = None if gaps else _ranks_along(drawn, order)
            values = {key: each[order] for key, each in drawn.values().items()}
            found += check_order(along, values, along=name, whole=whole) or ()
        labels = read_labels(column) if times is None else None
        if labels is not None:
            ranks = ranks or drawn.ranks()
            finding = check_labels(name, labels, ranks)
            found += [] if finding is None else [finding]
    return found


def _ranks_along(drawn: ScoredDraws, order: npt.NDArray[np.intp]) -> Whole:
    """Return a function that returns the ranks of all rows in another order."""
    return lambda: ({name: None if z is None else z[order] for name, z in drawn.ranks().items()}, len(order))


def check_times(columns: Mapping[str, npt.NDArray[Any]]) -> Finding | None:
    """Check whether the rows of a series follow one of its columns of times forwards, if it has such columns."""
    found = {name: times for name, column in columns.items() if (times := read_times(column)) is not None}
    varied = [name for name, times in found.items() if (times[1:] != times[:-1]).any()]
    in_order = [name for name in varied if is_sorted(found[name])]
    if not varied or any(found[name][0] < found[name][-1] for name in in_order):
        return None
    name = (in_order or varied)[0]
    seen = f"the rows are not in the order of {name}"
    effect = "The promise is about rows of one series that are a gap apart: in another order they are not apart."
    if in_order:  # none of them rises
        seen = f"the rows run backwards in time: the first row has the latest {name}"
        effect = (
            "The promise is about rows that come after those that a model was fitted on. In this order, `fit` learns "
            "from later rows and calibrates on earlier ones."
        )
    return Finding(
        code=Kind.ORDER_OF_TIME,
        check="order of time",
        seen=seen,
        p_value=0.0,
        effect=effect,
        advice=f"Sort the table by time: by {name}, if that is the time of the series.",
        column=name,
    )


def explain(findings: list[Finding]) -> list[Finding]:
    """Return each finding once, without those that another one explains.

    If rows of one label stand together and resemble each other, neighbours depend on each other: the label is the
    cause.
    """
    if any(finding.explains_order for finding in findings):
        findings = [f for f in findings if f.check not in (DEPENDENCE, DRIFT) or f.column is not None]
    once: dict[tuple[str, str | None], Finding] = {}
    for finding in sorted(findings, key=lambda finding: finding.p_value):
        once.setdefault((finding.check, finding.column), finding)
    return list(once.values())


def in_order_of_draws(target: Numbers, prediction: Numbers) -> bool:
    """Return whether the order of rows may be that of draws: it is not in a table sorted by y or by T(x)."""
    return not is_sorted(target) and not is_sorted(prediction)


def is_sorted(values: npt.NDArray[Any]) -> bool:
    """Return whether values rise, or fall, from the first row to the last; the same value in all rows does neither."""
    values = values if values.ndim == 1 else values.reshape(len(values), -1)[:, 0]
    if len(values) < 2 or values[0] == values[-1]:
        return False
    if values[0] < values[-1]:
        return bool((values[1:] >= values[:-1]).all())
    return bool((values[1:] <= values[:-1]).all())


def _numbers(rows: Picked, numbers: npt.NDArray[np.intp] | None) -> npt.NDArray[np.intp] | None:
    """Return the numbers of rows in the table; None if they are 0, 1, 2 and so on."""
    if numbers is not None:
        return numbers[rows]
    return None if isinstance(rows, slice) else rows


def _find_copies(
    rows: Picked,
    target: Numbers,
    prediction: Numbers,
    spread: Spread,
    groups: npt.NDArray[Any] | None,
    columns: Mapping[str, npt.NDArray[Any]] | None,
    complete: bool,
) -> list[Finding]:
    y = _flat(target[rows])
    seen = [_flat(prediction[rows]), *(_flat(part[rows]) for part in spread.parts)]
    seen += [] if groups is None else [groups[rows]]
    seen += [] if columns is None else without_ids(columns.values())
    finding = check_copies(y, seen, complete=complete)
    return [] if finding is None else [finding]


def _flat(rows: Numbers) -> Numbers:
    """Return runs as rows of as many numbers."""
    return rows if rows.ndim < 3 else rows.reshape(len(rows), -1)
