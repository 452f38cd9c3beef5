"""Options that several commands share, and the columns they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["candidate_columns", "column_options", "engine_options", "promise_options", "scale_columns"]

F = TypeVar("F", bound=Callable[..., Any])


def _together(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


promise_options = _together(
    click.option("--eps", type=float, default=0.05, show_default=True, help="Share ε of errors that may exceed it."),
    click.option("--delta", type=float, default=1e-6, show_default=True, help="Probability δ that the promise fails."),
    click.option("--rank", type=int, help="Take the score of this rank from the top; by default --rule settles it."),
    click.option(
        "--rule",
        type=click.Choice(["exact", "paper", "maximum"]),
        default="exact",
        show_default=True,
        help="How the rank is settled.",
    ),
    click.option(
        "--side",
        type=click.Choice(["both", "upper", "lower"]),
        default="both",
        show_default=True,
        help="Which errors are bounded.",
    ),
    click.option("--min-scale", type=float, help="A floor under the scale, here and at prediction."),
    click.option(
        "--nonfinite",
        type=click.Choice(["raise", "violate"]),
        default="raise",
        show_default=True,
        help="Refuse NaN and infinite predictions, or count them as infinite errors.",
    ),
)


def column_options(*, known: str = "") -> Callable[[F], F]:
    """Return the options that name columns; `known` says what they default to."""
    return _together(
        click.option("--target", help=f"Column of the targets{known}."),
        click.option("--prediction", help=f"Column of the predictions{known}."),
        click.option("--scale", multiple=True, help="Column of the scale; twice for (lower, upper)."),
        click.option("--group", help="Column of the groups."),
    )


engine_options = _together(
    click.option(
        "--engine",
        type=click.Choice(["duckdb", "dask", "spark"]),
        default="duckdb",
        show_default=True,
        help="What reads the files: DuckDB in this process, or a cluster.",
    ),
    click.option(
        "--address",
        help="Where the cluster is: tcp://host:8786 for Dask, spark://host:7077 for Spark. It can run code here.",
    ),
)


def scale_columns(scale: tuple[str, ...]) -> Any:
    """Return the scale as `certify_frame` takes it: None, a column, or a pair."""
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
            raise click.UsageError(f"the candidate {name!r} is there twice.")
        found[name] = (parts[0], scale_columns(tuple(parts[1:])))
    return found
