"""What all commands have: help with examples, and a quick --version."""

import subprocess
import sys

import click
import pytest

import pacband as library


def test_every_command_has_help_with_examples(pacband):
    from pacband.cli import COMMANDS

    listed = pacband("--help").stdout
    for name in COMMANDS:
        assert name in listed
        said = pacband(name, "--help")
        assert said.returncode == 0, said.stderr
        assert "Examples:" in said.stdout, name
        assert max(map(len, said.stdout.splitlines())) <= 80, f"the help of {name} does not fit a terminal"


def test_version_loads_no_scientific_library(pacband):
    code = "import sys; from pacband.cli import main\ntry: main()\nexcept SystemExit: pass\nfinally: print(sorted({'numpy', 'scipy', 'sklearn', 'duckdb', 'narwhals'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == [f"pacband {library.__version__}", "[]"]


def test_an_option_that_takes_one_value_is_refused_if_it_is_given_twice():
    """click takes the last value without a word. The test covers every option of every command."""
    from pacband.cli import COMMANDS
    from pacband.cli import pacband as group

    context, n_options = click.Context(group), 0
    for name in COMMANDS:
        for option in group.get_command(context, name).params:
            if not isinstance(option, click.Option) or option.multiple or option.is_flag:
                continue
            twice = [part for opt in (option.opts[0], option.opts[-1]) for part in (opt, *["1"] * option.nargs)]
            with pytest.raises(click.UsageError, match=r"--[a-z-]+ must be given once, got it 2 times"):
                group.main([name, *twice], standalone_mode=False)
            n_options += 1
    assert n_options > 150


def test_a_repeated_option_is_refused_before_anything_is_read_or_written(run, tmp_path):
    twice = run(
        "certify", "none.csv", "--target", "y", "--prediction", "p", "--eps", "0.1", "--eps=0.05", "-o", "c.json"
    )
    assert twice.returncode == 2
    assert "--eps must be given once, got it 2 times." in twice.stderr
    assert "pacband certify" in twice.stderr
    assert not list(tmp_path.iterdir())
    # The value of an option may look like the option, and a flag may be given twice.
    assert run("plan", "--eps", "0.1", "--json", "--json").returncode == 0
    assert "no such option" in run("plan", "--eps", "0.1", "--eps", "0.2", "--epsilon", "3").stderr.lower()


@pytest.mark.parametrize("command", [("fit", "data.csv", "--target", "y"), ("demo",)])
@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_numpy_does_not_take_is_a_usage_error(run, rows, command, seed):
    done = run(*command, "--seed", seed)
    assert done.returncode == 2
    assert f"{seed} is not in the range" in done.stderr
