"""How much wider the band of a certificate is than that of split conformal prediction: N × δ, by `plan_table`."""

from __future__ import annotations

import pacband
from pacband.planning import DELTAS

SIZES = (60, 120, 250, 500, 1_000, 2_500, 5_000, 10_000, 100_000)


def markdown(part: str = "0.1") -> str:
    """Return the table for the ε that `part` names."""
    cells = {(row.n_samples, row.delta): row for row in pacband.plan_table(SIZES, eps=float(part)).rows}
    lines = ["| N | " + " | ".join(map(_header, DELTAS)) + " |", "|---:|" + "---:|" * len(DELTAS)]
    for n in SIZES:
        widths = [_cell(cells[n, delta]) for delta in DELTAS]
        lines.append(f"| {n:,} | " + " | ".join(widths) + " |")
    return "\n".join(lines)


def _header(delta: float) -> str:
    """Return δ = 0.01 or δ = 10⁻⁶, which no line break divides."""
    power = f"{delta:.0e}".removeprefix("1e-0")
    number = f"{delta:g}" if delta >= 1e-3 else f"10⁻{'⁰¹²³⁴⁵⁶⁷⁸⁹'[int(power)]}"
    return f"δ\u00a0=\u00a0{number}"


def _cell(row: pacband.planning.costs.PlanCost) -> str:
    return f"needs {row.needed:,}" if row.relative_width is None else f"× {row.relative_width:.2f}"
