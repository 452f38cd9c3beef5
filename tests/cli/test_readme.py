"""The shell commands of the README run as they stand there."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from support.blocks import blocks_of

README = Path(__file__).parents[2] / "README.md"


def test_the_commands_of_the_readme_run(rows, tmp_path):
    rows.assign(machine=[k // 10 for k in range(len(rows))]).to_csv(tmp_path / "machines.csv", index=False)
    rows.iloc[:-1].to_csv(tmp_path / "labelled.csv", index=False)
    rows.to_csv(tmp_path / "today.csv", index=False)
    for name in ("new", "inputs"):
        rows.drop(columns="y").to_csv(tmp_path / f"{name}.csv", index=False)
    rows.drop(columns=["id"]).to_csv(tmp_path / "table.csv", index=False)
    for seed, name in enumerate(("live", "fresh")):
        noise = np.random.default_rng(seed).standard_normal(len(rows))
        rows.assign(y=rows.yhat + rows.s * noise).drop(columns=["id"]).to_csv(tmp_path / f"{name}.csv", index=False)
    (block,) = (block for block in blocks_of(README) if block.language == "sh")
    commands = block.code.strip().splitlines()
    assert len(commands) >= 8
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        command = command.replace("-o model.pacband", "-o model.pacband --time-budget 3")
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": path},
        )
        assert done.returncode == 0, (command, done.stderr)
    for name in (
        "cert.json",
        "report.html",
        "bands.csv",
        "state.json",
        "model.pacband",
        "predictions.csv",
        "watch.json",
        "model2.pacband",
    ):
        assert (tmp_path / name).stat().st_size > 0
