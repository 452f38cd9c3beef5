"""``pacband check``: whether labelled data contradict the promise."""

from __future__ import annotations

import sys

import click

from pacband.cli._console import note, print_json, say
from pacband.cli._options import column_options, scale_columns

EXAMPLES = """
\b
Examples:
  pacband check cert.json labelled.csv                 the columns are called as at calibration
  pacband check cert.json labelled.parquet --target y --prediction yhat --scale s
  pacband check cert.json labelled.csv --group site    where is the model weak?
  pacband check cert.json labelled.csv --json && echo the promise stands
"""


@click.command(epilog=EXAMPLES)
@click.argument("certificate", type=click.Path())
@click.argument("files", nargs=-1, required=True)
@column_options(known=", if it is not called as at calibration")
@click.option(
    "--level",
    type=float,
    default=0.01,
    show_default=True,
    help="Probability that a sound promise is contradicted.",
)
@click.option("--report", "page", type=click.Path(), help="Where to write a page with these rows.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    certificate: str,
    files: tuple[str, ...],
    target: str | None,
    prediction: str | None,
    scale: tuple[str, ...],
    group: str | None,
    level: float,
    page: str | None,
    as_json: bool,
) -> None:
    """Test the promise on labelled rows that were not used to make it: an exact binomial test.

    The command ends with exit code 1 where the data contradict the promise, in any group.
    """
    from pacband.certificate import single_of
    from pacband.checking import check_frame
    from pacband.cli._tables import check_output, labels_of, opened, with_labels
    from pacband.frames.apply import chosen_columns
    from pacband.models import load_certificate

    cert = load_certificate(certificate)
    check_output(page, certificate, *files)
    named = {"target": target, "prediction": prediction, "scale": scale_columns(scale), "group": group}
    columns = chosen_columns(single_of(cert), **named)
    with opened(files, columns.numeric) as table:
        verdict = check_frame(cert, with_labels(table, columns.group, labels_of(cert)), **named, level=level)
    if page is not None:
        from pacband.cli.report import certificate_report

        certificate_report(cert, files, columns).save(page)
    if as_json:
        print_json(verdict.to_dict())
    else:
        say(str(verdict))
    if page is not None:
        note(f"Saved {page}")
    if not verdict.holds:
        sys.exit(1)
