from functools import partial

import numpy as np
import pandas as pd
import pytest

from support.shell import program, training_table


@pytest.fixture
def pacband(tmp_path):
    """Run the command line as a program, in a folder of its own. The fixture `run` does so in this process."""
    return partial(program, cwd=tmp_path)


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A folder with a model that `pacband fit` made there, and how that command ended."""
    folder = tmp_path_factory.mktemp("fitted")
    training_table(400).to_csv(folder / "data.csv", index=False, na_rep="NA")
    promise = ["--eps", "0.1", "--delta", "0.05"]
    options = ["--time-budget", "1", "--jobs", "1", "--report", "report.html", "--json"]
    done = program("fit", "data.csv", "--target", "y", *promise, "-o", "model.pacband", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


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
