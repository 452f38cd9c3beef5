"""No output is an input, no two outputs are one file, and no file of another kind is lost: for every command, option and
way to name a file."""

import os
import shutil
import subprocess
from importlib import import_module
from itertools import combinations

import click
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband
from pacband.cli import COMMANDS
from support.shell import PROGRAM

PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")
# Every command that writes: a line that works, {place} for each file. All names end in .csv, which every output takes.
LINES = {
    "certify": ["{files}", *COLUMNS, *PROMISE, "--model-file", "{model_file}", "-o", "{output}", "--report", "{page}"],
    "apply": ["{certificate}", "{files}", "--model-file", "{model_file}", "-o", "{output}"],
    "check": ["{certificate}", "{files}", "--report", "{page}"],
    "report": ["{certificate}", "{files}", "-o", "{output}"],
    "fit": ["{files}", "--target", "y", *PROMISE, "--search-plan", "{search_plan}", "--save-search-plan", "{save_search_plan}", "-o", "{output}", "--certificate", "{alone}", "--report", "{report}"],
    "predict": ["{model}", "{files}", "-o", "{output}"],
    "monitor": ["{certificate}", "{file}", "--state", "{state}", "--metrics", "{metrics}"],
    "recalibrate": ["{certificate}", "{files}", "--model-file", "{model_file}", "-o", "{output}", "--certificate", "{alone}", "--report", "{page}"],
    "keygen": ["{private}", "{public}"],
    "sign": ["{certificate}", "--key", "{key}", "-o", "{output}"],
}  # fmt: skip
INPUTS = {
    "certificate": "cert.csv",
    "model": "model.csv",
    "model_file": "model.csv",
    "files": "data.csv",
    "file": "data.csv",
    "key": "key.csv",
    "search_plan": "plan.csv",
}
OUTPUTS = ("output", "alone", "page", "report", "save_search_plan", "state", "metrics", "private", "public")


def places(line, kinds):
    return [part[1:-1] for part in line if part.startswith("{") and part[1:-1] in kinds]


READ = [(name, out, file) for name, line in LINES.items() for out in places(line, OUTPUTS) for file in places(line, INPUTS)]  # fmt: skip
WRITTEN = [(name, *pair) for name, line in LINES.items() for pair in combinations(places(line, OUTPUTS), 2)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(7)
    x = rng.uniform(-2, 2, 400)
    scale = 0.1 + 0.1 * np.abs(x)
    rows = pd.DataFrame({"y": x + scale * rng.standard_normal(400), "yhat": x, "s": scale})
    rows.to_csv(folder / "data.csv", index=False)
    model = pacband.CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01)
    model.fit(rows[["s", "yhat"]], rows["y"]).save(folder / "model.csv")
    about = {"model": {"digest": pacband.model_digest(folder / "model.csv")}}
    pacband.certify_frame(rows, target="y", prediction="yhat", scale="s", eps=0.1, delta=0.01, about=about).save(
        folder / "cert.csv"
    )
    (folder / "plan.csv").write_text("{}")
    pacband.generate_keys(folder / "key.csv", folder / "public.csv")
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    for file in made.iterdir():
        shutil.copy(file, tmp_path)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(run):
    """Run a command of `LINES` with these names."""
    return lambda name, names: run(name, *(part.format(**names) for part in LINES[name]))


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fresh_names():
    return {**INPUTS, **{name: f"new-{name}.csv" for name in OUTPUTS}}


def symlink(file):
    os.symlink(file, "link.csv")
    return "link.csv"


def hard_link(file):
    os.link(file, "hard.csv")
    return "hard.csv"


def through_a_folder(file):
    os.symlink(".", "folder")
    return f"folder/{file}"


# How the output names the file that the input names directly.
WAYS = {
    "as it is": lambda file: file,
    "absolute": os.path.abspath,
    "relative": lambda file: f"below/../{file}",
    "symlink": symlink,
    "hard link": hard_link,
    "symlinked folder": through_a_folder,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "output", "file"), READ)
