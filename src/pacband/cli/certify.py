"""``pacband certify``: the certificate of columns in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pacband.cli.console import note, print_json, progress_bar, tell
from pacband.cli.options import candidate_columns, column_options, engine_options, promise_options, scale_columns
from pacband.cli.output import Input, Output

if TYPE_CHECKING:
    from pacband.certificate import AnyCertificate

EXAMPLES = """
\b
Examples:
  pacband certify data.csv --target y --prediction yhat -o cert.json
  pacband certify data.parquet --target y --prediction yhat --scale s --eps 0.01 -o cert.json
  pacband certify data.csv --target y --prediction yhat --group site -o cert.json
  pacband certify data.csv --target y --candidate lin=p1 --candidate gbm=p2:s2 -o cert.json
  pacband certify 'year=*/*.parquet' --target y --prediction yhat --report report.html
  cat data.csv | pacband certify - --target y --prediction yhat --json
"""


@click.command(epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=Input())
@column_options()
@click.option(
    "--candidate",
    "candidates",
    multiple=True,
    metavar="NAME=PREDICTION[:SCALE]",
    help="A candidate of a family and its columns; repeatable, in place of --prediction.",
)
@click.option("--weight", "weights", multiple=True, metavar="NAME=SHARE", help="Share of δ of a candidate; repeatable.")
@promise_options
@click.option("--n-candidates", type=int, default=1, show_default=True, help="If you will choose among so many.")
@click.option("-o", "--output", type=Output(), help="Where to save the certificate.")
@click.option("--report", "page", type=Output(), help="Where to write a page that explains it.")
@click.option("--json", "as_json", is_flag=True, help="Print the certificate as JSON.")
@engine_options
def command(
    files: tuple[str, ...],
    target: str | None,
    prediction: str | None,
    scale: tuple[str, ...],
    group: str | None,
    candidates: tuple[str, ...],
    weights: tuple[str, ...],
    output: str | None,
    page: str | None,
    as_json: bool,
    engine: str,
    address: str | None,
    **promise: Any,
) -> None:
    """Certify predictions in CSV or Parquet FILES: names, globs, directories, or - for standard input.

    The rows must be new to the model. They are read in a stream: memory does not grow with their number.
    """
    if target is None or (prediction is None) == (not candidates):
        raise click.UsageError("name the --target column, and either the --prediction column or --candidate columns.")
    from pacband.cli.tables import opened
    from pacband.tables import certify_frame
    from pacband.tables.paths import is_stream

    if page is not None and (engine != "duckdb" or any(map(is_stream, files))):
        raise click.UsageError("--report reads the rows again: it goes with files, and with the engine duckdb.")

    family = candidate_columns(candidates) or None
    columns = [target, prediction, *scale] if family is None else [target, *_flat(family)]
    with (
        opened(
            files, [name for name in columns if name], also=[group] if group else [], engine=engine, address=address
        ) as table,
        progress_bar("certifying") as progress,
    ):
        certificate = certify_frame(
            table,
            target=target,
            prediction=prediction,
            scale=scale_columns(scale),
            group=group,
            candidates=family,
            weights=_weights(weights),
            progress=progress,
            **promise,
        )
        if page is not None:
            from pacband.cli.report import certificate_report

            report = certificate_report(certificate, files)
    if page is not None:
        report.save(page)
    if output is not None:
        certificate.save(output)
    if as_json:
        print_json(certificate.to_dict())
    else:
        tell(certificate)
    for path in filter(None, (output, page)):
        note(f"Saved {path}")
    _remark(certificate)


def _flat(family: dict[str, Any]) -> list[str]:
    return [
        name
        for prediction, scale in family.values()
        for name in (prediction, *(scale if isinstance(scale, tuple) else [scale]))
    ]


def _weights(weights: tuple[str, ...]) -> dict[str, float] | None:
    found = {}
    for text in weights:
        name, _, share = text.partition("=")
        try:
            found[name] = float(share)
        except ValueError:
            raise click.UsageError(f"a weight is NAME=SHARE, got {text!r}.") from None
    return found or None


def _remark(certificate: AnyCertificate) -> None:
    """Say what is allowed, and yet is rarely meant."""
    basis = certificate.basis
    if basis.delta > 0.5:
        note(f"Note: delta is the probability that the promise fails; {basis.delta:g} leaves little confidence.")
    if basis.eps > 0.5:
        note(f"Note: eps is the share of errors that may exceed the bound; {basis.eps:g} are most of them.")
    if any(part.gamma == 0.0 for part in certificate.parts.values()):
        note("Note: the bound is 0, for most predictions equal their target. Is it the right column?")
