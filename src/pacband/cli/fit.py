"""``pacband fit``: train, certify and save a model from a table."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.about_options import about_options, read_about
from pacband.cli.console import print_json, print_message, print_result, print_saved, print_text, progress_bar
from pacband.cli.draw_options import declared_draws, draw_options, refuse_without_rows
from pacband.cli.findings import collect_findings, print_findings
from pacband.cli.fit_results import print_left_out, print_negative_ends, save_fit, summarize
from pacband.cli.options import (
    SEED,
    clip_options,
    clip_range,
    delta_option,
    eps_option,
    file_options,
    json_option,
    side_option,
    strict_option,
)
from pacband.cli.output import Command, Input, Output, overwrite_option, refuse_two_results
from pacband.exceptions import ReusedData

if TYPE_CHECKING:
    from pacband.candidates.search_plan import SearchPlan
    from pacband.certificate.about import About
    from pacband.core.progress import Progress
    from pacband.draws import Draws
    from pacband.estimators.family import CertifiedFamily
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
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the random split and of the models.")
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
    from pacband.certificate.about import as_about

    refuse_two_results(as_json, output, report)
    repeated = _load_plan(search_plan, options["time_budget"])
    about = as_about(read_about(options, options["target"], always=True))
    _refuse_excluded_group(options)
    draws = declared_draws(options)
    if report:
        refuse_without_rows(None if draws is None else draws.kind)
    rows = _read_rows(files, options, draws)
    _print_columns(rows)
    with progress_bar("Trying models") as progress, collect_findings() as findings:
        family = _make_family(options, about, repeated, progress)
        rows = _fit(family, rows, drop_copies=options["drop_copies"])
        _check_unused(family, rows)
    print_findings(findings, strict=options["strict"])
    save_fit(
        family,
        rows,
        target=options["target"],
        output=output,
        certificate=options["alone"],
        report=report,
        search_plan=save_search_plan,
    )
    if as_json:
        print_json(summarize(family, rows, output))
    else:
        taken = "-" in (output, report)
        print_message(str(family.certificate_)) if taken else print_result(family.certificate_)
        (print_message if taken else print_text)(f"\n{family.auto_}")
    print_negative_ends(family, rows, options["target"])
    print_left_out(family)
    print_saved(output, options["alone"], report, save_search_plan)


def _load_plan(path: str | None, time_budget: float | None) -> SearchPlan | None:
    """Return the plan of a search that is repeated, if there is one."""
    from pacband.candidates.search_plan import SearchPlan

    if path is not None and time_budget is not None:
        raise click.UsageError(
            "--search-plan and --time-budget cannot be combined: a plan fits its models in whatever time."
        )
    return None if path is None else SearchPlan.load(path)


def _refuse_excluded_group(options: dict[str, Any]) -> None:
    """Raise if the group is among the columns that the model must not read."""
    group = options["group"]
    if group is not None and group in _split_names(options["exclude"]):
        raise click.UsageError(
            f"the group {group!r} cannot be excluded: the model reads the group of each row from it."
        )


def _read_rows(files: tuple[str, ...], options: dict[str, Any], draws: Draws | None) -> TrainingRows:
    """Return the rows of the files, to fit and to calibrate."""
    from pacband.tables.files import open_files
    from pacband.tables.training_rows import read_training_rows

    with open_files(files, options["dialect"], note=print_message) as found, found.reading():
        return read_training_rows(
            found,
            options["target"],
            features=_split_names(options["features"]),
            exclude=_split_names(options["exclude"]),
            categories=_split_names(options["categories"]),
            dates=_parse_dates(options["dates"]),
            group=options["group"],
            draws=draws,
            drop_missing_target=options["drop_missing_target"],
            note=print_message,
        )


def _make_family(
    options: dict[str, Any], about: About, repeated: SearchPlan | None, progress: Progress
) -> CertifiedFamily:
    """Return the automatic family that the options declare; it is not fitted yet."""
    from pacband.estimators.family import CertifiedFamily

    return CertifiedFamily(
        "auto",
        eps=options["eps"],
        delta=options["delta"],
        side=options["side"],
        clip=clip_range(options),
        groups=options["group"],
        calibration_size=_parse_size(options["calibration_size"]),
        random_state=options["seed"],
        about=about,
        n_jobs=options["jobs"],
        time_budget=_DEFAULT_BUDGET if options["time_budget"] is None else options["time_budget"],
        search_plan=repeated,
        progress=progress,
    )


def _fit(family: CertifiedFamily, rows: TrainingRows, *, drop_copies: bool) -> TrainingRows:
    """Fit and calibrate the family, and return the rows that it used: without copies, if these are dropped."""
    try:
        family.fit(rows.X, rows.y, draws=rows.draws)
    except ReusedData as error:
        rows = _without_copies(rows, error, drop=drop_copies)
        family.fit(rows.X, rows.y, draws=rows.draws)
    return rows


def _check_unused(family: CertifiedFamily, rows: TrainingRows) -> None:
    """Warn if columns that the model does not use show that the rows are not independent, or not in order."""
    from pacband.draws import Spaced
    from pacband.estimators.unused_columns import check_order_of_time, check_unused_columns

    if rows.draws is None:
        check_unused_columns(family, rows.X, rows.y, rows.unused)
    elif isinstance(rows.draws, Spaced):
        check_order_of_time(rows.unused.assign(**_times_used(rows)))


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


def _print_columns(rows: TrainingRows) -> None:
    """Print how each column is used, and why a column is not used."""
    from pacband.checks.columns import counts_rows

    columns = rows.columns
    for kind, label in (("number", "Numbers"), ("category", "Categories"), ("date", "Dates, as days since 1970-01-01")):
        names = [column.name for column in columns if (column.kind or "").partition("-")[0] == kind]
        if names:
            print_message(f"{label}: {', '.join(names)}")
    for column in columns:
        if column.kind is None:
            print_message(f"Not used: {column.name}: {column.why}")
        elif column.kind == "number" and counts_rows(rows.X[column.name].to_numpy(float)):
            # A name with a comma cannot be listed.
            cure = "" if "," in column.name else f": --exclude={shlex.quote(column.name)}"
            print_message(f"{column.name} counts the rows. If it says nothing about future rows, leave it out{cure}")


def _times_used(rows: TrainingRows) -> dict[str, Any]:
    """Return the columns of dates that the model uses, as times."""
    import pandas as pd

    used = [column.name for column in rows.columns if (column.kind or "").startswith("date-")]
    return {name: pd.to_datetime(rows.X[name], unit="D") for name in used}


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
