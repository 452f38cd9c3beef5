"""The local models: how much the solvers save, and how the models compare with their peers.

- family: the paper's second example (M = 2,065 samples, N = 2,407 points, 10 decays) by "lowrank" and "line",
  against the time of one dense solution times 24,070, with the largest difference from dense ones.
- assembly: the matrix product that builds all systems of a batch, against the machine's own product of square
  matrices, measured in turns.
- tables: fit and predict with σ̂ on two public tables as the sample grows, beside scikit-learn's Gaussian process
  and kernel ridge and statsmodels' kernel regression: time, memory, error, and the mean half-width certified at
  the same (ε, δ) from the same calibration rows. A peer without σ̂ is certified with a constant one. Hyper-parameters
  are fixed for all sizes; each case has a process of its own, and memory is what it needed beyond its imports and data.
  Those of the local models were picked from six to eight settings each, on other rows; those of the peers are plain
  first choices. So compare time and memory freely, and take RMSE and width as what is reached, not as a contest.
  Every contender has one core: threads inside large factorizations stall on a busy machine (and OpenBLAS 0.3.30 was
  seen to crash in them at M = 16,000), which would be counted against the peers and not against the local models.
- tuned: `LocalKernelRidge.tuned()` beside a Gaussian process and single models of the automatic family, on the
  tables of `sharpness`.
- crowd: 100,000 samples and 100,000 points in 8 dimensions with 100 neighbours.
"""

from __future__ import annotations

import multiprocessing
import resource
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

from benchmarks._timing import best_of, print_table
from benchmarks._tuned_models import compare
from pacband import certify
from pacband.datasets import paper_sample
from pacband.local import LocalKernelRidge, LocalRidge

EPS, DELTA = 0.1, 1e-3
HELD_OUT = 1000
DATA = Path(__file__).parent / "data"

Array = np.ndarray[Any, np.dtype[np.float64]]
Pair = tuple[Array, Array | None]


def main(quick: bool = False) -> None:
    _family(quick)
    _assembly(quick)
    for name, sizes in {"power_plant": [1000, 4000, 16000], "protein": [1000, 4000, 16000, 64000]}.items():
        _table(name, sizes[:1] if quick else sizes)
    compare(quick)
    _crowd(5_000 if quick else 100_000)


# The paper's family -----------------------------------------------------------------------------------------------


def _family(quick: bool) -> None:
    n_samples, n_points = (500, 600) if quick else (2065, 2407)
    X, y = paper_sample(n_samples, random_state=1)
    points, _ = paper_sample(n_points, random_state=2)
    grid = [{"decay": decay} for decay in range(1, 11)]
    total = n_points * len(grid)
    some = np.linspace(0, n_points - 1, 2 if quick else 4).astype(int)

    def family(solver: str, at: Array) -> list[tuple[Array, Array]]:
        members = LocalKernelRidge(gamma=5, alpha=0.02, solver=solver).fit_grid(X, y, grid)
        return LocalKernelRidge.predict_grid(members, at)

    def single_threaded(call: Callable[[], Any]) -> None:
        with threadpool_limits(limits=1, user_api="blas"):
            call()

    dense_members = LocalKernelRidge(gamma=5, alpha=0.02, solver="dense").fit_grid(X, y, grid)
    dense = np.array(LocalKernelRidge.predict_grid(dense_members, points[some]))
    seconds = best_of(
        {
            "dense": lambda: dense_members[3].predict(points[:1]),
            "dense, one thread": lambda: single_threaded(lambda: dense_members[3].predict(points[:1])),
            "lowrank": lambda: family("lowrank", points),
            "line": lambda: family("line", points),
        },
        repeats=2 if quick else 5,
        at_least=0.0,
    )
    dense_total = min(seconds["dense"], seconds["dense, one thread"]) * total
    # CPU seconds with one thread each: what other programs on the machine hardly change.
    cpu = {"dense": _cpu_seconds(lambda: dense_members[3].predict(points[:1])) * total}
    cpu |= {solver: _cpu_seconds(partial(family, solver, points)) for solver in ("lowrank", "line")}
    rank = LocalKernelRidge(gamma=5, alpha=0.02).fit(X, y).rank_
    rows = [["dense (one point × all)", f"{dense_total:.1f}", f"{1e6 * dense_total / total:.1f}", "", "", "", ""]]
    for solver, aim in (("lowrank", 2000), ("line", 10_000)):
        apart = np.abs(np.array(family(solver, points))[:, :, some] / dense - 1)
        rows.append(
            [
                f"{solver} (rank {rank})",
                f"{seconds[solver]:.3f}",
                f"{1e6 * seconds[solver] / total:.1f}",
                f"{dense_total / seconds[solver]:,.0f}×",
                f"{cpu['dense'] / cpu[solver]:,.0f}×",
                f"{aim:,}×",
                f"{apart.max():.1e}",
            ]
        )
    print(f"\nthe paper's family: M = {n_samples:,}, N = {n_points:,}, 10 decays, fit and predict with σ̂")
    print_table(["", "s", "µs a point", "faster", "in CPU time", "aim", f"from dense, {10 * len(some)} points"], rows)


