"""``pacband diagnose``: whether the data break the assumptions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from pacband.cli._console import print_json, say
from pacband.cli._options import scale_columns
from pacband.cli._output import Input

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
@click.option("--training", type=Input(), help="The rows the model was fitted on, with the same inputs and target.")
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
    command ends with exit code 1 where something was found.
    """
    if training is not None and not inputs:
        raise click.UsageError("--training needs --input columns to compare rows by.")
    from pacband.diagnostics import diagnose

    pair = scale_columns(scale)
    columns = _read(file, [target, prediction, *scale], [*inputs, *([group] if group else [])])
    diagnosis = diagnose(
        columns[target],
        columns[prediction],
        tuple(columns[name] for name in pair) if isinstance(pair, tuple) else columns.get(pair),
        X=_inputs(columns, inputs) if inputs else None,
        groups=columns[group] if group else None,
        training=_training(training, inputs, target) if training is not None else None,
        **options,
    )
    if as_json:
        print_json(diagnosis.to_dict())
    else:
        say(str(diagnosis))
    if not diagnosis.sound:
        sys.exit(1)


def _training(file: str, inputs: tuple[str, ...], target: str) -> tuple[Any, Any]:
    columns = _read(file, [target], inputs)
    return _inputs(columns, inputs), columns[target]


def _inputs(columns: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Return the inputs as a matrix: of numbers, where all are, so that 1 and 1.0 are one."""
    import numpy as np

    matrix = np.column_stack([np.asarray(columns[name], dtype=object) for name in names])
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError):
        return matrix.astype(str)


def _read(file: str, numbers: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    from pacband.cli._tables import opened
    from pacband.frames.columns import as_frame, check_columns
    from pacband.frames.files import quoted

    with opened([file], numbers, also=words) as table:
        check_columns(as_frame(table), numbers, *words)
        wanted = ", ".join(quoted(name) for name in dict.fromkeys([*numbers, *words]))
        columns: dict[str, Any] = table.project(wanted).fetchnumpy()
    return columns
