"""`pacband plan`."""

import json

import pytest


def test_plan_speaks_to_people_and_to_machines(pacband):
    said = pacband("plan", "--eps", "0.05", "--delta", "1e-6", "--candidates", "10")
    assert said.returncode == 0
    assert "Draw 1590 samples" in said.stdout
    assert said.stderr == ""
    plan = json.loads(pacband("plan", "--samples", "2065", "--json").stdout)
    assert (plan["n_samples"], plan["rank"]) == (2065, 60)


ACCEPTANCE = ("plan", "--eps", "0.05", "--delta", "0.05", "--eps-good", "0.01", "--beta", "0.1")


def test_an_acceptance_plan_has_its_operating_characteristic(run, tmp_path):
    done = run(*ACCEPTANCE)
    assert done.returncode == 0
    assert "draw 153 samples" in done.stdout
    assert "at most 3 of them violate" in done.stdout
    assert "93.1 %" in done.stdout
    plan = json.loads(run(*ACCEPTANCE, "--json").stdout)
    assert (plan["n_samples"], plan["max_violations"]) == (153, 3)
    assert plan["characteristic"][1]["p"] == 0.01
    for name, start in (("oc.png", b"\x89PNG"), ("oc.svg", b"<?xml"), ("oc.pdf", b"%PDF")):
        drawn = run(*ACCEPTANCE, "--figure", name)
        assert drawn.returncode == 0
        assert f"Saved {name}" in drawn.stderr
        assert (tmp_path / name).read_bytes().startswith(start)


def test_an_acceptance_plan_on_a_terminal(tmp_path):
    from support.shell import on_a_terminal

    shown = on_a_terminal(tmp_path, *ACCEPTANCE)
    assert "pacband acceptance plan" in shown
    assert "probability of acceptance" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--eps-good", "0.05"), "--eps-good must be smaller than --eps 0.05, got 0.05"),
        (("--eps-good", "0.01", "--beta", "1"), "beta must be in (0, 1), got 1.0"),
        (("--eps-good", "0.01", "--rank", "3"), "--rank cannot be combined with --eps-good"),
        (("--eps-good", "0.01", "--samples", "300"), "--samples cannot be combined with --eps-good"),
        (("--eps-good", "0.01", "--rule", "paper"), "--rule cannot be combined with --eps-good"),
        (("--eps-good", "0.01", "--candidates", "2"), "--candidates cannot be combined with --eps-good"),
        (("--beta", "0.2"), "--beta and --figure need --eps-good"),
        ((), "--beta and --figure need --eps-good"),
        (("--eps-good", "0.04999999999"), "need more than 1e+12 samples"),
    ],
)
def test_bad_acceptance_plans_draw_nothing(run, tmp_path, options, message):
    done = run("plan", *options, "--figure", "oc.png")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "oc.png").exists()


def test_a_figure_is_not_written_as_another_kind_of_file(run, tmp_path):
    done = run(*ACCEPTANCE, "--figure", "oc.txt")
    assert done.returncode == 2
    assert not (tmp_path / "oc.txt").exists()


def test_a_table_of_what_delta_costs(run):
    done = run("plan", "--eps", "0.1", "--n-samples", "120", "--table")
    assert (done.returncode, done.stderr) == (0, "")
    *_, largest, _, explained = done.stdout.strip().splitlines()
    assert largest.split() == ["120", "1e-06", "needs", "132", "samples", "–", "–", "–"]
    assert explained.startswith("At most 10 % of future errors")
    table = json.loads(run("plan", "--samples", "2065", "--table", "--delta", "0.02", "--json").stdout)
    assert [row["delta"] for row in table["rows"]] == [0.1, 0.05, 0.02, 0.01, 1e-3, 1e-6, 1e-9]
    assert table["rows"][5]["rank"] == 60


def test_a_table_on_a_terminal(tmp_path):
    from support.shell import on_a_terminal

    shown = on_a_terminal(tmp_path, "plan", "--eps", "0.1", "-n", "120", "--table")
    assert "pacband plan table" in shown
    assert "needs 132 samples" in shown


def test_a_plan_states_what_more_samples_would_buy(run):
    said = run("plan", "--eps", "0.1", "--delta", "0.05").stdout
    assert "No fewer samples can promise this: the bound is the largest of 29 scores." in said
    assert said.splitlines()[-2].split() == ["2,900", "0.05", "264", "9.1", "%", "×", "1.03", "×", "1.03"]
    assert (
        "The fewest samples that can promise this are 270: the bound is then the largest score." in run("plan").stdout
    )
    # Whoever gave N or the rank has decided.
    for given in (("--samples", "300"), ("--rank", "2"), ("--rule", "paper")):
        assert len(run("plan", "--eps", "0.1", "--delta", "0.05", *given).stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--table",), "--table needs --samples"),
        (("--table", "-n", "0"), "n_samples must be at least 1, got 0"),
        (("--table", "-n", "120", "--rank", "3"), "--rank cannot be combined with --table"),
        (("--table", "-n", "120", "--rule", "paper"), "--rule cannot be combined with --table"),
        (("--table", "--eps-good", "0.01"), "--table cannot be combined with --eps-good"),
        (("--table", "-n", "120", "--delta", "2"), "delta must be in (0, 1), got 2.0"),
    ],
)
def test_bad_tables(run, options, message):
    done = run("plan", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
