"""Predicting with a saved automatic family: loading it, one row, 50 rows and many rows, beside its own members.

The members of the blend and the scale models are timed on the matrix that the family makes of the rows, one after the
other, as scikit-learn predicts them. Their sum is what a blend of them costs without pacband. CPU seconds are measured:
wall time says more about the other work of a machine.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

import pacband
from benchmarks._timing import print_table, ratio, verdict
from pacband.candidates.blend import meta_table
from pacband.candidates.fitting import one_openmp_thread

DATA = Path(__file__).parent / "data"
BUDGETS = {"concrete": 60.0, "power_plant": 60.0}
SIZES = (1, 50, 10_000)
AIMS = {"load": 1.0, "1 row": 0.020, "pacband predict, 50 rows": 2.0}


def main(quick: bool = False) -> None:
    for table, budget in BUDGETS.items():
        with TemporaryDirectory() as folder:
            _measure(table, 3.0 if quick else budget, Path(folder), SIZES[:2] if quick else SIZES)


def _measure(table: str, budget: float, folder: Path, sizes: tuple[int, ...]) -> None:
    frame = pd.read_parquet(DATA / f"{table}.parquet").drop_duplicates(ignore_index=True)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy(dtype=float)
    path = folder / "model.pacband"
    options: dict[str, Any] = {"eps": 0.1, "delta": 1e-3, "time_budget": budget, "random_state": 0}
    pacband.CertifiedFamily("auto", **options).fit(X, y).save(path)
    family = pacband.load(path)
    stack = family.members_[family.best_name_].predictor.stack
    print(f"\n{table}: {path.stat().st_size / 1e6:.1f} MB, {len(stack.models)} predictors, {len(stack.scales)} scales")

    times = {"load": _seconds(lambda: pacband.load(path), 3)}
    rows = []
    for size in sizes:
        new = X.sample(size, replace=True, random_state=0).reset_index(drop=True)
        whole, parts = _seconds(lambda new=new: family.predict_interval(new), 5), _members(stack, new)
        times[f"{size:,} row{'s' if size > 1 else ''}"] = whole
        rows.append(
            [f"{size:,}", f"{1e3 * whole:.1f}", f"{1e3 * parts:.1f}", ratio(whole, parts), f"{size / whole:,.0f}"]
        )
    print_table(["rows", "family, ms", "its members, ms", "ratio", "rows a second"], rows)
    X[:50].to_csv(folder / "new.csv", index=False)
    command = [sys.executable, "-m", "pacband", "predict", str(path), str(folder / "new.csv")]
    times["pacband predict, 50 rows"] = _seconds_of_program(command)
    print_table(
        ["", "CPU s", "aim", ""],
        [[name, f"{times[name]:.3f}", f"{aim:g}", verdict(times[name] <= aim)] for name, aim in AIMS.items()],
    )


def _members(stack: Any, X: Any) -> float:
    """Return the seconds that all models of a stack need, each called once."""
    table = stack.reader.transform(X)
    with one_openmp_thread():
        predictions = np.column_stack([model.predict(table) for model in stack.models.values()])
        meta = meta_table(table, predictions, stack.weights)
        return sum(
            _seconds(lambda model=model, rows=rows: model.predict(rows), 5)
            for models, rows in ((stack.models, table), (stack.scales, meta))
            for model in models.values()
        )


def _seconds(function: Callable[[], object], repeats: int) -> float:
    """Return the CPU seconds of a call, the best of some, after two calls that are not measured."""
    best = float("inf")
    for k in range(repeats + 2):
        start = process_time()
        function()
        best = min(best, process_time() - start) if k > 1 else best
    return best


def _seconds_of_program(command: list[str]) -> float:
    """Return the CPU seconds of a program, the best of three runs."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    return min(float(done.stdout) for done in runs)
