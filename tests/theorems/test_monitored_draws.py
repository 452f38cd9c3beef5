"""A monitor of units revokes a promise that holds with probability at most α; a monitor of their rows does not.

Fixed seeds; "keeps" rejects at p < 1e-6, and the wrong twin counts the rows of machines as draws.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

import pacband
from pacband.draws import Units
from support.units import machines

FALSE_ALARM, ALPHA, EPS = 1e-6, 0.05, 0.1


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_units_keep_the_level_and_rows_do_not():
    """Machines whose violations have exactly the probability ε, whether of the machine or of its rows."""
    rng = np.random.default_rng(11)
    n_rows, n_streams = 20, 300
    # γ̄ at the level ε: of the largest of 20 rows of a machine, and of a single row. Simulated once, precisely.
    many = np.abs(machines(rng, 200_000, n_rows, 0.9)[0]).reshape(-1, n_rows)
    bounds = {"units": np.quantile(many.max(axis=1), 1 - EPS), "rows": np.quantile(many, 1 - EPS)}
    revoked = dict.fromkeys(bounds, 0)
    calibration, labels = machines(rng, 100, n_rows, 0.9)
    for name, gamma in bounds.items():
        draws = Units(labels) if name == "units" else None
        # A certificate that was made with the given bound: only its γ̄ and ε are used.
        cert = pacband.certify(calibration, 0 * calibration, eps=EPS, delta=0.05, draws=draws)
        object.__setattr__(cert, "gamma", float(gamma))
        for _ in range(n_streams):
            error, unit = machines(rng, 150, n_rows, 0.9)
            monitor = pacband.Monitor(cert, alpha=ALPHA)
            monitor.update(error, 0 * error, draws=Units(unit) if draws else None)
            revoked[name] += monitor.state == "revoked"
    assert binomtest(revoked["units"], n_streams, ALPHA, alternative="greater").pvalue >= FALSE_ALARM
    assert binomtest(revoked["rows"], n_streams, ALPHA, alternative="greater").pvalue < FALSE_ALARM
