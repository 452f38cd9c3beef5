"""Tables as people have them: national formats, old encodings, comments, workbooks. Read right, or refused in words."""

import gzip
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

import pacband as library
from support.workbooks import write_workbook

COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")
PROMISE = ("--eps", "0.1", "--delta", "0.01")


@pytest.fixture
def table(rng, tmp_path):
    """500 rows with large and small numbers, and their certificate in plain.json."""
    n_rows = 500
    frame = pd.DataFrame({"n": rng.integers(0, 9000, n_rows)})
    frame["yhat"] = rng.normal(0, 3000, n_rows)
    frame["s"] = rng.uniform(0.5, 2.0, n_rows)
    frame["y"] = frame.yhat + frame.s * rng.normal(0, 400, n_rows)
    frame["größe"] = rng.choice(["süß", "weiß"], n_rows)
    frame.to_csv(tmp_path / "plain.csv", index=False)
    return frame


def grouped(frame, decimal, thousands):
    """Return the table with all numbers as a country writes them, thousands in groups, to the last bit."""

    def text(value):
        whole, _, part = repr(value).partition(".")
        sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
        return f"{sign}{int(digits):,}".replace(",", thousands) + (f"{decimal}{part}" if part else "")

    return frame.assign(**{name: [text(value) for value in frame[name].tolist()] for name in ("y", "yhat", "s", "n")})


def excel_text(frame, **options):
    """Return a table as Excel of a German Windows saves it: semicolons, decimal commas, CRLF."""
    return frame.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n", **options)


def cells_of(path, **options):
    """Return the cells of a file, with decimal points."""
    frame = pd.read_csv(path, dtype=str, **options)
    return {name: [str(cell).replace(",", ".") for cell in column] for name, column in frame.items()}


def content(text):
    """Return what a certificate says, but for its date."""
    return {**json.loads(text)["content"], "created": None}


