"""``pacband check``: whether labelled data contradict the promise."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pacband.cli._console import note, print_json, say
from pacband.cli._options import column_options, scale_columns

if TYPE_CHECKING:
    from pacband.certificate import AnyCertificate
    from pacband.checking import Verdict

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
@click.argument("certificate", type=click.Path())
@click.argument("files", nargs=-1, required=True)
@column_options(known=", if it is not called as at calibration")
@click.option(
    "--level",
    type=float,
    default=0.01,
    show_default=True,
    help="Probability that a sound promise is contradicted.",
)
@click.option("--report", "page", type=click.Path(), help="Where to write a page with these rows.")
@click.option("--trust", multiple=True, metavar="TYPE", help="For models: rebuild this type of another package.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    certificate: str,
    files: tuple[str, ...],
    target: str | None,
    prediction: str | None,
    scale: tuple[str, ...],
    group: str | None,
    level: float,
    page: str | None,
    trust: tuple[str, ...],
    as_json: bool,
) -> None:
    """Test the promise on labelled rows that were not used to make it: an exact binomial test.

    The command ends with exit code 1 where the data contradict the promise, in any group.
    """
    from pacband.certificate import single_of
    from pacband.checking import check_frame
    from pacband.cli._tables import check_output, labels_of, opened, with_labels
    from pacband.frames.apply import labelled_columns
    from pacband.frames.paths import is_stream
    from pacband.models import is_model, load_certificate

    cert = load_certificate(certificate)
    check_output(page, certificate, *files)
    if is_model(certificate):
        if target is None or prediction is not None or scale or page is not None:
            raise click.UsageError("a model predicts by itself: name the --target column, and no other but --group.")
        _print(_check_model(certificate, cert, files, target, group, level, trust), as_json)
        return
    if page is not None and any(map(is_stream, files)):
        raise click.UsageError("--report reads the rows again: it goes with files.")
    named = {"target": target, "prediction": prediction, "scale": scale_columns(scale), "group": group}
    columns = labelled_columns(single_of(cert), **named)
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
    certificate: AnyCertificate,
    files: tuple[str, ...],
    target: str,
    group: str | None,
    level: float,
    trust: tuple[str, ...],
) -> Verdict:
    """Predict with a model, and count the targets outside of its band."""
    from pacband._frozen import FrozenMap
    from pacband.certificate import single_of
    from pacband.checking import Count, Verdict
    from pacband.cli.predict import opened_model, write_predictions
    from pacband.frames.columns import as_frame, check_columns
    from pacband.frames.connection import connect, glob_escaped, literal, quoted, workspace
    from pacband.frames.delimited import number_sql
    from pacband.frames.files import open_files

    names = {name: f"pacband {name}" for name in ("prediction", "lower", "upper")}
    with (
        open_files(files) as found,
        workspace() as folder,
        opened_model(path, trust) as (model, kinds),
        found.reading(),
    ):
        group = group or (model.groups if isinstance(model.groups, str) else None)
        table = found.relation([target])
        check_columns(as_frame(table), [target], group)
        write_predictions(model, kinds, found.relation(), names, None, f"{folder}/bands.parquet")
        low, high = quoted(names["lower"]), quoted(names["upper"])
        y = number_sql(target) if found.kind == "csv" else f"cast({quoted(target)} as double)"
        made = f"{glob_escaped(folder)}/bands.parquet"
        label = "''" if group is None else quoted(group)
        bands = connect().sql(
            f"select {label}, count(*), count(*) filter (not ({y} between {low} and {high})), count(*) - count({y}) "
            f"from read_parquet({literal(made)}) group by 1 order by 1"
        )
        counts = bands.fetchall()
    if missing := sum(row[3] for row in counts):
        raise click.ClickException(f"column {target!r} must be there in every row: it is missing in {missing} row(s).")
    eps = single_of(certificate).eps
    return Verdict(level, FrozenMap({row[0]: Count.of(row[1], row[2], eps) for row in counts}))
