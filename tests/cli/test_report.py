"""``pacband report``: from files to a page, Markdown and JSON, with the exit codes of a promise."""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import pacband
from pacband.core.wording import figure
from pacband.reporting.summary import Verdict
from pacband.reporting.terminal import show


@pytest.fixture
def folder(tmp_path, rng):
    n = 400
    frame = pd.DataFrame({"age": rng.random(n), "site": np.where(rng.random(n) < 0.5, "<i>a</i>", "b")})
    frame["p"], frame["s"] = 3 * frame["age"], 0.5 + frame["age"]
    frame["y"] = frame["p"] + frame["s"] * rng.standard_normal(n)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.assign(y=frame["p"] + 2 * (frame["y"] - frame["p"])).to_csv(tmp_path / "fresh.csv", index=False)
    table = pd.read_csv(tmp_path / "data.csv")
    cert = pacband.certify(table["y"], table["p"], table["s"], eps=0.1, delta=0.01)
    cert.save(tmp_path / "cert.json")
    return tmp_path


COLUMNS = ("--target", "y", "--prediction", "p", "--scale", "s")


def test_a_page_with_the_calibration_rows(run, folder):
    done = run("report", "cert.json", "data.csv", *COLUMNS)
    assert done.returncode == 0, done.stderr
    assert "Recomputed and confirmed" in done.stdout
    page = (folder / "report.html").read_text("utf-8")
    assert "pacband report cert.json data.csv --target y" in page
    assert "<i>a</i>" not in page
    assert "&lt;i&gt;a&lt;/i&gt;" in page


def test_fresh_rows_that_contradict_end_with_one(run, folder):
    done = run("report", "cert.json", "fresh.csv", *COLUMNS, "--format", "json", "-o", "-")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"]["state"] == "contradicted"
    assert {slicing["feature"] for slicing in found["slices"]} == {"age", "site", "prediction T(x)"}


def test_the_certificate_alone_as_markdown(run, folder):
    done = run("report", "cert.json", "-o", "report.md")
    assert done.returncode == 0, done.stderr
    assert (folder / "report.md").read_text("utf-8").startswith("# How wrong can the model be?")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("cert.json", "data.csv"), "name the prediction column"),
        (("cert.json", "data.csv", *COLUMNS, "--target", "yy"), "there is no column 'yy'"),
        (("cert.json", "data.csv", "--target", "y", "--prediction", "p"), "calibrated with a scale"),
        (("cert.json", "none.csv", *COLUMNS), "no such file"),
        (("none.json",), "none.json"),
    ],
)
def test_bad_input_ends_with_two_and_writes_nothing(run, folder, arguments, said):
    done = run("report", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "report.html").exists()


def test_the_terminal_shows_every_kind_and_takes_names_literally(rng):
    y = rng.standard_normal(400)
    kinds = [
        pacband.plan(),
        pacband.certify(y, 0 * y, eps=0.1, delta=0.01),
        pacband.certify_family(
            y, {"[red]x[/red]": 0 * y, **{f"m{k}": y / (k + 2) for k in range(40)}}, eps=0.1, delta=0.01
        ),
        pacband.certify_groups(y, 0 * y, np.repeat(["[bold]a", "b"], 200), eps=0.1, delta=0.1),
    ]
    for value in kinds:
        terminal = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
        show(value, Verdict("kept", "Kept", "[blue]as said[/blue]"), console=terminal)
        text = terminal.export_text()
        assert "╭" in text
        assert "[blue]as said[/blue]" in text
        pipe = Console(force_terminal=False, width=40, record=True, file=io.StringIO())
        show(value, console=pipe)
        assert str(value) in pipe.export_text()
    assert "[red]x[/red]" in str(kinds[2])


def on_a_terminal(value):
    terminal = Console(force_terminal=True, width=120, record=True, file=io.StringIO())
    show(value, console=terminal)
    return terminal.export_text()


def test_the_terminal_ranks_one_sided_families_by_the_distance_to_the_bound(rng):
    y = rng.standard_normal(400)
    candidates = {f"over {k:02}": y * 0.9 + 10.0 * k + rng.standard_normal(400) * (0.1 + k) for k in range(40)}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.1, side="upper")
    text = on_a_terminal(family)
    assert "mean distance from y to the bound" in text
    assert re.findall(r"over \d\d", text.split("candidate")[-1])[:3] == ["over 00", "over 01", "over 02"]
    assert re.search(rf"over 00 \(best\) +{figure(family.sharpness['over 00'])} ", text)
    assert "and 10 more" in text


def test_the_terminal_never_cuts_off_the_best():
    """Ranked by name where all are alike; the best is the first of them that was given."""
    y = np.arange(400.0)
    names = [f"m{k:02}" for k in range(40)]
    family = pacband.certify_family(y, dict.fromkeys(reversed(names), 0 * y), eps=0.1, delta=0.1)
    family = replace(family, best="m00")
    assert "m00 (best)" in on_a_terminal(family)
    assert "and 10 more" in on_a_terminal(family)


def test_the_terminal_says_what_to_expect_only_of_what_was_chosen_beforehand(rng):
    y = rng.standard_normal(400)
    assert "violation to expect" in on_a_terminal(pacband.certify(y, 0 * y, eps=0.1, delta=0.1))
    assert "violation to expect" not in on_a_terminal(pacband.certify(y, 0 * y, eps=0.1, delta=0.1, n_candidates=4))
    assert "violation to expect of each candidate" in on_a_terminal(pacband.plan(n_candidates=4))
    groups = {"eps": 0.1, "delta": 0.1}
    assert "violation to expect" in on_a_terminal(pacband.certify_groups(y, 0 * y, y > 0, **groups))
    assert "violation to expect" not in on_a_terminal(pacband.certify_groups(y, 0 * y, y > 0, n_candidates=2, **groups))
