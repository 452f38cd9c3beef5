"""The metrics of a monitor in the text format of Prometheus."""

import re

import numpy as np

import pacband
from pacband.monitoring.metrics import prometheus_text, write_metrics


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


def test_what_the_certificate_is_about_is_in_the_labels(rng):
    about = {"name": 'seal "A"', "unit": "mm", "model": {"name": "c\\d", "digest": "ab" * 32}, "note": "n"}
    cert = pacband.certify_groups(
        rng.standard_normal(900), np.zeros(900), ["x", "y"] * 450, eps=0.1, delta=0.1, about=about
    )
    monitor = pacband.Monitor(cert)
    text = prometheus_text(monitor)
    assert r'pacband_rows_total{certificate="seal \"A\"",group="x"} 0' in text
    assert r'pacband_state{certificate="seal \"A\"",group="y",state="ok"} 1' in text
    info = r'pacband_certificate_info{certificate="seal \"A\"",unit="mm",note="n",model_name="c\\d",model_digest="'
    assert f'{info}{"ab" * 32}"}} 1\n' in text
    assert text.count("pacband_certificate_info{") == 1
    # Without a name, the numbers have the labels of before.
    plain = pacband.certify(rng.standard_normal(900), np.zeros(900), eps=0.1, delta=0.1)
    assert "certificate" not in prometheus_text(pacband.Monitor(plain)).replace("The certificate's eps", "").replace(
        "revokes the certificate", ""
    )


def test_labels_that_are_no_unicode_are_written_and_stay_apart(rng, tmp_path):
    labels = ["\udc80", "\udc81", "ü"]
    cert = pacband.certify_groups(rng.standard_normal(900), np.zeros(900), labels * 300, eps=0.1, delta=0.1)
    write_metrics(pacband.Monitor(cert), tmp_path / "metrics.prom")
    text = (tmp_path / "metrics.prom").read_text("utf-8")
    for label in (r"\\udc80", r"\\udc81", "ü"):
        assert text.count(f'pacband_rows_total{{group="{label}"}} 0\n') == 1
