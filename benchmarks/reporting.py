"""A report of a thousand rows and of ten million: time, size, and what is spent on what; and the curve for every ε."""

from __future__ import annotations

from time import perf_counter

import numpy as np

import pacband
from benchmarks._timing import print_table

CURVE_DELTA = 1e-6


def main(*, quick: bool = False) -> None:
    sizes = (1_000, 10_000) if quick else (1_000, 100_000, 1_000_000, 10_000_000)
    print("\nreport(certificate, y, y_pred, scale, X) with 5 features, then the page\n")
    rows = []
    measure(1_000)  # imports and font caches are not on the bill
    for n_rows in sizes:
        certify, numbers, page, size = measure(n_rows)
        rows.append((f"{n_rows:,}", f"{certify:.2f} s", f"{numbers:.2f} s", f"{page:.2f} s", f"{size / 1000:,.0f} kB"))
    print_table(("rows", "certify itself", "numbers", "page", "file"), rows)
    print("\nThe page takes the same time whatever N is; the numbers go through all rows once, sorting their scores.")

    print(f"\ncertify_curve at δ = {CURVE_DELTA:g} for every ε up to 0.5: its ranks, DKW's, and those of one ε alone\n")
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
                    _settled_first(n_rows, eps) or "none",
                )
            )
    print_table(("samples", "time", "ε", "curve", "DKW", "settled first"), rows)


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


def _settled_first(n_rows: int, eps: float) -> int | None:
    try:
        return pacband.max_rank(n_rows, eps, CURVE_DELTA)
    except pacband.NotEnoughSamples:
        return None
