"""How the benchmarks measure: the best of several interleaved runs, peak memory, and one kind of table."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from random import Random
from time import perf_counter

__all__ = ["best_of", "peak_memory", "print_table", "ratio", "verdict"]


def best_of(
    contenders: Mapping[str, Callable[[], object]], *, repeats: int, at_least: float = 0.005
) -> dict[str, float]:
    """Return the seconds a call of every contender takes, the best of `repeats` samples.

    The contenders take turns, so that a busy moment of the machine falls on all of them, and the minimum is
    what a quiet moment gives. Every round has another order: who comes after a contender that leaves the caches
    and the heap in disarray is slower, by up to a half at a million rows, and that must not fall on the same
    one each time (nor would it do to rotate the order, which keeps the neighbours).

    A sample lasts `at_least` seconds: a fast function is called many times in it. Two calls of each go before,
    unmeasured, so that imports and caches are not on the bill.
    """
    calls = {name: _calls_per_sample(function, at_least) for name, function in contenders.items()}
    best = dict.fromkeys(contenders, float("inf"))
    order, shuffler = list(contenders), Random(0)
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(repeats):
            shuffler.shuffle(order)
            for name in order:
                best[name] = min(best[name], _sample(contenders[name], calls[name]) / calls[name])
    finally:
        if enabled:
            gc.enable()
    return best


def peak_memory(function: Callable[[], object]) -> int:
    """Return the most bytes that a call holds beyond what was held before, its result included.

    tracemalloc sees numpy's arrays, since numpy reports its data to it; it does not see what other C libraries
    allocate by themselves.
    """
    function()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        function()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before


def ratio(value: float, reference: float) -> str:
    """Return value/reference as it stands in a table: '1.18×'."""
    return f"{value / reference:.2f}×" if value < 100 * reference else f"{value / reference:.0f}×"


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under a header: the first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for i, (first, *others) in enumerate(cells):
        print("  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]))
        if i == 0:
            print("  ".join("-" * width for width in widths))


def _calls_per_sample(function: Callable[[], object], at_least: float) -> int:
    function()
    return max(1, round(at_least / max(_sample(function, 1), 1e-7)))


def _sample(function: Callable[[], object], calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        function()
    return perf_counter() - start


def verdict(met: bool) -> str:
    """Return whether an aim was met, in the word that a reader can search for."""
    return "met" if met else "MISSED"
