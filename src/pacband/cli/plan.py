"""``pacband plan``: how many samples a promise needs."""

from __future__ import annotations

import click

from pacband.cli.console import print_json, print_result
from pacband.cli.options import delta_option, eps_option, json_option, rule_option

EXAMPLES = """
\b
Examples:
  pacband plan --eps 0.05 --delta 1e-6                 a sensible number of samples
  pacband plan --eps 0.05 --delta 1e-6 --rank 1        the smallest number that can certify this
  pacband plan --eps 0.05 --samples 5000               the rank of the narrowest band with 5000 samples
  pacband plan --candidates 10 --json                  for ten models, as JSON
"""


@click.command(epilog=EXAMPLES)
@eps_option
@delta_option
@click.option("-n", "--samples", type=int, help="Number N of calibration samples, if it is given.")
@click.option("--rank", type=int, help="Rank r of the score that becomes the bound, if it is given.")
@click.option("--candidates", type=int, default=1, show_default=True, help="Number of models that are certified.")
@rule_option
@json_option
def command(
    eps: float, delta: float, samples: int | None, rank: int | None, candidates: int, rule: str, as_json: bool
) -> None:
    """Plan the number of calibration samples and the rank, before you look at any data.

    The score of rank r, counted from the largest of N scores, becomes the bound. If you give neither N nor r, the plan
    is the smallest N for which the rank εN/2 is valid.
    """
    from pacband.planning import plan

    planned = plan(eps, delta, n_samples=samples, rank=rank, n_candidates=candidates, rule=rule)
    if as_json:
        print_json(planned.to_dict())
    else:
        print_result(planned)
