"""The checks of the rows of a report: whether they are independent, and from one distribution."""

from __future__ import annotations

from typing import Any

from pacband.certificate import AnyCertificate, Promise
from pacband.checks.copies import bits_without_ids
from pacband.checks.frames import columns_of_frame
from pacband.core.arrays import Floats, as_numbers
from pacband.core.labels import as_labels
from pacband.core.row_tables import take_rows
from pacband.diagnostics import Diagnosis
from pacband.diagnostics.checks import ScoredRows, run_checks, scored_rows
from pacband.exceptions import InvalidInput
from pacband.reporting.census import LEVEL
from pacband.reporting.rows import SAMPLE, Features, Rows, pick_scale
from pacband.scores import as_prediction
from pacband.tables.sample import WHOLE, draw_rows, drawn_words, first_words

__all__ = ["check_rows", "diagnose_rows", "violations"]


def diagnose_rows(
    certificate: AnyCertificate, rows: Rows, y: Any, y_pred: Any, scale: Any, X: Any, groups: Any, training: Any
) -> Diagnosis:
    """Check rows in memory in their given order. If they are many, check the first of them and a random sample.

    If draws are not rows, the rows are checked whose scores the draws have.
    """
    if training is not None and X is None:
        raise InvalidInput("training rows were given, but not X: rows are compared in inputs and target.")
    basis = certificate.basis
    n_rows = rows.n_rows
    target = as_numbers("y", y)
    others = columns_of_frame(X)
    columns = {} if others is None else others(slice(0, len(target)))
    if isinstance(X, Features):
        columns, X = X.columns, bits_without_ids(list(X.columns.values()))
    prediction = as_prediction(basis.scoring, y_pred, target.shape)
    labels = None if groups is None else as_labels(groups)
    if (picked := rows.picked) is not None:
        target, prediction, scale = target[picked], prediction[picked], pick_scale(scale, picked)
        X = None if X is None else take_rows(X, picked)
        columns = {name: column[picked] for name, column in columns.items()}
        labels = None if labels is None else labels[picked]

    cut = slice(None) if n_rows <= WHOLE else slice(SAMPLE)
    near = scored_rows(
        basis.scoring,
        rows.all_scores[cut],
        target[cut],
        prediction[cut],
        pick_scale(scale, cut),
        X=None if X is None else X[cut],
        columns={name: column[cut] for name, column in columns.items()},
        groups=None if labels is None else labels[cut],
        **violations(certificate, rows.all_scores[cut], None if labels is None else labels[cut]),
        words="" if n_rows <= WHOLE else first_words(SAMPLE),
    )
    if n_rows <= WHOLE:
        return check_rows(basis, near, None, n_rows, training)
    drawn = draw_rows(n_rows)
    spread = scored_rows(
        basis.scoring,
        rows.score,
        target[drawn],
        prediction[drawn],
        pick_scale(scale, drawn),
        columns={name: column[drawn] for name, column in columns.items()},
        groups=None if labels is None else labels[drawn],
        **violations(certificate, rows.score, None if labels is None else labels[drawn]),
        numbers=drawn,
        words=drawn_words(len(drawn)),
    )
    return check_rows(basis, spread, near, n_rows, training)


def violations(certificate: AnyCertificate, scores: Floats, labels: Any) -> dict[str, Any]:
    """Return which rows exceed the bound of the certificate, and the bound if all rows have the same."""
    single = certificate.single
    if single is not None:
        return {"violated": scores > single.gamma, "bound": single.gamma}
    return {"violated": scores > certificate.gamma(labels)}  # type: ignore[union-attr,operator]


def check_rows(
    basis: Promise,
    rows: ScoredRows,
    neighbours: ScoredRows | None,
    n_rows: int,
    training: Any = None,
    copies: ScoredRows | None = None,
) -> Diagnosis:
    """Run the checks at the level of the report."""
    return run_checks(
        rows,
        neighbours=neighbours,
        copies=copies,
        n_rows=n_rows,
        level=LEVEL,
        eps=basis.eps,
        training=training,
    )
