"""``pacband fit``: train, certify and save a model from a table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.about_options import about_options, read_about
from pacband.cli.console import print_json, print_message, print_result, print_saved, print_text, progress_bar
from pacband.cli.draw_options import declared_draws, draw_options, refuse_without_rows
from pacband.cli.findings import collect_findings, print_findings
from pacband.cli.options import (
    clip_options,
    clip_range,
    delta_option,
    eps_option,
    file_options,
    json_option,
    side_option,
    strict_option,
)
from pacband.cli.output import Command, Input, Output, overwrite_option, refuse_two_results, save_results
from pacband.exceptions import ReusedData

if TYPE_CHECKING:
    from pacband.estimators.family import CertifiedFamily
    from pacband.tables.survey import Column
    from pacband.tables.training_rows import TrainingRows

EXAMPLES = """
\b
Examples:
  pacband fit data.csv --target price -o model.pacband
  pacband fit data.parquet --target y --exclude id,date --group site \\
      --eps 0.1 --delta 0.01 -o model.pacband
  pacband fit data.csv --target y --unit machine --within 0.99 \\
      -o model.pacband
  pacband fit hourly.csv --target y --gap 24 -o model.pacband
  pacband fit 'parts/*.parquet' --target y --time-budget 60 \\
      --report report.html -o model.pacband
  pacband fit data.csv --target y --save-search-plan plan.json \\
      -o model.pacband
  pacband fit data.csv --target y --search-plan plan.json -o same.pacband
  pacband predict model.pacband new.csv -o bands.csv
"""

_DEFAULT_BUDGET = 300.0


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=Input())
@click.option("--target", required=True, help="Column to predict.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=Output(stdout=True, certificate=True),
    help="File to save the model and its certificate to; - is standard output.",
)
@overwrite_option
@eps_option
@delta_option
@side_option
@clip_options
@click.option("--features", default="", help="The only columns to predict from, such as a,b,c.  [default: all]")
@click.option("--exclude", default="", help="Columns not to predict from, such as id,date.")
@click.option("--categories", default="", help="Columns to use as categories, although they contain numbers.")
@click.option(
    "--dates",
    default="",
    help="Columns of dates to use as days since 1970-01-01, such as sold or sold:dmy if day and month are not clear.",
)
@click.option("--group", help="Column of the group labels. Each group gets its own bound.")
@click.option(
    "--calibration-size",
    help="Rows to calibrate with, as a number or a share; with --unit units, with --gap every GAP-th row. With "
    "--group: of each group.  [default: as many as planned or a fifth, whichever is more, at most half]",
)
@draw_options
@click.option(
    "--drop-missing-target",
    is_flag=True,
    help="Drop rows without a target, instead of refusing them; not for a promise about whole units.",
)
@click.option(
    "--drop-copies", is_flag=True, help="Drop copies of rows, instead of refusing more copies than chance explains."
)
@click.option("--time-budget", type=float, help=f"Seconds to try models for.  [default: {_DEFAULT_BUDGET}]")
@click.option(
    "--search-plan",
    type=Input(),
    help="JSON file of --save-search-plan: fit the same models again, whatever time it takes. Replaces --time-budget.",
)
@click.option(
    "--save-search-plan", type=Output(replaces="plan of a search"), help="JSON file to save the plan of the search to."
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Number of cores; -1 uses every core.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random split and of the models.")
@click.option(
    "--certificate", "alone", type=Output(certificate=True), help="File to save the certificate alone to, as JSON."
)
@click.option(
    "--report",
    type=Output(stdout=True, replaces="page"),
    help="HTML file to write a page to that explains the certificate; - is standard output.",
)
@about_options
@file_options
@strict_option
@json_option
def command(
    files: tuple[str, ...],
    output: str,
    report: str | None,
    search_plan: str | None,
    save_search_plan: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a model on CSV or Parquet FILES, certify it on other rows of them, and save both in one file.

    The rows are split at random: some fit the models, the others calibrate. With --unit, no unit is on both sides, and
    its column is not used to predict. With --gap, the rows must be in the order of time: the earliest fit, the latest
    calibrate, and a gap lies between. Many models are tried, and the sharpest are
    certified. Columns may contain numbers or categories, and cells may be empty. The command prints how it uses each
    column. It looks for rows that are not independent, as `pacband certify` does. Within columns that the model does
    not use, it looks only if --unit, --gap and --importance are not given. Predict with `pacband predict`, or in Python
    with `pacband.load`.

    Ctrl-C ends the search: the best models so far are certified and saved, with exit code 0. A second Ctrl-C ends the
    command without a result, with exit code 130, as does one before the first model is fitted or during the last fits.

    The time budget leaves out models by the clock, so the result depends on how busy the machine is. With the
    --search-plan that --save-search-plan wrote, and the same rows and seed, the result is the same to the last bit.
    """
    from pacband.candidates.search_plan import SearchPlan
    from pacband.certificate.about import as_about
    from pacband.draws import Spaced
    from pacband.estimators.family import CertifiedFamily
    from pacband.estimators.saving import save_model
    from pacband.estimators.unused_columns import check_order_of_time, check_unused_columns
    from pacband.tables.files import open_files
    from pacband.tables.training_rows import read_training_rows

    refuse_two_results(as_json, output, report)
    if search_plan is not None and options["time_budget"] is not None:
        raise click.UsageError(
            "--search-plan and --time-budget cannot be combined: a plan fits its models in whatever time."
        )
    repeated = None if search_plan is None else SearchPlan.load(search_plan)
    about = as_about(read_about(options, options["target"], always=True))
    group = options["group"]
    exclude = _split_names(options["exclude"])
    if group is not None and group in exclude:
        raise click.UsageError(
            f"the group {group!r} cannot be excluded: the model reads the group of each row from it."
        )
    draws = declared_draws(options)
    if report:
        refuse_without_rows(None if draws is None else draws.kind)
    with open_files(files, options["dialect"], note=print_message) as found, found.reading():
        rows = read_training_rows(
            found,
            options["target"],
            features=_split_names(options["features"]),
            exclude=exclude,
            categories=_split_names(options["categories"]),
            dates=_parse_dates(options["dates"]),
            group=group,
            draws=draws,
            drop_missing_target=options["drop_missing_target"],
            note=print_message,
        )
    _print_columns(rows.columns)
    with progress_bar("Trying models") as progress, collect_findings() as findings:
        family = CertifiedFamily(
            "auto",
            eps=options["eps"],
            delta=options["delta"],
            side=options["side"],
            clip=clip_range(options),
            groups=group,
            calibration_size=_parse_size(options["calibration_size"]),
            random_state=options["seed"],
            about=about,
            n_jobs=options["jobs"],
            time_budget=_DEFAULT_BUDGET if options["time_budget"] is None else options["time_budget"],
            search_plan=repeated,
            progress=progress,
        )
        try:
            family.fit(rows.X, rows.y, draws=rows.draws)
        except ReusedData as error:
            rows = _without_copies(rows, error, drop=options["drop_copies"])
            family.fit(rows.X, rows.y, draws=rows.draws)
        if rows.draws is None:
            check_unused_columns(family, rows.X, rows.y, rows.unused)
        elif isinstance(rows.draws, Spaced):
            check_order_of_time(rows.unused.assign(**_times_used(rows)))
    print_findings(findings, strict=options["strict"])
    page = _report(family, rows) if report else None
    kinds = {column.name: column.kind for column in rows.columns if column.kind}
    save = partial(save_model, family, columns=kinds, target=[options["target"]])
    save_results((output, save), (options["alone"], family.certificate_.save))
    if page is not None:
        save_results((report, page.save))
    if save_search_plan is not None:
        assert family.search_plan_ is not None  # the family is automatic
        family.search_plan_.save(save_search_plan)
    if as_json:
        print_json(_summary(family, rows, output))
    else:
        taken = "-" in (output, report)
        print_message(str(family.certificate_)) if taken else print_result(family.certificate_)
        (print_message if taken else print_text)(f"\n{family.auto_}")
    _print_left_out(family)
    print_saved(output, options["alone"], report, save_search_plan)