def _cpu_seconds(call: Callable[[], Any]) -> float:
    """Return the CPU seconds of a call with one thread, the best of six."""
    best = np.inf
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(6):
            start = process_time()
            call()
            best = min(best, process_time() - start)
    return float(best)


def _assembly(quick: bool) -> None:
    n_samples, n_points = (500, 512) if quick else (2065, 2048)
    X, y = paper_sample(n_samples, random_state=1)
    points, _ = paper_sample(n_points, random_state=2)
    model = LocalKernelRidge(gamma=5, alpha=0.02, decay=3, solver="lowrank").fit(X, y)._model
    products = model.regressors.products
    weights = model.weight(model.locality.distances(points))
    square = np.random.default_rng(0).random((2000, 2000))
    seconds = best_of(
        {"product": lambda: square @ square, "assembly": lambda: products.packed(weights)},
        repeats=3 if quick else 15,
    )
    rates = {
        "product": 2 * 2000**3 / seconds["product"],
        "assembly": 2 * n_points * n_samples * products.size / seconds["assembly"],
    }
    print("\nassembly of all systems of a batch, against numpy's product of 2000 × 2000 matrices")
    print_table(
        ["", "GFlop/s", "of the product", "aim"],
        [
            ["product", f"{rates['product'] / 1e9:.0f}", "", ""],
            [
                f"assembly ({n_points} × {n_samples} × {products.size})",
                f"{rates['assembly'] / 1e9:.0f}",
                f"{100 * rates['assembly'] / rates['product']:.0f} %",
                "50 %",
            ],
        ],
    )


# Public tables ----------------------------------------------------------------------------------------------------


def _with_scale(estimator: Any) -> Callable[[Array, Array, Array], Pair]:
    def run(X: Array, y: Array, points: Array) -> Pair:
        prediction, scale = estimator.fit(X, y).predict(points, return_std=True)
        return prediction, scale

    return run


def _kernel_ridge(X: Array, y: Array, points: Array) -> Pair:
    return KernelRidge(kernel="rbf", gamma=0.1, alpha=0.1).fit(X, y).predict(points), None


def _kernel_reg(X: Array, y: Array, points: Array) -> Pair:
    from statsmodels.nonparametric.kernel_regression import KernelReg

    dims = X.shape[1]
    bandwidth = len(X) ** (-1 / (4 + dims)) * np.ones(dims)  # the rule of thumb; cross-validation takes hours
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a default that will change, and is not used here
        prediction, _ = KernelReg(y, X, "c" * dims, reg_type="ll", bw=bandwidth).fit(points)
    return prediction, None


# name → (how to run it, the most samples it is given)
CONTENDERS: dict[str, tuple[Callable[[Array, Array, Array], Pair], int]] = {
    "LocalRidge": (_with_scale(LocalRidge(alpha=0.01, decay=8)), 64_000),
    "LocalKernelRidge, 100 neighbors": (
        _with_scale(LocalKernelRidge(gamma=0.1, alpha=0.01, decay=6, n_neighbors=100)),
        64_000,
    ),
    "LocalKernelRidge, tol=0.1": (
        _with_scale(LocalKernelRidge(gamma=0.05, alpha=0.01, decay=6, solver="lowrank", tol=0.1)),
        16_000,
    ),
    "GaussianProcessRegressor": (
        _with_scale(GaussianProcessRegressor(RBF(np.sqrt(5.0)) + WhiteKernel(0.1), optimizer=None, normalize_y=True)),
        16_000,
    ),
    "KernelRidge (no σ̂)": (_kernel_ridge, 16_000),
    "KernelReg (no σ̂)": (_kernel_reg, 4_000),
}


