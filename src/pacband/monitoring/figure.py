"""The figure of a monitor: the violation rate over time, its confidence sequence, and ε."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pacband.core import look
from pacband.core.wording import percent
from pacband.monitoring.sequence import confidence_sequence

if TYPE_CHECKING:
    from pacband.monitoring.monitor import Monitor

__all__ = ["draw"]

# Of the groups, in turn. The colour of the limit is that of ε, and of a promise that is revoked.
_COLOURS = (look.BAND, look.THIRD, look.INK, look.POINT, look.MUTED)


def draw(monitor: Monitor, ax: Any = None) -> Any:
    """Draw the monitor on matplotlib axes, by default on new ones, and return them."""
    new, ax = ax is None, look.axes_of(ax, 3.2, width=7.0)
    eps, words = monitor.certificate.eps, monitor.draw_words
    for i, (label, watch) in enumerate(monitor.watches.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        points = [point for point in (*watch.trace, (watch.n_rows, watch.n_violations)) if point[0]]
        if not points:
            continue
        rows = [n for n, _ in points]
        ends = [confidence_sequence(violations, n, eps, 0.95) for n, violations in points]
        ax.fill_between(rows, [low for low, _ in ends], [high for _, high in ends], color=colour, alpha=0.13, lw=0)
        name = "violation rate, 95 % at all times" if label is None else look.plain_text(str(label))
        ax.plot(rows, [violations / n for n, violations in points], color=colour, lw=1.8, label=name)
        for at, style, word in ((watch.warned_at, ":", "warning"), (watch.revoked_at, "--", "revoked")):
            if at is not None:
                # Lines of groups have the colour of their group. One line alone has that of what it means.
                line = colour if label is not None else look.LIMIT if word == "revoked" else look.INK
                ax.axvline(at, color=line, ls=style, lw=1.2, label=f"{word} at {words.noun} {at}")
    ax.axhline(eps, color=look.LIMIT, lw=1.6, label=f"promised: at most {percent(eps)}")
    ax.set_ylim(0.0, min(1.0, max(3.0 * eps, 2.0 * (monitor.violation_rate if monitor.n_rows else eps))))
    ax.yaxis.set_major_formatter(look.format_percent)
    look.style_axes(ax, title=f"pacband monitor: {monitor.state}", x=f"{words.tested} with a label", y="violation rate")
    look.add_legend(ax, columns=3)
    if new:
        # Every line of the legend adds to the height, so that the data keep theirs.
        lines = -(-len(ax.get_legend_handles_labels()[1]) // 3)
        ax.figure.set_figheight(3.2 + 0.22 * lines)
    return ax
