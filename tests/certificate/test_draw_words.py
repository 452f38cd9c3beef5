"""What draws are called, in reports, outlooks and monitors."""

import numpy as np
import pytest

import pacband
from pacband.certificate.draw_words import DrawWords, draw_words
from pacband.draws import Spaced, Units
from pacband.reporting.outlook import outlook_of


@pytest.fixture
def runs(rng):
    return rng.standard_normal((300, 20, 1))


def test_a_row_of_runs_is_a_run(runs):
    promise = {"eps": 0.1, "delta": 0.01}
    of_runs = pacband.certify(runs, 0 * runs, **promise)
    assert draw_words(of_runs.basis) == DrawWords("run", "runs")
    spaced = pacband.certify(runs, 0 * runs, draws=Spaced(3), **promise)
    assert draw_words(spaced.basis) == DrawWords("run", "runs that are 3 apart")
    units = pacband.certify(runs, 0 * runs, draws=Units(np.arange(300) // 2, name="row"), **promise)
    assert draw_words(units.basis) == DrawWords("row", "rows")
    rows = pacband.certify(runs[:, 0, 0], 0 * runs[:, 0, 0], **promise)
    assert draw_words(rows.basis) == DrawWords("row", "rows")


def test_runs_are_not_called_rows(runs):
    cert = pacband.certify(runs, 0 * runs, eps=0.1, delta=0.01)
    assert "of the next 100 runs exceed" in str(outlook_of(cert, 100))
    monitor = pacband.Monitor(cert)
    monitor.update(2 * runs, 0 * runs)
    assert " at run " in monitor.reason
    assert " in 300 runs" in monitor.reason
    page = pacband.report(cert).to_markdown()
    assert "calibration runs" in page
    assert "of future runs, at least" in page
    assert "calibration rows" not in page
