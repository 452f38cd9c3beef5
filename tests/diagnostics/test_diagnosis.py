"""The result of a diagnosis in words, HTML and JSON."""

import json

import numpy as np

import pacband
from support.diagnosed import autoregressive


def test_a_diagnosis_says_itself_in_words_html_and_json(rng):
    noise = autoregressive(rng, 0.9)
    diagnosis = pacband.diagnose(noise, np.zeros(1000), groups=np.repeat(["<b>", "c"], 500))
    assert str(diagnosis).startswith("1 finding in 6 checks of 1000 rows")
    assert "the probability of any finding is at most 1 %" in str(diagnosis)
    assert "<b>" not in diagnosis._repr_html_()
    content = json.loads(json.dumps(diagnosis.to_dict()))
    assert content["findings"][0]["check"] == diagnosis.findings[0].check
    assert set(content["p_values"]) == set(diagnosis.p_values)
    calm = pacband.diagnose(rng.standard_normal(300), np.zeros(300))
    assert str(calm).startswith("No evidence against the promise in 5 checks of 300 rows")
    assert calm.to_dict()["sound"]


def test_what_was_not_looked_for_is_stated(rng):
    """A series of 99 rows is too short for the checks of order, and no verdict on it. One of 100 rows is not."""
    short = pacband.diagnose(np.cumsum(rng.standard_normal(99)), np.zeros(99))
    assert "Serial dependence and drift were not looked for: that takes at least 100 draws" in str(short)
    assert "not looked for" in short._repr_html_()
    assert "not looked for" not in str(pacband.diagnose(rng.standard_normal(100), np.zeros(100)))
