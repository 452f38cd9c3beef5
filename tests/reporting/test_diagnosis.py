"""Findings about the rows."""

import numpy as np
import pytest

import pacband


def test_findings_of_the_diagnosis_are_shown(rng):
    noise = rng.standard_normal(1000)
    for i in range(1, 1000):
        noise[i] += 0.8 * noise[i - 1]
    with pytest.warns(pacband.PromiseWarning, match="depend on the rows before"):
        cert = pacband.certify(noise, np.zeros(1000), eps=0.1, delta=1e-3)
    page = pacband.report(cert, noise, np.zeros(1000))
    assert "Finding PB001: serial dependence" in page.html
    assert "serial dependence" in page.to_markdown()
