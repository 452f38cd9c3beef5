"""The options that declare what one draw is, and the draws that they declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pacband.cli.options import is_given, joined

if TYPE_CHECKING:
    from pacband.draws import DrawKind, Draws

__all__ = [
    "declared_draws",
    "draw_columns",
    "draw_options",
    "draw_seed_option",
    "fresh_draw_options",
    "refuse_without_rows",
]

draw_options = joined(
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
    click.option("--mixing", type=float, help="With --gap: the declared rate of mixing; 0.9 states β(a) ≤ 0.9^a."),
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
    "--seed",
    "draw_seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of --within one and --importance.",
)
certified_unit_option = click.option(
    "--unit", help="Column of units, if the promise is about units.  [default: the certificate's]"
)
fresh_draw_options = joined(
    certified_unit_option,
    click.option(
        "--importance",
        help="Column of the weights, if the certificate has weights and these rows are distributed as the calibration "
        "rows.  [default: they are distributed as future rows]",
    ),
)


def declared_draws(options: dict[str, Any]) -> Draws | None:
    """Return what one draw is, as the options declare it; None is a row. Takes the options of draws out of `options`.

    A command that has a seed for other purposes uses it for its draws as well.
    """
    names = ("unit", "within", "gap", "mixing", "importance", "at_most", "interval_delta")
    unit, within, gap, mixing, importance, at_most, interval_delta = (options.pop(name) for name in names)
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
    seed = options.pop("draw_seed") if "draw_seed" in options else options["seed"]
    if is_given("draw_seed") and within != "one" and not importance:
        raise click.UsageError("--seed needs --within one or --importance: no other draws are random.")
    from pacband.draws import Spaced, Units, Weighted

    if unit is not None:
        return Units(unit, _within(within), random_state=seed if within == "one" else None)
    if gap is not None:
        return Spaced(gap, mixing)
    if at_most is None:
        return None
    columns = importance if len(importance) == 2 else importance[0]
    return Weighted(columns, at_most=at_most, random_state=seed, interval_delta=interval_delta or 0.0)


def draw_columns(draws: Draws | None) -> tuple[list[str], list[str]]:
    """Return the columns of numbers and those of labels that the draws are read from."""
    from pacband.draws import Units

    columns = [] if draws is None else list(draws.columns)
    return ([], columns) if isinstance(draws, Units) else (columns, [])


def refuse_without_rows(kind: DrawKind | None) -> None:
    """Raise if a report cannot show the rows of such draws: a draw must have one score."""
    if kind is not None and not kind.rank_is_chosen:
        raise click.UsageError(
            "--report shows one row for every draw: it cannot be combined with --within average or with two "
            "--importance columns, nor with a certificate that was made so."
        )


def _within(given: str) -> str | float:
    if given in ("all", "average", "one"):
        return given
    try:
        return float(given)
    except ValueError:
        raise click.UsageError(
            f"--within must be all, average, one or a share in (0, 1) such as 0.99, got {given!r}."
        ) from None
