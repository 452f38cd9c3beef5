"""``pacband fit``: train, certify and save a model from a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.about_options import about_options, read_about
from pacband.cli.console import print_json, print_message, print_saved, print_text, progress_bar
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
from pacband.cli.output import Input, Output, overwrite_option, refuse_two_results, writing

if TYPE_CHECKING:
    from pacband.draws import Draws
    from pacband.estimators.family import CertifiedFamily
    from pacband.tables.survey import Column

EXAMPLES = """
\b
Examples:
  pacband fit data.csv --target price -o model.pacband
  pacband fit data.parquet --target y --exclude id,date --group site --eps 0.1 --delta 0.01 -o model.pacband
  pacband fit data.csv --target y --unit machine --within 0.99 -o model.pacband
  pacband fit hourly.csv --target y --gap 24 -o model.pacband
  pacband fit 'parts/*.parquet' --target y --time-budget 60 --report report.html -o model.pacband
  pacband fit data.csv --target y --save-plan plan.json -o model.pacband
  pacband fit data.csv --target y --plan plan.json -o same.pacband
  pacband predict model.pacband new.csv -o bands.csv
"""

_DEFAULT_BUDGET = 300.0


@click.command(epilog=EXAMPLES)
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
@click.option("--categories", default="", help="Columns to use as categories, although they hold numbers.")
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
@click.option("--drop-missing-target", is_flag=True, help="Drop rows without a target, instead of refusing them.")
@click.option(
    "--drop-copies", is_flag=True, help="Drop copies of rows, instead of refusing more copies than chance explains."
)
@click.option("--time-budget", type=float, help=f"Seconds to try models for.  [default: {_DEFAULT_BUDGET}]")
@click.option(
    "--plan",
    type=Input(),
    help="JSON file of --save-plan: fit the same models again, whatever time it takes. Replaces --time-budget.",
)
@click.option("--save-plan", type=Output(), help="JSON file to save the plan of the search to.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Number of threads; -1 uses every core.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random split and of the models.")
@click.option(
    "--certificate", "alone", type=Output(certificate=True), help="File to save the certificate alone to, as JSON."
)
@click.option(
    "--report",
    type=Output(stdout=True),
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
    plan: str | None,
    save_plan: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a model on CSV or Parquet FILES, certify it on other rows of them, and save both in one file.

    The rows are split at random: some fit the models, the others calibrate. With --unit, no unit is on both sides, and
    its column is not used to predict. With --gap, the rows must be in the order of time: the earliest fit, the latest
    calibrate, and GAP rows lie between. Many models are tried, and the sharpest are
    certified. Columns may hold numbers or categories, and cells may be empty. The command prints how it uses each
    column. It looks for rows that are not independent, as `pacband certify` does. Within columns that the model does
    not use, it looks only if --unit, --gap and --importance are not given. Predict with `pacband predict`, or in Python
    with `pacband.load`.

    The time budget leaves out models by the clock, so the result depends on how busy the machine is. With the --plan
    that --save-plan wrote, and the same rows and seed, the result is the same to the last bit.
    """
    from pacband.candidates.search_plan import SearchPlan
    from pacband.certificate.about import as_about
    from pacband.draws import Spaced
    from pacband.estimators.family import CertifiedFamily
    from pacband.estimators.saving import save_model
    from pacband.exceptions import ReusedData
    from pacband.tables.files import open_files

    refuse_two_results(as_json, output, report)
    if plan is not None and options["time_budget"] is not None:
        raise click.UsageError("--plan and --time-budget cannot be combined: a plan fits its models in whatever time.")
    repeated = None if plan is None else SearchPlan.load(plan)
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
        columns, X, y, unused, draws = _read_rows(found.relation(), exclude, options, draws)
    _print_columns(columns)
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
            plan=repeated,
            progress=progress,
        )
        try:
            family.fit(X, y, draws=draws)
        except ReusedData:
            kept = _find_originals(X, y, drop=options["drop_copies"])
            X, y, unused = X.iloc[kept].reset_index(drop=True), y[kept], unused.iloc[kept].reset_index(drop=True)
            draws = None if draws is None else draws.take(kept)
            family.fit(X, y, draws=draws)
        if draws is None:
            _check_unused(family, X, y, unused)
        elif isinstance(draws, Spaced):
            _check_order_of_time(unused.assign(**_times_used(X, columns)))
    print_findings(findings, strict=options["strict"])
    page = _report(family, X, y, draws) if report else None
    kinds = {column.name: column.kind for column in columns if column.kind}
    with writing(output) as file:
        save_model(family, file, columns=kinds, target=[options["target"]])
    if options["alone"]:
        family.certificate_.save(options["alone"])
    if page is not None and report is not None:
        with writing(report) as file:
            page.save(file)
    if save_plan is not None:
        assert family.plan_ is not None  # the family is automatic
        family.plan_.save(save_plan)
    if as_json:
        print_json(_summary(family, columns, len(y), output))
    else:
        show = print_message if "-" in (output, report) else print_text
        show(str(family.certificate_))
        show(f"\n{family.auto_}")
    _print_left_out(family)
    print_saved(output, options["alone"], report, save_plan)


