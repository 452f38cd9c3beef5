"""``pacband certify``: the certificate of columns in files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.about_options import about_options, model_file_option, read_about
from pacband.cli.console import print_message, print_result, print_saved, progress_bar
from pacband.cli.draw_options import declared_draws, draw_columns, draw_options, draw_seed_option, refuse_without_rows
from pacband.cli.findings import collect_findings, print_findings
from pacband.cli.options import (
    candidate_columns,
    clip_range,
    column_names,
    column_options,
    engine_options,
    file_options,
    is_given,
    json_option,
    promise_options,
    scale_columns,
    strict_option,
)
from pacband.cli.output import Command, Input, Output, overwrite_option, refuse_two_results, save_results
from pacband.core.wording import percent, round_up

if TYPE_CHECKING:
    from pacband.certificate import AnyCertificate
    from pacband.tables.dialects import Dialect

EXAMPLES = """
\b
Examples:
  pacband certify data.csv --target y --prediction yhat -o cert.json
  pacband certify data.parquet --target y --prediction yhat --scale s \\
      --eps 0.01 -o cert.json
  pacband certify data.csv --target y1 --target y2 --prediction p1 \\
      --prediction p2 -o cert.json
  pacband certify data.csv --target y --prediction yhat --group site \\
      -o cert.json
  pacband certify data.csv --target y --prediction yhat --group site \\
      --group shift -o cert.json
  pacband certify steps.csv --target y --prediction yhat --scale s --run run \\
      --step t -o cert.json
  pacband certify data.csv --target y --prediction yhat --unit machine \\
      --within 0.99 -o cert.json
  pacband certify data.csv --target y --candidate lin=p1 \\
      --candidate gbm=p2:s2 -o cert.json
  pacband certify 'year=*/*.parquet' --target y --prediction yhat \\
      --report report.html
  pacband certify data.csv --target y --prediction yhat --tolerance 2.0 \\
      --eps 0.05
  pacband certify runs.csv --score seconds -o cert.json
  pacband certify data.csv --target wear --prediction yhat --unit-of-y mm \\
      --model-file forest.onnx -o cert.json
  cat data.csv | pacband certify - --target y --prediction yhat --json
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=Input())
@column_options("target", "prediction", "scale", "group", "run", "step", overlapping=True)
@click.option(
    "--candidate",
    "candidates",
    multiple=True,
    metavar="NAME=PREDICTION[:SCALE]",
    help="A candidate model and its columns, in place of --prediction. Repeat for each candidate.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="NAME=SHARE",
    help="Share of δ for a candidate. Repeatable.  [default: equal shares]",
)
@click.option("--score", help="Column of scores that you compute yourself, in place of targets and predictions.")
@click.option(
    "--tolerance",
    type=float,
    help="A bound that is given: the share of errors within it is certified. With --eps, the command ends with exit "
    "code 1 if more than that share may exceed it.",
)
@promise_options
@draw_options
@draw_seed_option
@click.option(
    "--n-candidates",
    type=int,
    default=1,
    show_default=True,
    help="Number of models you will choose from, if this is one of several.",
)
@about_options
@model_file_option
@click.option(
    "-o",
    "--output",
    type=Output(stdout=True, certificate=True),
    help="JSON file to save the certificate to; - is standard output.",
)
@overwrite_option
@click.option(
    "--report",
    "page",
    type=Output(stdout=True, replaces="page"),
    help="HTML file to write a page to that explains the certificate; - is standard output.",
)
@file_options
@strict_option
@json_option
@engine_options
def command(
    files: tuple[str, ...],
    target: tuple[str, ...],
    prediction: tuple[str, ...],
    scale: tuple[str, ...],
    group: tuple[str, ...],
    run: str | None,
    step: str | None,
    candidates: tuple[str, ...],
    weights: tuple[str, ...],
    score: str | None,
    tolerance: float | None,
    output: str | None,
    page: str | None,
    as_json: bool,
    engine: str,
    address: str | None,
    strict: bool,
    dialect: Dialect,
    **promise: Any,
) -> None:
    """Certify the predictions in CSV or Parquet FILES: names, globs, directories, or - for standard input.

    The model must not have been fitted on these rows. They are read in a stream, so memory does not grow with their
    number. With --group, each group gets its own bound; a row in several groups has the largest of theirs. With
    --tolerance, the bound is given and the share is found. With --run and --step, a row is one step of a run, and the
    promise is about whole runs. The rows must be independent. If they are not, --unit, --gap or --importance declare
    what one independent draw is. Memory then grows with the number of units; with --run, --within average or one,
    --gap and --importance, with that of the rows. The command looks for rows that are not independent, in order and
    within every column of labels, and prints what it finds.
    """
    if score is None and (not target or bool(prediction) == bool(candidates)):
        raise click.UsageError("name the --target column, and either the --prediction column or --candidate columns.")
    if score is not None and (target or prediction or scale or candidates or weights):
        raise click.UsageError("--score cannot be combined with --target, --prediction, --scale or --candidate.")
    if (run is None) != (step is None):
        raise click.UsageError("--run and --step need each other.")
    if tolerance is not None and (is_given("rank") or is_given("rule")):
        raise click.UsageError("--tolerance cannot be combined with --rank or --rule: the rank follows from the count.")
    about = read_about(promise, ", ".join(target) or None)
    wanted = _wanted_eps(tolerance, promise["eps"])
    from pacband.tables.certifying import certify_frame
    from pacband.tables.opening import open_table
    from pacband.tables.paths import is_stream

    refuse_two_results(as_json, page)
    if page is not None and (engine != "duckdb" or any(map(is_stream, files))):
        raise click.UsageError("--report reads the rows again: it needs files, and the engine duckdb.")

    promise["clip"] = clip_range(promise)
    draws = declared_draws(promise)
    numeric, labels = draw_columns(draws)
    if page is not None:
        refuse_without_rows(None if draws is None else draws.kind)
    if page is not None and (run is not None or len(group) > 1):
        raise click.UsageError("--report shows every row once: it cannot be combined with --run or several --group.")
    family, scales = candidate_columns(candidates) or None, scale_columns(scale, len(target))
    columns = [score, *target, *prediction, *scale] if family is None else [*target, *_column_names(family)]
    with (
        open_table(
            files,
            [name for name in (*columns, *numeric, step) if name],
            also=[name for name in (*group, *labels, run) if name],
            others=True,
            engine=engine,
            address=address,
            dialect=dialect,
            note=print_message,
        ) as table,
        progress_bar("certifying") as progress,
        collect_findings() as findings,
    ):
        certificate = certify_frame(
            table,
            target=column_names(target),
            prediction=column_names(prediction),
            scale=scales,
            group=column_names(group),
            run=run,
            step=step,
            candidates=family,
            weights=_parse_weights(weights),
            score=score,
            tolerance=tolerance,
            draws=draws,
            about=about,
            progress=progress,
            **(promise if tolerance is None else {**promise, "eps": None}),
        )
        if page is not None:
            from pacband.cli.pages import report_files

            made_from = certificate.basis.columns
            assert made_from is not None  # it was made from a table
            report = report_files(certificate, files, made_from, draws=draws, dialect=dialect)
    print_findings(findings, strict=strict)
    if page is not None:
        save_results((page, report.save))
    _save_and_print(certificate, output, page, as_json=as_json)
    _warn_of_mistakes(certificate)
    if wanted is not None:
        _exit_if_not_met(certificate, wanted)


