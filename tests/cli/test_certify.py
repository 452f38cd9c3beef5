"""`pacband certify`."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

import pacband as library

PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")


def stated(path):
    """What a certificate file says, but for its date."""
    content = json.loads(path.read_text())["content"]
    return {key: value for key, value in content.items() if key != "created"}


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
        done = pacband("certify", name, *COLUMNS, *PROMISE, "-o", "cert.json", "--overwrite")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("With confidence 99 %, at least 90 % of future errors satisfy |y − T(x)| ≤")
        assert stated(tmp_path / "cert.json") == stated(tmp_path / "expected.json"), name


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_standard_input_is_a_file(pacband, rows, tmp_path, name):
    done = pacband("certify", "-", *COLUMNS, *PROMISE, "--json", stdin=(tmp_path / name).read_bytes())
    assert (
        json.loads(done.stdout)["content"]["gamma"]
        == library.certify(rows.y, rows.yhat, rows.s, eps=0.1, delta=0.01).gamma
    )


def test_families_and_groups(pacband, rows, tmp_path):
    options = ("--target", "y", *PROMISE, "-o", "cert.json", "--overwrite")
    family = pacband("certify", "data.csv", "--candidate", "plain=yhat", "--candidate", "scaled=yhat:s", *options)
    assert family.returncode == 0, family.stderr
    assert library.load(tmp_path / "cert.json").best == "scaled"
    weighted = ("--weight", "plain=0.9", "--weight", "scaled=0.1")
    pacband("certify", "data.csv", "--candidate", "plain=yhat", "--candidate", "scaled=yhat:s", *weighted, *options)
    assert library.load(tmp_path / "cert.json").candidates["plain"].weight == pytest.approx(0.9)
    pacband("certify", "data.csv", "--prediction", "yhat", "--group", "site", *options)
    assert list(library.load(tmp_path / "cert.json").groups) == ["north", "south"]


def test_a_report_on_the_way(pacband, rows, tmp_path):
    done = pacband("certify", "data.csv", *COLUMNS, *PROMISE, "--report", "report.html", "-o", "cert.json")
    assert done.returncode == 0, done.stderr
    assert "<html" in (tmp_path / "report.html").read_text()[:200]
    assert pacband("check", "cert.json", "data.csv", "--report", "check.html").returncode == 2
    assert (tmp_path / "check.html").stat().st_size < 1_000_000


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("engine", "name"), [("dask", "data.csv"), ("dask", "data.parquet"), ("spark", "data.csv")])
def test_clusters_do_the_same_job(pacband, rows, tmp_path, engine, name):
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


def test_groups_of_numbers_are_the_same_in_every_file(pacband, rows, tmp_path):
    rows.assign(site=(rows.site == "north").astype(int)).to_parquet(tmp_path / "numbers.parquet")
    rows.assign(site=(rows.site == "north").astype(int)).to_csv(tmp_path / "numbers.csv", index=False)
    for first, second in (("numbers.parquet", "numbers.csv"), ("numbers.csv", "numbers.parquet")):
        made = pacband(
            "certify",
            first,
            "--target",
            "y",
            "--prediction",
            "yhat",
            "--group",
            "site",
            *PROMISE,
            "-o",
            "cert.json",
            "--overwrite",
        )
        assert made.returncode == 0, made.stderr
        # These are the calibration rows, under another name.
        assert pacband("check", "cert.json", second).returncode == 2
        assert pacband("apply", "cert.json", second, "-o", "bands.csv").returncode == 0


def test_what_is_rarely_meant_is_remarked(pacband, rows):
    said = pacband("certify", "data.csv", "--target", "y", "--prediction", "y", "--delta", "0.9", "--eps", "0.6")
    assert said.returncode == 0
    lines = said.stderr.splitlines()
    (doubt,) = (line for line in lines if line.startswith("Warning: ") and "more than half" in line)
    assert "0.6 is more than half" in doubt
    assert "0.9 is more than half" in doubt
    assert len([line for line in lines if line.startswith("Note: ")]) == 1
    assert pacband("certify", "data.csv", *COLUMNS, *PROMISE).stderr == ""


def test_every_repeated_output_is_certified_or_refused(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.standard_normal(400), "b": 3 * rng.standard_normal(400), "p": 0.0, "q": 0.0})
    rows.to_csv(tmp_path / "two.csv", index=False)
    promise = ("--eps", "0.1", "--delta", "0.01")
    both = ("--target", "a", "--target", "b", "--prediction", "p", "--prediction", "q")
    done = run("certify", "two.csv", *both, *promise, "-o", "cert.json")
    assert done.returncode == 0, done.stderr
    assert "in every output k" in done.stdout
    expected = library.certify(rows[["a", "b"]].to_numpy(), rows[["p", "q"]].to_numpy(), eps=0.1, delta=0.01)
    assert library.load(tmp_path / "cert.json").gamma == expected.gamma
    assert run("apply", "cert.json", "two.csv", *both[4:]).stdout.startswith("a,b,p,q,lower_0,upper_0,lower_1,upper_1")
    done = run("certify", "two.csv", *both[:6], *promise)
    assert (done.returncode, "got 2 and 1" in done.stderr) == (2, True)
    for command in (("fit", "two.csv", "-o", "m.pacband"), ("diagnose", "two.csv"), ("report", "cert.json", "two.csv")):
        done = run(*command, "--target", "a", "--target", "b")
        assert (done.returncode, done.stdout) == (2, ""), command
        assert "--target names one column, got a, b." in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cert.json", "two.csv"]
