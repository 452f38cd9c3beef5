"""``pacband monitor``: watch the promise after deployment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pacband.cli.columns import certified_columns, warn_of_other_unit
from pacband.cli.console import fail, print_message, print_text
from pacband.cli.draw_options import certified_unit_option
from pacband.cli.model_files import model_target, open_model_file
from pacband.cli.options import column_names, column_options, file_options, model_options
from pacband.cli.output import Command, Input, Output
from pacband.cli.row_counting import RowCounter
from pacband.core.wording import significant

if TYPE_CHECKING:
    from pacband.monitoring import Monitor, StateFile
    from pacband.scores.columns import Columns

# On a terminal.
_COLOURS = {"ok": "green", "warning": "yellow", "revoked": "red"}

EXAMPLES = """
\b
Examples:
  # the columns have the same names as at calibration
  pacband monitor cert.json --state state.json today.csv
  producer | pacband monitor cert.json --state state.json --target y \\
      --prediction yhat --scale s --json
  pacband monitor cert.json --state state.json --follow \\
      --metrics pacband-pump-7.prom log.jsonl
  pacband monitor cert.json --state state.json --acknowledge
  # a model file of `pacband fit`
  pacband monitor model.pacband --state state.json --target y raw.csv
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("certificate", type=Input())
@click.argument("file", type=Input(), required=False)
@click.option(
    "--state",
    type=Output(beside=".lock"),
    required=True,
    help="File that stores what was counted. It is created if it does not exist.",
)
@column_options("target", "prediction", "scale", "group", known=True)
@certified_unit_option
@click.option(
    "--finish", is_flag=True, help="The rows are complete: count a last line without a line break, and the last unit."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl"]),
    help="Format of the rows.  [default: recognised from the file]",
)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Number of rows after which the state is saved and a line is printed.",
)
@click.option("--alpha", type=float, help="Largest probability of ever revoking a promise that holds.  [default: 0.01]")
@click.option(
    "--false-alarm-interval",
    type=float,
    help="Smallest mean number of draws until a false warning; at least 10/ε.  [default: 100000]",
)
@click.option("--follow", is_flag=True, help="Wait for more rows at the end of the file.")
@click.option(
    "--replay", is_flag=True, help="Standard input starts with rows that were already processed: skip these rows."
)
@click.option("--acknowledge", is_flag=True, help="Acknowledge the warning and reset the change detector.")
@click.option(
    "--metrics",
    type=Output(replaces="metrics"),
    help="File to write Prometheus metrics to whenever the state is written.",
)
@file_options
@model_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each batch.")
def command(certificate: str, file: str | None, state: str, as_json: bool, **options: Any) -> None:
    """Watch whether violations stay as rare as a CERTIFICATE promises. One line is printed for each batch.

    Rows come from FILE or from standard input, as CSV with a header or as JSON lines. FILE may be a Parquet or Excel
    file as well, or a directory or pattern, whose files are read in the order of their names. If a file starts with
    rows that were already processed (even under another name), reading resumes after them. So you can repeat a run
    that was killed. If the start of a file has changed, but it still has many of its counted rows, it is refused. A
    file of new rows may take its name.

    A row whose target is not known yet has an empty cell, or null, in the target column. In JSON lines the key may be
    missing too, but at least one of any 100 rows must have it. If the certificate bounds scores that you compute
    yourself, --target names their column.

    If the promise is about units, the rows of a unit must follow each other. A unit is counted when a row of the next
    unit comes, and the state file keeps the last one until then; --finish counts it. If the promise is about a series,
    the rows must be in the order of time, and every gap-th row is counted.

    A last line without a line break may still be written. It is counted when it is complete, or with --finish. A file
    without rows is reported, and an empty file is refused. With --follow, a log file may be renamed and replaced by a
    new one. If it is truncated, the command ends with exit code 2. The command ends with exit code 1 as soon as the
    certificate is revoked.

    CERTIFICATE may be a model file: the rows then contain what the model predicts from, and the model predicts them.
    The state belongs to its certificate.
    """
    from pacband.models import is_model, load_certificate
    from pacband.monitoring import Monitor, StateFile

    cert = load_certificate(certificate)
    watched: Any = cert
    if is_model(certificate) and not options["prediction"] and (file is not None or not options["acknowledge"]):
        options["target"] = model_target(certificate, options["target"], scale=options["scale"], group=options["group"])
        watched = open_model_file(certificate, options["trust"], options["max_bytes"])
        warn_of_other_unit(cert.basis, options["unit"])
    settings = {name: options[name] for name in ("alpha", "false_alarm_interval") if options[name] is not None}
    fresh = Monitor(watched, **settings)
    if options["acknowledge"] and not Path(state).exists():
        fail(f"{state}: there is no such file, so there is no warning to acknowledge.")
    with StateFile(state) as stored:
        monitor = stored.read(watched, kind=Monitor) if stored.exists() else fresh
        for name in settings:
            begun, given = getattr(monitor, name), getattr(fresh, name)
            if begun != given:
                fail(f"{state} was started with {name}={begun:g}: it cannot continue with {given:g}.")
        keep = partial(_keep, monitor, stored, options["metrics"])
        revoked_before = monitor.state == "revoked"
        without_rows = options["acknowledge"] and file is None
        if options["acknowledge"]:
            monitor.acknowledge()
        if without_rows and options["finish"] and not revoked_before:
            monitor.finish()
        if without_rows or revoked_before:
            keep()
        if without_rows:
            print_text(str(monitor), colour=_COLOURS[monitor.state])
        if revoked_before:
            if as_json:
                print_text(json.dumps(_summary(monitor)))
            print_message("pacband: the promise was revoked before: these rows are not counted.")
        elif not without_rows:
            try:
                _watch(monitor, keep, file, as_json, options)
                # Without new rows, files that exist stay as old as they are: their age shows that no rows come.
                if not all(os.path.exists(path) for path in (state, options["metrics"]) if path):
                    keep()
            except KeyboardInterrupt:
                print_message(f"pacband: interrupted; {state} includes all rows up to the last printed line.")
                sys.exit(130)
        if monitor.state != "ok":
            print_message(f"pacband: {monitor}", colour=_COLOURS[monitor.state])
        if monitor.state == "revoked":
            print_message("pacband: draw new rows, then renew the promise with `pacband recalibrate`, or fit again.")
            sys.exit(1)


