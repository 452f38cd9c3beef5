"""What one command prints, another reads: certificates on standard output, errors as JSON, the line to repeat."""

import json
import shlex

import pytest

import pacband as library
from support.shell import program

COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")
PROMISE = ("--eps", "0.1", "--delta", "0.01")
PLAN = ("plan", "--eps", "2", "--delta", "0.01", "--json")


def undated(data):
    return json.loads(data)["content"] | {"created": None}


@pytest.mark.parametrize("options", [("--json",), ("-o", "-"), ("-o", "/dev/stdout"), ("-o", "-", "--json")])
def test_a_certificate_on_standard_output_is_a_certificate_file(run, rows, tmp_path, options):
    made = run("certify", "data.csv", *COLUMNS, *PROMISE, *options)
    assert made.returncode == 0, made.stderr
    (tmp_path / "cert.json").write_bytes(made.stdout.encode())
    assert (
        library.load(tmp_path / "cert.json").gamma
        == library.certify(rows.y, rows.yhat, rows.s, eps=0.1, delta=0.01).gamma
    )
    run("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "file.json")
    assert undated(made.stdout) == undated((tmp_path / "file.json").read_bytes())
    for command in (
        ("apply", "cert.json", "data.csv", "-o", "bands.csv"),
        ("check", "cert.json", "data.csv"),
        ("monitor", "cert.json", "--state", "state.json", "data.csv"),
        ("report", "cert.json", "-o", "page.html"),
    ):
        done = run(*command)
        # These are the calibration rows: `check` says that they cannot test the promise.
        assert done.returncode == (2 if command[0] == "check" else 0), (command, done.stderr)
        assert "not a pacband/certificate file" not in done.stderr


def test_the_file_and_what_is_printed_are_the_same_bytes(run, rows, tmp_path):
    done = run("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json", "--json")
    assert done.stdout.encode() == (tmp_path / "cert.json").read_bytes()
    assert done.stderr == "Saved cert.json\n"


def test_messages_go_to_stderr_if_the_certificate_goes_to_stdout(run, rows):
    done = run("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "-")
    json.loads(done.stdout)
    assert done.stderr.startswith("With confidence 99 %")


def test_pages_on_standard_output(run, rows, tmp_path):
    page = run("certify", "data.csv", *COLUMNS, *PROMISE, "--report", "-", "-o", "cert.json")
    assert (page.returncode, page.stdout[:15]) == (0, "<!DOCTYPE html>")
    assert "With confidence 99 %" in page.stderr
    page = run("check", "cert.json", "data.csv", "--report", "-")
    assert page.stdout.startswith("<!DOCTYPE html>")
    assert "exceed the bound" in page.stderr


def test_a_model_on_standard_output(tmp_path, rows):
    rows[["rough", "s", "y"]][:300].to_csv(tmp_path / "few.csv", index=False)
    options = ("--target", "y", *PROMISE, "--time-budget", "0.5", "--jobs", "1", "-o", "-")
    done = program("fit", "few.csv", *options, cwd=tmp_path, stdin=b"")
    assert done.returncode == 0, done.stderr
    (tmp_path / "model.pacband").write_bytes(done.stdout)
    assert library.load(tmp_path / "model.pacband").certificate_.eps == 0.1
    assert b"With confidence 99 %" in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("certify", "data.csv", *COLUMNS, "-o", "-", "--report", "-"), "two outputs are standard output"),
        (("certify", "data.csv", *COLUMNS, "--json", "--report", "-"), "--json prints to standard output"),
        (("recalibrate", "cert.json", "data.csv", "-o", "-", "--json"), "--json prints to standard output"),
        (("fit", "data.csv", "--target", "y", "-o", "-", "--json"), "--json prints to standard output"),
        (("fit", "data.csv", "--target", "y", "-o", "-", "--report", "/dev/stdout"), "two outputs are standard output"),
    ],
)  # fmt: skip
def test_standard_output_takes_one_result(run, rows, line, message):
    assert run("certify", "data.csv", *COLUMNS, "-o", "cert.json").returncode == 0
    done = run(*line)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


ERRORS = {
    "usage": (("certify", "data.csv", "--json"), "UsageError", "name the --target column"),
    "unknown option": (("certify", "data.csv", "--jso", "--json"), "NoSuchOption", "--jso"),
    "unknown command": (("certfy", "--json"), "UsageError", "no such command 'certfy'"),
    "missing argument": (("check", "--json"), "MissingParameter", "CERTIFICATE"),
    "no file": (("certify", "nowhere.csv", *COLUMNS, "--json"), "InvalidInput", "nowhere.csv: there is no such file."),
    "no certificate": (("check", "nowhere.json", "data.csv", "--json"), "FileNotFoundError", "nowhere.json: No such file"),
    "too few": (("certify", "data.csv", *COLUMNS, "--eps", "1e-4", "--json"), "NotEnoughSamples", "--eps 0.0001"),
    "value": (PLAN, "InvalidInput", "eps must be in (0, 1), got 2"),
    "monitor": (("monitor", "data.csv", "--state", "s.json", "--json"), "CertificateError", "data.csv"),
    "diagnose": (("diagnose", "data.csv", "--target", "q", "--prediction", "yhat", "--json"), "InvalidInput", "'q'"),
    "fit": (("fit", "data.csv", "--target", "q", "-o", "m.pacband", "--json"), "InvalidInput", "'q'"),
    "predict": (("predict", "data.csv", "data.csv", "-o", "b.csv", "--json"), "CertificateError", "data.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_json_if_json_is_asked_for(run, rows, case):
    line, kind, message = ERRORS[case]
    done = run(*line)
    assert (done.returncode, done.stdout) == (2, "")
    error = json.loads(done.stderr)["error"]
    assert (error["kind"], error["exit_code"]) == (kind, 2)
    assert message in error["message"]
    assert not error["message"].startswith("pacband: ")
    plain = run(*(part for part in line if part != "--json"))
    assert "{" not in plain.stderr


def test_the_line_to_repeat_is_whole_and_quoted(run, rows, tmp_path):
    from lightgbm import LGBMRegressor

    frame = rows[["rough", "s"]]
    model = library.CertifiedRegressor(LGBMRegressor(n_estimators=2, verbose=-1, n_jobs=1), eps=0.1, delta=0.01)
    model.fit(frame, rows["y"].to_numpy()).save(tmp_path / "a model.pacband", trusted=["lightgbm.LGBMRegressor"])  # fmt: skip
    line = ("predict", "a model.pacband", "data.csv", "--lower", "low end")
    for _ in range(3):
        done = run(*line)
        if done.returncode == 0:
            break
        said = done.stderr.strip()
        repeated = shlex.split(said[said.index("pacband predict ") :])
        assert repeated[: 1 + len(line)] == ["pacband", *line]
        line = tuple(repeated[1:])
    assert done.returncode == 0, done.stderr
    assert "--trust" in line
