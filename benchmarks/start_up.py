"""Starting up: what `import pacband` and `pacband certify` cost in a fresh interpreter, and what they load.

A command-line tool and a short script pay this at every start. `import pacband` loads none of the heavy libraries; each
is imported with the first name that needs it. Compared with an interpreter that does nothing, with `import numpy` and
with `import scipy.special`.

`pacband certify` on a small CSV file is compared with a bare scan of the same file by DuckDB, and with the same scan in
a process that also imports the libraries that the command needs: click, numpy and narwhals.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks._timing import best_of, print_table, ratio

HEAVY = ("numpy", "scipy", "sklearn", "narwhals", "jsonschema", "matplotlib", "duckdb", "pandas", "polars")

STARTS = {
    "pass": "pass",
    "import pacband": "import pacband",
    "import numpy": "import numpy",
    "import scipy.special": "import scipy.special",
    "from pacband import plan": "from pacband import plan",
    "from pacband import certify": "from pacband import certify",
    "from pacband import CertifiedRegressor": "from pacband import CertifiedRegressor",
    "import sklearn.base": "import sklearn.base",
}

SCAN = "import duckdb; print(duckdb.sql(\"select count(*), max(abs(y - p)) from 'small.csv'\").fetchall())"
COMMANDS = {
    "bare scan": ["-c", SCAN],
    "scan, with click, numpy and narwhals": ["-c", f"import click, numpy, narwhals; {SCAN}"],
    "pacband certify": ["-m", "pacband", "certify", "small.csv", "--target", "y", "--prediction", "p"],
}

FIRST_CALL = """
from time import perf_counter
moments = [perf_counter()]
import pacband
moments.append(perf_counter())
import numpy, scipy.special
moments.append(perf_counter())
certify = pacband.certify
moments.append(perf_counter())
y = numpy.linspace(-1.0, 1.0, 2065)
for _ in range(2):
    start = perf_counter()
    certify(y, 0.0 * y)
    moments.append(perf_counter() - start)
print(*[b - a for a, b in zip(moments[:3], moments[1:4])], *moments[4:])
"""


def main(quick: bool = False) -> None:
    repeats = 2 if quick else 6
    contenders = {name: lambda code=code: _run(code) for name, code in STARTS.items()}
    times = best_of(contenders, repeats=repeats)
    loaded = {name: _modules_after(code) for name, code in STARTS.items()}
    base = loaded["pass"]
    print("\na fresh interpreter, from start to exit")
    print_table(
        ["", "ms", "beyond pass", "of pass", "modules loaded", "of them"],
        [
            [
                name,
                f"{1e3 * seconds:.1f}",
                f"{1e3 * (seconds - times['pass']):.1f}",
                ratio(seconds, times["pass"]),
                len(loaded[name] - base),
                ", ".join(library for library in HEAVY if library in loaded[name]) or "none of the heavy ones",
            ]
            for name, seconds in times.items()
        ],
    )

    runs = [[float(word) for word in _run(FIRST_CALL).split()] for _ in range(repeats)]
    print("\nthe way to the first certificate (N = 2065), step by step")
    steps = ("import pacband", "numpy and scipy.special", "the rest of pacband.certify", "first call", "second call")
    print_table(
        ["", "ms"],
        [[step, f"{1e3 * min(times):.2f}"] for step, times in zip(steps, zip(*runs, strict=True), strict=True)],
    )
    _certify_small_file(3 if quick else 12)
    shared = [library for library in HEAVY if library in loaded["import pacband"]]
    print(f"\naim: `import pacband` loads none of {', '.join(HEAVY)}: {'MISSED, ' + str(shared) if shared else 'met'}")


def _certify_small_file(repeats: int) -> None:
    """Time the command and the bare scan in turns, and print the ratio of their medians."""
    # Installed packages have bytecode; without it, every start would compile pacband again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with TemporaryDirectory() as folder:
        rows = "".join(f"{(7 * k) % 1000},{(3 * k) % 1000}\n" for k in range(3000))
        Path(folder, "small.csv").write_text(f"y,p\n{rows}", encoding="utf-8")
        for _ in range(repeats + 1):
            for name, arguments in COMMANDS.items():
                start = perf_counter()
                subprocess.run(
                    [sys.executable, *arguments], cwd=folder, env=environment, check=True, capture_output=True
                )
                times[name].append(perf_counter() - start)
    # The first round writes the bytecode and fills the caches of the disk.
    found = {name: median(seconds[1:]) for name, seconds in times.items()}
    print(f"\na CSV file of 3000 rows, from start to exit, median of {repeats} runs in turns")
    print_table(
        ["", "ms", "of the bare scan"],
        [[name, f"{1e3 * seconds:.0f}", ratio(seconds, found["bare scan"])] for name, seconds in found.items()],
    )


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def _modules_after(code: str) -> set[str]:
    return set(
        json.loads(_run(f"{code}\nimport sys\nloaded = list(sys.modules)\nimport json\nprint(json.dumps(loaded))"))
    )
