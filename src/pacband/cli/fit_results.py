"""What ``pacband fit`` saves and prints after the fit: the model, the report, the summary."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from pacband.cli.console import print_message
from pacband.cli.output import save_results
from pacband.core.wording import percent

if TYPE_CHECKING:
    from pacband.estimators.family import CertifiedFamily
    from pacband.tables.training_rows import TrainingRows

__all__ = ["make_report", "print_left_out", "print_negative_ends", "save_fit", "summarize"]

# If this share of the lower ends is negative, at so many rows, a target that is not negative may have a known range.
_MANY_NEGATIVE, _ROWS_TO_LOOK_AT = 0.05, 1000


def save_fit(
    family: CertifiedFamily,
    rows: TrainingRows,
    *,
    target: str,
    output: str,
    certificate: str | None,
    report: str | None,
    search_plan: str | None,
) -> None:
    """Save the model, and the certificate, the report and the plan of the search where files are named for them."""
    from pacband.estimators.saving import save_model

    # The report is made first: if that fails, nothing is saved.
    page = make_report(family, rows) if report else None
    kinds = {column.name: column.kind for column in rows.columns if column.kind}
    save = partial(save_model, family, columns=kinds, target=[target])
    save_results((output, save), (certificate, family.certificate_.save))
    if page is not None:
        save_results((report, page.save))
    if search_plan is not None:
        assert family.search_plan_ is not None  # the family is automatic
        family.search_plan_.save(search_plan)


def make_report(family: CertifiedFamily, rows: TrainingRows) -> Any:
    """Return the report of the rows that calibrated the model."""
    from pacband.cli.pages import command_line
    from pacband.reporting.document import report

    # The split depends on the seed alone, so this is the split of `fit`.
    _, calibrate = family.split_indices(rows.X, rows.y, draws=rows.draws)
    assert calibrate is not None  # the models had to be fitted
    fresh = rows.take(calibrate)
    prediction, scale = family.predict_with_scale(fresh.X)
    groups = fresh.X[family.groups].to_numpy() if family.groups is not None else None
    return report(
        family.certificate_,
        fresh.y,
        prediction,
        scale,
        X=fresh.X,
        groups=groups,
        draws=fresh.draws,
        command=command_line(),
    )


def print_left_out(family: CertifiedFamily) -> None:
    """Print that the clock decided what was tried: without it, the result depends on the seed alone."""
    if any(tried.is_late for tried in family.auto_.tried):
        print_message(
            "The time budget left out models, so the result depends on how busy the machine is. --save-search-plan "
            "saves what was fitted, and --search-plan fits it again."
        )


def print_negative_ends(family: CertifiedFamily, rows: TrainingRows, target: str) -> None:
    """Print how to end the band at zero, if no target is negative and many of its lower ends are."""
    if family.clip is not None or rows.y.min() < 0.0:
        return
    lower = family.predict_interval(rows.X[:_ROWS_TO_LOOK_AT])[:, 0]
    negative = float((lower < 0.0).mean())
    if lower.min() > -math.inf and negative >= _MANY_NEGATIVE:
        print_message(
            f"No value of {target!r} is negative, but {percent(negative)} of the lower ends are. If {target!r} is "
            "never negative, --clip-min 0 ends the band at zero and states so."
        )


def summarize(family: CertifiedFamily, rows: TrainingRows, output: str) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "model": output,
        "rows": len(rows.y),
        "best": family.best_name_,
        "certificate": family.certificate_.to_dict(),
        "columns": [{"name": c.name, "kind": c.kind, "why": c.why} for c in rows.columns],
        "ended": family.auto_.ended,
        "tried": [
            {"name": t.name, "width": t.width, "seconds": t.seconds, "status": t.status} for t in family.auto_.tried
        ],
    }
