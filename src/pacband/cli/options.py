"""Options that several commands share, and the columns that they name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import click

__all__ = [
    "candidate_columns",
    "clip_options",
    "clip_range",
    "column_names",
    "column_options",
    "delta_option",
    "engine_options",
    "eps_option",
    "file_options",
    "is_given",
    "json_option",
    "min_scale_option",
    "model_options",
    "nonfinite_option",
    "outlook_option",
    "promise_options",
    "rule_option",
    "SEED",
    "scale_columns",
    "side_option",
    "strict_option",
]

F = TypeVar("F", bound=Callable[..., Any])


def joined(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


eps_option = click.option(
    "--eps", type=float, default=0.05, show_default=True, help="Largest share ε of future errors beyond the bound."
)
delta_option = click.option(
    "--delta", type=float, default=1e-6, show_default=True, help="Largest probability δ that the promise fails."
)
rule_option = click.option(
    "--rule",
    type=click.Choice(["exact", "paper", "maximum"]),
    default="exact",
    show_default=True,
    help="How to choose the rank. exact: the largest rank that is valid, for the narrowest band; paper: half of εN "
    "(Lemma 1); maximum: rank 1, the largest score.",
)
side_option = click.option(
    "--side",
    type=click.Choice(["both", "upper", "lower"]),
    default="both",
    show_default=True,
    help="Errors to bound. upper: targets above the prediction; lower: targets below it.",
)
min_scale_option = click.option(
    "--min-scale", type=float, help="Replace smaller scales by this number, now and at prediction."
)
clip_options = joined(
    click.option(
        "--clip-min", type=float, help="Smallest value that the target can have: no band goes below it, now and later."
    ),
    click.option(
        "--clip-max", type=float, help="Largest value that the target can have: no band goes above it, now and later."
    ),
)
nonfinite_option = click.option(
    "--nonfinite",
    type=click.Choice(["raise", "violate"]),
    default="raise",
    show_default=True,
    help="NaN and infinite predictions. raise: refuse them; violate: count them as infinite errors.",
)
outlook_option = click.option(
    "--outlook",
    type=int,
    metavar="M",
    help="State how many of the next M rows exceed the bound, at most.",
)
# What scikit-learn takes; `demo` adds up to two.
SEED = click.IntRange(0, 2**32 - 3)
strict_option = click.option(
    "--strict", is_flag=True, help="If rows do not look independent, write nothing and end with exit code 1."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")

promise_options = joined(
    eps_option,
    delta_option,
    click.option("--rank", type=int, help="Use the score of this rank, counted from the largest, in place of --rule."),
    rule_option,
    side_option,
    min_scale_option,
    clip_options,
    nonfinite_option,
)

model_options = joined(
    click.option(
        "--trust",
        multiple=True,
        metavar="TYPE",
        help="For model files: load this type although pacband cannot check it. Repeatable.",
    ),
    click.option(
        "--max-bytes",
        type=int,
        help="For model files: refuse a model that needs more memory.  [default: 1073741824]",
    ),
)

engine_options = joined(
    click.option(
        "--engine",
        type=click.Choice(["duckdb", "dask", "spark"]),
        default="duckdb",
        show_default=True,
        help="Library that reads the files: DuckDB in this process, Dask or Spark.",
    ),
    click.option(
        "--address",
        help="Address of a cluster: tcp://host:8786 for Dask, spark://host:7077 for Spark. The cluster can run code "
        "in this process.",
    ),
)


def file_options(command: F) -> F:
    """Add the options that state how files are written. The command gets them as one argument, `dialect`."""
    options = {
        "delimiter": "Delimiter of CSV files, such as ';' or tab.  [default: found in the files]",
        "decimal": "Decimal mark of CSV files, '.' or ','.  [default: found in the files]",
        "thousands": "Mark between thousands in CSV files, such as '.'.  [default: found in the files]",
        "encoding": "Encoding of CSV files, such as cp1252, latin-1 or utf-16.  [default: found in the files]",
        "sheet": "Sheet of Excel files.  [default: the only sheet with cells]",
    }

    @wraps(command)
    def called(*args: Any, **given: Any) -> Any:
        from pacband.tables.dialects import Dialect

        return command(*args, dialect=Dialect.create(**{name: given.pop(name) for name in options}), **given)

    return joined(*(click.option(f"--{name}", help=text) for name, text in options.items()))(cast(F, called))


def column_options(*names: str, known: bool = False, overlapping: bool = False) -> Callable[[F], F]:
    """Return the options that name columns. Targets and predictions may be repeated, once for each output.

    Parameters
    ----------
    names : str
        The options: "target", "prediction", "scale", "group", "run", "step".
    known : bool
        Whether the columns of the certificate are the default.
    overlapping : bool
        Whether the group may be repeated, for groups that overlap.
    """
    default = "  [default: as at calibration]" if known else ""
    repeat = " Repeat for several outputs."
    options = {
        "target": click.option("--target", multiple=True, help=f"Column of the targets.{repeat}{default}"),
        "prediction": click.option("--prediction", multiple=True, help=f"Column of the predictions.{repeat}{default}"),
        "scale": click.option(
            "--scale", multiple=True, help=f"Column of the scale σ̂. Give it twice for lower and upper scale.{default}"
        ),
        "group": click.option(
            "--group",
            multiple=overlapping,
            help=f"Column of the group labels.{' Repeat it for groups that overlap.' if overlapping else ''}{default}",
        ),
        "run": click.option("--run", help=f"Column of runs, if a row is one step of a run; needs --step.{default}"),
        "step": click.option("--step", help=f"Column of the steps of runs: numbers, the same in every run.{default}"),
    }
    return joined(*(options[name] for name in names))


def is_given(option: str) -> bool:
    """Return whether the user gave an option that has a default."""
    source = click.get_current_context().get_parameter_source(option)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def clip_range(options: dict[str, Any]) -> tuple[float | None, float | None] | None:
    """Take --clip-min and --clip-max out of the options of a command; return the range that they name."""
    low, high = options.pop("clip_min"), options.pop("clip_max")
    return None if low is None and high is None else (low, high)


def column_names(names: tuple[str, ...]) -> Any:
    """Return targets, predictions or groups as `certify_frame` takes them: None, a column, or a list of columns."""
    return list(names) if len(names) > 1 else (None, *names)[-1]


def scale_columns(scale: tuple[str, ...], n_outputs: int = 1) -> Any:
    """Return the scale as `certify_frame` takes it: None, a column, or a pair of columns."""
    if n_outputs > 1 and len(scale) > 1:
        raise click.UsageError(
            f"with {n_outputs} outputs, name one --scale column for all of them, got {', '.join(scale)}. A scale for "
            "each output needs Python: certify_frame(scale=[...])."
        )
    if len(scale) > 2:
        raise click.UsageError("name one --scale column, or two for (lower, upper).")
    return (None, *scale)[-1] if len(scale) < 2 else scale


def candidate_columns(candidates: tuple[str, ...]) -> dict[str, Any]:
    """Return the columns of every NAME=PREDICTION, NAME=PREDICTION:SCALE or NAME=PREDICTION:LOWER:UPPER."""
    found: dict[str, Any] = {}
    for text in candidates:
        name, equals, columns = text.partition("=")
        parts = columns.split(":")
        if not (name and equals and all(parts)) or len(parts) > 3:
            raise click.UsageError(f"a candidate is NAME=PREDICTION or NAME=PREDICTION:SCALE, got {text!r}.")
        if name in found:
            raise click.UsageError(f"the candidate {name!r} is given twice.")
        found[name] = (parts[0], scale_columns(tuple(parts[1:])))
    return found