def test_no_command_writes_to_what_it_reads(name, output, file, way, folder, call):
    names = {**fresh_names(), output: WAYS[way](INPUTS[file])}
    before = contents(folder)
    code, out, err = call(name, names)
    assert (code, out) == (2, "")
    assert f"the output {names[output]} is also an input" in err
    assert "choose another name" in err
    assert contents(folder) == before


# A certificate is one file, named as it is: only tables can be named by a pattern.
OTHER_NAMES = [(*case, way) for case in READ for way in ("symlink", "hard link", "absolute", "glob") if way != "glob" or case[2] == "files"]  # fmt: skip


@pytest.mark.parametrize(("name", "output", "file", "way"), OTHER_NAMES)
def test_an_input_by_another_name_is_known_again(name, output, file, way, folder, call):
    named = INPUTS[file].replace("data", "dat[a]") if way == "glob" else WAYS[way](INPUTS[file])
    before = contents(folder)
    code, out, err = call(name, {**fresh_names(), output: INPUTS[file], file: named})
    assert (code, out) == (2, "")
    assert f"the output {INPUTS[file]} is also an input" in err
    assert contents(folder) == before


@pytest.mark.parametrize(("way", "there"), [(way, there) for way in WAYS for there in (True, False) if there or way != "hard link"])  # fmt: skip
@pytest.mark.parametrize(("name", "one", "other"), WRITTEN)
def test_two_outputs_are_two_files(name, one, other, way, there, folder, call):
    if there:
        (folder / "same.csv").write_text("old")
    names = {**fresh_names(), one: "same.csv", other: WAYS[way]("same.csv")}
    before = contents(folder)
    code, out, err = call(name, names)
    assert (code, out) == (2, "")
    assert "two outputs are one file, same.csv" in err
    assert "choose different files" in err
    assert contents(folder) == before


def test_every_parameter_that_names_a_file_is_looked_at():
    from pacband.cli.output import Command, Input, Output

    modules = {name: import_module(f"pacband.cli.{name.replace('-', '_')}") for name in COMMANDS}
    found = {name: {p.name: p.type for p in module.command.params} for name, module in modules.items()}
    written = {name: [n for n, kind in kinds.items() if isinstance(kind, Output)] for name, kinds in found.items()}
    # A plan reads no file that its figure could replace.
    assert {name: sorted(outs) for name, outs in written.items() if outs} == {
        "plan": ["figure"],
        **{name: sorted(places(line, OUTPUTS)) for name, line in LINES.items()},
    }
    for name, line in LINES.items():
        read = [n for n, kind in found[name].items() if isinstance(kind, Input)]
        assert sorted(read) == sorted(places(line, INPUTS))
    # Certificates, states, keys and signatures are looked at where they are written. All others by their kind.
    free = {(name, n) for name, kinds in found.items() for n, kind in kinds.items() if isinstance(kind, Output) and not (kind.certificate or kind.replaces)}  # fmt: skip
    assert free == {("monitor", "state"), ("keygen", "private"), ("keygen", "public"), ("sign", "output")}
    replacing = [name for name, kinds in found.items() if any(getattr(kind, "replaces", None) for kind in kinds.values())]  # fmt: skip
    assert [name for name in replacing if not isinstance(modules[name].command, Command)] == []
    # A plain path would not be looked at. The folder of the demo is none of a user's files.
    plain = {(name, n) for name, kinds in found.items() for n, kind in kinds.items() if type(kind) in (click.Path, click.File)}  # fmt: skip
    assert plain == {("demo", "folder")}


