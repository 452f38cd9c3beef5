"""``pacband apply``: the certified band beside new predictions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.columns import warn_of_other_columns
from pacband.cli.console import print_message
from pacband.cli.options import (
    column_names,
    column_options,
    file_options,
    outlook_option,
    scale_columns,
)
from pacband.cli.output import TABLES, Command, Input, Output

if TYPE_CHECKING:
    from pacband.tables.dialects import Dialect

EXAMPLES = """
\b
Examples:
  # the columns have the same names as at calibration
  pacband apply cert.json new.csv -o bands.csv
  pacband apply cert.json new.parquet -o bands.parquet --prediction yhat \\
      --scale s
  pacband apply cert.json new.csv | head
  pacband apply cert.json new.csv -o bands.csv --outlook 500
  pacband apply cert.json new.csv -o bands.csv --model-file forest.onnx
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("files", nargs=-1, required=True, type=Input())
@click.option(
    "-o",
    "--output",
    type=Output(TABLES, stdout=True, replaces="table"),
    default="-",
    show_default=True,
    help="CSV or Parquet file to write; - is standard output (CSV).",
)
@column_options("prediction", "scale", "group", "step", known=True, overlapping=True)
@click.option("--lower", default="lower", show_default=True, help="Name of the new column with the lower end.")
@click.option("--upper", default="upper", show_default=True, help="Name of the new column with the upper end.")
@click.option("--model-file", type=Input(), help="File of the model that predicted, to compare with the certified one.")
@file_options
@click.option(
    "--strict", is_flag=True, help="If --model-file is not the certified model, write nothing and end with exit code 1."
)
@outlook_option
def command(
    certificate: str,
    files: tuple[str, ...],
    output: str,
    prediction: tuple[str, ...],
    scale: tuple[str, ...],
    group: tuple[str, ...],
    step: str | None,
    lower: str,
    upper: str,
    model_file: str | None,
    strict: bool,
    outlook: int | None,
    dialect: Dialect,
) -> None:
    """Add the lower and upper end of the certified band to the rows of CSV or Parquet FILES.

    The order of the rows and all other columns stay as they are. Predictions, scales and steps are written as decimal
    numbers: 5 becomes 5.0. The command warns if the columns are not those that were certified. If --model-file is not
    the certified model, it warns and ends with exit code 1. A row in several groups has the widest band of its groups.
    Every row gets a band, whatever a draw is: a promise about units says how many of them keep their rows within these
    bands. If the certificate is about runs, the bands of all steps of a run together are its tube.
    """
    from pacband.models import is_model, load_certificate
    from pacband.models.digest import model_digest
    from pacband.reporting.outlook import outlook_of
    from pacband.tables.applying import apply_frame
    from pacband.tables.group_labels import labels_of, with_labels, without_labels
    from pacband.tables.known_columns import chosen_columns
    from pacband.tables.mismatches import find_other_model
    from pacband.tables.opening import open_table
    from pacband.tables.writing import write_table

    cert = load_certificate(certificate)
    if not prediction and is_model(certificate):
        raise click.UsageError(
            "a model predicts by itself: `pacband predict` adds its prediction and its band. If the table has "
            "predictions already, name their column with --prediction to add the band to them."
        )
    expected = None if outlook is None else outlook_of(cert, outlook)
    named: dict[str, Any] = {
        "prediction": column_names(prediction),
        "scale": scale_columns(scale),
        "group": column_names(group),
        "step": step,
    }
    columns = chosen_columns(cert.basis, **named)
    warn_of_other_columns(cert.basis, columns)
    other = None if model_file is None else find_other_model(cert.basis, model_digest(model_file))
    if other is not None:
        print_message(f"Warning: {other.sentences}")
        if strict:
            print_message("pacband: --strict was given. Nothing was written.")
            sys.exit(1)
    numbers = [*columns.predicted, *filter(None, [columns.step])]
    with open_table(files, numbers, threads=1, output=output, dialect=dialect, note=print_message) as table:
        labelled = with_labels(table, columns.group, labels_of(cert), keep=True)
        bands = apply_frame(cert, labelled, **named, names=(lower, upper))
        write_table(without_labels(bands, columns.group), output)
    if output != "-":
        print_message(f"Saved {output}")
    if other is not None:
        sys.exit(1)
    if expected is not None:
        print_message(str(expected))
