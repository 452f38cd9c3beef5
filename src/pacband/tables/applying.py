"""`apply_frame`: a table with the certified band beside its predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw

from pacband.certificate import AnyCertificate, GroupCertificate, Promise, check_certificate
from pacband.certificate.certified_labels import refuse_unknown
from pacband.core.labels import Label, as_labels
from pacband.exceptions import InvalidInput
from pacband.scores import outwards
from pacband.scores.columns import Columns
from pacband.scores.expressions import all_of, band
from pacband.tables.columns import as_frame, check_columns, column_of, columns_of, in_memory, names_of, read_predicted
from pacband.tables.engines import fetch_rows, refuse_unless, take_columns
from pacband.tables.guards import Guards
from pacband.tables.lookup import join_values
from pacband.tables.table import Table

__all__ = ["apply_frame", "chosen_columns", "labelled_columns"]


def apply_frame(
    certificate: AnyCertificate,
    frame: Any,
    *,
    prediction: str | list[str] | None = None,
    scale: Any = None,
    group: str | None = None,
    names: tuple[str, str] = ("lower", "upper"),
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
        Columns, as in `certify_frame`; by default those that the certificate was made from.
    names : pair of str
        The names of the two columns; with several outputs, each is followed by ``_0``, ``_1`` and so on.

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
    if len(names) != 2 or len({name.casefold() for name in names}) != 2:
        raise InvalidInput(f"names must be two names that differ in more than case, got {names!r}.")
    columns = replace(chosen_columns(basis, prediction=prediction, scale=scale, group=group), target=())
    table = as_frame(frame)
    schema = check_columns(table, columns.predicted, columns.group)
    outputs = [""] if basis.n_outputs == 1 else [f"_{k}" for k in range(basis.n_outputs)]
    ends = [(f"{names[0]}{output}", f"{names[1]}{output}") for output in outputs]
    # Some engines take Lower for lower.
    taken = {name.casefold() for name in schema}
    for name in (name for pair in ends for name in pair):
        if name.casefold() in taken:
            raise InvalidInput(f"the table already has a column {name!r}: pass other names for the ends of the band.")
    if isinstance(table, nw.DataFrame):
        return _band_in_memory(certificate, table, columns, ends)
    return _band_in_engine(certificate, table, schema, columns, ends)


def chosen_columns(basis: Promise, *, target: Any = None, prediction: Any, scale: Any, group: Any) -> Columns:
    """Return the columns to use with a certificate: those given, else those it was made from; or raise."""
    known = basis.columns
    if basis.scoring.own:
        return _score_columns(known, target, prediction, scale, group)
    if prediction is None and known is None:
        raise InvalidInput("this certificate was not made from a table: name the prediction column.")
    columns = columns_of(target, prediction or list(known.prediction if known else ()), scale, group)
    if known is not None:
        columns = replace(
            columns,
            target=columns.target or known.target,
            scale=columns.scale or known.scale,
            group=columns.group or known.group,
        )
    if columns.scale_kind != basis.scale_kind:
        basis.check_scale((None, 0, (0, 0))[len(columns.scale)])
    if len(columns.prediction) != basis.n_outputs:
        raise InvalidInput(
            f"this certificate bounds {basis.n_outputs} output(s), got prediction columns for "
            f"{len(columns.prediction)}."
        )
    return columns


def _score_columns(known: Columns | None, target: Any, prediction: Any, scale: Any, group: Any) -> Columns:
    """Return the columns of own scores: the target names the column of the scores."""
    if prediction or scale:
        raise InvalidInput("this certificate bounds a score: name the column of the scores only, as the target.")
    if not target and known is None:
        raise InvalidInput("name the column of the scores, as the target: the certificate does not state it.")
    names = names_of("target", target) if target else known.target if known else ()
    if len(names) != 1:
        raise InvalidInput(f"own scores are one column, got {len(names)}.")
    return Columns(target=names, prediction=(), group=group or (known.group if known else None))


def labelled_columns(basis: Promise, *, target: Any, prediction: Any, scale: Any, group: Any) -> Columns:
    """Return the columns to use with a certificate, with a target; or raise."""
    columns = chosen_columns(basis, target=target, prediction=prediction, scale=scale, group=group)
    if not columns.target:
        raise InvalidInput("name the target column: the certificate does not state it.")
    return columns


def _band_in_memory(
    certificate: AnyCertificate,
    table: nw.DataFrame[Any],
    columns: Columns,
    ends: list[tuple[str, str]],
) -> Any:
    values = in_memory(table, columns.predicted)
    prediction, scale = read_predicted(values, columns)
    if isinstance(certificate, GroupCertificate):
        labels = as_labels(column_of(table, _group_of(columns.group)).to_native())
        found = certificate.interval(prediction, labels, scale)
    else:
        found = certificate.interval(prediction, scale)
    found = found.reshape(len(found), len(ends), 2)
    series = [
        nw.new_series(name, found[:, k, end].copy(), backend=table.implementation)
        for k, pair in enumerate(ends)
        for end, name in enumerate(pair)
    ]
    return table.with_columns(*series).to_native()


def _band_in_engine(
    certificate: AnyCertificate,
    table: nw.LazyFrame[Any],
    schema: nw.Schema,
    columns: Columns,
    ends: list[tuple[str, str]],
) -> Any:
    """Return a table in an engine with its band. The engine checks every row again when it computes the band."""
    ours = {name: f"x{k}" for k, name in enumerate(schema)}
    rule = certificate.basis.scoring
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
    if isinstance(certificate, GroupCertificate):
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