@pytest.mark.parametrize("named", ["below", "bel*", "b*/../below"])
def test_a_directory_of_parquet_files_is_all_of_its_files(named, folder, call):
    rows = pd.read_csv(folder / "data.csv")
    rows.to_parquet(folder / "below" / "part.parquet")
    before = contents(folder)
    names = {**fresh_names(), "files": named, "output": "below/part.parquet"}
    code, _, err = call("apply", names)
    assert code == 2
    assert "below/part.parquet is also an input" in err
    assert contents(folder) == before
    # A new file there is none of them.
    assert call("report", {**names, "output": "below/new.html"})[0] == 0
    assert call("report", {**names, "output": "below/new.html"})[0] == 0


def test_files_with_special_characters_stand_for_themselves(folder, call):
    # The pattern data[1].csv matches data1.csv alone.
    os.rename("data.csv", "data[1].csv")
    names = {**fresh_names(), "files": "data[1].csv"}
    code, _, err = call("report", {**names, "output": "data[1].csv"})
    assert code == 2
    assert "data[1].csv is also an input" in err


@pytest.mark.parametrize("other", ["metrics", "certificate", "file"])
def test_the_lock_of_a_state_is_an_output_too(other, folder, call):
    os.symlink("below/state.csv", "state.csv")
    shutil.copy(INPUTS.get(other, "data.csv"), "below/state.csv.lock")
    before = contents(folder)
    names = {**fresh_names(), "state": "state.csv", other: "below/state.csv.lock"}
    code, out, err = call("monitor", names)
    assert (code, out) == (2, "")
    assert "below/state.csv.lock" in err
    assert contents(folder) == before