def _save_and_print(certificate: AnyCertificate, output: str | None, page: str | None, *, as_json: bool) -> None:
    """Save the certificate, and print it: to the messages, if a file goes to standard output."""
    # With --json, the certificate file itself is printed.
    outputs = dict.fromkeys((output, "-" if as_json else None))
    save_results(*((path, certificate.save) for path in outputs))
    if "-" not in (*outputs, page):
        print_result(certificate)
    elif not as_json:
        print_message(str(certificate))
    print_saved(output, page)


def _wanted_eps(tolerance: float | None, eps: float) -> float | None:
    """Return the ε that a tolerance must meet, if one is given."""
    if tolerance is None or not is_given("eps"):
        return None
    from pacband.planning import check_eps

    return check_eps(eps)


def _exit_if_not_met(certificate: AnyCertificate, wanted: float) -> None:
    """End the command with exit code 1 if more errors may exceed the tolerance than is wanted."""
    if certificate.eps > wanted:
        print_message(
            f"pacband: the wanted share is not met: up to {percent(round_up(certificate.eps, 3))} may exceed the "
            f"tolerance, and --eps allows {percent(wanted)}."
        )
        sys.exit(1)


def _column_names(family: dict[str, Any]) -> list[str]:
    return [
        name
        for prediction, scale in family.values()
        for name in (prediction, *(scale if isinstance(scale, tuple) else [scale]))
    ]


def _parse_weights(weights: tuple[str, ...]) -> dict[str, float] | None:
    found = {}
    for text in weights:
        name, _, share = text.partition("=")
        try:
            found[name] = float(share)
        except ValueError:
            raise click.UsageError(f"a weight is NAME=SHARE, got {text!r}.") from None
    return found or None


def _warn_of_mistakes(certificate: AnyCertificate) -> None:
    """Print a note for columns that are valid but usually a mistake."""
    if any(part.gamma == 0.0 for part in certificate.parts.values()):
        most = "scores are 0" if certificate.basis.scoring.own else "predictions equal their target"
        print_message(f"Note: the bound is 0, because most {most}. Is it the right column?")