FORMS = {
    "German": lambda frame: excel_text(frame).encode("cp1252"),
    "German with a byte order mark": lambda frame: excel_text(frame).encode("utf-8-sig"),
    "German with thousands": lambda frame: excel_text(grouped(frame, ",", ".")).encode("cp1252"),
    "French": lambda frame: excel_text(grouped(frame, ",", "\u202f")).encode("utf-8"),
    "French of Windows": lambda frame: excel_text(grouped(frame, ",", "\u00a0")).encode("cp1252"),
    "Swiss": lambda frame: excel_text(grouped(frame, ".", "\u2019")).encode("utf-8"),
    "English with thousands": lambda frame: grouped(frame, ".", ",").to_csv(index=False).encode(),
    "Unicode text of Excel": lambda frame: frame.to_csv(index=False, sep="\t", decimal=",").encode("utf-16"),
    "quoted decimal commas": lambda frame: frame.to_csv(index=False, decimal=",", quoting=1).encode(),
    "declared delimiter": lambda frame: b"sep=;\r\n" + excel_text(frame).encode("utf-8"),
    "comments": lambda frame: b"# made by hand\n\n## twice\n" + frame.to_csv(index=False).encode(),
    "empty lines": lambda frame: frame.to_csv(index=False).replace("\n", "\n\n").encode(),
    "trailing delimiters": lambda frame: excel_text(frame).replace("\r\n", ";\r\n").encode(),
    "quoted": lambda frame: excel_text(frame, quoting=1).encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_country_gets_the_certificate_of_the_plain_file(run, table, tmp_path, form):
    (tmp_path / "data.csv").write_bytes(FORMS[form](table))
    plain = run("certify", "plain.csv", *COLUMNS, *PROMISE, "--json")
    found = run("certify", "data.csv", *COLUMNS, *PROMISE, "--json")
    assert found.returncode == 0, found.stderr
    assert content(found.stdout) == content(plain.stdout)
    expected = library.certify(table.y, table.yhat, table.s, eps=0.1, delta=0.01)
    assert content(found.stdout)["gamma"] == expected.gamma
    assert plain.stderr == ""
    assert found.stderr.startswith("Read data.csv with ") == (form not in ("comments", "empty lines"))


def test_what_was_found_is_printed_and_what_was_given_is_not(run, table, tmp_path):
    (tmp_path / "de.csv").write_bytes(FORMS["German with thousands"](table))
    certify = ("certify", "de.csv", *COLUMNS, *PROMISE, "-o", "cert.json", "--overwrite")
    assert "Read de.csv with encoding cp1252, delimiter ';', decimal comma and thousands '.'.\n" in run(*certify).stderr
    given = ("--encoding", "latin-1", "--delimiter", ";", "--decimal", ",", "--thousands", ".")
    assert run(*certify, *given).stderr == "Saved cert.json\n"


def test_every_command_reads_every_form(run, table, tmp_path):
    run("certify", "plain.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    (tmp_path / "de.csv").write_bytes(FORMS["German"](table))
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(FORMS["German"](table)))
    write_workbook(tmp_path / "book.xlsx", {"Daten": [list(table), *table.values.tolist()], "leer": []})
    pytest.importorskip("python_calamine")
    for command in (
        ("check", "cert.json", "FILE", "--json"),
        ("diagnose", "FILE", *COLUMNS, "--json"),
        ("report", "cert.json", "FILE", "--format", "json", "-o", "-"),
        ("monitor", "cert.json", "--state", "STATE", "FILE", "--json"),
    ):
        results = []
        for name in ("plain.csv", "de.csv", "packed.csv.gz", "book.xlsx"):
            done = run(*(part.replace("FILE", name).replace("STATE", f"{name}.state") for part in command))
            # `check` of the rows that calibrated prints its answer, and ends with 2: only fresh rows test a promise.
            assert done.returncode in ((2,) if command[0] == "check" else (0, 1)), (command, name, done.stderr)
            assert ("Read " in done.stderr) == (name != "plain.csv")
            made = json.loads(done.stdout)
            made.pop("created", None)
            made.pop("command", None)
            results.append(made)
        assert results[1:] == results[:1] * 3, command[0]


@pytest.mark.parametrize("form", ["German", "Unicode text of Excel", "workbook"])
def test_standard_input_may_be_in_any_form(run, table, tmp_path, form):
    data = FORMS[form](table) if form in FORMS else None
    if data is None:
        pytest.importorskip("python_calamine")
        write_workbook(tmp_path / "book.xlsx", {"Daten": [list(table), *table.values.tolist()]})
        data = (tmp_path / "book.xlsx").read_bytes()
    plain = run("certify", "plain.csv", *COLUMNS, *PROMISE, "--json")
    found = run("certify", "-", *COLUMNS, *PROMISE, "--json", stdin=data)
    assert found.returncode == 0, found.stderr
    assert content(found.stdout) == content(plain.stdout)


def test_a_workbook_needs_its_extra(run, table, tmp_path, monkeypatch):
    write_workbook(tmp_path / "book.xlsx", {"Daten": [list(table), *table.values.tolist()]})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    done = run("certify", "book.xlsx", *COLUMNS, *PROMISE)
    assert (done.returncode, done.stdout) == (2, "")
    assert "an Excel workbook needs the package 'python_calamine': pip install" in done.stderr


def test_rows_of_a_file_with_decimal_commas_are_written_in_its_own_format(run, table, tmp_path):
    run("certify", "plain.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    text = excel_text(table)
    (tmp_path / "de.csv").write_bytes(text.encode("cp1252"))
    done = run("apply", "cert.json", "de.csv", "-o", "bands.csv")
    assert done.returncode == 0, done.stderr
    run("apply", "cert.json", "plain.csv", "-o", "plain_bands.csv")
    assert cells_of(tmp_path / "bands.csv", sep=";") == cells_of(tmp_path / "plain_bands.csv")
    # The columns that are only copied are the texts of the file.
    cells = [line.split(";") for line in text.splitlines()]
    copied = [line.split(";") for line in (tmp_path / "bands.csv").read_text("utf-8").splitlines()]
    assert [row[3:5] for row in copied] == [row[3:5] for row in cells]


def test_a_decimal_comma_makes_no_category(run, table, tmp_path):
    """The model of a German file is the model of the plain file: a number does not become a category."""
    rows = table.assign(x=table.y / 3 + 100)[["x", "n", "s", "y"]]
    rows.to_csv(tmp_path / "plain.csv", index=False)
    (tmp_path / "de.csv").write_text(excel_text(rows), encoding="utf-8")
    fit = ("--target", "y", *PROMISE, "--time-budget", "1", "--jobs", "1", "--exclude", "s")
    made = [run("fit", f"{name}.csv", *fit, "-o", f"{name}.pacband") for name in ("plain", "de")]
    assert [done.returncode for done in made] == [0, 0], made
    assert all("Numbers: x, n\n" in done.stderr for done in made)
    assert "Read de.csv with delimiter ';', decimal comma." in made[1].stderr
    bands = []
    for name, options in (("plain", {}), ("de", {"sep": ";"})):
        done = run("predict", "plain.pacband", f"{name}.csv", "-o", f"{name}_bands.csv")
        assert done.returncode == 0, done.stderr
        bands.append(cells_of(tmp_path / f"{name}_bands.csv", **options))
    assert bands[0] == bands[1]
    checks = [
        run("check", "plain.pacband", f"{name}.csv", "--target", "y", "--json").stdout for name in ("plain", "de")
    ]
    assert checks[0] == checks[1]
    mixed = rows.assign(x=[f"{value:.3f}".replace(".", ",") for value in rows.x])
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    refused = run("predict", "plain.pacband", "mixed.csv")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "column 'x' must be numeric, got" in refused.stderr
    assert refused.stderr.endswith("State how numbers are written, with --decimal and --thousands.\n")


def test_a_number_with_two_meanings_is_not_guessed(run, tmp_path):
    rng = np.random.default_rng(0)
    whole = [f"{value:,}" for value in rng.integers(1000, 999_999, 300)]
    pd.DataFrame({"y": whole, "yhat": whole, "x": rng.normal(size=300)}).to_csv(tmp_path / "en.csv", index=False)
    certify = ("certify", "en.csv", "--target", "y", "--prediction", "yhat", *PROMISE)
    refused = run(*certify, "-o", "cert.json")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--decimal and --thousands" in refused.stderr
    assert not (tmp_path / "cert.json").exists()
    assert run(*certify, "--thousands", ",").returncode == 0
    fit = run("fit", "en.csv", "--target", "x", "-o", "model.pacband")
    assert fit.returncode == 2
    assert "column 'y' holds 300 numbers in another format, or with two meanings" in fit.stderr
    german = pd.DataFrame(
        {"y": whole, "yhat": whole, "x": [f"{v:.5f}".replace(".", ",") for v in rng.normal(size=300)]}
    )
    german.to_csv(tmp_path / "de.csv", index=False, sep=";")
    refused = run("certify", "de.csv", *certify[2:])
    assert refused.returncode == 2
    assert "de.csv: the numbers of column 'y' have two meanings" in refused.stderr


def test_a_format_that_changes_in_the_middle_is_refused(run, table, tmp_path):
    """The marks are looked for in all parts of a large file, and every cell is read by them."""
    text = excel_text(pd.concat([table] * 20))
    lines = text.splitlines()
    lines[-1] = lines[-1].replace(",", ".")
    (tmp_path / "mixed.csv").write_text("\n".join(lines), encoding="utf-8")
    done = run("certify", "mixed.csv", *COLUMNS, *PROMISE)
    assert done.returncode == 2
    assert "must be numeric, got" in done.stderr
    late = pd.concat([table.assign(s=1, y=table.n, yhat=1)] * 40 + [table[-1:]])
    (tmp_path / "late.csv").write_text(excel_text(late), encoding="utf-8")
    done = run("certify", "late.csv", *COLUMNS, *PROMISE)
    assert (done.returncode, "decimal comma" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--decimal", ";"), "the decimal mark must be a point or a comma, got ';'"),
        (("--decimal", ",", "--thousands", ","), "must differ, got ',' for both"),
        (("--thousands", "x"), "the mark of thousands must be"),
        (("--delimiter", ";;"), "the delimiter must be one character, such as ; or tab, got ';;'"),
        (("--encoding", "klingon"), "the encoding must be one that Python knows"),
        (("--encoding", "utf-16"), "plain.csv is not text in utf-16|has no column"),
        (("--decimal", ","), "column 'yh?a?t?' must be numeric, got .*--decimal and --thousands"),
        (("--delimiter", ";"), "no column 'y'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["certify", "monitor"])
def test_what_files_are_not_is_refused(run, table, tmp_path, options, message, command):
    library.certify_frame(table, target="y", prediction="yhat", scale="s", eps=0.1, delta=0.01).save(
        tmp_path / "c.json"
    )
    line = {"certify": ("certify", "plain.csv", *COLUMNS, "-o", "new.json"), "monitor": ("monitor", "c.json", "--state", "new.json", "plain.csv")}  # fmt: skip
    done = run(*line[command], *options)
    assert (done.returncode, done.stdout) == (2, ""), done
    if command == "certify" or options[0] != "--decimal":
        assert re.search(message, done.stderr), done.stderr
    assert not (tmp_path / "new.json").exists()


def test_directories_of_csv_files(run, table, tmp_path):
    (tmp_path / "parts").mkdir()
    for number in range(3):
        table[200 * number : 200 * (number + 1)].to_csv(tmp_path / "parts" / f"{number}.csv", index=False)
    whole, parts = (run("certify", name, *COLUMNS, *PROMISE, "--json") for name in ("plain.csv", "parts"))
    assert content(whole.stdout) == content(parts.stdout)
    (tmp_path / "parts" / "3.csv").write_text(excel_text(table), encoding="utf-8")
    refused = run("certify", "parts", *COLUMNS, *PROMISE)
    assert refused.returncode == 2
    assert "has other columns" in refused.stderr


def test_a_missing_value_of_r_is_called_one_whatever_the_decimal_mark(tmp_path, run):
    """`write.csv2` of R writes NA. To state how numbers are written would not help."""
    path = tmp_path / "r.csv"
    path.write_text('"";"y";"p"\n"1";1,5;1,2\n"2";NA;0,2\n')
    for options in ([], ["--decimal", ","]):
        refused = run("certify", str(path), "--target", "y", "--prediction", "p", *options)
        assert refused.returncode == 2
        assert "got 'NA'. The first such row is 1 (counting from 0). It stands for a missing value" in refused.stderr
        assert "--decimal" not in refused.stderr


@pytest.mark.parametrize("rows", ["y;p\n1,5;Ulm\n2,5;Ulm\n3,5;Bonn\n", "y,p\n1.5,Ulm\n2.5,Ulm\n3.5,Bonn\n"])
def test_a_column_of_texts_is_called_one(rows, run, tmp_path):
    (tmp_path / "data.csv").write_text(rows)
    done = run("certify", "data.csv", "--target", "y", "--prediction", "p")
    assert done.returncode == 2
    assert "column 'p' must be numeric, got 'Ulm'." in done.stderr
    assert done.stderr.endswith("The column holds texts.\n")
    # A text with digits may be a number in another format.
    (tmp_path / "data.csv").write_text(rows.replace("Ulm", "7-5").replace("Bonn", "8-5"))
    assert "holds texts" not in run("certify", "data.csv", "--target", "y", "--prediction", "p").stderr
