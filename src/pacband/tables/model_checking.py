"""Test the promise of a model on raw rows: the model predicts them, and `check` judges the predictions.

The rows are read from a table in pieces, so that memory does not grow with their number, except where draws are not
rows: then targets, predictions and scales of all rows are kept. A model has the fingerprints of the rows and of the
units that it was fitted on: the verdict states how many of them are among these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pacband.certification.reused_rows import SeenRows
from pacband.core.progress import Progress
from pacband.exceptions import InvalidInput
from pacband.judging.checking import Piece, check_pieces, mark_seen
from pacband.judging.verdicts import Verdict
from pacband.tables.model_rows import ModelTable, RawRows, joined

__all__ = ["check_model"]


def check_model(table: ModelTable, *, level: float = 0.01, progress: Progress = lambda done, total: None) -> Verdict:
    """Test the promise of a fitted model on the rows of a table.

    Parameters
    ----------
    table : ModelTable
        The model and the labelled rows.
    level
        As in `check`.
    progress : function of (done, total)
        Called after every piece.

    Returns
    -------
    Verdict
        It is `reused` also where more of the rows were used to fit the model than chance explains, or any of the
        units: new rows of a unit that the model has seen violate too seldom.
    """
    model = table.model
    certificate: Any = model.certificate_
    seen = SeenRows(model.training_rows_)
    kept: list[RawRows] = []

    def pieces() -> Iterator[Piece]:
        for rows in table.batches(progress):
            yield rows.y, *model.predict_with_scale(rows.X), rows.groups
            seen.add(rows.X, rows.y)
            if table.drawn:
                kept.append(rows)

    if table.draws is None:
        return mark_seen(check_pieces(certificate, pieces(), level=level), seen, 0)
    whole = list(pieces())
    if not whole:
        raise InvalidInput("the table is empty: at least one row is needed.")
    # A unit may have rows in several pieces, and a series goes on.
    y, y_pred, scale, groups = joined(whole)
    draws = table.bind(kept)
    verdict = check_pieces(certificate, [(y, y_pred, scale, groups)], level=level, draws=draws)
    return mark_seen(verdict, seen, model.count_seen_units(draws))
