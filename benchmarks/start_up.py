"""Starting up: what `import pacband` costs in a fresh interpreter, and what it loads.

A command-line tool and a short script pay this at every start. `import pacband` is to load none of the heavy
libraries; each arrives with the first name that needs it. Compared with an interpreter that does nothing, with
`import numpy` and with `import scipy.special`, the least that any computing takes.
"""

from __future__ import annotations

import json
import subprocess
import sys

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
    shared = [library for library in HEAVY if library in loaded["import pacband"]]
    print(f"\naim: `import pacband` loads none of {', '.join(HEAVY)}: {'MISSED, ' + str(shared) if shared else 'met'}")


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def _modules_after(code: str) -> set[str]:
    return set(
        json.loads(_run(f"{code}\nimport sys\nloaded = list(sys.modules)\nimport json\nprint(json.dumps(loaded))"))
    )
