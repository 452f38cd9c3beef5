"""Write the numbers of a monitor in the text format of Prometheus, for existing alerting systems."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from pacband.certificate import About
from pacband.core.atomic_files import replace_file
from pacband.monitoring.monitor import Monitor
from pacband.monitoring.watch import STATES, Watch

__all__ = ["prometheus_text", "write_metrics"]

Reading: TypeAlias = Callable[[Watch], float]

_READINGS: tuple[tuple[str, str, str, Reading], ...] = (
    ("rows_total", "counter", "Rows with a label.", lambda watch: watch.n_rows),
    ("violations_total", "counter", "Rows beyond the certified bound.", lambda watch: watch.n_violations),
    ("unlabelled_rows_total", "counter", "Rows without a label.", lambda watch: watch.n_unlabelled),
    ("warnings_total", "counter", "Times the detector fired.", lambda watch: watch.n_warnings),
    ("violation_rate", "gauge", "Share of violations since the start.", lambda watch: watch.violation_rate),
    ("violation_rate_lower", "gauge", "Anytime-valid 95 % interval.", lambda watch: watch.violation_interval()[0]),
    ("violation_rate_upper", "gauge", "Anytime-valid 95 % interval.", lambda watch: watch.violation_interval()[1]),
    ("violation_rate_promised", "gauge", "The certificate's eps.", lambda watch: watch.eps),
    ("e_value", "gauge", "Evidence against the promise.", lambda watch: watch.e_value),
    ("e_value_limit", "gauge", "Evidence that revokes the certificate.", lambda watch: 1.0 / watch.alpha),
    ("detector_value", "gauge", "Value of the change detector.", lambda watch: watch.detector_value),
    ("detector_limit", "gauge", "Value at which the detector fires.", lambda watch: watch.false_alarm_interval),
)


def prometheus_text(monitor: Monitor) -> str:
    """Return the numbers of every group, or of the single stream.

    ``pacband_state`` is one for the current state and zero for the others. If the certificate has a name, every number
    has it as a label: the numbers of several certificates then stay apart. ``pacband_certificate_info`` has all that
    the certificate is about.
    """
    with monitor.lock:
        return _text(monitor)


def _text(monitor: Monitor) -> str:
    lines, about = [], monitor.certificate.about
    for name, kind, help_text, reading in _READINGS:
        lines += [f"# HELP pacband_{name} {help_text}", f"# TYPE pacband_{name} {kind}"]
        lines += [
            f"pacband_{name}{_labels(certificate=about.name, group=label)} {_number(reading(watch))}"
            for label, watch in monitor.watches.items()
        ]
    lines += _certificate_info(about)
    lines += ["# HELP pacband_state One for the current state.", "# TYPE pacband_state gauge"]
    lines += [
        f"pacband_state{_labels(certificate=about.name, group=label, state=state)} {int(watch.state == state)}"
        for label, watch in monitor.watches.items()
        for state in STATES
    ]
    return "\n".join(lines) + "\n"


def write_metrics(monitor: Monitor, path: str | os.PathLike[str]) -> None:
    """Write the numbers to a file, atomically, as the textfile collector of Prometheus requires."""
    replace_file(Path(path), prometheus_text(monitor).encode())


def _certificate_info(about: About) -> list[str]:
    """Return what the certificate is about as labels of the number one, as Prometheus states such things."""
    if not about:
        return []
    stated = about.to_dict()
    model = {f"model_{name}": text for name, text in stated.pop("model", {}).items()}
    labels = _labels(certificate=stated.pop("name", None), **stated, **model)
    head = "# HELP pacband_certificate_info What the certificate is about.", "# TYPE pacband_certificate_info gauge"
    return [*head, f"pacband_certificate_info{labels} 1"]


def _labels(**labels: object) -> str:
    # A lone surrogate is no Unicode text: it is written as its number, and different labels stay different.
    given = {
        name: str(value).encode(errors="backslashreplace").decode()
        for name, value in labels.items()
        if value is not None
    }
    escaped = {
        name: value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for name, value in given.items()
    }
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}" if escaped else ""


def _number(value: float) -> str:
    return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}.get(repr(float(value)), repr(value))
