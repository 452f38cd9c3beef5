"""The alert rules of docs/how_to/monitoring.md: every one is about a metric that is written."""

import re
from pathlib import Path

import pytest

import pacband
from pacband.monitoring.metrics import prometheus_text

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "monitoring.md"
# The node exporter writes its own metrics about the files that it reads.
METRIC = re.compile(r"\b(pacband_\w+|node_textfile_mtime_seconds)(?:\{(.*?)\})?")


def samples():
    """Return the lines that a monitor of the page writes, without comments."""
    certificate = pacband.certify_scores(range(100), eps=0.1, delta=0.01, about={"name": "pump 7"})
    return [line for line in prometheus_text(pacband.Monitor(certificate)).splitlines() if not line.startswith("#")]


def unwritten(expression):
    """Return what an expression asks for and nothing writes; all of it if it names no metric."""
    found = METRIC.findall(expression)
    lines = [re.split(r"[{ ]", line, maxsplit=1) for line in samples()]
    return [
        (metric, labels)
        for metric, labels in found
        if metric.startswith("pacband_") and not any(name == metric and labels in rest for name, rest in lines)
    ] or ([] if found else [expression])


def test_the_alerts_are_about_metrics_that_are_written():
    yaml = pytest.importorskip("yaml")
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (group,) = yaml.safe_load(block)["groups"]
    for rule in group["rules"]:
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
        assert unwritten(rule["expr"]) == []
    assert {rule["labels"]["severity"] for rule in group["rules"]} == {"page", "ticket"}


def test_a_wrong_name_or_label_is_noticed():
    assert unwritten('pacband_state{state="revoked"} == 1') == []
    assert unwritten("pacband_stat == 1") == [("pacband_stat", "")]
    assert unwritten('pacband_state{state="gone"} == 1') == [("pacband_state", 'state="gone"')]
    assert unwritten("time() > 1") == ["time() > 1"]


def test_the_alert_about_old_files_watches_the_file_of_the_page():
    """Prometheus matches whole texts."""
    page = PAGE.read_text("utf-8")
    (pattern,) = re.findall(r'file=~"(.*?)"', page)
    (name,) = re.findall(r"--metrics (\S+\.prom)", page)
    assert re.fullmatch(pattern, f"/var/lib/node_exporter/{name}")
    assert not re.fullmatch(pattern, "/var/lib/node_exporter/other.prom")
