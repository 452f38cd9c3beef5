"""Budgets: the width of the automatic family's band over the time that it is given.

One family for each budget and seed, on the same splits as in `sharpness`. The width is that of the certified band at
test rows, relative to the one of the largest budget; the seconds are those of the whole search. A search that has
nothing left to try ends before its budget.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import partial

from benchmarks._bands import mean_width, run_ours
from benchmarks._journal import Journal
from benchmarks._tables import TABLES, split_table
from benchmarks._timing import print_table, verdict

BUDGETS = (2.0, 5.0, 15.0, 60.0, 300.0)
# The aims: how much wider the band of 15 s may be, and how far a search may exceed its budget.
WIDER, BEYOND = 0.03, 0.10


def main(quick: bool = False) -> None:
    warnings.simplefilter("ignore")
    budgets, seeds = (BUDGETS[:2], 1) if quick else (BUDGETS, 3)
    tables = ("concrete", "diabetes") if quick else tuple(TABLES)
    rows, late, wider = [], [], []
    journal = Journal("budgets", quick=quick)
    for table in tables:
        splits = [split_table(table, seed) for seed in range(seeds)]
        found = {
            budget: [
                journal.get(f"{table}, seed {seed}, {budget} s", partial(run_ours, split, budget))
                for seed, split in enumerate(splits)
            ]
            for budget in budgets
        }
        last = mean_width(found[budgets[-1]])
        relative = {budget: mean_width(outcomes) / last for budget, outcomes in found.items()}
        late += [o.seconds / budget - 1.0 for budget, outcomes in found.items() for o in outcomes]
        wider += [relative.get(15.0, 1.0) - 1.0]
        longest = {budget: max(o.seconds for o in outcomes) for budget, outcomes in found.items()}
        rows.append([table, *(f"{relative[b]:.3f} in {longest[b]:.1f} s" for b in budgets), _bars(relative.values())])
    journal.finish()
    print(f"\nmean width over that of the largest budget, and the longest search; {seeds} seeds")
    print_table(["", *(f"{budget:.0f} s" for budget in budgets), "0 to 30 % wider"], rows)
    for what, value, aim in (("wider at 15 s", max(wider), WIDER), ("beyond the budget", max(late), BEYOND)):
        print(f"aim: at most {aim:.0%} {what}: {verdict(value <= aim)} ({value:.1%})")


def _bars(relative: Iterable[float]) -> str:
    """Return a drawing of widths: a bar for each, which is full if it is at least 30 % above one."""
    bars = " ▁▂▃▄▅▆▇█"
    return "".join(bars[min(max(round((value - 1.0) / 0.3 * 8), 0), 8)] for value in relative)
