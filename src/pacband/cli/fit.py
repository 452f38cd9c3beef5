"""``pacband fit``: train, certify and save a model from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pacband.cli.console import note, print_json, progress_bar, say
from pacband.cli.output import Input, Output

if TYPE_CHECKING:
    from pacband.estimators.family import CertifiedFamily
    from pacband.tables.survey import Column

EXAMPLES = """
\b
Examples:
  pacband fit data.csv --target price -o model.pacband
  pacband fit data.parquet --target y --exclude id,date --group site --eps 0.1 --delta 0.01 -o model.pacband
  pacband fit 'parts/*.parquet' --target y --time-budget 60 --report report.html -o model.pacband
  pacband predict model.pacband new.csv -o bands.csv
"""


@click.command(epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=Input())
@click.option("--target", required=True, help="Column to predict.")
@click.option("-o", "--output", required=True, type=Output(), help="Where to save the model.")
@click.option("--eps", type=float, default=0.05, show_default=True, help="Share of future errors beyond the bound.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Probability that the promise fails.")
@click.option("--side", type=click.Choice(["both", "upper", "lower"]), default="both", show_default=True)
@click.option("--features", default="", help="The only columns to use: a,b,c.  [default: all]")
@click.option("--exclude", default="", help="Columns to leave out: id,date.")
@click.option("--categories", default="", help="Columns to take as categories, though they hold numbers.")
@click.option("--group", help="Column of groups: the promise is made within each.")
@click.option("--calibration-size", help="Rows kept for calibration, as a number or a share; of each group.")
@click.option("--drop-missing-target", is_flag=True, help="Leave out rows without a target.")
@click.option("--drop-copies", is_flag=True, help="Leave out copies of rows, if there are more than chance explains.")
@click.option("--time-budget", type=float, default=300.0, show_default=True, help="Seconds to look for models.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 is every core.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seeds the split and the models.")
@click.option("--report", type=Output(), help="Write a page that explains the certificate.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(files: tuple[str, ...], output: str, report: str | None, as_json: bool, **options: Any) -> None:
    """Train on a table of CSV or Parquet FILES, certify the model on rows kept apart, and save both in one file.

    Many models are tried, and the sharpest are certified. Columns may hold numbers or categories, with gaps; what is
    made of each is said. The model predicts with `pacband predict`, and in Python with `pacband.load`.
    """
    from pacband.estimators.family import CertifiedFamily
    from pacband.estimators.saving import save_model
    from pacband.exceptions import ReusedData
    from pacband.tables.files import open_files

    group = options["group"]
    exclude = _names(options["exclude"])
    if group is not None and group in exclude:
        raise click.UsageError(f"the group {group!r} cannot be excluded: the model looks it up in each row.")
    with open_files(files) as found, found.reading():
        columns, X, y = _read(found.relation(), exclude, options)
    _describe(columns)
    with progress_bar("Looking for models") as progress:
        family = CertifiedFamily(
            "auto",
            eps=options["eps"],
            delta=options["delta"],
            side=options["side"],
            groups=group,
            calibration_size=_size(options["calibration_size"]),
            random_state=options["seed"],
            n_jobs=options["jobs"],
            time_budget=options["time_budget"],
            progress=progress,
        )
        try:
            family.fit(X, y)
        except ReusedData:
            X, y = _without_copies(X, y, drop=options["drop_copies"])
            family.fit(X, y)
    page = _page(family, X, y) if report else None
    kinds = {column.name: column.kind for column in columns if column.kind}
    save_model(family, output, columns=kinds)
    if page is not None:
        page.save(report)
    if as_json:
        print_json(_summary(family, columns, len(y), output))
    else:
        say(str(family.certificate_))
        say(f"\n{family.auto_}")
    note(f"Saved {output}" + (f" and {report}" if report else ""))


def _read(relation: Any, exclude: list[str], options: dict[str, Any]) -> tuple[list[Column], Any, Any]:
    """Return what is made of every column, the features, and the targets."""
    import numpy as np
    import pandas as pd

    from pacband.core.arrays import name_rows
    from pacband.exceptions import InvalidInput
    from pacband.tables.survey import batches, inputs_sql, numeric_sql, survey

    target, group = options["target"], options["group"]
    features, categories = _names(options["features"]), _names(options["categories"])
    if group is not None:
        # The group of a row is looked up in X, as a text.
        features, categories = ([*features, group] if features else []), [*categories, group]
    columns = survey(relation, target, features=features, exclude=exclude, categories=categories)
    if group is not None and not any(column.name == group and column.kind for column in columns):
        raise InvalidInput(f"the group {group!r} must have at least two labels.")
    kinds = {column.name: column.kind for column in columns if column.kind}
    parts = list(batches(relation, f"{inputs_sql(relation, kinds)}, {numeric_sql(relation, target)} as pacband_target"))
    if not parts:
        raise InvalidInput("the table has no rows.")
    table = pd.concat(parts, ignore_index=True)
    y = table.pop("pacband_target").to_numpy(dtype=np.float64)
    missing = np.isnan(y)
    if missing.any() and not options["drop_missing_target"]:
        raise InvalidInput(
            f"the target {target!r} is missing in {name_rows(missing)}; --drop-missing-target leaves them out."
        )
    if missing.any():
        note(f"Left out {int(missing.sum())} of {len(y)} rows without a target.")
    return columns, table[~missing].reset_index(drop=True), y[~missing]


def _without_copies(X: Any, y: Any, *, drop: bool) -> tuple[Any, Any]:
    """Return the first of all rows that agree, in their order; or raise where the copies are not to be dropped."""
    import numpy as np

    from pacband.core.row_hashes import row_fingerprints
    from pacband.exceptions import ReusedData

    _, first = np.unique(np.asarray(row_fingerprints(X, y)), return_index=True)
    copies = f"{len(y) - len(first)} of {len(y)} rows"
    if not drop:
        raise ReusedData(
            f"fit needs every row once: {copies} are copies of other rows, in every column that is used and in the "
            "target, more than chance explains. --drop-copies leaves the copies out."
        )
    note(f"Left out {copies}, which are copies of other rows.")
    kept = np.sort(first)
    return X.iloc[kept].reset_index(drop=True), y[kept]


def _describe(columns: list[Column]) -> None:
    """Say what is made of every column: nothing is left out silently."""
    for kind, label in (("number", "Numbers"), ("category", "Categories")):
        names = [column.name for column in columns if column.kind == kind]
        if names:
            note(f"{label}: {', '.join(names)}")
    for column in columns:
        if column.kind is None:
            note(f"Left out: {column.name}: {column.why}")


def _page(family: CertifiedFamily, X: Any, y: Any) -> Any:
    """Return the report on the rows that calibrated."""
    from pacband.reporting import report

    # The split follows from the seed alone: this is the one that `fit` has drawn.
    _, rows, _, target = family.split_rows(X, y)
    prediction, scale = family.predict_with_scale(rows)
    groups = rows[family.groups].to_numpy() if family.groups is not None else None
    return report(family.certificate_, target, prediction, scale, X=rows, groups=groups)


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


def _names(listed: str) -> list[str]:
    return [name for name in (part.strip() for part in listed.split(",")) if name]


def _size(given: str | None) -> int | float | None:
    if given is None:
        return None
    try:
        return int(given) if given.isdigit() else float(given)
    except ValueError:
        raise click.UsageError(f"--calibration-size must be a number of rows or a share, got {given!r}.") from None
