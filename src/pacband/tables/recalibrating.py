"""The next certificate of a chain from the rows of a table, of a certificate and of a model; the rows are in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from pacband.certificate import About, AnyCertificate, Certificate, GroupCertificate, groups_overlap
from pacband.certification.succession import recalibrate
from pacband.core.frozen import FrozenMap
from pacband.core.progress import Progress
from pacband.draws import Draws, Weighted
from pacband.estimators.base import Certified
from pacband.exceptions import InvalidInput
from pacband.scores.columns import Columns
from pacband.tables.columns import as_frame, check_columns, in_memory
from pacband.tables.model_rows import ModelTable
from pacband.tables.overlaps import known_masks
from pacband.tables.reading import read_table, read_whole

__all__ = ["recalibrate_model", "recalibrate_table"]


def recalibrate_table(
    certificate: AnyCertificate,
    frame: Any,
    columns: Columns,
    *,
    draws: Draws | None = None,
    rule: str = "exact",
    about: About | Mapping[str, Any] | None = None,
) -> Certificate | GroupCertificate:
    """Return the successor of a certificate from the rows of a table; see `recalibrate`.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The predecessor.
    frame : table
        Fresh rows, in memory or in DuckDB.
    columns : Columns
        Which columns are y, T, σ̂ and the group. The successor states them.
    draws : Draws, optional
        The draws of the rows, by the names of their columns; see `table_draws`.
    rule, about
        See `recalibrate`.
    """
    table = as_frame(frame)
    drawn = () if draws is None else draws.columns
    numeric = [*columns.numeric, *filter(None, [columns.step]), *(drawn if isinstance(draws, Weighted) else ())]
    schema, names = check_columns(table, numeric, *columns.others, *drawn), (*columns.all, *drawn)
    if isinstance(table, nw.DataFrame):
        values = in_memory(table, names)
    else:
        values = read_whole(table, schema, names, numeric, "successors")
    rows = read_table(values, columns)
    groups = known_masks(certificate, rows.groups, columns) if groups_overlap(certificate) else rows.groups
    successor: Any = recalibrate(
        certificate,  # type: ignore[arg-type]
        rows.y,
        rows.y_pred,
        rows.scale,
        groups=groups,
        rule=rule,
        draws=None if draws is None else rows.bind(draws, values),
        about=about,
    )
    return _with_columns(successor, rows.columns)


def recalibrate_model(
    table: ModelTable,
    *,
    rule: str = "exact",
    about: About | Mapping[str, Any] | None = None,
    progress: Progress = lambda done, total: None,
) -> Certified:
    """Return a model with the successor of its certificate, from the rows of a table; see `Certified.recalibrate`."""
    import pandas as pd

    if isinstance(table.model.draws, Weighted) and table.draws is None:
        raise InvalidInput("a successor needs the weights of the fresh rows: name their column with importance.")
    batches = list(table.batches(progress))
    if not batches:
        raise InvalidInput("the table is empty: at least one row is needed.")
    X = pd.concat([rows.X for rows in batches], ignore_index=True)
    y = np.concatenate([rows.y for rows in batches])
    draws, declared = table.bind(batches), table.model.draws
    if declared is not None and declared.columns:
        # The model itself reads the draws from the columns that it names.
        values = [np.concatenate(parts) for parts in zip(*(rows.drawn for rows in batches), strict=True)]
        X, draws = X.assign(**dict(zip(declared.columns, values, strict=True))), None
    return table.model.recalibrate(X, y, rule=rule, draws=draws if declared is None else None, about=about)


def _with_columns(certificate: Certificate | GroupCertificate, columns: Columns) -> Certificate | GroupCertificate:
    """Return the certificate of a table, which states its columns: they are the defaults for the next table."""
    if isinstance(certificate, Certificate):
        return replace(certificate, basis=replace(certificate.basis, columns=columns))
    basis = replace(certificate.basis, columns=columns)
    groups = {label: replace(part, basis=basis) for label, part in certificate.groups.items()}
    return replace(certificate, groups=FrozenMap(groups))
