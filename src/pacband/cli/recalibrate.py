"""``pacband recalibrate``: the next certificate of a chain, from fresh rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pacband.cli.about_options import about_options, model_file_option, renew_about
from pacband.cli.columns import certified_columns
from pacband.cli.console import print_message, print_saved, print_text
from pacband.cli.draw_options import certified_unit_option, refuse_without_rows
from pacband.cli.findings import collect_findings, print_findings
from pacband.cli.model_files import model_target, open_model_table
from pacband.cli.options import (
    column_names,
    column_options,
    file_options,
    json_option,
    model_options,
    rule_option,
    scale_columns,
    strict_option,
)
from pacband.cli.output import Command, Input, Output, overwrite_option, refuse_two_results, save_results

if TYPE_CHECKING:
    from pacband.certificate import About, AnyCertificate
    from pacband.reporting.document import Report

EXAMPLES = """
\b
Examples:
  # the columns have the same names as at calibration
  pacband recalibrate cert.json fresh.csv -o cert2.json
  pacband recalibrate model.pacband fresh.csv --target y -o model2.pacband
  pacband recalibrate model.pacband fresh.csv --target y -o model2.pacband \\
      --certificate cert2.json
  pacband recalibrate cert.json fresh.csv -o cert2.json --report report.html
  pacband recalibrate cert.json fresh.csv -o cert2.json \\
      --model-file forest.onnx --model-version 3.2
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("files", nargs=-1, required=True, type=Input())
@click.option(
    "-o",
    "--output",
    required=True,
    type=Output(stdout=True, certificate=True),
    help="File to save the successor to; - is standard output.",
)
@overwrite_option
@column_options("target", "prediction", "scale", "group", "run", "step", known=True, overlapping=True)
@rule_option
@certified_unit_option
@click.option("--importance", help="Column of the weights of these rows, if the certificate has weights.")
@about_options
@model_file_option
@file_options
@model_options
@click.option(
    "--certificate",
    "alone",
    type=Output(certificate=True),
    help="With a model: file to save the certificate alone to, as JSON.",
)
@click.option(
    "--report",
    "page",
    type=Output(stdout=True, replaces="page"),
    help="HTML file to write a page to that explains the successor.",
)
@strict_option
@json_option
def command(
    certificate: str,
    files: tuple[str, ...],
    output: str,
    rule: str,
    alone: str | None,
    page: str | None,
    strict: bool,
    as_json: bool,
    **named: Any,
) -> None:
    """Renew the promise of a CERTIFICATE, or of a model file, with fresh rows.

    The successor makes the same promise from fresh rows, and names its predecessor. From the second on, the k-th
    certificate of a chain has the confidence 1 − δ/(k(k − 1)), where δ is that of the first. All certificates of the
    chain hold together with confidence 1 − 2δ.

    The rows must be drawn after the decision to recalibrate: rows that raised an alarm were selected by it. pacband
    refuses exactly the rows of the predecessor, and with a model file its training rows. It cannot see a part of the
    predecessor's rows. The successor of a family certificate is that of one model; in a model file, all candidates are
    certified again. The rows are loaded into memory. The old file stays as it is.

    The successor states what its predecessor does (--name, --scope and so on), where no option states it anew. The
    version and the digest of the model are not kept for a certificate, since the predictions may be those of a new
    model: state them with --model-version and --model-file.
    """
    from pacband.certificate import FamilyCertificate
    from pacband.models import is_model, load_certificate

    before = load_certificate(certificate)
    if page is not None:
        refuse_without_rows(before.basis.draws)
    of_model = is_model(certificate)
    refuse_two_results(as_json, output, alone, page)
    if alone is not None and not of_model:
        raise click.UsageError("--certificate is for model files: the output of a certificate is a certificate.")
    if of_model and named["model_file"] is not None:
        raise click.UsageError("--model-file is for certificates: a model file holds its model.")
    named["about"] = renew_about(named, before.basis.about, same_model=of_model)
    _print_dropped(before, named["about"])
    with collect_findings() as findings:
        renew = _renew_model if of_model else _renew_certificate
        successor, save, report = renew(certificate, before, files, rule, page is not None, named)
    print_findings(findings, strict=strict)
    # With --json, the certificate file itself is printed.
    save_results((output, save), (alone, successor.save), ("-" if as_json else None, successor.save))
    if report is not None:
        save_results((page, report.save))
    if "-" in (output, alone, page):
        print_message(str(successor))
    elif not as_json:
        print_text(str(successor))
    print_saved(output, alone, page)
    if isinstance(before, FamilyCertificate) and isinstance(successor, FamilyCertificate):
        _note_other_model(before.best, successor.best)


