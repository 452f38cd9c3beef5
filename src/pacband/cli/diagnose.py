"""``pacband diagnose``: whether the data break the assumptions."""

from __future__ import annotations

import sys
from typing import Any

import click

from pacband.cli.console import print_json, say
from pacband.cli.options import scale_columns
from pacband.cli.output import Input

EXAMPLES = """
\b
Examples:
  pacband diagnose calibration.csv --target y --prediction yhat
  pacband diagnose calibration.csv --target y --prediction yhat --scale s --group site --json
  pacband diagnose calibration.csv --target y --prediction yhat --input x1 --input x2 --training train.csv
"""


@click.command(epilog=EXAMPLES)
@click.argument("file", type=Input())
@click.option("--target", required=True, help="Column of the targets.")
@click.option("--prediction", required=True, help="Column of the predictions.")
@click.option("--scale", multiple=True, help="Column of the scale; twice for (lower, upper).")
@click.option("--group", help="Column of a group.")
@click.option("--input", "inputs", multiple=True, help="Column of an input, to tell rows apart by; repeatable.")
@click.option(
    "--training",
    type=Input(),
    help="The rows the model was fitted on, with the same inputs and target. They are held in memory.",
)
@click.option("--level", type=float, default=0.01, show_default=True, help="Probability of any finding in sound data.")
@click.option("--eps", type=float, default=0.05, show_default=True, help="The promise to be made: share of violations.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="The promise to be made: its failure.")
@click.option("--side", type=click.Choice(["both", "upper", "lower"]), default="both", show_default=True)
@click.option("--min-scale", type=float, help="A floor under the scale.")
@click.option("--nonfinite", type=click.Choice(["raise", "violate"]), default="raise", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    file: str,
    target: str,
    prediction: str,
    scale: tuple[str, ...],
    group: str | None,
    inputs: tuple[str, ...],
    training: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Look for what would break the promise: dependence, drift, repeated rows, overlap with training, and more.

    FILE holds calibration rows in the order in which they were drawn: CSV or Parquet, `-` for standard input. The
    command ends with exit code 1 where something was found. Above 200,000 rows, each check uses some of them, and says
    which.
    """
    if training is not None and not inputs:
        raise click.UsageError("--training needs --input columns to compare rows by.")
    from pacband.cli.tables import opened
    from pacband.diagnostics.tables import diagnose_table
    from pacband.tables.columns import columns_of

    columns = columns_of(target, prediction, scale_columns(scale), group)
    with opened([file], columns.numeric) as table:
        if training is None:
            diagnosis = diagnose_table(table, columns, inputs=inputs, **options)
        else:
            with opened([training], columns.target) as fitted:
                diagnosis = diagnose_table(table, columns, inputs=inputs, training=fitted, **options)
    if as_json:
        print_json(diagnosis.to_dict())
    else:
        say(str(diagnosis))
    if not diagnosis.sound:
        sys.exit(1)
