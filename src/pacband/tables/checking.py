"""`check_frame`: does the promise hold on the labelled rows of a table? The rows stay in their engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from pacband.certificate import AnyCertificate
from pacband.core.checks import check_probability
from pacband.core.labels import refuse_unknown
from pacband.judging.checking import bounds_of, check, verdict_of, violations_above
from pacband.judging.verdicts import Verdict
from pacband.selection import Tally
from pacband.tables.applying import labelled_columns
from pacband.tables.columns import as_frame, check_columns, in_memory, read_predicted, read_values
from pacband.tables.scan import GroupScan, TableScan
from pacband.tables.table import Table

__all__ = ["check_frame"]


def check_frame(
    certificate: AnyCertificate,
    frame: Any,
    *,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    scale: Any = None,
    group: str | None = None,
    level: float = 0.01,
) -> Verdict:
    """Test a promise on labelled rows of a table; see `check`, and `certify_frame` for tables.

    The columns are by default those that the certificate was made from.
    """
    level = check_probability("level", level)
    single, gammas = bounds_of(certificate)
    columns = labelled_columns(single, target=target, prediction=prediction, scale=scale, group=group)
    table = as_frame(frame)
    schema = check_columns(table, columns.numeric, columns.group)
    if isinstance(table, nw.DataFrame):
        values = in_memory(table, columns.all)
        groups = None if columns.group is None else values[columns.group]
        y = read_values(values, columns.target)
        return check(certificate, y, *read_predicted(values, columns), groups=groups, level=level)
    in_engine = Table.of(table, schema, single.rule, {"": columns})
    if columns.group is None:
        answers: Mapping[Any, Tally] = TableScan(in_engine)({"": violations_above(single.gamma)})
    else:
        scan = GroupScan(in_engine, columns.group)
        labels = scan.counts()
        if gammas is not None:
            refuse_unknown(labels, gammas, f"column {columns.group!r}")
        bound = gammas or dict.fromkeys(labels, single.gamma)
        found = scan({label: violations_above(bound[label]) for label in labels})
        answers = {label: found[label] for label in labels}
    return verdict_of(certificate, answers, level, grouped=columns.group is not None)
