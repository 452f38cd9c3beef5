"""``pacband report``: a page that explains a certificate."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.console import note, print_json, say
from pacband.cli.output import Input, Output

if TYPE_CHECKING:
    from pacband.reporting import Report
    from pacband.scores.columns import Columns

EXAMPLES = """
\b
Examples:
  pacband report cert.json                                   the certificate alone
  pacband report cert.json calibration.csv                   with the rows it was made from
  pacband report cert.json new.csv -o check.html             with fresh rows: does the promise hold?
  pacband report cert.json data.csv --target y --prediction yhat --scale s --feature age --feature site
  pacband report cert.json data.csv --format json -o -       the numbers, for machines
"""


@click.command(epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("files", nargs=-1, type=Input())
@click.option(
    "-o",
    "--output",
    type=Output(stdout=True),
    default="report.html",
    show_default=True,
    help="Where to write; - is standard output.",
)
@click.option(
    "--format", "kind", type=click.Choice(["html", "markdown", "json"]), help="By default the output's name tells."
)
@click.option("--target", help="Column of the targets, if it is not called as at calibration.")
@click.option("--prediction", help="Column of the predictions; for a family, those of the best candidate.")
@click.option("--scale", multiple=True, help="Column of the scale; twice for (lower, upper).")
@click.option("--group", help="Column of the groups.")
@click.option(
    "--feature", "features", multiple=True, help="Column to slice by; repeatable. By default the first 100 others."
)
@click.option("--title", default="How wrong can the model be?", show_default=True, help="Heading of the page.")
def command(
    certificate: str,
    files: tuple[str, ...],
    output: str,
    kind: str | None,
    target: str | None,
    prediction: str | None,
    scale: tuple[str, ...],
    group: str | None,
    features: tuple[str, ...],
    title: str,
) -> None:
    """Write a page, Markdown or JSON that explains a certificate, with rows of CSV or Parquet FILES if any.

    With the calibration rows the bound is computed again; fresh rows put the promise to the test, and the command ends
    with exit code 1 where they contradict it. All rows are counted; above 200,000 rows, the figures show a sample.
    """
    from pacband.models import load_certificate
    from pacband.reporting import report

    if len(scale) > 2:
        raise click.UsageError("name one --scale column, or two for (lower, upper).")
    cert = load_certificate(certificate)
    if files:
        columns = _columns(cert, target, prediction, scale, group)
        page = certificate_report(cert, files, columns, features or None, title=title)
    else:
        page = report(cert, title=title, command=_command())
    _write(page, output, kind or {".md": "markdown", ".json": "json"}.get(Path(output).suffix.lower(), "html"))
    if output != "-":
        say(str(page))
        note(f"Report: {output}")
    if page.summary.verdict.state == "contradicted":
        sys.exit(1)


def certificate_report(
    certificate: Any,
    files: tuple[str, ...],
    columns: Columns | None = None,
    features: tuple[str, ...] | None = None,
    **options: Any,
) -> Report:
    """Return the report of a certificate with the rows of files; all other columns are features by default."""
    from pacband.cli.tables import labels_of, opened, with_labels
    from pacband.reporting.tables import report_table

    known = columns or _columns(certificate, None, None, (), None)
    with opened(files, known.numeric) as table:
        labelled = with_labels(table, known.group, labels_of(certificate))
        return report_table(certificate, labelled, known, features=features, command=_command(), **options)


def _command() -> str:
    return shlex.join(["pacband", *sys.argv[1:]])


def _columns(
    cert: Any, target: str | None, prediction: str | None, scale: tuple[str, ...], group: str | None
) -> Columns:
    """Return the columns that were named, and for the others those the certificate was made from."""
    from dataclasses import replace

    from pacband.scores.columns import Columns

    known: Columns | None = cert.basis.columns
    if known is None:
        if target is None or prediction is None:
            raise click.UsageError("this certificate names no columns: give --target and --prediction.")
        known = Columns(target=(target,), prediction=(prediction,))
    given: dict[str, Any] = {
        "target": (target,) if target else None,
        "prediction": (prediction,) if prediction else None,
        "scale": tuple((name,) for name in scale) or None,
        "group": group,
    }
    return replace(known, **{name: value for name, value in given.items() if value is not None})


def _write(page: Any, output: str, kind: str) -> None:
    import json

    from pacband.core.atomic_files import replace_file

    if output == "-":
        if kind == "json":
            print_json(page.to_dict())
        else:
            say(page.html if kind == "html" else page.to_markdown())
    elif kind == "html":
        page.save(output)
    else:
        text = page.to_markdown() if kind == "markdown" else json.dumps(page.to_dict(), indent=2) + "\n"
        replace_file(Path(output), text.encode("utf-8", "replace"))
