"""``pacband report``: a page that explains a certificate."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.columns import certified_columns
from pacband.cli.console import print_message, print_text
from pacband.cli.draw_options import fresh_draw_options
from pacband.cli.model_files import model_target, open_model_table
from pacband.cli.options import column_names, column_options, file_options, model_options, outlook_option, scale_columns
from pacband.cli.output import Command, Input, Output, save_results

if TYPE_CHECKING:
    from pacband.tables.dialects import Dialect

EXAMPLES = """
\b
Examples:
  # the certificate only
  pacband report cert.json
  # with the rows it was made from
  pacband report cert.json calibration.csv
  # with new rows: does the promise hold?
  pacband report cert.json new.csv -o check.html
  pacband report cert.json data.csv --target y --prediction yhat --scale s \\
      --feature age --feature site
  # how many of the next 500 rows exceed the bound
  pacband report cert.json calibration.csv --outlook 500
  # the numbers as JSON
  pacband report cert.json data.csv --format json -o -
  # a model file of `pacband fit`: it predicts the rows
  pacband report model.pacband new.csv --target y
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("files", nargs=-1, type=Input())
@click.option(
    "-o",
    "--output",
    type=Output(stdout=True, replaces="report"),
    default="report.html",
    show_default=True,
    help="File to write; - is standard output.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["html", "markdown", "json"]),
    help="Format of the report.  [default: by the extension of the output: .md, .json, otherwise html]",
)
@column_options("target", "prediction", "scale", "group", known=True)
@click.option(
    "--feature",
    "features",
    multiple=True,
    help="Column to compare the errors by. Repeatable.  [default: the first 100 other columns]",
)
@fresh_draw_options
@file_options
@model_options
@outlook_option
@click.option("--title", default="How wrong can the model be?", show_default=True, help="Heading of the page.")
def command(
    certificate: str,
    files: tuple[str, ...],
    output: str,
    kind: str | None,
    target: tuple[str, ...],
    prediction: tuple[str, ...],
    scale: tuple[str, ...],
    group: str | None,
    features: tuple[str, ...],
    unit: str | None,
    importance: str | None,
    trust: tuple[str, ...],
    max_bytes: int | None,
    outlook: int | None,
    title: str,
    dialect: Dialect,
) -> None:
    """Write a report that explains a CERTIFICATE, as a web page, Markdown or JSON.

    CSV or Parquet FILES may contain the calibration rows or new rows. From calibration rows the bound is computed
    again. New rows test the promise, and the command ends with exit code 1 if they contradict it. All rows are counted.
    Above 200,000 rows, the figures show a sample. For a family of candidates, name the columns of the best candidate.
    If the promise is about units or a series, these are counted, and each is shown by the row whose score it has.
    CERTIFICATE may be a model file: the model then predicts the rows.
    """
    from pacband.cli.pages import command_line, report_files
    from pacband.models import is_model, load_certificate
    from pacband.reporting.document import report
    from pacband.tables.certified_draws import table_draws

    named: dict[str, Any] = {"target": column_names(target), "prediction": column_names(prediction)}
    named |= {"scale": scale_columns(scale), "group": group}
    cert = load_certificate(certificate)
    if files and is_model(certificate):
        from pacband.reporting.models import report_model

        targets = model_target(certificate, target, prediction=prediction, scale=scale)
        model: dict[str, Any] = {
            "trust": trust,
            "max_bytes": max_bytes,
            "group": group,
            "unit": unit,
            "dialect": dialect,
        }
        with open_model_table(
            certificate, files, words="Predicting", target=targets, importance=importance, **model
        ) as (table, progress):
            page = report_model(
                table,
                features=features or None,
                progress=progress,
                title=title,
                command=command_line(),
                outlook=outlook,
            )
    elif files:
        columns = certified_columns(cert.basis, unit=unit, **named)
        draws = table_draws(cert.basis, unit=unit, importance=importance)
        page = report_files(
            cert,
            files,
            columns,
            features=features or None,
            draws=draws,
            dialect=dialect,
            note=print_message,
            title=title,
            outlook=outlook,
        )
    else:
        page = report(cert, title=title, command=command_line(), outlook=outlook)
    kind = kind or {".md": "markdown", ".json": "json"}.get(Path(output).suffix.lower(), "html")
    save_results((output, page.save if kind == "html" else partial(_save_text, page, kind)))
    if output != "-":
        print_text(str(page))
        print_message(f"Saved {output}")
    if page.summary.contradicted:
        sys.exit(1)


def _save_text(page: Any, kind: str, path: str) -> None:
    import json

    from pacband.core.atomic_files import replace_file

    text = page.to_markdown() if kind == "markdown" else json.dumps(page.to_dict(), indent=2) + "\n"
    replace_file(Path(path), text.encode("utf-8", "replace"))
