"""How often a promise fails if rows are taken for independent draws and are not, and with the right `draws`.

Every study draws many calibrations from a known law, so that the true violation of every bound is known exactly, up to
rounding. `python docs/computed/failures.py` writes `failures.json`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import measured
import numpy as np
from scipy.integrate import quad
from scipy.signal import lfilter
from scipy.special import ndtr

import pacband
from pacband import draws

EPS, DELTA, CALIBRATIONS = 0.1, 0.05, 2000
N_UNITS, ROWS_PER_UNIT, ICC = 100, 20, 0.5
N_SERIES, RHO, GAP = 4000, 0.9, 40
N_SHIFT = 1000

Array = np.ndarray[Any, Any]
# A study: rows of a calibration and its choices of draws; and the true violation of a bound, by choice.
Study = tuple[Callable[[np.random.Generator], tuple[Array, dict[str, Any]]], Callable[[float, str], float]]


def machines() -> Study:
    """100 machines with 20 rows each; the level of a machine explains half of the variance of its errors."""
    labels = np.repeat(np.arange(N_UNITS), ROWS_PER_UNIT)

    def calibration(rng: np.random.Generator) -> tuple[Array, dict[str, Any]]:
        level, noise = rng.standard_normal((N_UNITS, 1)), rng.standard_normal((N_UNITS, ROWS_PER_UNIT))
        errors = (np.sqrt(ICC) * level + np.sqrt(1 - ICC) * noise).ravel()
        seed = int(rng.integers(1 << 30))
        return errors, {
            "rows (wrong)": None,
            'Units(machine, "average")': draws.Units(labels, "average"),
            'Units(machine, "one")': draws.Units(labels, "one", random_state=seed),
            "Units(machine)": draws.Units(labels),
        }

    def violation(gamma: float, choice: str) -> float:
        # Rows of a new machine are standard normal; a whole machine has its own level.
        return _beyond_whole_unit(gamma) if choice == "Units(machine)" else float(2 * ndtr(-gamma))

    return calibration, violation


def series() -> Study:
    """One series with errors that follow an AR(1) process with factor 0.9."""

    def calibration(rng: np.random.Generator) -> tuple[Array, dict[str, Any]]:
        noise = rng.standard_normal(N_SERIES) * np.sqrt(1 - RHO**2)
        noise[0] = rng.standard_normal()
        return lfilter([1.0], [1.0, -RHO], noise), {"rows (wrong)": None, f"Spaced({GAP})": draws.Spaced(GAP)}

    return calibration, lambda gamma, _: float(2 * ndtr(-gamma))


def shift() -> Study:
    """Inputs are uniform on (0, 1) at calibration, and later have the density 2x; errors grow with the input."""
    nodes, weights = np.polynomial.legendre.leggauss(100)
    inputs, weights = (nodes + 1) / 2, weights / 2

    def calibration(rng: np.random.Generator) -> tuple[Array, dict[str, Any]]:
        x = rng.random(N_SHIFT)
        weighted = draws.Weighted(2 * x, at_most=2.0, random_state=int(rng.integers(1 << 30)))
        choices = {"rows (wrong)": None, "Weighted(w, at_most=2)": weighted}
        return (0.2 + x) * rng.standard_normal(N_SHIFT), choices

    def violation(gamma: float, _: str) -> float:
        return float(np.sum(weights * 2 * inputs * 2 * ndtr(-gamma / (0.2 + inputs))))

    return calibration, violation


STUDIES = {
    f"{N_UNITS} machines of {ROWS_PER_UNIT} rows, intra-class correlation {ICC}": machines,
    f"a series of {N_SERIES:,} rows, AR(1) errors with factor {RHO}": series,
    f"{N_SHIFT:,} rows with inputs x in (0, 1); later large inputs are more frequent, w(x) = 2x": shift,
}


def measure(calibrations: int = CALIBRATIONS) -> list[dict[str, Any]]:
    """Return one row for every study and choice of draws."""
    rows = []
    for name, study in STUDIES.items():
        calibration, violation = study()
        rng, found = np.random.default_rng(0), {}
        for _ in range(calibrations):
            errors, choices = calibration(rng)
            for choice, declared in choices.items():
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    made = pacband.certify(errors, np.zeros_like(errors), eps=EPS, delta=DELTA, draws=declared)
                failed = violation(made.gamma, choice) > EPS
                found.setdefault(choice, []).append((made.gamma, failed, bool(caught)))
        for choice, results in found.items():
            gammas, failures, warned = np.mean(results, axis=0)
            rows.append(
                {"study": name, "draws": choice, "failures": failures, "bound": round(gammas, 3), "warned": warned}
            )
    return rows


def markdown() -> str:
    """Return the table."""
    lines = ["| rows | one draw is | promise fails | mean bound | `certify` warns |", "|---|---|---:|---:|---:|"]
    study = ""
    for row in measured.read("failures")["rows"]:
        cells = f"{100 * row['failures']:.1f} %", f"{row['bound']:.2f}", f"{100 * row['warned']:.0f} %"
        name, study = "" if row["study"] == study else row["study"], row["study"]
        lines.append(f"| {name} | `{row['draws']}` | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", measured.origin("failures")]).replace("`rows (wrong)`", "a row (wrong)")


def _beyond_whole_unit(gamma: float) -> float:
    """Return the probability that a new machine has a row beyond γ."""

    def inside(level: float) -> float:
        spread, middle = np.sqrt(1 - ICC), np.sqrt(ICC) * level
        share = ndtr((gamma - middle) / spread) - ndtr((-gamma - middle) / spread)
        return float(share**ROWS_PER_UNIT * np.exp(-(level**2) / 2) / np.sqrt(2 * np.pi))

    return 1.0 - quad(inside, -8.0, 8.0)[0]


if __name__ == "__main__":
    start = perf_counter()
    found = measure()
    measured.save("failures", found, seconds=perf_counter() - start, packages=("pacband", "numpy"))
