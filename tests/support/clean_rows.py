"""Tables of independent rows from one distribution, of many kinds; and tables that break that in a known way."""

import numpy as np
import pandas as pd


def clean_table(rng, n, kind, *, labels=200, ordered=False):
    """Independent rows. Labels, dates and numbers are given to rows without regard to their errors."""
    x = rng.uniform(-2.0, 2.0, n)
    noise = {
        "normal": lambda: rng.standard_normal(n),
        "heteroscedastic": lambda: np.exp(x) * rng.standard_normal(n),
        "heavy": lambda: rng.standard_t(1.5, n),
        "skew": lambda: rng.exponential(size=n) ** 2,
        "integer": lambda: rng.poisson(3.0, n) - 3.0,
        "tied": lambda: np.where(rng.random(n) < 0.8, 0.0, rng.standard_normal(n)),
        "biased": lambda: 5.0 + rng.standard_normal(n),
    }[kind]()
    prediction = np.round(x) if kind in ("integer", "tied") else x
    machine = rng.integers(0, labels, n)
    # As many rows as machines give: some have many rows.
    batch = np.minimum(rng.geometric(3.0 / labels, n), labels)
    if ordered:
        machine, batch = np.sort(machine), np.sort(batch)
    return pd.DataFrame(
        {
            "y": prediction + noise,
            "p": prediction,
            "machine": np.char.add("m", machine.astype(str)),
            "number": machine,
            "batch": batch,
            "row": np.arange(n),
            "serial": [f"s{k}" for k in rng.permutation(n)],
            "when": np.datetime64("2024-01-01") + rng.permutation(n) * np.timedelta64(1, "h"),
            "rooms": rng.poisson(4.0, n),
            "level": np.round(np.abs(x) * 10).astype(int),
        }
    )


KINDS = ("normal", "heteroscedastic", "heavy", "skew", "integer", "tied", "biased")


def machines(rng, n_machines, n_rows, correlation, *, shuffled):
    """Rows of machines that share an offset, so that errors within a machine have this correlation."""
    machine = np.repeat(np.arange(n_machines), n_rows)
    share = np.sqrt(correlation) * rng.standard_normal(n_machines)[machine]
    error = share + np.sqrt(1.0 - correlation) * rng.standard_normal(len(machine))
    prediction = rng.standard_normal(len(machine))
    table = pd.DataFrame({"y": prediction + error, "p": prediction, "machine": machine})
    return table.sample(frac=1.0, random_state=int(rng.integers(2**31))) if shuffled else table


def series(rng, n, rho):
    """Errors of a stationary series, hour by hour: AR(1)."""
    noise = np.sqrt(1.0 - rho**2) * rng.standard_normal(n)
    error = np.empty(n)
    error[0] = rng.standard_normal()
    for k in range(1, n):
        error[k] = rho * error[k - 1] + noise[k]
    return error