def _read_rows(
    relation: Any, exclude: list[str], options: dict[str, Any], draws: Draws | None = None
) -> tuple[list[Column], Any, Any, Any, Draws | None]:
    """Return how each column is used, the features, the targets, the unused columns, and the draws of the rows."""
    import numpy as np
    import pandas as pd

    from pacband.core.arrays import name_rows
    from pacband.draws import Weighted
    from pacband.exceptions import InvalidInput
    from pacband.tables.batches import batches
    from pacband.tables.connection import quoted
    from pacband.tables.survey import inputs_sql, label_sql, numeric_sql, survey

    target, group = options["target"], options["group"]
    features, categories = _split_names(options["features"]), _split_names(options["categories"])
    if group is not None:
        # The model reads the group of a row from X, as a text.
        features, categories = ([*features, group] if features else []), [*categories, group]
    dates = _parse_dates(options["dates"])
    features = [*features, *dates] if features else []
    drawn = () if draws is None else draws.columns
    _refuse_as_features(drawn, [target, *features, *categories, *dates])
    left_out = [*exclude, *drawn]
    columns = survey(relation, target, features=features, exclude=left_out, categories=categories, dates=dates)
    columns = [replace(each, why="it declares the draws") if each.name in drawn else each for each in columns]
    if group is not None and not any(column.name == group and column.kind for column in columns):
        raise InvalidInput(f"the group {group!r} must have at least two labels.")
    kinds = {column.name: column.kind for column in columns if column.kind}
    rest = [column.name for column in columns if not column.kind and column.name not in drawn]
    wanted = [inputs_sql(relation, kinds), f"{numeric_sql(relation, target)} as pacband_target", *map(quoted, rest)]
    read = numeric_sql if isinstance(draws, Weighted) else label_sql
    wanted += [f"{read(relation, column)} as pacband_draws_{k}" for k, column in enumerate(drawn)]
    parts = list(batches(relation, ", ".join(wanted)))
    if not parts:
        raise InvalidInput("the table has no rows.")
    table = pd.concat(parts, ignore_index=True)
    y = table.pop("pacband_target").to_numpy(dtype=np.float64)
    if draws is not None and drawn:
        draws = draws.bind(*(table.pop(f"pacband_draws_{k}").to_numpy() for k in range(len(drawn))))
    missing = np.isnan(y)
    if missing.any() and not options["drop_missing_target"]:
        raise InvalidInput(
            f"the target {target!r} is missing in {name_rows(missing)}; --drop-missing-target drops these rows."
        )
    if missing.any():
        print_message(f"Dropped {int(missing.sum())} of {len(y)} rows without a target.")
    known = np.flatnonzero(~missing)
    # Of a series some rows are dropped, so that those that are left are as far apart as before, or farther.
    draws = None if draws is None else draws.take(known)
    table = table.iloc[known].reset_index(drop=True)
    return columns, table.drop(columns=rest), y[known], table[rest], draws


def _refuse_as_features(drawn: tuple[str, ...], used: list[str]) -> None:
    """Raise if a column of the draws is used for something else."""
    for column in drawn:
        if column in used:
            raise click.UsageError(f"{column!r} declares the draws: it cannot be the target, a feature or the group.")


