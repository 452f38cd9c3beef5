"""``pacband predict``: predict with a saved model, and add its band."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pacband.cli.console import print_json, print_message, progress_bar
from pacband.cli.options import file_options, model_options
from pacband.cli.output import TABLES, Command, Input, Output

if TYPE_CHECKING:
    from pacband.tables.dialects import Dialect

EXAMPLES = """
\b
Examples:
  # writes CSV to standard output
  pacband predict model.pacband new.csv
  pacband predict model.pacband new.parquet -o bands.parquet
  pacband predict model.pacband new.csv --lower low --upper high \\
      -o bands.csv
  pacband predict model.pacband new.csv --scale-column s -o predicted.csv
  cat new.csv | pacband predict model.pacband - \\
      --trust lightgbm.LGBMRegressor
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("model", type=Input())
@click.argument("files", nargs=-1, required=True, type=Input())
@click.option(
    "-o",
    "--output",
    type=Output(TABLES, stdout=True, replaces="table"),
    default="-",
    show_default=True,
    help="CSV or Parquet file to write; - is standard output (CSV).",
)
@click.option(
    "--prediction", default="prediction", show_default=True, help="Name of the new column with the prediction."
)
@click.option("--lower", default="lower", show_default=True, help="Name of the new column with the lower end.")
@click.option("--upper", default="upper", show_default=True, help="Name of the new column with the upper end.")
@click.option(
    "--scale-column",
    "scale",
    metavar="NAME",
    help="Add the scale σ̂ of the band, in a new column of this name; a pair in NAME_lower and NAME_upper.",
)
@click.option("--candidate", help="Candidate of the model file that predicts.  [default: the sharpest]")
@file_options
@model_options
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON. Needs an output file.")
def command(
    model: str,
    files: tuple[str, ...],
    output: str,
    prediction: str,
    lower: str,
    upper: str,
    scale: str | None,
    candidate: str | None,
    trust: tuple[str, ...],
    max_bytes: int | None,
    as_json: bool,
    dialect: Dialect,
) -> None:
    """Add the prediction of a MODEL and its certified band to the rows of CSV or Parquet FILES.

    The order of the rows and all other columns stay as they are. Columns are matched by name. A model file is data, and
    pacband checks it. Some files have types that pacband cannot check: the command lists them and ends with exit code
    2. Loading such a type may run code of its package. If you trust it, repeat the command with --trust.
    """
    if as_json and output == "-":
        raise click.UsageError("--json needs an output file, because the rows go to standard output.")
    from pacband.cli.model_files import open_model_file
    from pacband.tables.files import open_files
    from pacband.tables.predicting import write_predictions
    from pacband.tables.survey import number_columns

    names = {"prediction": prediction, "lower": lower, "upper": upper}
    if scale is not None:
        names["scale"] = scale
    if "" in names.values():
        raise click.UsageError("the new columns need names that are not empty.")
    if len(set(names.values())) != len(names):
        raise click.UsageError(f"the new columns need different names, got {', '.join(names.values())}.")
    with (
        open_files(files, dialect, note=print_message) as found,
        found.writing(output),
        found.reading(),
        progress_bar("Predicting") as progress,
    ):
        estimator = open_model_file(model, trust, max_bytes)
        rows = write_predictions(
            estimator,
            found.relation(inputs=number_columns(estimator)),
            output,
            names=names,
            candidate=candidate,
            copied=found.copied,
            progress=progress,
        )
    if as_json:
        print_json({"model": model, "output": output, "rows": rows})
    elif output != "-":
        print_message(f"Saved {output}")
