"""What all commands have: help with examples, and a quick --version."""

import subprocess
import sys

import pacband as library


def test_every_command_has_help_with_examples(pacband):
    from pacband.cli import COMMANDS

    listed = pacband("--help").stdout
    for name in COMMANDS:
        assert name in listed
        said = pacband(name, "--help")
        assert said.returncode == 0, said.stderr
        assert "Examples:" in said.stdout, name


def test_version_loads_no_scientific_library(pacband):
    code = "import sys; from pacband.cli import main\ntry: main()\nexcept SystemExit: pass\nfinally: print(sorted({'numpy', 'scipy', 'sklearn', 'duckdb', 'narwhals'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == [f"pacband {library.__version__}", "[]"]
