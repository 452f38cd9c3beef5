"""Files that a monitor reads: each row once, in any format, and again after another run."""

import json

import numpy as np
import pandas as pd
import pytest

import pacband as library
from pacband.core.cells import number
from pacband.core.number_formats import NumberFormat
from pacband.exceptions import InvalidInput
from pacband.monitoring.parsing import CsvParser, StreamFormat
from support.workbooks import write_workbook

GERMAN = StreamFormat(";", NumberFormat(",", "."), "cp1252")


@pytest.fixture
def frame(rng, tmp_path):
    library.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-3).save(tmp_path / "cert.json")
    return pd.DataFrame({"y": rng.standard_normal(600), "p": 0.0, "größe": "süß"})


def watch(run, state, *files):
    arguments = ("--state", state, "--target", "y", "--prediction", "p", "--json")
    done = [run("monitor", "cert.json", *arguments, file) for file in files][-1]
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else None


FORMS = {
    "rows.parquet": lambda frame, path: frame.to_parquet(path),
    "de.csv": lambda frame, path: frame.to_csv(path, sep=";", decimal=",", index=False, encoding="cp1252"),
    "wide.csv": lambda frame, path: frame.to_csv(path, sep="\t", decimal=",", index=False, encoding="utf-16"),
    "packed.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "rows.xlsx": lambda frame, path: write_workbook(path, {"a": [list(frame), *frame.values.tolist()]}),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_counts_of_the_plain_file_and_counts_once(run, frame, tmp_path, name):
    if name.endswith("xlsx"):
        pytest.importorskip("python_calamine")
    frame.to_csv(tmp_path / "plain.csv", index=False)
    FORMS[name](frame, tmp_path / name)
    plain, found = watch(run, "plain.state", "plain.csv"), watch(run, "state.json", name)
    assert found == plain
    assert found["rows"] == 600
    again = run("monitor", "cert.json", "--state", "state.json", "--target", "y", "--prediction", "p", name)
    assert (again.returncode, again.stdout) == (0, "")
    assert "600 rows were already processed" in again.stderr


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_files_of_a_directory_count_once_each(run, frame, tmp_path, kind):
    (tmp_path / "days").mkdir()
    for day in range(3):
        part = frame[200 * day : 200 * (day + 1)]
        write = part.to_parquet if kind == "parquet" else part.to_csv
        write(tmp_path / "days" / f"{day}.{kind}", index=False)
        assert watch(run, "state.json", "days")["rows"] == 200 * (day + 1)


def test_more_files_than_a_monitor_remembers_are_refused(run, frame, tmp_path):
    (tmp_path / "days").mkdir()
    for day in range(65):
        (tmp_path / "days" / f"{day:02}.csv").write_text(f"y,p\n0.{day},0\n")
    done = run("monitor", "cert.json", "--state", "state.json", "--target", "y", "--prediction", "p", "days")
    assert done.returncode == 2
    assert "has 65 files, and a monitor remembers the last 64" in done.stderr
    follow = run("monitor", "cert.json", "--state", "s.json", "--target", "y", "--prediction", "p", "--follow", "days/0[12].csv")  # fmt: skip
    assert (follow.returncode, "--follow waits for the rows of one file" in follow.stderr) == (2, True)


def test_a_packed_file_is_not_followed(run, frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet")
    done = run("monitor", "cert.json", "--state", "s.json", "--target", "y", "--prediction", "p", "--follow", "rows.parquet")  # fmt: skip
    assert (done.returncode, "--follow waits for lines at the end of a file" in done.stderr) == (2, True)


def test_standard_input_is_read_as_the_options_say(run, frame):
    text = frame[["y", "p"]].to_csv(sep=";", decimal=",", index=False).encode()
    line = ("monitor", "cert.json", "--state", "state.json", "--target", "y", "--prediction", "p", "--json")
    refused = run(*line, stdin=text)
    assert refused.returncode == 2
    assert "State how numbers are written, with --decimal and --thousands." in refused.stderr
    assert json.loads(run(*line, "--decimal", ",", stdin=text).stdout)["rows"] == 600
    wide = run(*line, "--encoding", "utf-16", stdin=text)
    assert (wide.returncode, "cannot be read in utf-16 line by line" in wide.stderr) == (2, True)


def test_lines_before_a_header_are_no_rows(run, frame, tmp_path):
    (tmp_path / "log.csv").write_bytes(b"sep=;\r\n# made by hand\r\n\r\n" + frame.to_csv(sep=";", index=False).encode())
    assert watch(run, "state.json", "log.csv")["rows"] == 600


def test_a_number_in_another_format_is_refused():
    parser = CsvParser(["y"], ["w"], "y;w\n".encode("cp1252"), GERMAN)
    assert parser.parse(["1.234,5;ä\n;x\n".encode("cp1252")], 0) == {"y": [1234.5, pytest.approx(float("nan"), nan_ok=True)], "w": ["ä", "x"]}  # fmt: skip
    for text in ("1.5", "1,234.5", "x"):
        with pytest.raises(InvalidInput, match="'y' must be a number, got"):
            parser.parse([f"{text};x\n".encode()], 0)


def test_only_the_inputs_of_a_model_are_written_in_the_plain_format():
    """A machine 1.234 is not the machine 1234."""
    parser = CsvParser(["y"], ["x", "unit"], b"y;x;unit\n", GERMAN, inputs=["x"])
    parsed = parser.parse([b"1,5;1.234;1.234\n", b"2,5;NA;1234\n", b"2,5;1.5;1,5\n"], 0)
    assert parsed["unit"] == ["1.234", "1234", "1,5"]
    # The last one is a number in the plain format, and none in the format of the stream.
    assert parsed["x"][:2] == ["1234", "NA"]
    assert number(parsed["x"][2]) is None
