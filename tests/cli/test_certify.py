"""`pacband certify`."""

import json
import shutil

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


def test_what_is_rarely_meant_is_remarked(pacband, rows, tmp_path):
    rows.assign(copy=rows.y).to_csv(tmp_path / "copy.csv", index=False)
    said = pacband("certify", "copy.csv", "--target", "y", "--prediction", "copy", "--delta", "0.9", "--eps", "0.6")
    assert said.returncode == 0
    lines = said.stderr.splitlines()
    (doubt,) = (line for line in lines if line.startswith("Warning: ") and "more than half" in line)
    assert "0.6 is more than half" in doubt
    assert "0.9 is more than half" in doubt
    assert len([line for line in lines if line.startswith("Note: ")]) == 1
    assert pacband("certify", "data.csv", *COLUMNS, *PROMISE).stderr == ""


def test_several_outputs_are_certified_together(run, tmp_path, rng):
    """The bound is that of Python with all outputs, and check, apply and report read the columns from the certificate."""
    table = pd.DataFrame(rng.standard_normal((1500, 2)) * [1, 3], columns=["y1", "y2"]).assign(p1=0.0, p2=0.0)
    table.to_csv(tmp_path / "two.csv", index=False)
    columns = ["--target", "y1", "--target", "y2", "--prediction", "p1", "--prediction", "p2"]
    certified = run("certify", "two.csv", *columns, "--unit-of-y", "mm", "-o", "cert.json", "--report", "page.html")
    assert certified.returncode == 0, certified.stderr
    assert "in every output k" in certified.stdout
    cert = library.load(tmp_path / "cert.json")
    together = library.certify(table[["y1", "y2"]], table[["p1", "p2"]])
    assert (cert.gamma, cert.n_outputs) == (together.gamma, 2)
    assert cert.basis.columns.target == ("y1", "y2")
    alone = library.certify(table["y1"], table["p1"])
    assert cert.gamma > alone.gamma
    bands = run("apply", "cert.json", "two.csv", "--prediction", "p1", "--prediction", "p2")
    assert bands.stdout.splitlines()[0] == "y1,y2,p1,p2,lower_0,upper_0,lower_1,upper_1"
    assert run("report", "cert.json", "two.csv", *columns).returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prediction", "p1"], "must have the same number of columns, got 2 and 1"),
        (["--candidate", "a=p1", "--candidate", "b=p2"], "candidate 'a' must have the same number of columns"),
        (["--prediction", "p1", "--prediction", "p2", "--scale", "s", "--scale", "t"], "name one --scale column"),
    ],
)
def test_outputs_that_do_not_match_are_refused(run, tmp_path, options, message):
    pd.DataFrame(1.0, range(500), ["y1", "y2", "p1", "p2", "s", "t"]).to_csv(tmp_path / "two.csv", index=False)
    refused = run("certify", "two.csv", "--target", "y1", "--target", "y2", *options, "-o", "cert.json")
    assert refused.returncode == 2
    assert message in refused.stderr
    assert not (tmp_path / "cert.json").exists()
