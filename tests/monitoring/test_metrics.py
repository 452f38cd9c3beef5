"""The metrics of a monitor in the text format of Prometheus."""

import re

import numpy as np

import pacband
from pacband.monitoring.metrics import prometheus_text


def test_metrics_are_in_the_text_format(rng):
    labels = ['a"b', "c\\d", "e\nf"]
    cert = pacband.certify_groups(rng.standard_normal(900), np.zeros(900), labels * 300, eps=0.1, delta=0.1)
    monitor = pacband.Monitor(cert)
    monitor.update([0.0, 9.0], [0.0, 0.0], groups=['a"b'] * 2)
    text = prometheus_text(monitor)
    value = r"(NaN|[+-]Inf|-?\d+(\.\d+)?(e[+-]?\d+)?)"
    line = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{\w+="([^"\\\n]|\\.)*"(,\w+="[^"]*")*\})? ' + value + ")")
    assert all(line.fullmatch(each) for each in text.splitlines())
    assert r'pacband_violations_total{group="a\"b"} 1' in text
    assert r'pacband_violation_rate{group="e\nf"} NaN' in text
    assert r'pacband_state{group="c\\d",state="ok"} 1' in text