def _table(name: str, sizes: list[int]) -> None:
    n_rows = len(pd.read_parquet(DATA / f"{name}.parquet", columns=[])) - HELD_OUT
    sizes = sorted({min(size, n_rows) for size in sizes})
    rows = []
    for contender, (_, most) in CONTENDERS.items():
        results = {}
        for size in (size for size in sizes if size <= most):
            try:
                results[size] = _apart(_measure, name, contender, size)
            except BrokenProcessPool:
                rows.append([f"{contender}, M = {size:,}", "process died", *[""] * 5])
        for size, (seconds, memory, error, width) in results.items():
            cells = [f"{seconds:.2f}", f"{memory / 2**20:.0f}", f"{error:.3f}", f"{width:.3f}"]
            rows.append([f"{contender}, M = {size:,}", *cells, "", ""])
        if len(results) > 1:
            taken, held = (np.array([result[k] for result in results.values()]) for k in (0, 1))
            grown = np.log(list(results))
            slopes = [np.polyfit(grown, np.log(np.maximum(values, 1e-9)), 1)[0] for values in (taken, held)]
            rows[-1][-2:] = [f"{slope:.1f}" for slope in slopes]
    print(f"\n{name}: fit, and predict {HELD_OUT:,} rows with σ̂, on one core (all the table has: M ≤ {n_rows:,})")
    header = ["", "s", "MiB", "RMSE", f"half-width (ε={EPS}, δ={DELTA:g})", "time ∝ M^", "memory ∝ M^"]
    print_table(header, rows)


def _measure(name: str, contender: str, size: int) -> tuple[float, float, float, float]:
    table = pd.read_parquet(DATA / f"{name}.parquet").sample(frac=1.0, random_state=0).to_numpy(np.float64)
    held_out, train = table[:HELD_OUT], table[HELD_OUT : HELD_OUT + size]
    centre, spread = train.mean(axis=0), train.std(axis=0)
    X, points = ((part - centre)[:, :-1] / spread[:-1] for part in (train, held_out))
    y, truth = train[:, -1] - centre[-1], held_out[:, -1] - centre[-1]
    before, start = _peak_rss(), perf_counter()
    with threadpool_limits(limits=1, user_api="blas"):
        prediction, scale = CONTENDERS[contender][0](X, y, points)
    seconds, memory = perf_counter() - start, _peak_rss() - before
    sigma = np.ones_like(truth) if scale is None else scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a public table may repeat rows
        gamma = certify(truth, prediction, sigma, eps=EPS, delta=DELTA).gamma
    return seconds, memory, float(np.sqrt(np.mean((truth - prediction) ** 2))), float(gamma * sigma.mean())


# A crowd ----------------------------------------------------------------------------------------------------------


def _crowd(size: int) -> None:
    rows = []
    for estimator in (
        LocalRidge(alpha=0.01, n_neighbors=100),
        LocalKernelRidge(gamma=0.1, alpha=0.01, n_neighbors=100),
    ):
        seconds, peak = _apart(_measure_crowd, estimator, size)
        cells = [f"{seconds:.1f}", f"{size / seconds:,.0f}", f"{peak / 2**30:.2f}", "2.00"]
        rows.append([type(estimator).__name__, *cells])
    print(f"\n{size:,} samples and {size:,} points in 8 dimensions, n_neighbors=100")
    print_table(["", "s", "points a second", "peak RSS, GiB", "aim, at most"], rows)


def _measure_crowd(estimator: Any, size: int) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    X, points = rng.standard_normal((2, size, 8))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(size)
    start = perf_counter()
    estimator.fit(X, y).predict(points, return_std=True)
    return perf_counter() - start, _peak_rss()


# Measuring --------------------------------------------------------------------------------------------------------


def _apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a fresh process, whose peak memory is then its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _peak_rss() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss of a child starts from what its parent had
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) * 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


if __name__ == "__main__":
    main()