def _note_other_model(before: str, now: str) -> None:
    """Print that another candidate predicts: predictions then differ, not only their band."""
    if before != now:
        print_message(
            f"Note: {now!r} is the sharpest candidate now, in place of {before!r}, so predictions differ, too."
        )


def _print_dropped(before: AnyCertificate, about: About) -> None:
    """Print which facts about the model the successor does not state, if its predecessor stated any."""
    known, stated = before.basis.about.model, about.model
    dropped = [
        f"{option} ({name})"
        for name, option in (("version", "--model-version"), ("digest", "--model-file"))
        if getattr(known, name, None) is not None and getattr(stated, name, None) is None
    ]
    if dropped:
        print_message(
            "Note: the predictions may be those of another model, so the successor does not state everything about it. "
            f"State it again with {' and '.join(dropped)}."
        )


def _renew_certificate(
    _: str, before: AnyCertificate, files: tuple[str, ...], rule: str, reported: bool, named: dict[str, Any]
) -> tuple[AnyCertificate, Any, Report | None]:
    """Return the successor of a certificate, the function that saves it, and its report."""
    from pacband.cli.pages import refuse_unshown_rows, report_files
    from pacband.tables.certified_draws import table_draws
    from pacband.tables.group_labels import labels_of, with_labels
    from pacband.tables.opening import open_table
    from pacband.tables.recalibrating import recalibrate_table

    columns = certified_columns(
        before.basis,
        target=column_names(named["target"]),
        prediction=column_names(named["prediction"]),
        scale=scale_columns(named["scale"]),
        group=column_names(named["group"]),
        run=named["run"],
        step=named["step"],
        unit=named["unit"],
    )
    if reported:
        refuse_unshown_rows(files, columns)
    draws = table_draws(before.basis, unit=named["unit"], importance=named["importance"])
    numeric = [*columns.numeric, *(name for name in (named["importance"], columns.step) if name)]
    labels = [*columns.others, *(() if draws is None else draws.columns)]
    with open_table(files, numeric, labels=labels, dialect=named["dialect"], note=print_message) as table:
        labelled = with_labels(table, columns.group, labels_of(before))
        successor = recalibrate_table(before, labelled, columns, draws=draws, rule=rule, about=named["about"])
    report = report_files(successor, files, columns, draws=draws, dialect=named["dialect"]) if reported else None
    return successor, successor.save, report


def _renew_model(
    path: str, _: AnyCertificate, files: tuple[str, ...], rule: str, reported: bool, named: dict[str, Any]
) -> tuple[AnyCertificate, Any, Report | None]:
    """Return the certificate of the recalibrated model, the function that saves the model, and its report."""
    from dataclasses import replace

    from pacband.cli.pages import command_line
    from pacband.estimators.saving import save_model
    from pacband.tables.recalibrating import recalibrate_model

    refused = {name: named[name] for name in ("prediction", "scale", "group", "run", "step")}
    options = {name: named[name] for name in ("unit", "importance", "trust", "max_bytes", "dialect")}
    options["target"] = model_target(path, named["target"], **refused)
    report = None
    with open_model_table(path, files, words="Recalibrating", **options) as (table, progress):
        model: Any = recalibrate_model(table, rule=rule, about=named["about"], progress=progress)
        if reported:
            from pacband.reporting.models import report_model

            report = report_model(replace(table, model=model), command=command_line())

    def save(output: str) -> None:
        save_model(model, output, trusted=named["trust"])

    return model.certificate_, save, report
