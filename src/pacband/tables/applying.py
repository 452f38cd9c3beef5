"""`apply_frame`: a table with the certified band beside its predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from pacband.certificate import AnyCertificate, GroupCertificate, Promise, check_certificate, groups_overlap
from pacband.certificate.certified_labels import refuse_unknown
from pacband.core.arrays import Floats, as_numbers, name_rows
from pacband.core.labels import Label, as_labels, listed
from pacband.core.members import groups_of_columns
from pacband.exceptions import InvalidInput
from pacband.scores import outwards
from pacband.scores.columns import Columns
from pacband.scores.expressions import all_of, band, fails
from pacband.tables.asks import ask_rows, count_rows
from pacband.tables.columns import as_frame, check_columns, in_memory, read_predicted
from pacband.tables.engines import fetch_rows, refuse_unless, take_columns
from pacband.tables.guards import Guards
from pacband.tables.known_columns import chosen_columns
from pacband.tables.lookup import join_values
from pacband.tables.mismatches import warn_of_other_model
from pacband.tables.overlaps import known_masks, widest_factor
from pacband.tables.table import Table

__all__ = ["apply_frame"]


def apply_frame(
    certificate: AnyCertificate,
    frame: Any,
    *,
    prediction: str | list[str] | None = None,
    scale: Any = None,
    group: str | list[str] | None = None,
    step: str | None = None,
    names: tuple[str, str] = ("lower", "upper"),
    model_digest: str | None = None,
) -> Any:
    """Return a table of the same kind, with the ends of the certified band in two more columns.

    Every row gets a band, whatever a draw is: a promise about units says how many of them keep their rows within it.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The promise. For a family it is that of the best candidate: `prediction` and `scale` must be its columns.
    frame : table
        As in `certify_frame`. A table in an engine stays there: its rows are checked, and the band is an expression.
    prediction, scale, group
        Columns, as in `certify_frame`; by default those that the certificate was made from. If the groups overlap, a
        row has the widest band of its groups.
    step : str, optional
        The column of steps, if the rows are steps of runs. Only steps that were certified have a band: the tube.
    names : pair of str
        The names of the two columns; with several outputs, each is followed by ``_0``, ``_1`` and so on.
    model_digest : str, optional
        The digest of the model that made the predictions (`pacband.model_digest`), to compare with the certified one.

    Warns
    -----
    PromiseWarning
        If the model has another digest than the certified one.

    Examples
    --------
    >>> import pandas as pd
    >>> import pacband
    >>> cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    >>> pacband.apply_frame(cert, pd.DataFrame({"guess": [10.0]}), prediction="guess")
       guess  lower  upper
    0   10.0    9.5   10.5
    """
    basis = check_certificate(certificate).basis
    if basis.scoring.own:
        raise InvalidInput("this certificate bounds a score: there is no band around a prediction.")
    if len(names) != 2 or not all(names) or len({name.casefold() for name in names}) != 2:
        raise InvalidInput(f"names must be two names, not empty, that differ in more than case, got {names!r}.")
    columns = replace(chosen_columns(basis, prediction=prediction, scale=scale, group=group, step=step), target=())
    warn_of_other_model(basis, model_digest)
    table = as_frame(frame)
    numeric = [*columns.predicted, *([columns.step] if columns.step else [])]
    schema = check_columns(table, numeric, columns.group, *columns.groups)
    outputs = [""] if basis.n_columns == 1 else [f"_{k}" for k in range(basis.n_columns)]
    ends = [(f"{names[0]}{output}", f"{names[1]}{output}") for output in outputs]
    # Some engines take Lower for lower.
    taken = {name.casefold() for name in schema}
    for name in (name for pair in ends for name in pair):
        if name.casefold() in taken:
            raise InvalidInput(f"the table already has a column {name!r}: pass other names for the ends of the band.")
    if isinstance(table, nw.DataFrame):
        return _band_in_memory(certificate, table, columns, ends)
    return _band_in_engine(certificate, table, schema, columns, ends)


def _band_in_memory(
    certificate: AnyCertificate,
    table: nw.DataFrame[Any],
    columns: Columns,
    ends: list[tuple[str, str]],
) -> Any:
    values = in_memory(table, (*columns.predicted, *columns.others_than_run))
    prediction, scale = read_predicted(values, columns)
    gamma: Any = next(iter(certificate.parts.values())).gamma
    if groups_overlap(certificate):
        found_groups = groups_of_columns({name: values[name] for name in columns.groups})
        gamma = certificate.gamma(known_masks(certificate, found_groups, columns))
    elif isinstance(certificate, GroupCertificate):
        gamma = certificate.gamma(as_labels(values[_group_of(columns.group)]))
    if columns.step is None:
        found = certificate.basis.band(gamma, prediction, scale)
    else:
        found = _band_of_steps(certificate.basis, gamma, prediction, scale, values[columns.step], columns)
    found = found.reshape(len(found), len(ends), 2)
    series = [
        nw.new_series(name, found[:, k, end].copy(), backend=table.implementation)
        for k, pair in enumerate(ends)
        for end, name in enumerate(pair)
    ]
    return table.with_columns(*series).to_native()


def _band_of_steps(basis: Promise, gamma: Any, prediction: Any, scale: Any, steps: Any, columns: Columns) -> Floats:
    """Return the band of rows that are steps of runs, each by the gauge of its step."""
    places = as_numbers(f"column {columns.step!r}", steps, empty=True).astype(np.float64)
    unknown = ~np.isin(places, columns.steps)
    if unknown.any():
        raise _other_steps(columns, name_rows(unknown))
    if not basis.scoring.per_step:
        return basis.at_step(0).band(gamma, prediction, scale)
    found = np.empty((*prediction.shape, 2))
    for place, step in enumerate(columns.steps):
        rows = np.flatnonzero(places == step)
        if len(rows):
            part = None if scale is None else scale[rows]
            own = gamma[rows] if isinstance(gamma, np.ndarray) else gamma
            found[rows] = basis.at_step(place).band(own, prediction[rows], part)
    return found


def _other_steps(columns: Columns, rows: str) -> InvalidInput:
    return InvalidInput(
        f"only the {len(columns.steps)} certified steps, {listed([f'{step:g}' for step in columns.steps])}, have a "
        f"band: column {columns.step!r} has other steps in {rows}."
    )


def _band_in_engine(
    certificate: AnyCertificate,
    table: nw.LazyFrame[Any],
    schema: nw.Schema,
    columns: Columns,
    ends: list[tuple[str, str]],
) -> Any:
    """Return a table in an engine with its band. The engine checks every row again when it computes the band."""
    ours = {name: f"x{k}" for k, name in enumerate(schema)}
    basis = certificate.basis
    # Here a column is an output, or a row is a step: neither has a matrix for each step.
    if basis.scoring.per_step or (basis.scoring.matrices and basis.n_steps is not None and columns.step is None):
        raise InvalidInput("the ellipsoids of steps need the rows in memory: collect the table first.")
    rule = (basis if columns.step is None else basis.at_step(0)).scoring
    rows = Table(
        frame=take_columns(table, list(ours.values()), range(len(ours))),
        schema={ours[name]: schema[name] for name in columns.predicted},
        rule=rule,
        candidates={"": columns.renamed(ours)},
        user_names={here: name for name, here in ours.items()},
    )
    guards = Guards(rows)
    guards.check_all()
    frame, usable = rows.frame, [guards.can_be_scored()]
    factor = nw.lit(float(outwards(next(iter(certificate.parts.values())).gamma)), nw.Float64)
    if columns.step is not None:
        certified = nw.col(ours[columns.step]).cast(nw.Float64).is_in(list(columns.steps))
        outside = count_rows(fails(certified))
        if bad := ask_rows(frame, [outside])[outside]:
            raise _other_steps(columns, f"{bad} row{'s' if bad > 1 else ''}")
        usable.append(certified)
    if groups_overlap(certificate):
        frame, factor = widest_factor(certificate, frame, ours, columns, usable)
    elif isinstance(certificate, GroupCertificate):
        group = _group_of(columns.group)
        factors = _factors(certificate, frame.select(nw.col(ours[group]).alias("g")), group)
        # An empty table has no labels, and any factor will do.
        if factors:
            frame, factor = join_values(frame, ours[group], {"factor": factors}, ordered=True), nw.col("factor")
            # A label without a certificate has no factor.
            usable.append((factor >= 0.0) | (factor < 0.0))
    bands = [band(rule, factor, rows.candidates[""], k) for k in range(len(ends))]
    added = {f"end{k}x{j}": end for k, both in enumerate(bands) for j, end in enumerate(both)}
    banded = frame.with_columns(usable=all_of(usable), **added).select(*ours.values(), "usable", *added)
    names = [*ours, *(name for pair in ends for name in pair)]
    return take_columns(refuse_unless(banded, "usable", list(added)), names, range(len(names))).to_native()


def _factors(single: GroupCertificate, groups: nw.LazyFrame[Any], column: str) -> dict[Label, float]:
    """Return γ̄ of every label in a column g, rounded outwards."""
    labels = [row["g"] for row in fetch_rows(groups.unique())]
    refuse_unknown(labels, single.groups, f"column {column!r}")
    return {label: float(outwards(single.groups[label].gamma)) for label in labels}


def _group_of(group: str | None) -> str:
    if group is None:
        raise InvalidInput("this certificate promises within groups: name the group column.")
    return group
