"""``pacband diagnose``: whether the data break the assumptions of a promise."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.console import print_json, print_message, print_text
from pacband.cli.draw_options import declared_draws, draw_columns, draw_options, draw_seed_option
from pacband.cli.options import (
    column_options,
    delta_option,
    eps_option,
    file_options,
    json_option,
    min_scale_option,
    nonfinite_option,
    scale_columns,
    side_option,
)
from pacband.cli.output import Input
from pacband.cli.shell_words import in_shell_words

if TYPE_CHECKING:
    from pacband.tables.dialects import Dialect

EXAMPLES = """
\b
Examples:
  pacband diagnose calibration.csv --target y --prediction yhat
  pacband diagnose calibration.csv --target y --prediction yhat --scale s --group site --json
  pacband diagnose calibration.csv --target y --prediction yhat --unit machine
  pacband diagnose calibration.csv --target y --prediction yhat --input x1 --input x2 --training train.csv
"""


@click.command(epilog=EXAMPLES)
@click.argument("file", type=Input())
@click.option("--target", required=True, help="Column of the targets.")
@click.option("--prediction", required=True, help="Column of the predictions.")
@column_options("scale", "group")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    help="Column to compare rows by, and to try for labels and dates. Repeatable.  [default: all other columns]",
)
@click.option(
    "--training",
    type=Input(),
    help="File of the rows that the model was fitted on, with the same inputs and target. It is loaded into memory.",
)
@click.option(
    "--level",
    type=float,
    default=0.01,
    show_default=True,
    help="Level of all tests together: the probability of any finding where the assumptions hold.",
)
@eps_option
@delta_option
@side_option
@min_scale_option
@nonfinite_option
@draw_options
@draw_seed_option
@file_options
@json_option
def command(
    file: str,
    target: str,
    prediction: str,
    scale: tuple[str, ...],
    group: str | None,
    inputs: tuple[str, ...],
    training: str | None,
    as_json: bool,
    dialect: Dialect,
    **options: Any,
) -> None:
    """Look for what breaks a promise: dependence, drift, repeated rows, overlap with training rows, and more.

    FILE holds calibration rows in the order in which they were drawn: CSV or Parquet, - for standard input. The
    command ends with exit code 1 if it finds something. Above 200,000 rows, each check uses a part of them and prints
    which part.
    """
    from pacband.diagnostics.tables import diagnose_table
    from pacband.tables.columns import columns_of
    from pacband.tables.opening import open_table

    columns = columns_of(target, prediction, scale_columns(scale), group)
    draws = declared_draws(options)
    numeric, _ = draw_columns(draws)
    with open_table([file], [*columns.numeric, *numeric], dialect=dialect, note=print_message) as table:
        options["draws"] = draws
        if training is None:
            diagnosis = diagnose_table(table, columns, inputs=inputs, **options)
        else:
            with open_table([training], columns.target, dialect=dialect, note=print_message) as fitted:
                diagnosis = diagnose_table(table, columns, inputs=inputs, training=fitted, **options)
    if as_json:
        content = diagnosis.to_dict()
        for finding in content["findings"]:
            finding["advice"] = in_shell_words(finding["advice"])
        print_json(content)
    else:
        print_text(in_shell_words(str(diagnosis)))
    if not diagnosis.sound:
        sys.exit(1)
