"""Diagnose rows in memory: judge them by the certificate that they make, and run all checks on the draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certification.arrays import certify_rows
from pacband.certification.terms import Terms
from pacband.checks.copies import bits_without_ids, column_bits
from pacband.checks.frames import columns_of_frame
from pacband.core.arrays import as_numbers, check_lengths
from pacband.core.labels import as_labels
from pacband.core.row_hashes import Fingerprints
from pacband.diagnostics.checks import run_checks, scored_rows
from pacband.diagnostics.diagnosis import Diagnosis
from pacband.draws import Sample, Units, Weighted
from pacband.exceptions import NotEnoughSamples
from pacband.judging.judge import Judge
from pacband.scores import Spread, as_prediction, spread_of

__all__ = ["diagnose_rows", "judge_rows"]


def diagnose_rows(
    terms: Terms,
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    X: Any = None,
    columns: Mapping[str, npt.NDArray[Any]] | None = None,
    groups: Any = None,
    training: Any = None,
    level: float,
) -> Diagnosis:
    """Run all checks on rows in memory. `columns` may hold labels or dates; by default those of a dataframe X."""
    target = as_numbers("y", y)
    labels = None if groups is None else as_labels(groups)
    check_lengths(y=target, groups=labels, X=X)
    prediction = as_prediction(terms.scoring, y_pred, target.shape)
    if isinstance(terms.draws, Units) and terms.draws.kind.averages:
        # Units are compared with each other by one score each, the largest.
        terms = replace(terms, draws=Units(terms.draws.labels, "all", name=terms.draws.kind.unit))
    sample = terms.draws.sample(len(target))
    judged = judge_rows(terms, sample, y, y_pred, scale)
    if columns is None:
        others = columns_of_frame(X)
        columns = {} if others is None else others(slice(0, len(target)))
    spread = spread_of(terms.scoring, scale, target.shape)
    if sample.rows is not None:
        target, prediction, spread = target[sample.rows], prediction[sample.rows], spread.at(sample.rows)
        labels = None if labels is None else sample.assign(labels)
        columns = {name: column[sample.rows] for name, column in columns.items()}
        X = None if X is None else _compared(X, training)[sample.rows]
    rows = scored_rows(
        terms.scoring,
        y=target,
        y_pred=prediction,
        scale=_scale(spread),
        X=X,
        groups=labels,
        columns=columns,
        **judged,
    )
    rows = replace(rows, series=sample.series)
    if sample.codes is not None:
        # The rows of a unit may repeat, and have no common error.
        rows = replace(rows, one_row_a_draw=False, errors=None)
    return run_checks(rows, n_rows=len(np.asarray(y)), level=level, eps=terms.eps, training=training)


def judge_rows(terms: Terms, sample: Sample, y: Any, y_pred: Any, scale: Any) -> dict[str, Any]:
    """Judge rows by the certificate that they make: return the scores of draws, which violate, and the bound.

    If there are too few rows for the promise, they make a certificate with a larger ε: their scores are known then, but
    not their violations, which are None.
    """
    enough = True
    try:
        certificate = certify_rows(terms, y, y_pred, scale, screen=False)
    except NotEnoughSamples as error:
        if error.eps_here is None:
            raise
        enough = False
        certificate = certify_rows(replace(terms, eps=error.eps_here), y, y_pred, scale, screen=False)
    judged = Judge(certificate).judge(y, y_pred, scale, draws=terms.draws if isinstance(terms.draws, Units) else None)
    scores, violated = judged.scores, judged.violated
    if isinstance(terms.draws, Weighted):
        # A judge takes every row for a draw of the future. Here only the accepted ones are.
        scores, violated = scores[sample.rows], violated[sample.rows]
    return {"scores": scores, "violated": violated, "bound": certificate.gamma} if enough else {"scores": scores}


def _compared(X: Any, training: Any) -> Fingerprints:
    """Return the bits of inputs. Columns that identify rows are left out, unless training rows have them as well."""
    others = columns_of_frame(X) if training is None else None
    if others is not None:
        return bits_without_ids(list(others(slice(0, len(X))).values()))
    return X if isinstance(X, np.ndarray) and X.dtype == np.uint64 and X.ndim == 2 else column_bits([X])


def _scale(spread: Spread) -> Any:
    """Return the scale as a user passes it."""
    return (None, *spread.parts)[-1] if len(spread.parts) < 2 else spread.parts
