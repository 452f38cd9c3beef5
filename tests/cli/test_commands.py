"""The command line as its users meet it: a program, files, standard streams and exit codes."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import pacband as library

# Before its third release pandas read floats to the last bit only where it was asked to.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")


def stated(path):
    """What a certificate file says, but for its date."""
    content = json.loads(path.read_text())["content"]
    return {key: value for key, value in content.items() if key != "created"}


def test_plan_speaks_to_people_and_to_machines(pacband):
    said = pacband("plan", "--eps", "0.05", "--delta", "1e-6", "--candidates", "10")
    assert said.returncode == 0
    assert "Draw 1590 samples" in said.stdout
    assert said.stderr == ""
    plan = json.loads(pacband("plan", "--samples", "2065", "--json").stdout)
    assert (plan["n_samples"], plan["rank"]) == (2065, 60)


def test_certify_gives_one_certificate_whatever_the_file(pacband, rows, tmp_path):
    for place, part in rows.groupby("site"):
        (tmp_path / "hive" / f"place={place}").mkdir(parents=True)
        part.to_parquet(tmp_path / "hive" / f"place={place}" / "part.parquet", index=False)
    rows[:1000].to_csv(tmp_path / "part1.csv", index=False)
    rows[1000:].to_csv(tmp_path / "part2.csv", index=False)
    rows.to_csv(tmp_path / "semicolons.csv", sep=";", index=False)
    rows.to_csv(tmp_path / "packed.csv.gz", index=False)
    rows.to_csv(tmp_path / "index.csv")
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "data.csv").read_bytes())
    expected = library.certify_frame(rows, target="y", prediction="yhat", scale="s", eps=0.1, delta=0.01)
    expected.save(tmp_path / "expected.json")
    for name in (
        "data.csv",
        "data.parquet",
        "part*.csv",
        "hive",
        "semicolons.csv",
        "packed.csv.gz",
        "bom.csv",
        "index.csv",
    ):
        done = pacband("certify", name, *COLUMNS, *PROMISE, "-o", "cert.json")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("With confidence 99 %, at least 90 % of future errors satisfy |y − T(x)| ≤")
        assert stated(tmp_path / "cert.json") == stated(tmp_path / "expected.json"), name


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_standard_input_is_a_file(pacband, rows, tmp_path, name):
    done = pacband("certify", "-", *COLUMNS, *PROMISE, "--json", stdin=(tmp_path / name).read_bytes())
    assert json.loads(done.stdout)["gamma"] == library.certify(rows.y, rows.yhat, rows.s, eps=0.1, delta=0.01).gamma


def test_families_and_groups(pacband, rows, tmp_path):
    options = ("--target", "y", *PROMISE, "-o", "cert.json")
    family = pacband("certify", "data.csv", "--candidate", "plain=yhat", "--candidate", "scaled=yhat:s", *options)
    assert family.returncode == 0, family.stderr
    assert library.load(tmp_path / "cert.json").best == "scaled"
    weighted = ("--weight", "plain=0.9", "--weight", "scaled=0.1")
    pacband("certify", "data.csv", "--candidate", "plain=yhat", "--candidate", "scaled=yhat:s", *weighted, *options)
    assert library.load(tmp_path / "cert.json").candidates["plain"].weight == pytest.approx(0.9)
    pacband("certify", "data.csv", "--prediction", "yhat", "--group", "site", *options)
    assert list(library.load(tmp_path / "cert.json").groups) == ["north", "south"]


@pytest.mark.parametrize("output", ["bands.csv", "bands.parquet", "-"])
def test_apply_adds_two_columns_and_changes_nothing_else(pacband, rows, tmp_path, output):
    pacband("certify", "data.parquet", *COLUMNS, *PROMISE, "-o", "cert.json")
    done = pacband("apply", "cert.json", "data.csv", "-o", output)
    assert done.returncode == 0, done.stderr
    if output == "-":
        (tmp_path / "bands.csv").write_text(done.stdout)
    path = tmp_path / ("bands.csv" if output == "-" else output)
    bands = pd.read_parquet(path) if output.endswith("parquet") else pd.read_csv(path, dtype={"id": str}, **EXACT)
    ends = library.load(tmp_path / "cert.json").interval(rows.yhat, rows.s)
    assert np.array_equal(bands[["lower", "upper"]].to_numpy(dtype=float), ends)
    assert bands["id"].tolist() == rows["id"].tolist()
    assert list(bands) == [*rows, "lower", "upper"]


def test_apply_by_group_and_by_other_names(pacband, rows, tmp_path):
    pacband(
        "certify", "data.csv", "--target", "y", "--prediction", "yhat", "--group", "site", *PROMISE, "-o", "cert.json"
    )
    rows.drop(columns="y").rename(columns={"yhat": "guess", "site": "place"}).to_parquet(tmp_path / "new.parquet")
    named = ("--prediction", "guess", "--group", "place", "--lower", "low", "--upper", "high")
    done = pacband("apply", "cert.json", "new.parquet", *named, "-o", "bands.parquet")
    assert done.returncode == 0, done.stderr
    bands, cert = pd.read_parquet(tmp_path / "bands.parquet"), library.load(tmp_path / "cert.json")
    assert np.array_equal(bands[["low", "high"]], cert.interval(rows.yhat, rows.site))


def test_check_ends_with_the_verdict(pacband, rows, tmp_path, rng):
    pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    stands = pacband("check", "cert.json", "data.csv")
    assert (stands.returncode, stands.stderr) == (0, "")
    assert "do not contradict" in stands.stdout
    rows.assign(y=rows.yhat + 3 * (rows.y - rows.yhat)).to_csv(tmp_path / "drifted.csv", index=False)
    falls = pacband("check", "cert.json", "drifted.csv", "--json")
    assert falls.returncode == 1
    verdict = json.loads(falls.stdout)
    assert not verdict["holds"]
    assert verdict["counts"][0]["p_value"] < 1e-100
    one = rows.assign(y=rows.y.where(rows.site == "north", rows.yhat + 5 * (rows.y - rows.yhat)))
    one.to_parquet(tmp_path / "one.parquet")
    grouped = pacband("check", "cert.json", "one.parquet", "--group", "site")
    assert grouped.returncode == 1
    assert "! south" in grouped.stdout
    assert "! north" not in grouped.stdout


def test_a_report_on_the_way(pacband, rows, tmp_path):
    done = pacband("certify", "data.csv", *COLUMNS, *PROMISE, "--report", "report.html", "-o", "cert.json")
    assert done.returncode == 0, done.stderr
    assert "<html" in (tmp_path / "report.html").read_text()[:200]
    assert pacband("check", "cert.json", "data.csv", "--report", "check.html").returncode == 0
    assert (tmp_path / "check.html").stat().st_size < 1_000_000


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(pacband, shell):
    assert "_PACBAND_COMPLETE" in pacband("completion", shell).stdout


def test_completion_knows_commands(pacband):
    words = {"_PACBAND_COMPLETE": "bash_complete", "COMP_WORDS": "pacband cert", "COMP_CWORD": "1"}
    assert "certify" in pacband(env=words).stdout


def test_every_command_has_help_with_examples(pacband):
    from pacband.cli import COMMANDS

    listed = pacband("--help").stdout
    for name in COMMANDS:
        assert name in listed
        said = pacband(name, "--help")
        assert said.returncode == 0, said.stderr
        assert "Examples:" in said.stdout, name


def test_terminals_that_know_ascii_only(pacband, rows):
    said = pacband("certify", "data.csv", *COLUMNS, *PROMISE, env={"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"})
    assert said.returncode == 0, said.stderr
    assert "|y - T(x)| <=" in said.stdout
    assert "*sigma(x)" in said.stdout


def test_no_colour_in_a_pipe(pacband, rows):
    for env in ({}, {"NO_COLOR": "1"}):
        assert "\x1b" not in pacband("certify", "data.csv", *COLUMNS, *PROMISE, env=env).stdout


def test_version_loads_no_scientific_library(pacband):
    import subprocess
    import sys

    code = "import sys; from pacband.cli import main\ntry: main()\nexcept SystemExit: pass\nfinally: print(sorted({'numpy', 'scipy', 'sklearn', 'duckdb', 'narwhals'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == [f"pacband {library.__version__}", "[]"]


def test_a_reader_that_leaves_early_is_no_error(rows, tmp_path, pacband):
    import subprocess
    import sys

    pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    shell = f"{sys.executable} -m pacband apply cert.json data.csv | head -1"
    said = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True, env=os.environ)
    assert said.stdout.startswith("id,y,yhat")
    assert "Traceback" not in said.stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("engine", "name"), [("dask", "data.csv"), ("dask", "data.parquet"), ("spark", "data.csv")])
def test_clusters_do_the_same_job(pacband, rows, tmp_path, engine, name):
    import shutil

    pytest.importorskip({"dask": "distributed", "spark": "pyspark"}[engine])
    if engine == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    pacband("certify", name, *COLUMNS, *PROMISE, "-o", "here.json")
    done = pacband("certify", name, *COLUMNS, *PROMISE, "-o", "there.json", "--engine", engine)
    assert done.returncode == 0, done.stderr
    assert stated(tmp_path / "there.json") == stated(tmp_path / "here.json")


@pytest.mark.filterwarnings("ignore")
def test_a_dask_scheduler_elsewhere(pacband, rows, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        address = ("--engine", "dask", "--address", cluster.scheduler_address)
        done = pacband("certify", "data.parquet", *COLUMNS, *PROMISE, "-o", "there.json", *address)
    assert done.returncode == 0, done.stderr
    pacband("certify", "data.parquet", *COLUMNS, *PROMISE, "-o", "here.json")
    assert stated(tmp_path / "there.json") == stated(tmp_path / "here.json")


def test_standard_output_may_be_a_file_to_append_to(pacband, rows, tmp_path):
    import subprocess
    import sys

    pacband("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json")
    shell = (
        f"echo before > all.csv; {sys.executable} -m pacband apply cert.json data.csv >> all.csv; echo after >> all.csv"
    )
    subprocess.run(shell, shell=True, cwd=tmp_path, check=True, env=os.environ)
    lines = (tmp_path / "all.csv").read_text().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("before", "after", len(rows) + 3)


def test_groups_of_numbers_are_the_same_in_every_file(pacband, rows, tmp_path):
    rows.assign(site=(rows.site == "north").astype(int)).to_parquet(tmp_path / "numbers.parquet")
    rows.assign(site=(rows.site == "north").astype(int)).to_csv(tmp_path / "numbers.csv", index=False)
    for first, second in (("numbers.parquet", "numbers.csv"), ("numbers.csv", "numbers.parquet")):
        made = pacband(
            "certify", first, "--target", "y", "--prediction", "yhat", "--group", "site", *PROMISE, "-o", "cert.json"
        )
        assert made.returncode == 0, made.stderr
        assert pacband("check", "cert.json", second).returncode == 0
        assert pacband("apply", "cert.json", second, "-o", "bands.csv").returncode == 0


def test_what_is_rarely_meant_is_remarked(pacband, rows):
    said = pacband("certify", "data.csv", "--target", "y", "--prediction", "y", "--delta", "0.9", "--eps", "0.6")
    assert said.returncode == 0
    assert len([line for line in said.stderr.splitlines() if line.startswith("Note: ")]) == 3
    assert pacband("certify", "data.csv", *COLUMNS, *PROMISE).stderr == ""
