"""``pacband apply``: the certified band beside new predictions."""

from __future__ import annotations

import click

from pacband.cli.console import note
from pacband.cli.options import scale_columns
from pacband.cli.output import TABLES, Input, Output

EXAMPLES = """
\b
Examples:
  pacband apply cert.json new.csv -o bands.csv         the columns are called as at calibration
  pacband apply cert.json new.parquet -o bands.parquet --prediction yhat --scale s
  pacband apply cert.json new.csv | head
"""


@click.command(epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("files", nargs=-1, required=True, type=Input())
@click.option(
    "-o",
    "--output",
    type=Output(TABLES, stdout=True),
    default="-",
    show_default=True,
    help="CSV or Parquet file to write; - is standard output.",
)
@click.option("--prediction", help="Column of the predictions, if it is not called as at calibration.")
@click.option("--scale", multiple=True, help="Column of the scale; twice for (lower, upper).")
@click.option("--group", help="Column of the groups.")
@click.option("--lower", default="lower", show_default=True, help="What to call the lower end of the band.")
@click.option("--upper", default="upper", show_default=True, help="What to call the upper end of the band.")
def command(
    certificate: str,
    files: tuple[str, ...],
    output: str,
    prediction: str | None,
    scale: tuple[str, ...],
    group: str | None,
    lower: str,
    upper: str,
) -> None:
    """Add the ends of the certified band to the rows of CSV or Parquet FILES, and leave all else as it is."""
    from pacband.cli.tables import labels_of, opened, with_labels, without_labels
    from pacband.models import is_model, load_certificate
    from pacband.tables.applying import apply_frame, chosen_columns
    from pacband.tables.files import write_table

    cert = load_certificate(certificate)
    if prediction is None and is_model(certificate):
        raise click.UsageError(
            "a model predicts by itself: `pacband predict` adds its prediction and its band. To put its band around "
            "predictions that the table has already, name their column with --prediction."
        )
    columns = chosen_columns(cert.basis, prediction=prediction, scale=scale_columns(scale), group=group)
    with opened(files, columns.predicted, threads=1, output=output) as table:
        labelled = with_labels(table, columns.group, labels_of(cert), keep=True)
        bands = apply_frame(
            cert, labelled, prediction=prediction, scale=scale_columns(scale), group=group, names=(lower, upper)
        )
        write_table(without_labels(bands, columns.group), output)
    if output != "-":
        note(f"Saved {output}")
