"""The columns to use with a certificate: those that a user names, else those that it was made from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pacband.certificate import Promise
from pacband.exceptions import InvalidInput
from pacband.scores.columns import Columns
from pacband.tables.columns import columns_of, group_columns, names_of, refuse_target_as_prediction

__all__ = ["chosen_columns", "labelled_columns"]


def chosen_columns(
    basis: Promise, *, target: Any = None, prediction: Any, scale: Any, group: Any, run: Any = None, step: Any = None
) -> Columns:
    """Return the columns to use with a certificate: those given, else those it was made from; or raise."""
    known = basis.columns
    if (run or step) and (known is None or known.run is None):
        raise InvalidInput("run and step are for certificates of runs that were made from a table with these columns.")
    if basis.scoring.own:
        return _score_columns(known, target, prediction, scale, group)
    if prediction is None and known is None:
        model = basis.about.model
        why = "was made from arrays:"
        if model is not None and model.digest is not None:
            why = "belongs to a fitted model: pass the model file in its place, or"
        raise InvalidInput(
            f"this certificate names no column of predictions, because it {why} name the columns with prediction= (and "
            "target=)."
        )
    columns = columns_of(target, prediction or list(known.prediction if known else ()), scale, group)
    if known is not None:
        columns = replace(
            columns,
            target=columns.target or known.target,
            scale=columns.scale or known.scale,
            group=columns.group or (None if columns.groups else known.group),
            groups=columns.groups or (() if columns.group else known.groups),
            run=run or known.run,
            step=step or known.step,
            steps=known.steps,
        )
    if columns.scale_kind != basis.scale_kind:
        basis.check_scale((None, 0, (0, 0))[len(columns.scale)])
    if len(columns.prediction) != basis.n_columns:
        raise InvalidInput(
            f"this certificate bounds {basis.n_columns} output(s), got prediction columns for "
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
    if group is None and known is not None:
        return Columns(target=names, prediction=(), group=known.group, groups=known.groups)
    return Columns(target=names, prediction=(), **group_columns(group))


def labelled_columns(
    basis: Promise, *, target: Any, prediction: Any, scale: Any, group: Any, run: Any = None, step: Any = None
) -> Columns:
    """Return the columns to use with a certificate, with a target; or raise."""
    columns = chosen_columns(basis, target=target, prediction=prediction, scale=scale, group=group, run=run, step=step)
    if not columns.target:
        raise InvalidInput("name the target column: the certificate does not state it.")
    refuse_target_as_prediction(columns)
    return columns
