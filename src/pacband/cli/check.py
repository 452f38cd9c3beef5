"""``pacband check``: whether labelled data contradict the promise."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.columns import certified_columns
from pacband.cli.console import fail, print_json, print_message, print_saved, print_text
from pacband.cli.draw_options import fresh_draw_options, refuse_without_rows
from pacband.cli.model_files import model_target, open_model_table
from pacband.cli.options import column_names, column_options, file_options, json_option, model_options, scale_columns
from pacband.cli.output import Command, Input, Output, refuse_two_results, save_results

if TYPE_CHECKING:
    from pacband.judging.verdicts import Verdict
    from pacband.tables.dialects import Dialect

EXAMPLES = """
\b
Examples:
  # the columns have the same names as at calibration
  pacband check cert.json labelled.csv
  pacband check cert.json labelled.parquet --target y --prediction yhat \\
      --scale s
  # count the violations in each group
  pacband check cert.json labelled.csv --group site
  pacband check cert.json labelled.csv --json && echo not contradicted
  # a model file of `pacband fit`
  pacband check model.pacband labelled.csv --target y
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("files", nargs=-1, required=True, type=Input())
@column_options("target", "prediction", "scale", "group", "run", "step", known=True, overlapping=True)
@click.option(
    "--level",
    type=float,
    default=0.01,
    show_default=True,
    help="Level of the test: the largest probability that it contradicts a promise that holds.",
)
@click.option(
    "--report",
    "page",
    type=Output(stdout=True, replaces="page"),
    help="HTML file to write a page to that shows these rows; - is standard output.",
)
@fresh_draw_options
@file_options
@model_options
@json_option
def command(
    certificate: str,
    files: tuple[str, ...],
    target: tuple[str, ...],
    prediction: tuple[str, ...],
    scale: tuple[str, ...],
    group: tuple[str, ...],
    run: str | None,
    step: str | None,
    unit: str | None,
    importance: str | None,
    level: float,
    page: str | None,
    trust: tuple[str, ...],
    max_bytes: int | None,
    as_json: bool,
    dialect: Dialect,
) -> None:
    """Test the promise of a CERTIFICATE on labelled rows that were not used to make it.

    The test is an exact binomial test; units on average are tested by the shares of their rows beyond the bound.
    The command ends with exit code 1 if the rows contradict the promise, and with exit code 2 if they cannot test
    it: the certificate was made from them, the model was fitted on some of them, or they are too few.

    If every group has its own bound, the promise of each group is tested. Groups with too few rows are listed, and
    exit code 2 needs too few in every group. Otherwise the promise about all rows is tested, and --group lists the
    violations in each group.

    If the promise is about units, the files must contain whole units, and units are counted. If it is about a series,
    every gap-th row is counted. If the certificate bounds scores that you compute yourself, --target names their
    column. CERTIFICATE may be a model file: the model then predicts the rows.
    """
    from pacband.cli.pages import refuse_unshown_rows
    from pacband.models import is_model, load_certificate
    from pacband.tables.certified_draws import table_draws
    from pacband.tables.checking import check_frame
    from pacband.tables.group_labels import labels_of, with_labels
    from pacband.tables.opening import open_table

    refuse_two_results(as_json, page)
    cert = load_certificate(certificate)
    if page is not None:
        refuse_unshown_rows(files)
        refuse_without_rows(cert.basis.draws)
    if is_model(certificate):
        if len(group) > 1:
            raise click.UsageError(f"with a model, --group names one column, got {', '.join(group)}.")
        others = {"prediction": prediction, "scale": scale, "run": run, "step": step}
        verdict = _check_model(
            certificate, files, page, level, trust=trust, max_bytes=max_bytes,
            target=model_target(certificate, target, **others), group=group[0] if group else None,
            unit=unit, importance=importance, dialect=dialect,
        )  # fmt: skip
        _print_verdict(verdict, as_json, to_stderr=page == "-")
        return
    named: dict[str, Any] = {"target": column_names(target), "prediction": column_names(prediction)}
    named |= {"scale": scale_columns(scale), "group": column_names(group), "run": run, "step": step}
    columns = certified_columns(cert.basis, unit=unit, **named)
    if page is not None:
        refuse_unshown_rows(files, columns)
    draws = table_draws(cert.basis, unit=unit, importance=importance)
    units = None if draws is None else draws.column
    numeric = [*columns.numeric, *(name for name in (importance, columns.step) if name)]
    labels = [name for name in (columns.group, *columns.groups, columns.run, units) if name]
    with open_table(files, numeric, also=labels, dialect=dialect, note=print_message) as table:
        labelled = with_labels(table, columns.group, labels_of(cert))
        verdict = check_frame(cert, labelled, **named, draws=draws, level=level)
        if page is not None:
            from pacband.cli.pages import report_files

            report = report_files(cert, files, columns, draws=draws, dialect=dialect)
    if page is not None:
        save_results((page, report.save))
        print_saved(page)
    _print_verdict(verdict, as_json, to_stderr=page == "-")


def _print_verdict(verdict: Verdict, as_json: bool, *, to_stderr: bool = False) -> None:
    # Rows that cannot test the promise get no green.
    colour = "red" if verdict.contradicted else "green" if verdict.tested else "yellow"
    if as_json:
        print_json(verdict.to_dict())
    elif to_stderr:
        print_message(str(verdict), colour=colour)
    else:
        print_text(str(verdict), colour=colour)
    if verdict.contradicted:
        sys.exit(1)
    if not verdict.tested:
        # Only the text of a verdict states the reason itself.
        fail("these rows cannot test the promise." + (f" {verdict.why_untested}" if as_json else ""))


def _check_model(path: str, files: tuple[str, ...], page: str | None, level: float, **options: Any) -> Verdict:
    """Predict the rows with a model, in batches, and test its promise on them."""
    from pacband.cli.pages import command_line
    from pacband.core.checks import check_probability
    from pacband.tables.model_checking import check_model

    # Checked first: opening the model and predicting may take a while.
    check_probability("level", level)
    report = None
    with open_model_table(path, files, words="Checking", **options) as (table, progress):
        verdict = check_model(table, level=level, progress=progress)
        if page is not None:
            from pacband.reporting.models import report_model

            report = report_model(table, command=command_line())
    if report is not None:
        save_results((page, report.save))
        print_saved(page)
    return verdict