def _find_originals(X: Any, y: Any, *, drop: bool) -> Any:
    """Return the numbers of the rows that are no copies, in order; or raise `ReusedData` if `drop` is false."""
    import numpy as np

    from pacband.checks.frames import drop_columns, id_columns
    from pacband.core.row_hashes import row_fingerprints
    from pacband.exceptions import ReusedData

    # A copy of a row may have a number of its own.
    prints = row_fingerprints(drop_columns(X, id_columns(X)), y)
    _, first = np.unique(np.asarray(prints), return_index=True)
    copies = f"{len(y) - len(first)} of {len(y)} rows"
    if not drop:
        raise ReusedData(
            f"fit needs every row once: {copies} equal another row, in every column that is used and in the target. "
            "That is more than chance explains. --drop-copies drops the copies."
        )
    print_message(f"Dropped {copies}, which are copies of other rows.")
    return np.sort(first)


def _check_unused(family: CertifiedFamily, X: Any, y: Any, unused: Any) -> None:
    """Warn if rows that calibrated resemble each other within a column that the model does not use."""
    from pacband.checks.frames import columns_of_frame
    from pacband.checks.screening import screen_columns
    from pacband.checks.warning import warn_of_findings
    from pacband.scores import spread_of

    if not len(unused.columns):
        return
    # The split depends on the seed alone, so this is the split of `fit`.
    _, rows, _, target = family.split_rows(X, y)
    others = columns_of_frame(unused.loc[rows.index])
    assert others is not None  # a dataframe has columns
    prediction, scale = family.predict_with_scale(rows)
    scoring = family.certificate_.basis.scoring
    groups = None if family.groups is None else rows[family.groups].to_numpy()
    warn_of_findings(
        screen_columns(scoring, target, prediction, spread_of(scoring, scale, target.shape), others, groups=groups)
    )


def _print_columns(columns: list[Column]) -> None:
    """Print how each column is used, and why a column is not used."""
    for kind, label in (("number", "Numbers"), ("category", "Categories"), ("date", "Dates, as days since 1970-01-01")):
        names = [column.name for column in columns if (column.kind or "").partition("-")[0] == kind]
        if names:
            print_message(f"{label}: {', '.join(names)}")
    for column in columns:
        if column.kind is None:
            print_message(f"Not used: {column.name}: {column.why}")


def _times_used(X: Any, columns: list[Column]) -> dict[str, Any]:
    """Return the columns of dates that the model uses, as times."""
    import pandas as pd

    used = [column.name for column in columns if (column.kind or "").startswith("date-")]
    return {name: pd.to_datetime(X[name], unit="D") for name in used}


def _check_order_of_time(unused: Any) -> None:
    """Warn if the rows of a series are not in the order of a column of times. Times are no features."""
    from pacband.checks.frames import columns_of_frame
    from pacband.checks.screening import check_times
    from pacband.checks.warning import warn_of_findings

    others = columns_of_frame(unused)
    assert others is not None  # a dataframe has columns
    finding = check_times(others(slice(0, len(unused))))
    warn_of_findings([] if finding is None else [finding])


def _report(family: CertifiedFamily, X: Any, y: Any, draws: Draws | None = None) -> Any:
    """Return the report of the rows that calibrated the model."""
    from pacband.reporting.document import report

    # The split depends on the seed alone, so this is the split of `fit`.
    _, calibrate = family.split_indices(X, y, draws=draws)
    assert calibrate is not None  # the models had to be fitted
    rows = X.iloc[calibrate].reset_index(drop=True)
    prediction, scale = family.predict_with_scale(rows)
    groups = rows[family.groups].to_numpy() if family.groups is not None else None
    taken = None if draws is None else draws.take(calibrate)
    return report(family.certificate_, y[calibrate], prediction, scale, X=rows, groups=groups, draws=taken)


def _print_left_out(family: CertifiedFamily) -> None:
    """Print what the time budget left out: without it, the result depends on the seed alone."""
    late = [tried.name for tried in family.auto_.tried if "the budget leaves" in tried.status]
    if late:
        print_message(
            f"The time budget left out {', '.join(late)}. So the result depends on how busy the machine is. "
            "--save-plan saves what was fitted, and --plan fits it again."
        )


def _summary(family: CertifiedFamily, columns: list[Column], n_rows: int, output: str) -> dict[str, Any]:
    return {
        "model": output,
        "rows": n_rows,
        "best": family.best_name_,
        "certificate": family.certificate_.to_dict(),
        "columns": [{"name": c.name, "kind": c.kind, "why": c.why} for c in columns],
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
