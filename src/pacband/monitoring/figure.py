"""The picture of a monitor: the violation rate over time, what it may be, and what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pacband.core.extras import require
from pacband.core.wording import percent
from pacband.monitoring.sequence import confidence_sequence

if TYPE_CHECKING:
    from pacband.monitoring.monitor import Monitor

__all__ = ["draw"]

_COLOURS = ("#1f6f8b", "#b5651d", "#5b7f3b", "#7a5195", "#8c564b", "#52616b")


def draw(monitor: Monitor, ax: Any = None) -> Any:
    """Draw the monitor on matplotlib axes, new ones by default, and return them."""
    if ax is None:
        ax = (
            require("matplotlib.figure", purpose="a figure").Figure(figsize=(7.0, 3.6), layout="constrained").subplots()
        )
    eps = monitor.certificate.eps
    for i, (label, watch) in enumerate(monitor.watches.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        points = [point for point in (*watch.trace, (watch.n_rows, watch.n_violations)) if point[0]]
        if not points:
            continue
        rows = [n for n, _ in points]
        ends = [confidence_sequence(violations, n, eps, 0.95) for n, violations in points]
        ax.fill_between(rows, [low for low, _ in ends], [high for _, high in ends], color=colour, alpha=0.15, lw=0)
        name = "violation rate, 95 % at all times" if label is None else str(label).replace("$", r"\$")
        ax.plot(rows, [violations / n for n, violations in points], color=colour, lw=1.5, label=name)
        for at, style, word in ((watch.warned_at, ":", "warning"), (watch.revoked_at, "--", "revoked")):
            if at is not None:
                ax.axvline(at, color=colour, ls=style, lw=1.2, label=f"{word} at row {at}")
    ax.axhline(eps, color="#c0392b", lw=1.0, label=f"promised: at most {percent(eps)}")
    ax.set(xlabel="rows with a label", ylabel="violation rate", title=f"pacband monitor: {monitor.state}")
    ax.set_ylim(0.0, min(1.0, max(3.0 * eps, 2.0 * (monitor.violation_rate if monitor.n_rows else eps))))
    ax.legend(framealpha=0.9, edgecolor="none", fontsize="small", loc="upper left")
    return ax
