"""A report of a thousand rows and of ten million, in arrays and in files: time, size, memory; the curve for every ε."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import duckdb
import numpy as np

import pacband
from benchmarks._timing import print_table

CURVE_DELTA = 1e-6


def main(*, quick: bool = False) -> None:
    sizes = (1_000, 10_000) if quick else (1_000, 100_000, 1_000_000, 10_000_000)
    print("\nreport(certificate, y, y_pred, scale, X) with 5 features, then the page\n")
    rows = []
    measure(1_000)  # not counted: imports and font caches
    for n_rows in sizes:
        certify, numbers, page, size = measure(n_rows)
        rows.append((f"{n_rows:,}", f"{certify:.2f} s", f"{numbers:.2f} s", f"{page:.2f} s", f"{size / 1000:,.0f} kB"))
    print_table(("rows", "certify itself", "numbers", "page", "file"), rows)
    print("\nThe time of the page does not depend on N. The numbers read all rows once and sort their scores.")

    measure_files((100_000, 300_000) if quick else (1_000_000, 10_000_000, 50_000_000))

    print(f"\ncertify_curve at δ = {CURVE_DELTA:g} for every ε up to 0.5: its ranks, those of DKW and of one ε alone\n")
    rows = []
    for n_rows in (2_000, 10_000) if quick else (2_000, 10_000, 100_000):
        scores = np.random.default_rng(0).standard_normal(n_rows)
        start = perf_counter()
        curve = pacband.certify_curve(scores, np.zeros(n_rows), delta=CURVE_DELTA)
        seconds = perf_counter() - start
        for eps in (0.02, 0.05, 0.2):
            dkw = int(np.floor(n_rows * (eps - np.sqrt(np.log(1 / CURVE_DELTA) / (2 * n_rows))))) + 1
            ours = curve.rank(eps) if eps >= curve.smallest_eps else 0
            rows.append(
                (
                    f"{n_rows:,}",
                    f"{seconds:.2f} s",
                    f"{eps:g}",
                    ours or "none",
                    dkw if dkw > 0 else "none",
                    _rank_of_one(n_rows, eps) or "none",
                )
            )
    print_table(("samples", "time", "ε", "curve", "DKW", "one ε"), rows)


def measure(n_rows: int) -> tuple[float, float, float, int]:
    """Return the seconds of `certify`, of the numbers and of the page, and the size of the file."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 5))
    scale = 0.5 + np.abs(X[:, 0])
    prediction = X[:, 1].copy()
    y = prediction + scale * rng.standard_normal(n_rows)
    start = perf_counter()
    certificate = pacband.certify(y, prediction, scale, eps=0.05, delta=1e-6)
    certified = perf_counter()
    report = pacband.report(certificate, y, prediction, scale, X=X)
    numbered = perf_counter()
    size = len(report.html.encode())
    return certified - start, numbered - certified, perf_counter() - numbered, size


def measure_files(sizes: tuple[int, ...]) -> None:
    """Print the seconds and the peak memory of the commands that read a Parquet file."""
    print("\nThe commands on a Parquet file of y, yhat and s, each a process of its own\n")
    rows = []
    columns = ("--target", "y", "--prediction", "yhat", "--scale", "s")
    with TemporaryDirectory(prefix="pacband-") as name:
        folder = Path(name)
        for n_rows in sizes:
            duckdb.sql(
                "copy (select p + s * sqrt(-2 * ln(u)) * cos(2 * pi() * v) as y, p as yhat, s from (select "
                f"random() as p, 0.5 + random() as s, 1 - random() as u, random() as v from range({n_rows}))) "
                f"to '{folder}/rows.parquet' (format parquet)"
            )
            _run(folder, "certify", "rows.parquet", *columns, "-o", "cert.json", "--overwrite")
            for command in (
                ("report", "cert.json", "rows.parquet"),
                ("diagnose", "rows.parquet", *columns),
                ("certify", "rows.parquet", *columns, "--report", "page.html"),
            ):
                seconds, megabytes = _run(folder, *command)
                label = "certify --report" if "--report" in command else command[0]
                rows.append((f"{n_rows:,}", label, f"{seconds:.1f} s", f"{megabytes:,.0f} MB"))
    print_table(("rows", "command", "time", "peak memory, at most"), rows)


def _run(folder: Path, *arguments: str) -> tuple[float, float]:
    """Return the seconds of a command, and the largest memory of any command so far."""
    start = perf_counter()
    done = subprocess.run([sys.executable, "-m", "pacband", *arguments], cwd=folder, capture_output=True, check=False)
    # A command that finds a broken assumption ends with 1.
    assert done.returncode in (0, 1), done.stderr.decode()
    return perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def _rank_of_one(n_rows: int, eps: float) -> int | None:
    try:
        return pacband.max_rank(n_rows, eps, CURVE_DELTA)
    except pacband.NotEnoughSamples:
        return None
