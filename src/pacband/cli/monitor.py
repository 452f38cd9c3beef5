"""``pacband monitor``: watch the promise after deployment."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from pacband.cli.console import fail, note, say
from pacband.cli.output import Input, Output

if TYPE_CHECKING:
    from pacband.monitoring import Monitor, StateFile
    from pacband.monitoring.ledger import StreamPosition
    from pacband.monitoring.streams import RowStream
    from pacband.scores.columns import Columns

EXAMPLES = """
\b
Examples:
  pacband monitor cert.json --state state.json today.csv         the columns are called as at calibration
  producer | pacband monitor cert.json --state state.json --target y --prediction yhat --scale s --json
  pacband monitor cert.json --state state.json --follow --metrics pacband.prom log.jsonl
  pacband monitor cert.json --state state.json --acknowledge
"""


@click.command(epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("file", type=Input(), required=False)
@click.option("--state", type=Output(beside=".lock"), required=True, help="The state file; made if there is none.")
@click.option(
    "--target", multiple=True, help="Column of the labels; empty or null where one has not come. Repeat for outputs."
)
@click.option("--prediction", multiple=True, help="Column of the predictions. Repeat for outputs.")
@click.option("--scale", multiple=True, help="Column of the scale; twice for (lower, upper).")
@click.option("--group", help="Column of the group, for certificates with groups.")
@click.option("--format", "form", type=click.Choice(["csv", "jsonl"]), help="What the stream is, if it is not evident.")
@click.option("--batch-size", type=click.IntRange(min=1), default=1000, show_default=True, help="Rows between saves.")
@click.option("--alpha", type=float, help="Probability of ever revoking falsely.  [default: 0.01]")
@click.option("--false-alarm-interval", type=float, help="Mean rows to a false warning.  [default: 100000]")
@click.option("--follow", is_flag=True, help="Wait for more rows at the end of the file.")
@click.option("--replay", is_flag=True, help="Standard input begins with rows that were read before: skip them.")
@click.option("--acknowledge", is_flag=True, help="Take note of a warning; the detector starts afresh.")
@click.option("--metrics", type=Output(), help="Write Prometheus metrics to this file, after every batch.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
def command(certificate: str, file: str | None, state: str, as_json: bool, **options: Any) -> None:
    """Watch whether violations stay as rare as a certificate promised, and print a line a batch.

    Rows come from FILE, or from standard input, as CSV with a header or JSON lines. If the file starts with rows that
    were already processed, under any name, reading resumes after them: a run that was killed can just be repeated. With
    --follow, a log file may be renamed and replaced by a new one; one that is cut ends the command with exit code 2.
    In JSON lines a row may lack its label, but one of any 100 rows must have it: write null where it has not come.
    The command ends with exit code 1 as soon as the certificate is revoked.
    """
    from pacband.models import load_certificate
    from pacband.monitoring import Monitor, StateFile

    cert = load_certificate(certificate)
    settings = {name: options[name] for name in ("alpha", "false_alarm_interval") if options[name] is not None}
    with StateFile(state) as stored:
        fresh = Monitor(cert, **settings)
        monitor = stored.read(cert, kind=Monitor) if stored.exists() else fresh
        for name in settings:
            begun, asked = getattr(monitor, name), getattr(fresh, name)
            if begun != asked:
                fail(f"{state} was begun with {name}={begun:g}: it cannot go on with {asked:g}.")
        if options["acknowledge"]:
            monitor.acknowledge()
            stored.write(monitor)
            if file is None:
                say(str(monitor))
        if (file is not None or not options["acknowledge"]) and monitor.state != "revoked":
            try:
                _watch(monitor, stored, file, as_json, options)
            except KeyboardInterrupt:
                note(f"pacband: interrupted; {state} holds all rows up to the last line printed.")
                sys.exit(130)
        if monitor.state != "ok":
            note(f"pacband: {monitor}")
        if monitor.state == "revoked":
            sys.exit(1)


def _watch(
    monitor: Monitor,
    stored: StateFile,
    file: str | None,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    from pacband.monitoring.following import FollowedFile
    from pacband.monitoring.metrics import write_metrics
    from pacband.monitoring.streams import RowStream
    from pacband.tables.columns import read_predicted, read_values

    columns = _columns(monitor, options)
    follow = options["follow"]
    form = options["form"] or ("jsonl" if str(file).endswith((".jsonl", ".ndjson")) else None)
    words = [columns.group] if columns.group else []
    with ExitStack() as stack:
        opened = None if file is None or file == "-" else stack.enter_context(FollowedFile(file))
        source: BinaryIO | None = sys.stdin.buffer if opened is None else opened.source
        while source is not None:
            stream = RowStream(source, columns.numeric, words, form, late=columns.target)
            before = (
                _known(stream, monitor, options) if opened is None else stream.skip(monitor.ledger.streams, wait=follow)
            )
            if before is not None:
                note(f"pacband: {before.rows} rows were read before: going on after them.")
            for rows in stream.batches(options["batch_size"], follow=follow, file=opened if follow else None):
                prediction, scale = read_predicted(rows.columns, columns)
                groups = None if columns.group is None else _groups(rows.columns[columns.group], monitor)
                monitor.update(read_values(rows.columns, columns.target), prediction, scale, groups=groups)
                monitor.ledger.note_stream(rows.position, before)
                before = rows.position
                stored.write(monitor)
                if options["metrics"]:
                    write_metrics(monitor, options["metrics"])
                say(json.dumps(_summary(monitor)) if as_json else _line(monitor))
                if monitor.state == "revoked":
                    return
            source = opened.advance() if opened is not None and follow else None
            if source is not None:
                note(f"pacband: {file} was replaced by a new file: going on with it after the end of the old one.")


def _known(stream: RowStream, monitor: Monitor, options: dict[str, Any]) -> StreamPosition | None:
    """Skip what was read before of standard input, where the user states that it begins with that."""
    if not options["replay"] or not monitor.ledger.streams:
        return None
    before = stream.skip(monitor.ledger.streams[-1:])
    if before is None:
        fail("standard input does not begin with the rows that were read before; --replay needs that it does.")
    return before


def _columns(monitor: Monitor, options: dict[str, Any]) -> Columns:
    """Return the columns that were named, else those the certificate was made from."""
    from pacband.tables.applying import labelled_columns

    names = options["scale"]
    scale = None if not names else names if monitor.scale_kind == "asymmetric" else list(names)
    return labelled_columns(
        monitor.certificate.basis,
        target=list(options["target"]) or None,
        prediction=list(options["prediction"]) or None,
        scale=scale,
        group=options["group"],
    )


def _groups(words: list[Any], monitor: Monitor) -> list[Any]:
    """Return the labels as the certificate has them: in CSV every label is a word."""
    from pacband.core.cells import matching

    match = matching(monitor.groups, exact_texts=True)
    return [match(word) for word in words]


def _summary(monitor: Monitor) -> dict[str, Any]:
    low, high = monitor.violation_interval(0.95)
    summary: dict[str, Any] = {
        "state": monitor.state,
        "reason": monitor.reason,
        "rows": monitor.n_rows,
        "violations": monitor.n_violations,
        "unlabelled": monitor.n_unlabelled,
        "violation_interval": [low, high],
        "e_value": monitor.e_value,
        "detector_value": monitor.detector_value,
    }
    if monitor.groups:
        summary["groups"] = [{"label": label, "state": watch.state} for label, watch in monitor.groups.items()]
    return summary


def _line(monitor: Monitor) -> str:
    low, high = monitor.violation_interval(0.95)
    rate = f"{monitor.violation_rate:.2%}" if monitor.n_rows else "none"
    return (
        f"{monitor.n_rows} rows, {monitor.n_violations} violations: {rate} ({low:.2%} to {high:.2%}), "
        f"{monitor.n_unlabelled} unlabelled, "
        f"evidence {monitor.e_value:.3g} of {1 / monitor.alpha:g}: {monitor.state}"
    )