def _keep(monitor: Monitor, stored: StateFile, metrics: str | None) -> None:
    """Write the state, and the metrics if they are wanted."""
    from pacband.monitoring.metrics import write_metrics

    stored.write(monitor)
    if metrics:
        write_metrics(monitor, metrics)


def _watch(
    monitor: Monitor, keep: Callable[[], None], file: str | None, as_json: bool, options: dict[str, Any]
) -> None:
    """Count all rows, and keep and print the state after every batch."""
    from pacband.monitoring.readers import ColumnReader, ModelReader
    from pacband.monitoring.sources import Source, open_sources, stream_format

    def after_batch() -> None:
        keep()
        _print_line(monitor, as_json)

    reader: ColumnReader | ModelReader
    if monitor.model is not None:
        reader = ModelReader(monitor, options["target"], options["unit"])
    else:
        reader = ColumnReader(monitor, _columns(monitor, options), options["unit"])
    name, dialect = file or "-", options["dialect"]
    form = options["form"] or ("jsonl" if name.endswith((".jsonl", ".ndjson")) else None)
    # Standard input waits for rows by itself, and ends.
    follow = options["follow"] and name != "-"
    if name == "-":
        sources = (source for source in [Source(sys.stdin.buffer, stream_format(dialect))])
    else:
        read: dict[str, Any] = {"inputs": reader.inputs, "form": form, "follow": follow, "note": print_message}
        sources = open_sources(name, reader.numbers, reader.words, dialect, **read)
    counter = RowCounter(
        monitor,
        reader,
        after_batch,
        batch_size=options["batch_size"],
        form=form,
        replay=options["replay"],
        follow=follow,
        finish=options["finish"],
    )
    # Whatever ends the loop, the copy of a file is removed now.
    with closing(sources):
        for source in sources:
            if options["acknowledge"]:
                keep()  # the rows are there: whatever comes, the warning is acknowledged
            counter.count(source)
            if monitor.state == "revoked":
                return
    if options["finish"] and monitor.certificate.basis.draws.kind == "units":
        monitor.finish()
        after_batch()


def _columns(monitor: Monitor, options: dict[str, Any]) -> Columns:
    """Return the columns that the options name; by default those of the certificate."""
    known = monitor.certificate.basis.columns
    if known is not None and known.run is not None:
        raise click.UsageError("monitor counts rows, and this certificate is about runs: use check on whole runs.")
    names = options["scale"]
    scale = None if not names else names if monitor.scale_kind == "asymmetric" else list(names)
    return certified_columns(
        monitor.certificate.basis,
        target=column_names(options["target"]),
        prediction=column_names(options["prediction"]),
        scale=scale,
        group=options["group"],
        unit=options["unit"],
    )


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
    if monitor.n_training_rows:
        summary["training_rows"] = monitor.n_training_rows
    if monitor.n_training_units:
        summary["training_units"] = monitor.n_training_units
    if monitor.open_units:
        summary["open_units"] = list(monitor.open_units)
    if monitor.groups:
        summary["groups"] = [{"label": label, "state": watch.state} for label, watch in monitor.groups.items()]
    return summary


def _print_line(monitor: Monitor, as_json: bool) -> None:
    """Print the state after some rows, as one line. If nobody reads it any more, the command ends."""
    line = json.dumps(_summary(monitor)) if as_json else _line(monitor)
    if not print_text(line, colour=None if as_json else _COLOURS[monitor.state]):
        raise click.exceptions.Exit(1 if monitor.state == "revoked" else 0)


def _line(monitor: Monitor) -> str:
    low, high = monitor.violation_interval(0.95)
    rate = f"{100 * monitor.violation_rate:.2f} %" if monitor.n_rows else "none"
    return (
        f"{monitor.n_rows} {monitor.draw_words.tested}, {monitor.n_violations} violations: {rate} "
        f"({100 * low:.2f} % to {100 * high:.2f} %), {monitor.n_unlabelled} unlabelled, "
        f"evidence {significant(monitor.e_value, 3)} of {significant(1 / monitor.alpha, 6)}: {monitor.state}"
    )
