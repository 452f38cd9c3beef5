"""`report`: a certificate and its rows as a page, Markdown or JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from pacband.certificate import AnyCertificate
from pacband.certification.fitted import FittedModel, PredictedRows, certificate_of, raw_rows
from pacband.core.atomic_files import replace_file
from pacband.diagnostics.units import with_seen_units
from pacband.draws import Draws
from pacband.reporting.diagnosis import diagnose_rows
from pacband.reporting.rows import best_columns, read_rows
from pacband.reporting.summary import Summary, has_curve, summarise_certificate, summarise_rows
from pacband.selection.ranked import Ranked

__all__ = ["Report", "report"]


@dataclass(frozen=True)
class Report:
    """A report, made by `report`: its numbers, and renderings of them.

    Attributes
    ----------
    summary : Summary
        The numbers.
    """

    summary: Summary

    @cached_property
    def html(self) -> str:
        """The page: one file that loads nothing from the network."""
        from pacband.reporting.page.render import render_html

        return render_html(self.summary)

    def to_markdown(self) -> str:
        """Return the report as Markdown, without figures."""
        from pacband.reporting.page.render import render_markdown

        return render_markdown(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the report as JSON-ready values."""
        return self.summary.to_dict()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, atomically: a crash leaves the old file or the new one."""
        target = Path(path)
        replace_file(target, self.html.encode("utf-8", "replace"))
        return target

    def __str__(self) -> str:
        answer = self.summary.answer
        return f"{self.summary.certificate.promise}\n{answer.headline}. {answer.text}"

    def _repr_html_(self) -> str:
        # In a frame, the styles of the page and of the notebook do not mix.
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.summary.title)}" sandbox="allow-scripts" '
            'style="width:100%;height:40em;border:1px solid #8888;border-radius:6px"></iframe>'
        )


def report(
    certificate: AnyCertificate | FittedModel,
    y: Any = None,
    y_pred: Any = None,
    scale: Any = None,
    *,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    groups: Any = None,
    draws: Draws | None = None,
    candidates: Mapping[str, Any] | None = None,
    training: Any = None,
    title: str = "How wrong can the model be?",
    command: str | None = None,
    outlook: int | None = None,
) -> Report:
    """Make a report of a certificate: one page to read, sign and share, and the same numbers as Markdown and JSON.

    With the calibration rows, the report recomputes the certificate and shows the bounds of other (ε, δ). With fresh
    rows, it tests the promise. Without rows, it shows the certificate alone.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate, GroupCertificate or fitted model
        The promise. With a `CertifiedRegressor` or `CertifiedFamily`, pass raw rows: ``report(model, X, y)``. The model
        predicts them, X are the features, and rows and units that the model was fitted on are found.
    y, y_pred, scale
        Rows, as `certify` takes them; for a family, those of its best candidate. For own scores, y holds the scores
        alone.
    X : array-like or dataframe of shape (n, p), optional
        Features, to see where the model is weak. With a single feature, the band is drawn against it.
    feature_names : sequence of str, optional
        Names of the columns of X, if X has no names.
    groups : array-like of shape (n,), optional
        A group for every row. A group certificate needs it; otherwise it is one more way to slice.
    draws : Units or Weighted, optional
        The units of the rows, if the certificate makes a promise about units; see `check`. Each draw is shown by the
        row whose score it has.
    candidates : mapping of str to y_pred or (y_pred, scale), optional
        For a family, instead of `y_pred` and `scale`: as given to `certify_family`.
    training : pair (X, y), optional
        The rows that the model was fitted on, to check that none of them is among these.
    title : str
        The heading of the page.
    command : str, optional
        The command that made the report, to be printed on the page.
    outlook : int, optional
        State how many of so many next rows exceed the bound, at most (`Certificate.outlook`). By default 1,000 for a
        certificate with one bound; for groups nothing is stated.

    Examples
    --------
    >>> import pacband, pathlib, tempfile
    >>> X, y = pacband.datasets.paper_sample(2065, random_state=0)
    >>> predicted, scale = pacband.datasets.paper_predictor(X), pacband.datasets.paper_scale(X)
    >>> cert = pacband.certify(y, predicted, scale, eps=0.05, delta=1e-6)
    >>> page = pacband.report(cert, y, predicted, scale, X=X)
    >>> page.to_dict()["verdict"]["state"]
    'recomputed'
    >>> path = page.save(pathlib.Path(tempfile.mkdtemp()) / "report.html")
    """
    given: PredictedRows | None = None
    if isinstance(certificate, FittedModel) and (y is not None or y_pred is not None):
        others = {"scale": scale, "X": X, "candidates": candidates}
        given = certificate.predict_rows(
            *raw_rows("report(model, X, y)", certificate, y, y_pred, **others), groups=groups, draws=draws
        )
        y, y_pred, scale, X, groups, draws = given.y, given.y_pred, given.scale, given.X, given.groups, given.draws
        training = certificate.known_training if training is None else training
    promise = certificate_of(certificate)
    if y is None:
        return Report(summarise_certificate(promise, title=title, command=command, outlook=outlook))
    rows = read_rows(
        promise,
        y,
        y_pred,
        scale,
        X=X,
        feature_names=feature_names,
        groups=groups,
        candidates=candidates,
        draws=draws,
    )
    y_pred, scale = best_columns(promise, y_pred, scale, candidates)
    diagnosis = diagnose_rows(promise, rows, y, y_pred, scale, X, groups, training)
    if given is not None:
        diagnosis = with_seen_units(diagnosis, given, promise.basis.draws.counted)
    ranked = Ranked.of(rows.all_scores) if has_curve(promise, rows.census) else None
    summary = summarise_rows(promise, rows, diagnosis, ranked, title=title, command=command, outlook=outlook)
    return Report(summary)
