"""The report of a certificate with the rows of files, for every command that writes one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from pacband.tables.dialects import FIND, Dialect
from pacband.tables.group_labels import labels_of, with_labels
from pacband.tables.opening import open_table
from pacband.tables.paths import is_stream

if TYPE_CHECKING:
    from pacband.certificate import AnyCertificate
    from pacband.draws import Draws
    from pacband.reporting.document import Report
    from pacband.scores.columns import Columns

__all__ = ["command_line", "refuse_unshown_rows", "report_files"]


def report_files(
    certificate: AnyCertificate,
    files: tuple[str, ...],
    columns: Columns,
    *,
    features: tuple[str, ...] | None = None,
    draws: Draws | None = None,
    dialect: Dialect = FIND,
    note: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> Report:
    """Return the report of a certificate with the rows of files. By default all other columns are features."""
    from pacband.draws import Weighted
    from pacband.reporting.tables import report_table

    weights = draws.columns if isinstance(draws, Weighted) else ()
    labels = [*columns.others, *(() if draws is None else draws.columns)]
    numbers = [*columns.numeric, *weights]
    with open_table(files, numbers, labels=labels, shown=True, dialect=dialect, note=note) as table:
        labelled = with_labels(table, columns.group, labels_of(certificate))
        return report_table(
            certificate, labelled, columns, features=features, draws=draws, command=command_line(), **options
        )


def refuse_unshown_rows(files: tuple[str, ...], columns: Columns | None = None) -> None:
    """Raise if a report cannot show these rows: it reads them again, and shows every row once."""
    if any(map(is_stream, files)):
        raise click.UsageError("--report reads the rows again: it needs files.")
    if columns is not None and (columns.groups or columns.run is not None):
        raise click.UsageError("--report shows every row once: this certificate is about runs, or groups that overlap.")


def command_line(*more: str) -> str:
    """Return the command that the user typed, with more options after it, quoted for a shell."""
    return shlex.join(["pacband", *sys.argv[1:], *more])
