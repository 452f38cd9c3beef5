"""In a file with decimal commas, 51.494 may be 51494 and 1.234 may be a machine: read right, or refused in words."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband as library

PROMISE = ("--eps", "0.2", "--delta", "0.1")
TWO_MEANINGS = "the numbers of column 'x' have two meanings"
COMMANDS = {
    "predict": ("predict", "model.pacband", "ROWS", "-o", "new.csv"),
    "check": ("check", "model.pacband", "ROWS", "--target", "y"),
    "report": ("report", "model.pacband", "ROWS", "--target", "y", "-o", "new.html"),
    "diagnose": ("diagnose", "model.pacband", "ROWS", "--target", "y"),
    "recalibrate": ("recalibrate", "model.pacband", "ROWS", "--target", "y", "-o", "new.pacband"),
    "monitor": ("monitor", "model.pacband", "--state", "new.json", "ROWS", "--target", "y"),
}


def german(number, digits=0):
    """Return a number as it is written in Germany: 1.234,5."""
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", ".,"))


@pytest.fixture
def tables(tmp_path, rng):
    """A model of two numbers, and fresh rows in plain.csv and in de.csv, where x has points and no commas."""
    frame = pd.DataFrame({"x": rng.integers(1000, 99999, 800), "z": rng.integers(0, 9, 800) + 0.5})
    y = (frame.x / 500 + frame.z + rng.normal(size=800)).round(2)
    model = library.CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0)
    model.fit(frame[:400], y[:400]).save(tmp_path / "model.pacband")
    rows = frame[400:].assign(y=y)
    rows.to_csv(tmp_path / "plain.csv", index=False)
    written = pd.DataFrame({"x": rows.x.map(german), "z": [german(z, 1) for z in rows.z]})
    written["y"] = [german(value, 2) for value in rows.y]
    text = written.to_csv(index=False, sep=";")
    (tmp_path / "de.csv").write_text(text)
    (tmp_path / "de.csv.gz").write_bytes(gzip.compress(text.encode()))


def written(folder):
    return {path.name for path in folder.iterdir() if path.name.startswith("new") and path.suffix != ".lock"}


@pytest.mark.parametrize(
    ("command", "name"), [*((command, "de.csv") for command in COMMANDS), ("monitor", "de.csv.gz")]
)
def test_no_command_guesses_what_a_model_reads(run, tables, tmp_path, command, name):
    line = [part.replace("ROWS", name) for part in COMMANDS[command]]
    refused = run(*line)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert TWO_MEANINGS in refused.stderr
    assert "State how numbers are written, with --decimal and --thousands." in refused.stderr
    assert written(tmp_path) == set()
    if command != "report":
        done = run(*line, "--decimal", ",")
        assert done.returncode == 0, done.stderr


def test_what_the_user_says_gives_the_numbers_of_the_plain_file(run, tables, tmp_path):
    for name, options in (("plain.csv", ()), ("de.csv", ("--decimal", ",")), ("de.csv.gz", ("--decimal", ","))):
        run("predict", "model.pacband", name, "-o", f"{name}.bands.csv", *options)
    plain = pd.read_csv(tmp_path / "plain.csv.bands.csv", dtype=str)
    for name in ("de.csv", "de.csv.gz"):
        bands = pd.read_csv(tmp_path / f"{name}.bands.csv", sep=";", dtype=str)
        for end in ("lower", "upper"):
            assert bands[end].str.replace(",", ".").tolist() == plain[end].tolist()
    for command in ("check", "monitor"):
        found = []
        for name in ("plain.csv", "de.csv", "de.csv.gz"):
            line = [part.replace("ROWS", name).replace("new", name) for part in COMMANDS[command]]
            found.append(run(*line, "--json", *(() if name == "plain.csv" else ("--decimal", ","))).stdout)
        made = json.loads(found[0])
        assert made["holds"] if command == "check" else made["state"] == "ok"
        assert found[1:] == found[:1] * 2, command


@pytest.mark.parametrize("target", ["x", "y"])
def test_fit_guesses_neither_the_target_nor_an_input(run, tables, tmp_path, target):
    refused = run("fit", "de.csv", "--target", target, *PROMISE, "-o", "new.pacband")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert TWO_MEANINGS in refused.stderr
    assert written(tmp_path) == set()


def test_a_number_in_another_format_than_the_file_is_refused(run, tables, tmp_path):
    """A point in a file without thousands: no command reads it as a decimal point."""
    (tmp_path / "mixed.csv").write_text("y;x;z\n" + "100,5;50000,5;1,5\n" * 30 + "100,5;1.5;1,5\n")
    (tmp_path / "mixed.csv.gz").write_bytes(gzip.compress((tmp_path / "mixed.csv").read_bytes()))
    for name in ("mixed.csv", "mixed.csv.gz"):
        for line in COMMANDS.values():
            refused = run(*(part.replace("ROWS", name) for part in line), "--decimal", ",")
            assert (refused.returncode, refused.stdout) == (2, ""), line
            assert "column 'x' must be numeric, got '1.5" in refused.stderr, refused.stderr
            assert written(tmp_path) == set()
    refused = run("fit", "mixed.csv", "--target", "y", *PROMISE, "--decimal", ",", "-o", "new.pacband")
    assert refused.returncode == 2
    assert "column 'x' must be numeric, got '1.5'. The first such row is 30 (counting from 0)" in refused.stderr


@pytest.fixture
def labelled(tmp_path, rng):
    """120 units of 4 rows in de.csv. Their names are 60 numbers, each written in two ways."""
    numbers = [str(number) for number in range(1000, 1060)]
    units = np.repeat([*numbers, *(german(int(number)) for number in numbers)], 4)
    y = rng.normal(5000, 1000, len(units))
    frame = pd.DataFrame({"unit": units, "y": [german(value, 5) for value in y], "p": "5.000,5"})
    frame["x"] = [german(value, 5) for value in y + rng.normal(size=len(y))]
    frame["site"] = np.where(np.arange(len(y)) % 2, "1.000,5", "1000,5")
    frame.to_csv(tmp_path / "de.csv", index=False, sep=";")
    return frame


def test_two_labels_that_are_one_number_stay_two(run, labelled, tmp_path):
    promise = ("--target", "y", "--prediction", "p", *PROMISE)
    by_unit = run("certify", "de.csv", *promise, "--unit", "unit", "-o", "unit.json", "--json")
    assert json.loads(by_unit.stdout)["content"]["n_samples"] == 120
    by_site = run("certify", "de.csv", *promise, "--group", "site", "-o", "site.json")
    assert by_site.returncode == 0, by_site.stderr
    assert set(library.load(tmp_path / "site.json").groups) == {"1.000,5", "1000,5"}
    watched = run("monitor", "unit.json", "--state", "s.json", "de.csv", "--finish", "--json")
    assert json.loads(watched.stdout.splitlines()[-1])["rows"] == 120
    for command in (("check",), ("report", "--format", "json", "-o", "-")):
        done = run(command[0], "site.json", "de.csv", *command[1:])
        assert done.returncode == (2 if command[0] == "check" else 0), done.stderr
    fresh = labelled.assign(y=labelled.x)
    fresh.to_csv(tmp_path / "fresh.csv", index=False, sep=";")
    renewed = run("recalibrate", "unit.json", "fresh.csv", "-o", "next.json")
    assert renewed.returncode == 0, renewed.stderr
    assert library.load(tmp_path / "next.json").n_samples == 120


def test_fit_keeps_labels_apart(run, labelled, tmp_path):
    fit = ("fit", "de.csv", "--target", "y", *PROMISE, "--time-budget", "0.1", "--jobs", "1")
    # If there were 60 units, none would be left to fit on.
    done = run(*fit, "--unit", "unit", "--exclude", "p,site", "--calibration-size", "60", "-o", "unit.pacband")
    assert done.returncode == 0, done.stderr
    done = run(*fit, "--group", "site", "--exclude", "p,unit", "-o", "site.pacband")
    assert done.returncode == 0, done.stderr
    assert "Numbers: x\nCategories: site\n" in done.stderr
    assert set(library.load(tmp_path / "site.pacband").certificate_.groups) == {"1.000,5", "1000,5"}
    predicted = run("predict", "site.pacband", "de.csv", "-o", "bands.csv")
    assert predicted.returncode == 0, predicted.stderr


def test_a_report_shows_no_column_whose_numbers_have_two_meanings(run, labelled, tmp_path):
    labelled.assign(n="51.494").to_csv(tmp_path / "de.csv", index=False, sep=";")
    library.certify(np.arange(100.0), np.zeros(100), eps=0.2, delta=0.1).save(tmp_path / "cert.json")
    line = ("report", "cert.json", "de.csv", "--target", "y", "--prediction", "p", "--format", "json", "-o", "-")
    done = run(*line)
    assert "Left out n, unit: the numbers have two meanings. State how numbers are written" in done.stderr
    assert '"51.494"' not in done.stdout
    assert run(*line, "--feature", "n").returncode == 2


CERTIFIED = {
    "certify": ("certify", "de.csv", "--target", "y", "--prediction", "p", *PROMISE, "-o", "new.json"),
    "apply": ("apply", "cert.json", "de.csv", "--prediction", "p", "-o", "new.csv"),
    "check": ("check", "cert.json", "de.csv", "--target", "y", "--prediction", "p"),
    "monitor": ("monitor", "cert.json", "--state", "new.json", "de.csv", "--target", "y", "--prediction", "p"),
    "stream": ("monitor", "cert.json", "--state", "new.json", "--target", "y", "--prediction", "p"),
    "recalibrate": ("recalibrate", "cert.json", "de.csv", "--target", "y", "--prediction", "p", "-o", "new.json"),
}


@pytest.mark.parametrize("command", CERTIFIED)
def test_thousands_without_any_comma_are_no_decimals(run, tmp_path, rng, command):
    """4.792 beside 736: without an option no command takes it for a number below 5."""
    y = rng.integers(500, 9999, 400)
    p = y + rng.integers(-50, 50, 400)
    library.certify(y, p[::-1], eps=0.2, delta=0.1).save(tmp_path / "cert.json")
    text = "id;y;p\n" + "".join(f"A;{german(a)};{german(b)}\n" for a, b in zip(y, p, strict=True))
    (tmp_path / "de.csv").write_text(text)
    stdin = {"stdin": text.encode()} if command == "stream" else {}
    refused = run(*CERTIFIED[command], **stdin)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "' have two meanings, because its marks may be decimal marks or thousands" in refused.stderr
    assert "With --decimal . the number 1.234 is between 1 and 2, with --thousands . it is 1234." in refused.stderr
    assert written(tmp_path) == set()
    done = run(*CERTIFIED[command], "--thousands", ".", **stdin)
    assert done.returncode == 0, done.stderr
    if command == "certify":
        errors = np.sort(np.abs(y - p))[::-1]
        assert library.load(tmp_path / "new.json").gamma == errors[library.load(tmp_path / "new.json").rank - 1]


def test_a_stream_decides_by_the_rows_before(run, tmp_path):
    """0.5 proves a decimal point, also in a file that grows; whole numbers prove nothing."""
    library.certify(np.arange(100.0), np.zeros(100), eps=0.2, delta=0.1).save(tmp_path / "cert.json")
    line = ("monitor", "cert.json", "--target", "y", "--prediction", "p", "--batch-size", "2", "--json")
    for start, refused in (("0.5;7.25\n1;2\n", False), ("1;2\n3;4\n", True), ("", True)):
        text = f"y;p\n{start}1.234;5.678\n2.345;6.789\n"
        for name in ("stream", "file"):
            state = f"{name}{len(start)}.state"
            done = run(*line, "--state", state, stdin=text.encode()) if name == "stream" else None
            if done is None:
                (tmp_path / "grows.csv").write_text(f"y;p\n{start}")
                run(*line, "--state", state, "grows.csv")
                (tmp_path / "grows.csv").write_text(text)
                done = run(*line, "--state", state, "grows.csv")
            assert (done.returncode, "have two meanings" in done.stderr) == (2 * refused, refused), done.stderr
