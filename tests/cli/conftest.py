import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def pacband(tmp_path):
    """Run the command line as a program, in a folder of its own."""

    def run(*arguments, stdin=None, env=None, **options):
        return subprocess.run(
            [sys.executable, "-m", "pacband", *map(str, arguments)],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
            text=not isinstance(stdin, bytes),
            timeout=120,
            **options,
        )

    return run


@pytest.fixture
def rows(tmp_path, rng):
    """A table of 3000 rows, saved as data.csv and data.parquet in the program's folder."""
    x = rng.uniform(-2, 2, 3000)
    scale = 0.1 + 0.1 * np.abs(x)
    frame = pd.DataFrame(
        {
            "id": [f"{k:05d}" for k in range(3000)],
            "y": np.sin(x) + scale * rng.standard_normal(3000),
            "yhat": np.sin(x),
            "rough": 0.9 * np.sin(x),
            "s": scale,
            "site": rng.choice(["north", "south"], 3000),
        }
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet", index=False)
    return frame
