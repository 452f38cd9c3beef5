"""``pacband diagnose``: whether the data break the assumptions of a promise."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.console import print_json, print_message, print_text
from pacband.cli.draw_options import declared_draws, draw_columns, draw_options, draw_seed_option
from pacband.cli.model_files import model_target, open_model_table, refuse_option
from pacband.cli.options import (
    column_options,
    delta_option,
    eps_option,
    file_options,
    is_given,
    json_option,
    min_scale_option,
    model_options,
    nonfinite_option,
    scale_columns,
    side_option,
)
from pacband.cli.output import Input
from pacband.cli.shell_words import cure_in_shell_words

if TYPE_CHECKING:
    from pacband.diagnostics import Diagnosis
    from pacband.tables.dialects import Dialect

EXAMPLES = """
\b
Examples:
  pacband diagnose calibration.csv --target y --prediction yhat
  pacband diagnose calibration.csv --target y --prediction yhat --scale s \\
      --group site --json
  pacband diagnose calibration.csv --target y --prediction yhat \\
      --unit machine
  pacband diagnose calibration.csv --target y --prediction yhat --input x1 \\
      --input x2 --training train.csv
  # a model file of `pacband fit`: it predicts the rows
  pacband diagnose model.pacband fresh.csv --target y
"""


@click.command(epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=Input(), metavar="[MODEL] FILE")
@click.option("--target", help="Column of the targets. Required, unless `pacband fit` wrote the model file.")
@click.option("--prediction", help="Column of the predictions. Required, unless a model predicts.")
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
@model_options
@json_option
def command(
    files: tuple[str, ...],
    target: str | None,
    prediction: str | None,
    scale: tuple[str, ...],
    group: str | None,
    inputs: tuple[str, ...],
    training: str | None,
    trust: tuple[str, ...],
    max_bytes: int | None,
    as_json: bool,
    dialect: Dialect,
    **options: Any,
) -> None:
    """Look for what breaks a promise: dependence, drift, repeated rows, overlap with training rows, and more.

    FILE contains calibration rows in the order in which they were drawn: CSV or Parquet, - for standard input. The
    command ends with exit code 1 if it finds something. Above 200,000 rows, each check uses a part of them and prints
    which part. With a MODEL file, the model predicts the rows, and the promise is that of its certificate.
    """
    if len(files) > 1:
        diagnosis = _diagnose_model(
            files,
            {"target": target, "group": group, "trust": trust, "max_bytes": max_bytes, "dialect": dialect},
            {"inputs": inputs, "level": options["level"]},
            {"prediction": prediction, "scale": scale, "training": training, **options},
        )
    elif target is None or prediction is None:
        raise click.UsageError("name the --target and the --prediction column, or give a model file before the table.")
    else:
        diagnosis = _diagnose_table(files[0], target, prediction, scale, group, inputs, training, dialect, options)
    if as_json:
        content = diagnosis.to_dict()
        for finding in content["findings"]:
            finding["advice"] = cure_in_shell_words(finding["advice"])
        print_json(content)
    else:
        print_text(cure_in_shell_words(str(diagnosis)), colour="green" if diagnosis.sound else "red")
    if not diagnosis.sound:
        sys.exit(1)


def _diagnose_table(
    file: str,
    target: str,
    prediction: str,
    scale: tuple[str, ...],
    group: str | None,
    inputs: tuple[str, ...],
    training: str | None,
    dialect: Dialect,
    options: dict[str, Any],
) -> Diagnosis:
    """Diagnose a table of predictions."""
    from pacband.diagnostics.tables import diagnose_table
    from pacband.tables.columns import columns_of
    from pacband.tables.opening import open_table

    columns = columns_of(target, prediction, scale_columns(scale), group)
    draws = declared_draws(options)
    numeric, labels = draw_columns(draws)
    opened: dict[str, Any] = {"labels": [*columns.others, *labels], "dialect": dialect, "note": print_message}
    with open_table([file], [*columns.numeric, *numeric], **opened) as table:
        options["draws"] = draws
        if training is None:
            return diagnose_table(table, columns, inputs=inputs, **options)
        with open_table([training], columns.target, **opened) as fitted:
            return diagnose_table(table, columns, inputs=inputs, training=fitted, **options)


def _diagnose_model(
    files: tuple[str, ...], opened: dict[str, Any], checked: dict[str, Any], others: dict[str, Any]
) -> Diagnosis:
    """Diagnose raw rows: a model predicts them, and its certificate states the promise. Refuses `others`."""
    from pacband.diagnostics.models import diagnose_model
    from pacband.models import is_model

    model, *tables = files
    if len(tables) > 1 or not is_model(model):
        raise click.UsageError("give one table, or a model file and one table.")
    given = [name for name in others if name not in ("unit", "level") and is_given(name)]
    if given:
        refuse_option(given[0].removeprefix("draw_").replace("_", "-"))
    named = opened.pop("target")
    opened["target"] = model_target(model, () if named is None else (named,))
    with open_model_table(model, tables, words="Predicting", unit=others["unit"], **opened) as (table, progress):
        return diagnose_model(table, progress=progress, **checked)
