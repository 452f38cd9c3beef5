"""``pacband check``: whether labelled data contradict the promise."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.console import note, print_json, say
from pacband.cli.options import scale_columns
from pacband.cli.output import Input, Output

if TYPE_CHECKING:
    from pacband.judging.verdicts import Verdict

KNOWN = ", if it is not called as at calibration"

EXAMPLES = """
\b
Examples:
  pacband check cert.json labelled.csv                 the columns are called as at calibration
  pacband check cert.json labelled.parquet --target y --prediction yhat --scale s
  pacband check cert.json labelled.csv --group site    where is the model weak?
  pacband check cert.json labelled.csv --json && echo the promise stands
  pacband check model.pacband labelled.csv --target y  what `pacband fit` made
"""


@click.command(epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("files", nargs=-1, required=True, type=Input())
@click.option("--target", multiple=True, help=f"Column of the targets{KNOWN}. Repeat for outputs.")
@click.option("--prediction", multiple=True, help=f"Column of the predictions{KNOWN}. Repeat for outputs.")
@click.option("--scale", multiple=True, help="Column of the scale; twice for (lower, upper).")
@click.option("--group", help="Column of the groups.")
@click.option(
    "--level",
    type=float,
    default=0.01,
    show_default=True,
    help="Probability that a sound promise is contradicted.",
)
@click.option("--report", "page", type=Output(), help="Where to write a page with these rows.")
@click.option("--trust", multiple=True, metavar="TYPE", help="For models: load this type, which cannot be checked.")
@click.option("--max-bytes", type=int, help="For models: the memory that one may take.  [default: 1073741824]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    certificate: str,
    files: tuple[str, ...],
    target: tuple[str, ...],
    prediction: tuple[str, ...],
    scale: tuple[str, ...],
    group: str | None,
    level: float,
    page: str | None,
    trust: tuple[str, ...],
    max_bytes: int | None,
    as_json: bool,
) -> None:
    """Test the promise on labelled rows that were not used to make it: an exact binomial test.

    The command ends with exit code 1 where the data contradict the promise. If the certificate promises within groups,
    each group's promise is tested. If it promises about all rows together, that promise is tested, and --group lists
    where the bound is weak.
    """
    from pacband.cli.tables import labels_of, opened, with_labels
    from pacband.models import is_model, load_certificate
    from pacband.tables.applying import labelled_columns
    from pacband.tables.checking import check_frame
    from pacband.tables.paths import is_stream

    cert = load_certificate(certificate)
    if is_model(certificate):
        if not target or prediction or scale or page is not None:
            raise click.UsageError("a model predicts by itself: name the --target column, and no other but --group.")
        _print(_check_model(certificate, files, target, group, level, trust, max_bytes), as_json)
        return
    if page is not None and any(map(is_stream, files)):
        raise click.UsageError("--report reads the rows again: it goes with files.")
    outputs = {"target": list(target) or None, "prediction": list(prediction) or None}
    named: dict[str, Any] = {**outputs, "scale": scale_columns(scale), "group": group}
    columns = labelled_columns(cert.basis, **named)
    with opened(files, columns.numeric, also=[columns.group] if columns.group else []) as table:
        verdict = check_frame(cert, with_labels(table, columns.group, labels_of(cert)), **named, level=level)
        if page is not None:
            from pacband.cli.report import certificate_report

            report = certificate_report(cert, files, columns)
    if page is not None:
        report.save(page)
        note(f"Saved {page}")
    _print(verdict, as_json)


def _print(verdict: Verdict, as_json: bool) -> None:
    if as_json:
        print_json(verdict.to_dict())
    else:
        say(str(verdict))
    if not verdict.holds:
        sys.exit(1)


def _check_model(
    path: str,
    files: tuple[str, ...],
    target: tuple[str, ...],
    group: str | None,
    level: float,
    trust: tuple[str, ...],
    max_bytes: int | None,
) -> Verdict:
    """Predict the rows with a model, piece by piece, and judge them."""
    from pacband.cli.console import progress_bar
    from pacband.cli.predict import open_estimator
    from pacband.core.checks import check_probability
    from pacband.tables.files import open_files
    from pacband.tables.model_checking import check_model

    # Before the model is opened and predicts, which may take a while.
    check_probability("level", level)
    with (
        open_files(files) as found,
        found.reading(),
        progress_bar("Checking") as progress,
    ):
        model, kinds = open_estimator(path, trust, max_bytes)
        table = found.relation(target)
        return check_model(model, kinds, table, target=target, group=group, level=level, progress=progress)
