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


def test_few_draws_do_not_look_sound(rng):
    """The order of 40 machines is not checked, so the page does not call them sound. That of 120 is."""
    for n_machines, verdict, other in [
        (40, "Nothing was found:", "look sound"),
        (120, "look sound:", "not looked for"),
    ]:
        machine = np.repeat(np.arange(n_machines), 5)
        y, units = rng.standard_normal(5 * n_machines), pacband.draws.Units(machine, name="machine")
        cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=units)
        page = pacband.report(cert, y, 0 * y, draws=units)
        assert verdict in page.html
        assert other not in page.html
        assert f"of {n_machines} machines (" in page.html
        assert ("not looked for" in page.html) == ("not looked for" in page.to_markdown()) == (n_machines == 40)
