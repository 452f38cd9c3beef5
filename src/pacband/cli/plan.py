"""``pacband plan``: how many samples a promise needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pacband.cli.console import print_json, print_message, print_result, print_text
from pacband.cli.options import delta_option, eps_option, is_given, json_option, rule_option
from pacband.cli.output import Command, Output

if TYPE_CHECKING:
    from pacband.planning import AcceptancePlan, Plan

# The file extensions that a figure can be written to.
FIGURES = (".png", ".svg", ".pdf")

EXAMPLES = """
\b
Examples:
  # a sensible number of samples
  pacband plan --eps 0.05 --delta 1e-6
  # the smallest number that can certify this
  pacband plan --eps 0.05 --delta 1e-6 --rank 1
  # the rank of the narrowest band with 5000 samples
  pacband plan --eps 0.05 --samples 5000
  # what each delta costs with 120 samples
  pacband plan --eps 0.1 --n-samples 120 --table
  # for ten models, as JSON
  pacband plan --candidates 10 --json
  pacband plan --eps 0.05 --delta 0.05 --eps-good 0.01 --beta 0.1 \\
      --figure oc.svg
"""


@click.command(cls=Command, epilog=EXAMPLES)
@eps_option
@delta_option
@click.option(
    "-n", "--samples", "--n-samples", "samples", type=int, help="Number N of calibration samples, if it is given."
)
@click.option("--rank", type=int, help="Rank r of the score that becomes the bound, if it is given.")
@click.option("--candidates", type=int, default=1, show_default=True, help="Number of models that are certified.")
@rule_option
@click.option(
    "--table",
    is_flag=True,
    help="With --samples: for δ from 0.1 to 1e-9 (and --delta), print the rank, the expected violation and the width.",
)
@click.option(
    "--eps-good",
    type=float,
    help="Plan an acceptance test: a model that violates with this probability, or less, must pass.",
)
@click.option(
    "--beta",
    type=float,
    default=0.1,
    show_default=True,
    help="With --eps-good: largest probability that such a model does not pass.",
)
@click.option(
    "--figure",
    type=Output(FIGURES, replaces="figure"),
    help="With --eps-good: PNG, SVG or PDF file of the operating characteristic.",
)
@json_option
def command(
    eps: float,
    delta: float,
    samples: int | None,
    rank: int | None,
    candidates: int,
    rule: str,
    table: bool,
    eps_good: float | None,
    beta: float,
    figure: str | None,
    as_json: bool,
) -> None:
    """Plan the number of calibration samples and the rank, before you look at any data.

    The score of rank r, counted from the largest of N scores, becomes the bound. If you give neither N nor r, the plan
    is the smallest N for which the rank εN/2 is valid, and the output states what more samples would buy.

    With --table, see what each δ costs with the samples that you have, before you choose δ.

    With --eps-good, plan an acceptance test for a tolerance that is given: N, and how many of N samples may violate so
    that a model that violates with probability ε passes with probability at most δ. The result has the operating
    characteristic as a table.
    """
    if eps_good is not None:
        _refuse("--eps-good: N and c are planned together.", "samples", "rank", "candidates", "rule", "table")
        _plan_acceptance(eps, delta, eps_good, beta, figure, as_json)
        return
    if figure is not None or is_given("beta"):
        raise click.UsageError("--beta and --figure need --eps-good.")
    if table:
        _refuse("--table: every δ has its own rank.", "rank", "rule")
        _plan_table(eps, delta, samples, candidates, as_json)
        return
    from pacband.planning import plan

    planned = plan(eps, delta, n_samples=samples, rank=rank, n_candidates=candidates, rule=rule)
    if as_json:
        print_json(planned.to_dict())
        return
    print_result(planned)
    if samples is None and rank is None and rule == "exact":
        _explain(planned)


def _refuse(what: str, *options: str) -> None:
    """Raise if one of the options was given: none of them can be combined with another one."""
    for option in options:
        if is_given(option):
            raise click.UsageError(f"--{option} cannot be combined with {what}")


def _plan_table(eps: float, delta: float, samples: int | None, candidates: int, as_json: bool) -> None:
    """Print what each δ costs with these samples, the given δ among them."""
    from pacband.planning import DELTAS, plan_table

    if samples is None:
        raise click.UsageError("--table needs --samples, the number of samples that you have.")
    deltas = sorted({*DELTAS, delta} if is_given("delta") else DELTAS, reverse=True)
    planned = plan_table(samples, eps=eps, deltas=deltas, n_candidates=candidates)
    if as_json:
        print_json(planned.to_dict())
    else:
        print_result(planned)


def _explain(planned: Plan) -> None:
    """Print why the plan asks for so many samples, and what more of them would buy."""
    from pacband.planning import min_samples, more_samples

    fewest = min_samples(planned.eps, planned.delta, n_candidates=planned.n_candidates)
    if fewest == planned.n_samples:
        reason = f"No fewer samples can promise this: the bound is the largest of {fewest:,} scores."
    else:
        reason = (
            "This is the smallest N for which the rank εN/2 is valid. The fewest samples that can promise this are "
            f"{fewest:,}: the bound is then the largest score."
        )
    print_text(f"{reason} What more samples would buy:")
    print_result(more_samples(planned))


def _plan_acceptance(eps: float, delta: float, eps_good: float, beta: float, figure: str | None, as_json: bool) -> None:
    """Plan an acceptance test, draw its operating characteristic if asked, and print it."""
    from pacband.planning import plan_acceptance

    planned = plan_acceptance(eps, delta, eps_good=eps_good, beta=beta)
    if figure is not None:
        _draw(planned, figure)
    if as_json:
        print_json(planned.to_dict())
    else:
        print_result(planned)
    if figure is not None:
        print_message(f"Saved {figure}")


def _draw(planned: AcceptancePlan, path: str) -> None:
    from io import BytesIO
    from pathlib import Path

    from pacband.core.atomic_files import replace_file
    from pacband.core.look import default_settings, figure_of
    from pacband.reporting.figures.acceptance import plot_acceptance

    picture = BytesIO()
    with default_settings():
        figure_of(plot_acceptance(planned)).savefig(picture, format=Path(path).suffix[1:].lower(), dpi=150)
    replace_file(Path(path), picture.getvalue())