def _without_copies(rows: TrainingRows, error: ReusedData, *, drop: bool) -> TrainingRows:
    """Return the rows without copies of others, and print how many there were; or raise if `drop` is false.

    If no row is a copy of another row of its unit, `error` is raised.
    """
    from pacband.checks.copies import find_originals
    from pacband.draws import Units

    # A unit keeps its rows: without those that other units have, too, its errors would look smaller than they are.
    units = rows.draws.labels if isinstance(rows.draws, Units) else None
    kept = find_originals(rows.X, rows.y, units)
    if len(kept) == len(rows.y):
        raise error
    copies = f"{len(rows.y) - len(kept)} of {len(rows.y)} rows"
    if not drop:
        raise ReusedData(
            f"fit needs every row once: {copies} equal another row, in every column that is used and in the target. "
            "That is more than chance explains. --drop-copies drops the copies."
        )
    print_message(f"Dropped {copies}, which are copies of other rows.")
    return rows.take(kept)


def _print_columns(columns: list[Column]) -> None:
    """Print how each column is used, and why a column is not used."""
    for kind, label in (("number", "Numbers"), ("category", "Categories"), ("date", "Dates, as days since 1970-01-01")):
        names = [column.name for column in columns if (column.kind or "").partition("-")[0] == kind]
        if names:
            print_message(f"{label}: {', '.join(names)}")
    for column in columns:
        if column.kind is None:
            print_message(f"Not used: {column.name}: {column.why}")


def _times_used(rows: TrainingRows) -> dict[str, Any]:
    """Return the columns of dates that the model uses, as times."""
    import pandas as pd

    used = [column.name for column in rows.columns if (column.kind or "").startswith("date-")]
    return {name: pd.to_datetime(rows.X[name], unit="D") for name in used}


def _report(family: CertifiedFamily, rows: TrainingRows) -> Any:
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


def _print_left_out(family: CertifiedFamily) -> None:
    """Print that the clock decided what was tried: without it, the result depends on the seed alone."""
    if any(tried.is_late for tried in family.auto_.tried):
        print_message(
            "The time budget left out models, so the result depends on how busy the machine is. --save-search-plan "
            "saves what was fitted, and --search-plan fits it again."
        )


def _summary(family: CertifiedFamily, rows: TrainingRows, output: str) -> dict[str, Any]:
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


def _split_names(listed: str) -> list[str]:
    return [name for name in (part.strip() for part in listed.split(",")) if name]


def _parse_dates(listed: str) -> dict[str, str | None]:
    """Return the columns of dates, and the order of day, month and year where the user states it."""
    from pacband.core.dates import ORDERS

    found: dict[str, str | None] = {}
    for name in _split_names(listed):
        column, _, order = name.rpartition(":")
        found |= {column: order} if column and order in ORDERS else {name: None}
    return found


def _parse_size(given: str | None) -> int | float | None:
    if given is None:
        return None
    try:
        return int(given) if given.isdigit() else float(given)
    except ValueError:
        raise click.UsageError(f"--calibration-size must be a number of rows or a share, got {given!r}.") from None