@pytest.mark.parametrize(
    "line",
    [
        ["certify", "-", *COLUMNS, *PROMISE, "-o", "data.csv"],
        ["monitor", "cert.csv", "-", "--state", "state.csv", "--metrics", "data.csv"],
        ["monitor", "cert.csv", "--state", "data.csv"],
        ["monitor", "cert.csv", "--state", "state.csv", "--metrics", "data.csv"],
        ["apply", "cert.csv", "-", "-o", "data.csv"],
        # As in a loop `while read name; do pacband …; done < data.csv`.
        ["report", "cert.csv", "-o", "data.csv"],
    ],
)
def test_standard_input_from_a_file_is_an_input(line, folder):
    before = contents(folder)
    with open("data.csv", "rb") as rows:
        done = subprocess.run([*PROGRAM, *line], stdin=rows, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the output data.csv is also an input (standard input)" in done.stderr
    assert contents(folder) == before


@pytest.mark.parametrize(
    "line",
    [
        ["apply", "cert.csv", "data.csv"],
        ["check", "cert.csv", "data.csv"],
        ["diagnose", "data.csv", "--target", "y", "--prediction", "yhat"],
    ],
)
def test_standard_output_into_an_input_is_refused(line, folder):
    before = contents(folder)
    with open("data.csv", "ab") as rows:
        done = subprocess.run(
            [*PROGRAM, *line],
            stdout=rows,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert "the output standard output is also an input (data.csv)" in done.stderr
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("name", "option"),
    [("monitor", "state"), ("monitor", "metrics")],
)
def test_a_dash_is_no_file_where_only_a_file_will_do(name, option, folder, call):
    before = contents(folder)
    code, out, err = call(name, {**fresh_names(), option: "-"})
    assert (code, out) == (2, "")
    assert "needs a file, got -, which stands for standard output" in err
    assert contents(folder) == before


def test_the_two_files_of_the_demo_are_two(folder, run):
    (folder / "below" / "report.html").write_text("old")
    os.symlink("report.html", "below/certificate.json")
    done = run("demo", "--folder", "below")
    assert done.returncode == 2
    assert "two outputs are one file" in done.stderr
    assert (folder / "below" / "report.html").read_text() == "old"


def test_outputs_of_their_own_are_written(folder, call):
    for name in ("certify", "apply", "check", "report", "predict", "monitor"):
        before = set(contents(folder))
        # These are the calibration rows: they cannot test the promise, and the page is written all the same.
        assert call(name, fresh_names())[0] == (2 if name == "check" else 0), name
        new = set(contents(folder)) - before
        assert len(new) >= len(places(LINES[name], OUTPUTS)), name
        for path in new:
            os.remove(path)


# What may be in the place of an output, as it begins.
HELD = {
    "certificate": b'{\n  "schema": "pacband/certificate",\n',
    "state": b'{\n  "schema": "pacband/monitor",\n',
    "plan": b'{\n  "schema": "pacband/search-plan",\n',
    "model": b"PK\x03\x04 and more",
    "key": b"-----BEGIN PRIVATE KEY-----\n",
    "page": b"<!DOCTYPE html>\n<html>",
    "markdown": b"# How wrong can the model be?\n\n> With confidence 99 %",
    "numbers": b'{\n  "title": "How wrong can the model be?",\n',
    "metrics": b"# HELP pacband_rows_total Rows with a label.\n",
    "table": b"y,yhat\n1,2\n",
    "comments": b"# measured in May\ny,yhat\n1,2\n",
    "other metrics": b"# HELP node_load1 1m load average.\n",
    "figure": b"\x89PNG\r\n\x1a\n",
}
REPLACED = {
    ("certify", "page"): {"page"},
    ("check", "page"): {"page"},
    ("recalibrate", "page"): {"page"},
    ("fit", "report"): {"page"},
    ("fit", "save_search_plan"): {"plan"},
    ("report", "output"): {"page", "markdown", "numbers"},
    ("monitor", "metrics"): {"metrics"},
    ("apply", "output"): {"table", "comments", "markdown"},
    ("predict", "output"): {"table", "comments", "markdown"},
}


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize(("name", "output"), REPLACED)
def test_a_file_of_another_kind_is_not_replaced(name, output, held, folder, call):
    if held in REPLACED[name, output]:
        return
    (folder / "there.csv").write_bytes(HELD[held])
    before = contents(folder)
    code, out, err = call(name, {**fresh_names(), output: "there.csv"})
    assert (code, out) == (2, "")
    assert "there.csv exists, and is no " in err
    assert "choose another name, or remove the file" in err
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("name", "output", "held"),
    [
        (name, output, held)
        for (name, output), kinds in REPLACED.items()
        if name in ("certify", "report", "monitor", "apply", "predict")
        for held in (*sorted(kinds), "nothing")
    ],
)
def test_a_file_of_the_same_kind_or_an_empty_one_is_replaced(name, output, held, folder, call):
    old = HELD.get(held, b"")
    (folder / "there.csv").write_bytes(old)
    assert call(name, {**fresh_names(), output: "there.csv"})[0] == 0
    assert (folder / "there.csv").read_bytes() != old


@pytest.mark.parametrize(
    "line",
    [
        *(["report", "cert.csv", "data.csv", "--title", title, "--format", kind, "-o", "there"] for kind in ("html", "markdown", "json") for title in ("Short", "*A* | <b>", "L" * 450)),
        ["monitor", "cert.csv", "data.csv", "--state", "state", "--metrics", "there"],
        ["apply", "cert.csv", "data.csv", "-o", "there.csv"],
        ["apply", "cert.csv", "data.csv", "-o", "there.parquet"],
        ["plan", "--eps-good", "0.01", "--figure", "there.png"],
        ["plan", "--eps-good", "0.01", "--figure", "there.svg"],
        ["plan", "--eps-good", "0.01", "--figure", "there.pdf"],
    ],
)  # fmt: skip
def test_what_a_command_wrote_it_writes_again(line, folder, run):
    for _ in range(2):
        done = run(*line)
        assert done.returncode == 0, done.stderr


def test_a_figure_replaces_no_certificate(folder, run):
    os.rename("cert.csv", "cert.svg")
    before = contents(folder)
    done = run("plan", "--eps-good", "0.01", "--figure", "cert.svg")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cert.svg exists, and is no figure" in done.stderr
    assert contents(folder) == before
