"""What a figure of the report is: its numbers, its axes and its caption.

Each figure is one file of this folder. Three functions in it stay apart:

- one computes numbers, whose size does not depend on how many rows there are. It does not need matplotlib;
- one draws the numbers on axes, and computes nothing;
- one writes the caption.

The file names them in `FIGURE`. The report then computes the numbers, adds them to the JSON, and draws the figure for
the page. The template of the page places the figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from pacband.certificate import AnyCertificate
from pacband.certificate.portable import encode
from pacband.reporting.rows import Rows
from pacband.selection.ranked import Ranked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "FigureInput",
    "Caption",
    "CertificateFigure",
    "Figure",
    "RowsFigure",
    "json_fields",
    "json_value",
    "name_sample",
]

N = TypeVar("N")


@dataclass(frozen=True)
class FigureInput:
    """What the figures of rows are computed from.

    Attributes
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The promise.
    rows : Rows
        The rows of the report.
    ranked : Ranked or None
        The scores of the calibration rows in order, to read other ranks off. None if the rows are fresh, or if every
        group has a bound of its own.
    """

    certificate: AnyCertificate
    rows: Rows
    ranked: Ranked | None


@dataclass(frozen=True)
class Caption:
    """The words of a figure.

    Attributes
    ----------
    title, description : str
        What a screen reader reads.
    text : str
        The sentences under the figure.
    points : sequence of (x, y, text)
        The texts that the page shows when the pointer is near (x, y).
    """

    title: str
    description: str
    text: str
    points: tuple[tuple[float, float, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Figure(Generic[N]):
    """A figure of the report.

    Attributes
    ----------
    draw : callable (numbers) -> Axes
        Draws the numbers on new axes.
    caption : callable (numbers) -> Caption
        Writes the caption.
    to_dict : callable (numbers or None) -> JSON-ready value, optional
        What the JSON of the report contains under the name of the figure; nothing by default.
    """

    draw: Callable[[N], Axes]
    caption: Callable[[N], Caption]
    to_dict: Callable[[Any], Any] | None = None


@dataclass(frozen=True, kw_only=True)
class CertificateFigure(Figure[N]):
    """A figure that needs the certificate only; `numbers` returns None if there is nothing to draw."""

    numbers: Callable[[AnyCertificate], N | None]


@dataclass(frozen=True, kw_only=True)
class RowsFigure(Figure[N]):
    """A figure that needs rows; `numbers` returns a tuple if the figure is drawn several times."""

    numbers: Callable[[FigureInput], N | tuple[N, ...] | None]


def name_sample(rows: Rows) -> str:
    """Return the sentence that names the sample, after a space; empty if the figures show all rows."""
    return f" The figure shows {rows.sample_words}." if rows.sampled else ""


def json_fields(*names: str) -> Callable[[Any], dict[str, Any] | None]:
    """Return a function that picks these fields of the numbers for JSON."""
    return lambda numbers: None if numbers is None else {name: json_value(getattr(numbers, name)) for name in names}


def json_value(value: Any) -> Any:
    """Return a value that JSON knows: arrays become lists, and infinite numbers texts."""
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return [json_value(item) for item in value.tolist()]
    return encode(value)
