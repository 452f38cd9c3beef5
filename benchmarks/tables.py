"""Tables: `pacband certify` and `apply` on Parquet files, beside DuckDB and polars.

The floor is a bare scan, ``select max(abs(y - p) / s)``: it finds only the largest score. ``top_k`` of polars and
DuckDB's ``order by … limit`` find the score at the rank by keeping or sorting that many scores. Each runs in its own
process. The time includes its imports, and each process reports its peak memory.

Groups are compared with DuckDB's bare ``group by`` of their numbers of rows and largest scores, in files with fifty and
with a hundred rows a group. The memory should grow with the number of groups, not with the number of rows.

Units are compared with DuckDB's bare ``max … group by`` of the same columns: the memory should not grow with the rows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks._timing import best_of, print_table, ratio, verdict

COLUMNS = ("--target", "y", "--prediction", "p", "--scale", "s")
MEASURED = """
import json, resource, sys
from time import perf_counter
start = perf_counter()
{code}
print(json.dumps([perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
SCAN = "import duckdb; duckdb.sql(\"select max(abs(y - p) / s) from '{path}'\").fetchall()"
ORDER = (
    "import duckdb; duckdb.sql(\"select abs(y - p) / s as q from '{path}' order by q desc limit 1 offset {below}\")"
    ".fetchall()"
)
TOP_K = (
    "import polars as pl; q = (pl.col('y') - pl.col('p')).abs() / pl.col('s'); "
    "pl.scan_parquet('{path}').select(q.top_k({rank}).min()).collect(engine='streaming')"
)
PROGRAM = (
    "import contextlib, io, sys; sys.argv = {arguments!r}\n"
    "from pacband.cli import main\n"
    "with contextlib.redirect_stdout(io.StringIO()): main()"
)
BARE_GROUPS = (
    "import duckdb; duckdb.sql(\"select g, count(*), max(abs(y - p) / s) from '{path}' group by g\").fetchnumpy()"
)
GROUPS = (
    "import duckdb, pacband; pacband.certify_frame(duckdb.read_parquet('{path}'), "
    "target='y', prediction='p', scale='s', group='g', eps={eps}, delta=0.1)"
)
BARE_UNITS = "import duckdb; duckdb.sql(\"select g, max(abs(y - p) / s) from '{path}' group by g\").fetchnumpy()"
COPY = "import duckdb; duckdb.read_parquet('{path}').write_parquet('{copy}')"
STARTS = {
    "python -c 'import click'": ["-c", "import click"],
    "pacband --version": ["-m", "pacband", "--version"],
    "pacband plan": ["-m", "pacband", "plan"],
}


def main(quick: bool = False) -> None:
    sizes = (1_000_000, 4_000_000) if quick else (1_000_000, 10_000_000, 50_000_000)
    with tempfile.TemporaryDirectory() as folder:
        paths = {size: _make(Path(folder), size) for size in sizes}
        _certify(paths, Path(folder), repeats=2 if quick else 4)
        _apply(paths[sizes[-1]], Path(folder), repeats=1 if quick else 2)
        _groups(Path(folder), 10_000 if quick else 100_000, repeats=1 if quick else 2)
        _units(Path(folder), 20_000 if quick else 1_000_000, (5, 50), repeats=1 if quick else 2)
        _workers(paths[sizes[0] if quick else sizes[1]])
    _starts(repeats=3 if quick else 10)


def _make(folder: Path, size: int) -> str:
    import duckdb

    path = str(folder / f"{size}.parquet")
    duckdb.sql(
        "select p + s * (random() + random() + random() - 1.5) * 2 as y, p, s "
        f"from (select random() * 10 as p, 0.5 + random() as s from range({size}))"
    ).write_parquet(path)
    return path


def _certify(paths: dict[int, str], folder: Path, repeats: int) -> None:
    from pacband import max_rank

    rows, scans, memory, seconds = [], {}, {}, {}
    for size, path in paths.items():
        rank = max_rank(size, 0.05, 1e-6)
        arguments = ["pacband", "certify", path, *COLUMNS, "-o", str(folder / "cert.json"), "--overwrite"]
        contenders = {
            "DuckDB, bare scan": SCAN.format(path=path),
            "pacband certify": PROGRAM.format(arguments=arguments),
            "polars top_k": TOP_K.format(path=path, rank=rank),
            "DuckDB order by … limit": ORDER.format(path=path, below=rank - 1),
        }
        found = {name: _several(code, repeats) for name, code in contenders.items()}
        scans[size], seconds[size] = found["DuckDB, bare scan"][0], found["pacband certify"][0]
        memory[size] = found["pacband certify"][1]
        rows += [
            [f"{size:,}", name, f"{took:.2f}", ratio(took, scans[size]), f"{peak:.0f}"]
            for name, (took, peak) in found.items()
        ]
    print("\nthe r-th largest score of Parquet files, a process each")
    print_table(["rows", "", "s", "of the scan", "peak MiB"], rows)
    sizes = list(paths)
    last, before = sizes[-1], sizes[-2]
    times = seconds[last] / scans[last]
    print(f"\naim: at {last:,} rows, at most 5 × the scan: {verdict(times <= 5)} ({times:.2f} ×)")
    print(f"aim: at most 1024 MiB: {verdict(memory[last] <= 1024)} ({memory[last]:.0f} MiB)")
    growth = ratio(seconds[last], seconds[before])
    print(
        f"the memory at {before:,} rows: {memory[before]:.0f} MiB; {last // before} × the rows take {growth} the time"
    )


def _apply(path: str, folder: Path, repeats: int) -> None:
    arguments = ["pacband", "apply", str(folder / "cert.json"), path, "-o", str(folder / "bands.parquet")]
    copy = _several(COPY.format(path=path, copy=folder / "copy.parquet"), repeats)
    ours = _several(PROGRAM.format(arguments=arguments), repeats)
    print("\nthe band beside every row of the largest file, and a bare copy of it (which has two columns fewer)")
    print_table(
        ["", "s", "of the copy", "peak MiB"],
        [
            ["DuckDB, bare copy", f"{copy[0]:.2f}", "1", f"{copy[1]:.0f}"],
            ["pacband apply", f"{ours[0]:.2f}", ratio(ours[0], copy[0]), f"{ours[1]:.0f}"],
        ],
    )


def _groups(folder: Path, n_groups: int, repeats: int) -> None:
    """Many groups, certified beside a bare ``group by``; a hundred rows, or fifty, are enough for each eps."""
    rows, memory = [], {}
    for each, eps in ((50, 0.4), (100, 0.3)):
        path = _make_groups(folder, n_groups, each)
        bare = _several(BARE_GROUPS.format(path=path), repeats)
        ours = _several(GROUPS.format(path=path, eps=eps), repeats)
        memory[each] = ours[1]
        rows += [
            [f"{n_groups * each:,}", "DuckDB, bare group by", f"{bare[0]:.2f}", "1", f"{bare[1]:.0f}"],
            [f"{n_groups * each:,}", "certify_frame", f"{ours[0]:.2f}", ratio(ours[0], bare[0]), f"{ours[1]:.0f}"],
        ]
    print(f"\n{n_groups:,} groups of Parquet files, a process each")
    print_table(["rows", "", "s", "of the group by", "peak MiB"], rows)
    times = ours[0] / bare[0]
    print(f"\naim: at most 5 × the group by: {verdict(times <= 5)} ({times:.2f} ×)")
    print(f"twice the rows take {ratio(memory[100], memory[50])} the memory")


def _units(folder: Path, n_units: int, sizes: tuple[int, int], repeats: int) -> None:
    """Units of a few and of many rows, in shuffled order: `pacband certify --unit` beside a bare ``group by``."""
    rows, memory, times = [], [], 0.0
    for each in sizes:
        path = _make_groups(folder, n_units, each, label="(hash(i) % {n_groups})::bigint")
        arguments = [
            "pacband",
            "certify",
            path,
            *COLUMNS,
            "--unit",
            "g",
            "-o",
            str(folder / "units.json"),
            "--overwrite",
        ]
        bare = _several(BARE_UNITS.format(path=path), repeats)
        ours = _several(PROGRAM.format(arguments=arguments), repeats)
        times = ours[0] / bare[0]
        memory.append(ours[1])
        rows += [
            [f"{n_units * each:,}", "DuckDB, bare max … group by", f"{bare[0]:.2f}", "1", f"{bare[1]:.0f}"],
            [f"{n_units * each:,}", "pacband certify --unit", f"{ours[0]:.2f}", f"{times:.2f}×", f"{ours[1]:.0f}"],
        ]
    print(f"\n{n_units:,} units of Parquet files, a process each")
    print_table(["rows", "", "s", "of the group by", "peak MiB"], rows)
    print(f"\naim: at most 2 × the group by: {verdict(times <= 2)} ({times:.2f} ×)")
    print(f"{sizes[1] // sizes[0]} × the rows take {ratio(memory[1], memory[0])} the memory")


def _make_groups(folder: Path, n_groups: int, each: int, label: str = "'site ' || (i % {n_groups})") -> str:
    import duckdb

    path = str(folder / f"groups{each}.parquet")
    duckdb.sql(
        f"select p + s * (random() + random() + random() - 1.5) * 2 as y, p, s, {label.format(n_groups=n_groups)} as g "
        f"from (select random() * 10 as p, 0.5 + random() as s, i from range({n_groups * each}) t(i))"
    ).write_parquet(path)
    return path


def _workers(path: str) -> None:
    """Compare one Dask worker with two; each is a process of one thread."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    import pacband

    times = {}
    for workers in (1, 2):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster,
            Client(cluster),
        ):
            frame = dd.read_parquet(path, split_row_groups=8)
            start = perf_counter()
            pacband.certify_frame(frame, target="y", prediction="p", scale="s")
            times[workers] = perf_counter() - start
    faster = ratio(times[1], times[2])
    name = path.rsplit("/", 1)[-1]
    print(f"\nDask, {name}: one worker {times[1]:.1f} s, two {times[2]:.1f} s, {faster} as fast")


def _starts(repeats: int) -> None:
    contenders = {name: lambda words=words: _run(words) for name, words in STARTS.items()}
    times = best_of(contenders, repeats=repeats)
    bare = times["python -c 'import click'"]
    print("\nstart-up, from start to exit")
    print_table(
        ["", "ms", "of click"], [[name, f"{1e3 * took:.0f}", ratio(took, bare)] for name, took in times.items()]
    )
    for name in list(STARTS)[1:]:
        print(f"aim: {name} at most 3 × click: {verdict(times[name] <= 3 * bare)}")


def _several(code: str, repeats: int) -> tuple[float, float]:
    """Return the least seconds and the largest peak of several processes."""
    seconds, peaks = zip(*(_measured(code) for _ in range(repeats)), strict=True)
    return min(seconds), max(peaks)


def _measured(code: str) -> tuple[float, float]:
    """Return the seconds and the peak MiB of a process, with its imports, without the start of Python."""
    printed = subprocess.run(
        [sys.executable, "-c", MEASURED.format(code=code)], check=True, capture_output=True, text=True
    ).stdout
    seconds, peak = json.loads(printed.strip().splitlines()[-1])
    return seconds, peak


def _run(words: list[str]) -> None:
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
