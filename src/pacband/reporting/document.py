"""`report`: a certificate and its rows become a page, Markdown or JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from pacband.certificate import AnyCertificate
from pacband.core.atomic_files import replace_file
from pacband.reporting.summary import Summary, summarise

__all__ = ["Report", "report"]


@dataclass(frozen=True)
class Report:
    """A report, made by `report`: numbers, and the ways to read them.

    Attributes
    ----------
    summary : Summary
        The numbers.
    """

    summary: Summary

    @cached_property
    def html(self) -> str:
        """The page: one self-contained document that asks nothing of the network."""
        from pacband.reporting.page import render_html

        return render_html(self.summary)

    def to_markdown(self) -> str:
        """Return the report as Markdown, without figures."""
        from pacband.reporting.page import render_markdown

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
        return f"{self.summary.certificate.promise}\n{self.summary.verdict.headline}. {self.summary.verdict.text}"

    def _repr_html_(self) -> str:
        # The page has a style of its own: in a frame, it and the notebook leave each other alone.
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.summary.title)}" sandbox="allow-scripts" '
            'style="width:100%;height:40em;border:1px solid #8888;border-radius:6px"></iframe>'
        )


def report(
    certificate: AnyCertificate,
    y: Any = None,
    y_pred: Any = None,
    scale: Any = None,
    *,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    groups: Any = None,
    candidates: Mapping[str, Any] | None = None,
    training: Any = None,
    title: str = "How wrong can the model be?",
    command: str | None = None,
) -> Report:
    """Make a report of a certificate: one page to read, sign and share, and the same numbers as Markdown and JSON.

    With the calibration rows the certificate is recomputed and what-if figures are shown; with fresh rows the promise
    is tested. Without rows the page says what the certificate says.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The promise.
    y, y_pred, scale
        Rows, as `certify` takes them; for a family, those of its best candidate.
    X : array-like or dataframe of shape (n, p), optional
        Features, to see where the model is weak. With a single one, the band is drawn against it.
    feature_names : sequence of str, optional
        Names of the columns of X, where X does not bring them.
    groups : array-like of shape (n,), optional
        A group for every row: needed by a group certificate, else one more way to slice.
    candidates : mapping of str to y_pred or (y_pred, scale), optional
        For a family, in place of `y_pred` and `scale`: as given to `certify_family`.
    training : pair (X, y), optional
        The rows the model was built from, to be sure that none is among these.
    title : str
        The heading of the page.
    command : str, optional
        What made it, to be printed for those who want to make it again.

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
    return Report(
        summarise(
            certificate,
            y,
            y_pred,
            scale,
            X=X,
            feature_names=feature_names,
            groups=groups,
            candidates=candidates,
            training=training,
            title=title,
            command=command,
        )
    )
