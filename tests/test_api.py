"""The façade: what is public, what an import costs, and that every documented example runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pacband
from support.blocks import blocks_of, run_python

ROOT = Path(__file__).parent.parent


def test_public_names_are_sorted_and_all_there():
    assert list(pacband.__all__) == sorted(pacband.__all__)
    for name in pacband.__all__:
        assert getattr(pacband, name) is not None
    assert set(pacband.__all__) <= set(dir(pacband))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'pacband' has no attribute 'certifry'"):
        pacband.certifry  # noqa: B018


def test_no_module_shadows_a_public_function():
    modules = {path.stem for path in (ROOT / "src" / "pacband").iterdir()}
    functions = set(pacband.__all__) - {"baselines", "datasets", "draws", "mlflow", "scale"}
    assert not modules & functions


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import pacband", ["numpy", "scipy", "sklearn", "narwhals", "matplotlib", "duckdb", "jsonschema"]),
        ("import pacband; pacband.plan()", ["sklearn", "narwhals", "matplotlib", "duckdb"]),
        ("import pacband; pacband.certify([1., 2.], [1., 1.], eps=.5, delta=.5)", ["sklearn", "matplotlib", "duckdb"]),
    ],
)
def test_imports_are_lazy(statement, absent):
    code = f"{statement}; import sys; print([m for m in {absent} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_readme_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = ROOT / "README.md"
    blocks = [block for block in blocks_of(readme) if block.language == "python"]
    assert blocks
    names = {}
    printed = "".join(run_python(block, names, readme) for block in blocks)
    shown = re.search(r"It prints\n\n```\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), flags=re.DOTALL)
    promise, bound, _ = shown.group(1).splitlines()
    # The bound itself depends on the release of scikit-learn that grew the forest; all else does not.
    assert promise.rsplit("≤", 1)[0] in printed
    assert bound in printed
    (units,) = re.findall(
        r"^With confidence 99 %, .*machines.*$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert units in printed


def test_the_costs_of_the_readme_are_those_of_the_plan():
    rows = re.findall(
        r"^\| ([\d,]+) \| ([\de.-]+) \| ([\d.]+) % \| ([\d.]+) \|$", (ROOT / "README.md").read_text("utf-8"), re.M
    )
    assert len(rows) >= 4
    for n_samples, delta, violation, width in rows:
        (row,) = pacband.plan_table(int(n_samples.replace(",", "")), eps=0.05, deltas=[float(delta)]).rows
        assert (f"{100 * row.expected_violation:.2f}", f"{row.relative_width:.2f}") == (violation, width)


@pytest.mark.parametrize("script", sorted((ROOT / "examples").rglob("*.py")), ids=lambda path: path.stem)
def test_examples_run(script, tmp_path):
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.skipif(shutil.which("bash") is None, reason="the script is for a shell")
@pytest.mark.parametrize("script", sorted((ROOT / "examples").rglob("*.sh")), ids=lambda path: path.stem)
def test_examples_of_the_shell_run(script, tmp_path):
    program = tmp_path / "pacband"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pacband "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    done = subprocess.run(["bash", script], capture_output=True, text=True, cwd=tmp_path, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
