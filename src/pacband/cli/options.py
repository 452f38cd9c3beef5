"""Options that several commands share, and the columns that they name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from pacband.draws.kinds import DrawKind

__all__ = [
    "candidate_columns",
    "column_options",
    "declared_draws",
    "delta_option",
    "draw_options",
    "draw_seed_option",
    "engine_options",
    "eps_option",
    "group_names",
    "file_options",
    "fresh_draw_options",
    "is_given",
    "json_option",
    "min_scale_option",
    "model_options",
    "nonfinite_option",
    "outlook_option",
    "promise_options",
    "refuse_unused_seed",
    "refuse_without_rows",
    "rule_option",
    "scale_columns",
    "side_option",
    "strict_option",
]

F = TypeVar("F", bound=Callable[..., Any])


def _join(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


eps_option = click.option(
    "--eps", type=float, default=0.05, show_default=True, help="Largest share ε of future errors beyond the bound."
)
delta_option = click.option(
    "--delta", type=float, default=1e-6, show_default=True, help="Probability δ that the promise fails."
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
strict_option = click.option(
    "--strict", is_flag=True, help="If rows do not look independent, write nothing and end with exit code 1."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")

promise_options = _join(
    eps_option,
    delta_option,
    click.option("--rank", type=int, help="Use the score of this rank, counted from the largest, in place of --rule."),
    rule_option,
    side_option,
    min_scale_option,
    nonfinite_option,
)

model_options = _join(
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

draw_options = _join(
    click.option("--unit", help="Column of units, such as machines: a unit is one draw, and new units are to come."),
    click.option(
        "--within",
        default="all",
        show_default=True,
        metavar="all|SHARE|average|one",
        help="With --unit: all rows of a unit stay inside, or at least this share of them, such as 0.99; average: rows "
        "of future units, on average; one: the same, from one row of every unit, drawn at random.",
    ),
    click.option("--gap", type=int, help="The rows are one series: use every GAP-th row as a draw."),
    click.option("--mixing", type=float, help="With --gap: the declared rate ρ of the mixing coefficients β(a) = ρ^a."),
    click.option(
        "--importance",
        multiple=True,
        help="Column of w(x), the density of future inputs over that of these inputs. Give it twice for the ends of an "
        "interval.",
    ),
    click.option("--at-most", type=float, help="With --importance: a bound of w(x), declared beforehand."),
    click.option(
        "--interval-delta",
        type=float,
        help="With two --importance columns: probability that w(x) is outside its interval. It is taken from --delta.",
    ),
)
draw_seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of --within one and --importance."
)
fresh_draw_options = _join(
    click.option("--unit", help="Column of units, if the promise is about units.  [default: the certificate's]"),
    click.option(
        "--importance",
        help="Column of the weights, if the certificate has weights and these rows are distributed as the calibration "
        "rows.  [default: they are distributed as future rows]",
    ),
)

engine_options = _join(
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

    return _join(*(click.option(f"--{name}", help=text) for name, text in options.items()))(cast(F, called))


def column_options(
    *names: str, known: bool = False, outputs: bool = False, overlapping: bool = False
) -> Callable[[F], F]:
    """Return the options that name columns.

    Parameters
    ----------
    names : str
        The options: "target", "prediction", "scale", "group", "run", "step".
    known : bool
        Whether the columns of the certificate are the default.
    outputs : bool
        Whether targets and predictions may be repeated, once for each output.
    overlapping : bool
        Whether the group may be repeated, for groups that overlap.
    """
    default = "  [default: as at calibration]" if known else ""
    repeat = " Repeat for several outputs." if outputs else ""
    options = {
        "target": click.option("--target", multiple=outputs, help=f"Column of the targets.{repeat}{default}"),
        "prediction": click.option(
            "--prediction", multiple=outputs, help=f"Column of the predictions.{repeat}{default}"
        ),
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
    return _join(*(options[name] for name in names))


def is_given(option: str) -> bool:
    """Return whether the user gave an option that has a default."""
    source = click.get_current_context().get_parameter_source(option)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def group_names(group: tuple[str, ...]) -> Any:
    """Return the group as `certify_frame` takes it: None, a column, or a list of columns whose groups overlap."""
    return list(group) if len(group) > 1 else (None, *group)[-1]


def scale_columns(scale: tuple[str, ...]) -> Any:
    """Return the scale as `certify_frame` takes it: None, a column, or a pair of columns."""
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


def declared_draws(
    unit: str | None,
    within: str,
    gap: int | None,
    mixing: float | None,
    importance: tuple[str, ...],
    at_most: float | None,
    seed: int,
    interval_delta: float | None = None,
) -> Any:
    """Return what one draw is, as the options declare it; None is a row."""
    if sum(given is not None for given in (unit, gap, importance or None)) > 1:
        raise click.UsageError("name one of --unit, --gap and --importance: a draw is one thing.")
    if unit is None and within != "all":
        raise click.UsageError("--within needs --unit.")
    if gap is None and mixing is not None:
        raise click.UsageError("--mixing needs --gap.")
    if bool(importance) != (at_most is not None):
        raise click.UsageError("--importance and --at-most need each other.")
    if len(importance) > 2:
        raise click.UsageError("name one --importance column, or two for (low, high).")
    if interval_delta is not None and len(importance) != 2:
        raise click.UsageError("--interval-delta needs two --importance columns.")
    from pacband.draws import Spaced, Units, Weighted

    if unit is not None:
        return Units(unit, _within(within), random_state=seed if within == "one" else None)
    if gap is not None:
        return Spaced(gap, mixing)
    if at_most is None:
        return None
    columns = importance if len(importance) == 2 else importance[0]
    return Weighted(columns, at_most=at_most, random_state=seed, interval_delta=interval_delta or 0.0)


def refuse_without_rows(kind: DrawKind | None) -> None:
    """Raise if a report cannot show the rows of such draws: a draw must have one score."""
    if kind is not None and not kind.rank_is_chosen:
        raise click.UsageError(
            "--report shows one row for every draw: it cannot be combined with --within average or with two "
            "--importance columns, nor with a certificate that was made so."
        )


def refuse_unused_seed(within: str, importance: tuple[str, ...]) -> None:
    """Raise if a seed of draws is given where no draw is random."""
    if is_given("seed") and within != "one" and not importance:
        raise click.UsageError("--seed needs --within one or --importance: no other draws are random.")


def _within(given: str) -> str | float:
    if given in ("all", "average", "one"):
        return given
    try:
        return float(given)
    except ValueError:
        raise click.UsageError(
            f"--within must be all, average, one or a share in (0, 1) such as 0.99, got {given!r}."
        ) from None
