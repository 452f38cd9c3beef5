"""A certificate or a plan on a terminal: the promise in a frame, its numbers in a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pacband.certificate import AnyCertificate, Certificate, FamilyCertificate, GroupCertificate
from pacband.certificate.family import sharpness_name
from pacband.certificate.inequality import symbols
from pacband.core.wording import bound, figure, percent
from pacband.planning import AcceptancePlan, Plan, PlanTable
from pacband.planning.costs import HEADER
from pacband.reporting.candidates import chosen_beforehand, expects_violation, rank_candidates

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["render", "show"]

MOST_ROWS = 30


def show(value: Any, *, console: Any = None) -> None:
    """Print a plan or a certificate: in a frame and in colours on a terminal, as plain text into a pipe.

    Examples
    --------
    >>> import pacband
    >>> show(pacband.plan(eps=0.05, delta=1e-6))  # doctest: +ELLIPSIS, +SKIP
    ╭─ pacband plan ───...
    """
    from rich.console import Console

    terminal = Console() if console is None else console
    if terminal.is_terminal:
        terminal.print(render(value))
    else:
        terminal.print(str(value), markup=False, highlight=False, soft_wrap=True)


def render(value: Plan | PlanTable | AnyCertificate) -> RenderableType:
    """Return what `rich` prints for a plan or a certificate."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    title, promise, table = _parts(value)
    if isinstance(value, PlanTable):  # the words explain the columns
        content = Group(table, Text(), Text(promise, style="dim"))
    else:
        content = Group(Text(promise, style="bold"), *_symbols(value), Text(), table, *_about(value))
    return Panel(content, title=title, title_align="left", border_style="blue", padding=(1, 2))


def _symbols(value: Any) -> list[RenderableType]:
    """Return what the symbols of a promise stand for, right below it."""
    from rich.text import Text

    if isinstance(value, Plan | AcceptancePlan | PlanTable):
        return []
    return [Text(symbols(value.basis), style="dim")]


def _about(value: Any) -> list[RenderableType]:
    """Return who issued a certificate and what it is about, below its numbers."""
    from rich.text import Text

    table = _table()
    table.add_column(style="dim")
    table.add_column()
    facts = [] if isinstance(value, Plan | AcceptancePlan | PlanTable) else value.about.facts()
    for name, text in facts:
        table.add_row(name, Text(text))
    return [Text(), table] if facts else []


def _parts(value: Any) -> tuple[str, str, Table]:
    if isinstance(value, Plan):
        return "pacband plan", str(value), _facts(value)
    if isinstance(value, AcceptancePlan):
        return "pacband acceptance plan", value.procedure, _characteristic(value)
    if isinstance(value, PlanTable):
        return "pacband plan table", value.explanation, _costs(value)
    if isinstance(value, FamilyCertificate):
        return "pacband family certificate", value.headline, _candidates(value)
    if isinstance(value, GroupCertificate):
        return "pacband group certificate", value.promise, _groups(value)
    return "pacband certificate", value.promise, _facts(value)


def _facts(value: Plan | Certificate) -> Table:
    table = _table()
    table.add_column(style="dim")
    table.add_column()
    if isinstance(value, Certificate):
        table.add_row("bound γ̄, given" if value.bound_given else "bound γ̄", bound(value.gamma))
        table.add_row(*value.counts(","))
    else:
        table.add_row("samples N, rank r", f"{value.n_samples:,}, {value.rank:,}")
    deltas = f"{figure(value.delta)}, {figure(value.attained_delta)}"
    table.add_row("ε; δ promised, attained", f"{figure(value.eps)}; {deltas}")
    if isinstance(value, Plan) or expects_violation(value):
        each = " of each candidate" if value.n_candidates > 1 else ""
        table.add_row(f"expected violation{each}", percent(value.expected_violation))
    if value.n_candidates > 1:
        table.add_row("candidates", str(value.n_candidates))
    if isinstance(value, Certificate):
        table.add_row("holds if", "\n".join(value.assumptions))
        table.add_row("fingerprint", value.data_digest)
    return table


def _characteristic(plan: AcceptancePlan) -> Table:
    table = _table(header=True)
    for name in ("violation probability", "probability of acceptance"):
        table.add_column(name, justify="right")
    for p, accepted in plan.characteristic:
        table.add_row(percent(p), percent(accepted), style="bold" if p in (plan.eps_good, plan.eps) else "")
    return table


def _costs(costs: PlanTable) -> Table:
    table = _table(header=True)
    for name in HEADER:
        table.add_column(name, justify="right", no_wrap=name != "expected violation")
    for row in costs.rows:
        table.add_row(*row.cells)
    return table


def _candidates(family: FamilyCertificate) -> Table:
    from rich.text import Text

    table = _table(header=True)
    table.add_column("candidate")
    table.add_column(sharpness_name(family.certificate.side), justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("bound γ̄", justify="right")
    ranked = rank_candidates(family, MOST_ROWS)
    widest = max((size for size in family.sharpness.values() if math.isfinite(size)), default=1.0)
    for name in ranked:
        size, best = family.sharpness[name], name == family.best
        bar = "━" * max(1, round(24 * min(size, widest) / widest)) if widest > 0 else ""
        table.add_row(
            Text(f"{name}{' (best)' if best else ''}"),
            bound(size),
            Text(bar, style="blue" if best else "dim"),
            bound(family.candidates[name].gamma),
            style="bold" if best else "",
        )
    if len(family.candidates) > len(ranked):
        table.add_row(f"and {len(family.candidates) - len(ranked)} more", "", "", "")
    return table


def _groups(certificate: GroupCertificate) -> Table:
    from rich.text import Text

    table = _table(header=True)
    table.add_column("group")
    expected = ["expected violation"] if chosen_beforehand(certificate) else []
    for name in ("bound γ̄", "rows N", "rank r", *expected):
        table.add_column(name, justify="right")
    for label, each in list(certificate.groups.items())[:MOST_ROWS]:
        table.add_row(
            Text(str(label)),
            bound(each.gamma),
            f"{each.n_samples:,}",
            "–" if each.rank is None else f"{each.rank:,}",
            *[percent(each.expected_violation) for _ in expected],
        )
    if len(certificate.groups) > MOST_ROWS:
        table.add_row(f"and {len(certificate.groups) - MOST_ROWS} more", *[""] * (3 + len(expected)))
    return table


def _table(*, header: bool = False) -> Table:
    from rich.table import Table

    return Table(box=None, show_header=header, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
