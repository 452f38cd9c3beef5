"""How much wider the band of a certificate is than that of split conformal prediction: N × δ, by `plan_table`."""

from __future__ import annotations

import pacband
from pacband.planning import DELTAS

SIZES = (60, 120, 250, 500, 1_000, 2_500, 5_000, 10_000, 100_000)


def markdown(part: str = "0.1") -> str:
    """Return the table for the ε that `part` names."""
    cells = {(row.n_samples, row.delta): row for row in pacband.plan_table(SIZES, eps=float(part)).rows}
    needed = [f"{cells[SIZES[0], delta].needed:,}" for delta in DELTAS]
    lines = [("N \\ δ", *map(_header, DELTAS)), ("---:",) * (1 + len(DELTAS))]
    lines += [(f"{n:,}", *(_width(cells[n, delta]) for delta in DELTAS)) for n in SIZES]
    return "\n".join(f"| {' | '.join(line)} |" for line in [*lines, ("fewest N", *needed)])


def _header(delta: float) -> str:
    """Return 0.01 or 10⁻⁶."""
    power = f"{delta:.0e}".removeprefix("1e-0")
    return f"{delta:g}" if delta >= 1e-3 else f"10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[int(power)]}"


def _width(row: pacband.planning.costs.PlanCost) -> str:
    return "–" if row.relative_width is None else f"× {row.relative_width:.2f}"
