"""The known range of a target on the command line."""

import pandas as pd
import pytest

import pacband as library

COLUMNS = ("--target", "y", "--prediction", "yhat")
RANGE = ("--clip-min", "-1.2", "--clip-max", "1.1")


@pytest.fixture
def inside(rows, tmp_path):
    """The table with targets in a range, as CSV."""
    frame = rows.assign(y=rows.y.clip(-1.2, 1.1))
    frame.to_csv(tmp_path / "data.csv", index=False)
    return frame


def test_certify_states_the_range_and_apply_keeps_it(run, inside, tmp_path):
    done = run("certify", "data.csv", *COLUMNS, *RANGE, "-o", "cert.json", "--report", "report.html")
    assert done.returncode == 0, done.stderr
    assert "y never leaves [−1.2, 1.1]" in done.stdout
    assert "The target y never leaves [−1.2, 1.1]" in (tmp_path / "report.html").read_text("utf-8")
    cert = library.load(tmp_path / "cert.json")
    assert cert.clip == (-1.2, 1.1)
    assert run("apply", "cert.json", "data.csv", "-o", "bands.csv").returncode == 0
    bands = pd.read_csv(tmp_path / "bands.csv")
    assert bands.lower.min() == -1.2
    assert bands.upper.max() == 1.1
    checked = run("check", "cert.json", "data.csv")
    assert (checked.returncode, checked.stdout[:29]) == (2, "These are the rows that the c")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--clip-min", "0"), "y must lie in [0, ∞), the range of --clip-min and --clip-max: it does not in"),
        (("--clip-min", "2", "--clip-max", "1"), "--clip-min must be smaller than --clip-max."),
        (("--clip-min", "nan"), "--clip-min and --clip-max must be numbers"),
    ],
)
def test_bad_ranges_write_nothing(run, inside, tmp_path, options, message):
    done = run("certify", "data.csv", *COLUMNS, *options, "-o", "cert.json")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "cert.json").exists()


def test_own_scores_have_no_range(run, inside):
    done = run("certify", "data.csv", "--score", "s", "--clip-min", "0")
    assert done.returncode == 2
    assert "own scores are bounded as they are" in done.stderr


def test_fit_refuses_targets_outside_before_it_tries_a_model(run, inside, tmp_path):
    done = run("fit", "data.csv", "--target", "y", "--clip-min", "0", "-o", "model.pacband")
    assert done.returncode == 2
    assert "must lie in [0, ∞), the range of --clip-min" in done.stderr
    assert not (tmp_path / "model.pacband").exists()


def test_a_target_that_leaves_its_range_later_counts_as_a_violation(run, inside, tmp_path):
    assert run("certify", "data.csv", *COLUMNS, *RANGE, "-o", "cert.json").returncode == 0
    inside.assign(y=-1.3, yhat=-1.3).to_csv(tmp_path / "left.csv", index=False)
    done = run("check", "cert.json", "left.csv")
    assert done.returncode == 1, done.stderr
    assert f"In {len(inside)} rows y left its declared range" in done.stdout
    done = run("monitor", "cert.json", "left.csv", "--state", "state.json")
    assert done.returncode == 1
    assert "rows y left its declared range" in done.stderr
