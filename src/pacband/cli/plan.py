"""``pacband plan``: how many samples a promise takes."""

from __future__ import annotations

import click

from pacband.cli.console import print_json, tell

EXAMPLES = """
\b
Examples:
  pacband plan --eps 0.05 --delta 1e-6                 a sensible number of samples
  pacband plan --eps 0.05 --delta 1e-6 --rank 1        the fewest that certify anything
  pacband plan --eps 0.05 --samples 5000               the sharpest rank of 5000 samples
  pacband plan --candidates 10 --json                  for ten models, for machines
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--eps", type=float, default=0.05, show_default=True, help="Share ε of future errors that may exceed the bound."
)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Probability δ that the promise fails.")
@click.option("-n", "--samples", type=int, help="Number N of calibration samples, if it is settled.")
@click.option("--rank", type=int, help="Rank r of the score that becomes the bound, if it is settled.")
@click.option("--candidates", type=int, default=1, show_default=True, help="Number of candidate models.")
@click.option(
    "--rule",
    type=click.Choice(["exact", "paper", "maximum"]),
    default="exact",
    show_default=True,
    help="How the open ones of N and r are chosen.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    eps: float, delta: float, samples: int | None, rank: int | None, candidates: int, rule: str, as_json: bool
) -> None:
    """Plan the number of samples and the rank, before any data are looked at."""
    from pacband.planning import plan

    settled = plan(eps, delta, n_samples=samples, rank=rank, n_candidates=candidates, rule=rule)
    if as_json:
        print_json(settled.to_dict())
    else:
        tell(settled)
