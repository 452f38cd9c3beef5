"""Compare the monitor with other libraries: delays of alarms, false alarms, and the cost of a row.

All get the same stream of violations of a promise with ε = 0.05.

- pacband: the state "revoked" (the e-process, α = 0.01) and the state "warning" (the e-detector, on average at most one
  false alarm in 10⁵ rows).
- MAPIE: `RiskMonitoring` with the threshold ε and the same α for its lower confidence sequence, checked after every
  row. Every update processes the whole history, so that MAPIE gets one stream in a hundred, and fewer rows.
- river: `ADWIN` with its default δ = 0.002. It detects any change of the mean; an alarm is a change to a mean above ε.
  It gets one stream in five.
- binomial test: a one-sided test at level 0.01 after every row. People often write this by hand.

Delays are medians, counted from the change. ADWIN detects changes only, so that it cannot detect a rate that was wrong
from the start. Times are for batches of 1,000 rows: from y, T and σ̂ for pacband, from violations for the others,
compared with |y − T| > γσ̂ in numpy. Memory is the memory in use after the last row.

Many groups are compared with a count of violations by group, ``np.bincount``: the cost of a row must not grow with the
number of groups, and a save must cost no more than writing its file.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from mapie.exchangeability_testing import RiskMonitoring
from river.drift import ADWIN
from scipy.stats import binom

import pacband
from benchmarks._timing import best_of, print_table, ratio, verdict

EPS, ALPHA = 0.05, 0.01
CALM, HORIZON = 5000, 6000
MAPIE, ADWIN_NAME = "MAPIE RiskMonitoring", "river ADWIN"
# The slow ones get one stream in this many.
SHARE = {MAPIE: 100, ADWIN_NAME: 5}

Flags = np.ndarray[Any, np.dtype[np.bool_]]
# A function from a stream of violations to the row of the first alarm, or None.
Alarm = Callable[[Flags], int | None]


def main(quick: bool = False) -> None:
    runs = 40 if quick else 1000
    _print_delays(runs)
    _print_costs(quick)
    _print_groups(quick)


def _print_delays(runs: int) -> None:
    rng = np.random.default_rng(0)
    calm = np.full(20000, EPS)
    streams = {
        "false alarms in 20,000 rows": (calm, 0),
        "p = 0.10 from the start": (np.full(HORIZON, 0.10), 0),
        "p = 0.20 from the start": (np.full(HORIZON, 0.20), 0),
        "0.05 → 0.10 at row 5,000": (np.r_[np.full(CALM, EPS), np.full(HORIZON, 0.10)], CALM),
    }
    table = {name: [name] for name in _alarms()}
    for title, (rates, change) in streams.items():
        at: dict[str, list[int | None]] = {name: [] for name in table}
        for run in range(runs):
            violated = rng.random(len(rates)) < rates
            for name, alarm in _alarms().items():
                if run % SHARE.get(name, 1) == 0:
                    at[name].append(alarm(violated))
        for name, rows in at.items():
            table[name].append(_false(rows) if title.startswith("false") else _delay(name, title, rows, change))
    print(f"\nfirst alarms over {runs} streams (ε = {EPS}; rows from the change to the alarm, medians)")
    print_table(["", *streams], list(table.values()))


def _false(rows: list[int | None]) -> str:
    return f"{sum(row is not None for row in rows) / len(rows):.1%}"


def _delay(name: str, title: str, rows: list[int | None], change: int) -> str:
    # An alarm before the change is a false alarm. It is left out of the delays.
    later = [np.inf if row is None else row - change + 1 for row in rows if row is None or row >= change]
    early = len(rows) - len(later)
    median = float(np.median(later)) if later else np.inf
    shown = f"{median:.0f}" if np.isfinite(median) else f"none in {HORIZON:,}"
    return shown + (f" ({early / len(rows):.0%} too early)" if early else "")


def _alarms() -> dict[str, Alarm]:
    return {
        "pacband, revoked": lambda violated: _with_pacband(violated, "revoked_at"),
        "pacband, warning": lambda violated: _with_pacband(violated, "warned_at"),
        MAPIE: _with_mapie,
        ADWIN_NAME: _with_adwin,
        "binomial test after every row": _with_peeking,
    }


def _certificate() -> pacband.Certificate:
    rng = np.random.default_rng(1)
    return pacband.certify(rng.standard_normal(2000), np.zeros(2000), np.ones(2000), eps=EPS, delta=1e-3)


def _with_pacband(violated: Flags, moment: str) -> int | None:
    monitor = pacband.Monitor(_CERTIFICATE, alpha=ALPHA)
    monitor.update(np.where(violated, 9.0, 0.0), np.zeros(len(violated)), np.ones(len(violated)))
    at = getattr(monitor.watches[None], moment)
    return None if at is None else int(at) - 1


def _mapie() -> RiskMonitoring:
    # MAPIE uses half of its level for reference data. A given threshold replaces these.
    return RiskMonitoring(risk="accuracy", test_level=2 * ALPHA, threshold=EPS, warn=False)


def _with_mapie(violated: Flags) -> int | None:
    labels = violated.astype(int)
    history = _mapie().update(labels, np.zeros_like(labels)).online_risk_lower_bound_sequence_history
    return _first(np.asarray(history) > EPS)


def _with_adwin(violated: Flags) -> int | None:
    detector = ADWIN()
    for row, hit in enumerate(violated.tolist()):
        detector.update(hit)
        if detector.drift_detected and detector.estimation > EPS:
            return row
    return None


def _with_peeking(violated: Flags) -> int | None:
    return _first(np.cumsum(violated) > _CRITICAL[: len(violated)])


def _first(alarms: Flags) -> int | None:
    return int(np.argmax(alarms)) if alarms.any() else None


def _print_costs(quick: bool) -> None:
    rng = np.random.default_rng(2)
    n_rows, batch = (10**5, 1000) if quick else (10**6, 1000)
    few = 3 * batch
    y, y_pred, scale = rng.standard_normal(n_rows), np.zeros(n_rows), np.ones(n_rows)
    violated = (np.abs(y - y_pred) > _CERTIFICATE.gamma * scale).astype(int)
    cuts = [slice(start, start + batch) for start in range(0, n_rows, batch)]

    def with_pacband() -> pacband.Monitor:
        monitor = pacband.Monitor(_CERTIFICATE, alpha=ALPHA)
        for rows in cuts:
            monitor.update(y[rows], y_pred[rows], scale[rows])
        return monitor

    def at_once() -> pacband.Monitor:
        monitor = pacband.Monitor(_CERTIFICATE, alpha=ALPHA)
        monitor.update(y, y_pred, scale)
        return monitor

    def bare() -> int:
        return sum(
            int(np.count_nonzero(np.abs(y[rows] - y_pred[rows]) > _CERTIFICATE.gamma * scale[rows])) for rows in cuts
        )

    def bare_at_once() -> int:
        return int(np.count_nonzero(np.abs(y - y_pred) > _CERTIFICATE.gamma * scale))

    def with_mapie() -> RiskMonitoring:
        monitor = _mapie()
        for rows in cuts[: few // batch]:
            monitor.update(violated[rows], np.zeros_like(violated[rows]))
        return monitor

    def with_adwin() -> ADWIN:
        detector = ADWIN()
        for hit in violated.tolist():
            detector.update(hit)
        return detector

    contenders: dict[str, Callable[[], object]] = {
        "pacband": with_pacband,
        "pacband, all rows at once": at_once,
        "numpy comparison": bare,
        "numpy, all rows at once": bare_at_once,
        ADWIN_NAME: with_adwin,
    }
    times = best_of(contenders, repeats=3 if quick else 7)
    start = perf_counter()
    with_mapie()
    times[MAPIE] = (perf_counter() - start) * n_rows / few
    contenders[MAPIE] = with_mapie
    print(f"\n{n_rows:,} rows in batches of {batch:,}; MAPIE: {few:,} rows (its cost a row grows)")
    print_table(
        ["", "ns a row", "rows a second", "times numpy's comparison", "memory in use, bytes"],
        [
            [
                name,
                f"{1e9 * seconds / n_rows:.1f}",
                f"{n_rows / seconds:,.0f}",
                ratio(seconds, times["numpy, all rows at once" if "at once" in name else "numpy comparison"]),
                f"{_memory_in_use(contenders[name]):,}",
            ]
            for name, seconds in times.items()
        ],
    )
    found = 1e9 * times["pacband"] / n_rows
    print_table(["aim", "found", ""], [["at most a microsecond a row", f"{found:.0f} ns", verdict(found <= 1000)]])


def _print_groups(quick: bool) -> None:
    rng = np.random.default_rng(3)
    table = []
    for n_groups in (100, 1000) if quick else (100, 1000, 8000):
        labels = np.repeat(np.arange(n_groups), 250)
        y, y_pred = rng.standard_normal((2, len(labels))) * [[1.0], [0.0]]
        cert = pacband.certify_groups(y, y_pred, labels, eps=0.2, delta=0.5)
        fresh = rng.standard_normal(len(labels))
        monitor = pacband.Monitor(cert)
        with TemporaryDirectory() as folder:
            times = best_of(
                {
                    "bincount": lambda: np.bincount(labels[np.abs(fresh - y_pred) > 1.5], minlength=n_groups),  # noqa: B023
                    "update": lambda: pacband.Monitor(cert).update(fresh, y_pred, groups=labels),  # noqa: B023
                    "check": lambda: pacband.check(cert, fresh, y_pred, groups=labels),  # noqa: B023
                    "row": lambda: monitor.update(0.1, 0.0, groups=7),  # noqa: B023
                    "save": lambda: (monitor.update(0.1, 0.0, groups=7), monitor.save(f"{folder}/state.json")),  # noqa: B023
                },
                repeats=3,
            )
        table.append(
            [
                f"{n_groups:,}",
                *(f"{1e9 * times[name] / len(labels):,.0f}" for name in ("bincount", "update", "check")),
                *(ratio(times[name], times["bincount"]) for name in ("update", "check")),
                f"{1e6 * times['row']:,.0f}",
                f"{1e3 * times['save']:,.1f}",
            ]
        )
    print("\ngroups of 250 rows: nanoseconds a row for all rows at once; time of one row; time of one row and a save")
    print_table(
        ["groups", "bincount", "update", "check", "update/bincount", "check/bincount", "one row, µs", "save, ms"],
        table,
    )


def _memory_in_use(make: Callable[[], object]) -> int:
    """Return the number of bytes that an object keeps in memory."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        made = make()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        del made
    finally:
        tracemalloc.stop()
    return after - before


_CERTIFICATE = _certificate()
_CRITICAL = binom.isf(ALPHA, np.arange(1, 20001), EPS)
