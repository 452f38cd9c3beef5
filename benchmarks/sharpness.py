"""Sharpness: the automatic family against the strongest rivals, at the same guarantee and the same time limit.

Every table is split 60/20/20 into rows to train, to calibrate and to test. Each method fits to the same training rows
on the same cores. Its band is the r-th largest score of the calibration rows, with the rank r that (ε, δ) allows;
pacband pays for choosing among its candidates out of the same δ. The rivals, each with the defaults of its library:

- AutoGluon with the preset good_quality, neural networks included: absolute errors, and its quantile mode with the
  score of conformalized quantile regression (CQR). It gets the time limit, as pacband gets it as a budget.
- CatBoost, LightGBM and XGBoost: absolute errors; errors over a model of the cross-fitted absolute errors; CQR.
- NGBoost: errors over its own standard deviation. Quantile forests: CQR.

A run takes hours. What it has measured is kept in ``out/benchmarks``: if it is ended, the next one goes on, and prints
how much was measured before.

``make rivals`` makes their environment, `.venv-rivals`, since AutoGluon needs other versions of the libraries. The best
rival of a table is known only after the fact; no user has that choice for free.
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks._bands import DELTA, EPS, Outcome, mean_width, run_ours, run_rival
from benchmarks._journal import Journal
from benchmarks._tables import TABLES, Split, split_table
from benchmarks._timing import print_table, verdict

# A table, a time limit or none, and a method; and what the method made of the seeds at which it did not fail.
Key: TypeAlias = tuple[str, float | None, str]
Found: TypeAlias = dict[Key, dict[int, Outcome]]
# A time limit or none, a method and its error; and the tables, once for each seed.
Failed: TypeAlias = dict[tuple[float | None, str, str], list[str]]

OURS = "pacband"
AUTOGLUON = ("AutoGluon, absolute", "AutoGluon, CQR")
# A fit of these takes seconds: no time limit is needed.
QUICK = (
    *(
        f"{name}, {score}"
        for name in ("CatBoost", "LightGBM", "XGBoost")
        for score in ("absolute", "normalised", "CQR")
    ),
    "NGBoost, normalised",
    "quantile-forest, CQR",
)
# Friedman's function, whose law is known, is in `excess`: with a ninth table, a run takes more than three hours.
COMPARED = tuple(name for name in TABLES if name != "friedman")
# A simulator without noise: its band can be as narrow as one likes, so that it alone decides a geometric mean.
NOISELESS = "borehole"
# The aims: the geometric mean over the tables, and the largest, of our width over that of the better of AutoGluon's.
AIMS = {15.0: (0.58, 1.0), 120.0: (0.50, 0.95)}
PYTHON = Path(".venv-rivals/bin/python")


def main(quick: bool = False) -> None:
    warnings.simplefilter("ignore")
    journal = Journal("sharpness", quick=quick)
    if quick:
        compare(("concrete", "diabetes"), (15.0,), 1, journal)
    else:
        compare(COMPARED, tuple(AIMS), 3, journal)
    journal.finish()


def compare(tables: tuple[str, ...], limits: tuple[float, ...], seeds: int, journal: Journal) -> None:
    """Print the widths of all methods on these tables, and how ours compare, for each time limit."""
    if not PYTHON.exists():
        print(f"{PYTHON} does not exist: `make rivals` makes it. Without rivals, only our widths are printed.")
    found: Found = {}
    failed: Failed = {}
    for limit in limits:
        methods: list[tuple[str, float | None]] = [(OURS, limit)]
        if PYTHON.exists():
            methods += [(name, limit) for name in AUTOGLUON]
            methods += [(name, None) for name in QUICK if limit == limits[0]]
        for table, seed in product(tables, range(seeds)):
            split = split_table(table, seed)
            for name, within in methods:
                measure = partial(_measure, name, within or 0.0, split, seed)
                outcome = journal.get(f"{table}, seed {seed}, {name}, {within} s", measure)
                kept = found.setdefault((table, within, name), {})
                if isinstance(outcome, str):
                    failed.setdefault((within, name, outcome), []).append(table)
                else:
                    kept[seed] = outcome
        if PYTHON.exists():
            _print_summary(found, tables, limit)
    for table in tables:
        _print_table(table, found, limits, seeds)
    for (within, name, error), where in failed.items():
        at = "" if within is None else f" at {within:.0f} s"
        print(f"\n{name} failed{at} ({len(where)} ×: {', '.join(dict.fromkeys(where))}): {error}")
    print(
        "\nversions: "
        + ", ".join(sorted({f"{k[2].split(',')[0]} {o.version}" for k, kept in found.items() for o in kept.values()}))
    )


def _measure(name: str, seconds: float, split: Split, seed: int) -> Outcome | str:
    return run_ours(split, seconds) if name == OURS else run_rival(PYTHON, name, split, seconds, seed)


def _over(ours: dict[int, Outcome], theirs: dict[int, Outcome]) -> float:
    """Return our mean width over that of a rival, at the seeds at which the rival did not fail."""
    return mean_width([ours[seed] for seed in theirs]) / mean_width(list(theirs.values()))


def _print_table(table: str, found: Found, limits: tuple[float, ...], seeds: int) -> None:
    rows = []
    for (of, limit, name), outcomes in found.items():
        if of == table and outcomes:
            each = list(outcomes.values())
            rows.append(
                [
                    f"{name}{'' if limit is None else f', {limit:.0f} s'}",
                    f"{mean_width(each):.4g}",
                    f"{_over(found[table, limit or limits[0], OURS], outcomes):.3f}",
                    f"{np.mean([o.violations for o in each]):.3f}",
                    f"{np.mean([o.seconds for o in each]):.1f}",
                    f"{max(o.seconds for o in each):.1f}",
                ]
            )
    print(
        f"\n{table}: ε = {EPS}, δ = {DELTA}, mean over {seeds} seeds; beside a rival without a limit, "
        f"ours is that of {limits[0]:.0f} s"
    )
    print_table(["", "mean width", "ours / it", "violations", "fit seconds", "most"], rows)


def _print_summary(found: Found, tables: tuple[str, ...], limit: float) -> None:
    rows, ratios = [], []
    for table in tables:
        ours = found[table, limit, OURS]
        glued = {name: _over(ours, theirs) for name in AUTOGLUON if (theirs := found[table, limit, name])}
        others = {name: _over(ours, theirs) for name in QUICK if (theirs := found[table, None, name])}
        if not glued or not others:
            print(f"{table} is left out: no rival of a kind could be fitted.")
            continue
        best_glued, best = max(glued, key=glued.__getitem__), max(others, key=others.__getitem__)
        ratios.append((table, glued[best_glued], others[best], max(*glued.values(), *others.values())))
        rows.append([table, f"{glued[best_glued]:.3f}", best_glued, f"{others[best]:.3f}", best])
    logs, with_noise = np.log([each for _, *each in ratios]), [table != NOISELESS for table, *_ in ratios]
    means, noisy = np.exp(logs.mean(axis=0)), np.exp(logs[with_noise].mean(axis=0))
    print(f"\nat {limit:.0f} s: our width over that of the better mode of AutoGluon, and of the best other rival")
    print_table(
        ["", "of AutoGluon", "its better mode", "of the others", "the best of them"],
        [
            *rows,
            ["geometric mean", f"{means[0]:.3f}", "", f"{means[1]:.3f}", ""],
            [f"without {NOISELESS}", f"{noisy[0]:.3f}", "", f"{noisy[1]:.3f}", ""],
        ],
    )
    print(f"over the best of all, chosen after the fact: {means[2]:.3f}; without {NOISELESS}: {noisy[2]:.3f}")
    if limit in AIMS:
        mean, most = AIMS[limit]
        largest = max(first for _, first, *_ in ratios)
        for what, value, aim in (("geometric mean", means[0], mean), ("largest", largest, most)):
            print(f"aim: {what} at most {aim}: {verdict(value <= aim)} ({value:.3f})")
