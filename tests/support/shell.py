"""Commands as a shell runs them, and a table that several of their tests are about."""

import os
import pty
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pandas as pd

PROGRAM = [sys.executable, "-m", "pacband"]


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def program(*arguments, cwd, stdin=None, env=None, **options):
    """Run a command as a process of its own. `stdin` is a text, bytes, or an open file."""
    source = {"stdin": stdin} if hasattr(stdin, "fileno") else {"input": stdin}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **source, **options}
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1", **(env or {})},
        text=not isinstance(stdin, bytes),
        timeout=120,
        check=False,
        **streams,
    )


def start(command, **options):
    """Start a process that a test signals or leaves running. Its coverage is not measured.

    On Python 3.11, coverage takes and releases a lock in every call. If the handler of a signal raises in between, the
    process waits for that lock for ever.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS_")}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env={**env, **options.pop("env", {})}, **{**streams, **options})


def on_a_terminal(folder, *arguments, env=None):
    """Run a command on a terminal of its own; return what it printed there."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
        env={**os.environ, "TERM": "xterm", "PYTHONUTF8": "1", **(env or {})},
    )
    os.close(its)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            part = b""
        if not part:
            break
        said += part
    os.close(ours)
    process.wait()
    return said.decode("utf-8", "replace")


def training_table(n_rows, seed=0):
    """Numbers, categories with gaps, and columns that no model uses, beside the target y."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"row {k}" for k in range(n_rows)],
            "day": pd.date_range("2020-01-01", periods=n_rows).strftime("%Y-%m-%d"),
            "a": rng.normal(size=n_rows),
            "b": rng.uniform(size=n_rows),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "unit": "m",
        }
    )
    frame["y"] = 2 * frame.a + (frame.colour == "red") + (0.1 + frame.b) * rng.normal(size=n_rows)
    frame.loc[::11, "b"] = np.nan
    frame.loc[::13, "colour"] = None
    return frame
