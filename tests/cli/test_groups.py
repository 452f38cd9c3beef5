"""Groups from the shell: matched by value, never by rounding, and the user's columns stay as they are."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

import pacband

LABELS = {
    "integers": [1, 2],
    "floats": [0.5, 2.0],
    "truths": [True, False],
    "texts": ["1", "01"],
    "names": ["north", "south"],
}
# How a label is written in a table, and how it is read.
WAYS = {
    "csv": ("csv", lambda labels: labels),
    "csv of floats": ("csv", lambda labels: labels.astype(float)),
    "parquet": ("parquet", lambda labels: labels),
    "parquet of floats": ("parquet", lambda labels: labels.astype(float)),
    "parquet of texts": ("parquet", lambda labels: labels.astype(str)),
}


def certified(folder, labels):
    rng = np.random.default_rng(0)
    groups = np.array(labels, dtype=object)[np.arange(600) % 2]
    size = np.where(np.arange(600) % 2, 5.0, 1.0)
    frame = pd.DataFrame({"y": size * rng.standard_normal(600), "p": np.zeros(600), "g": groups}).infer_objects()
    cert = pacband.certify_groups(frame.y, frame.p, frame.g, eps=0.1, delta=0.05)
    cert.save(folder / "cert.json")
    return cert, frame


def written(frame, folder, way):
    suffix, convert = WAYS[way]
    path = folder / f"new.{suffix}"
    frame = frame.assign(g=convert(frame.g))
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path, index=False)
    return path


# Texts are no floats, and the text "1.0" is no truth.
CASES = [
    (kind, way)
    for kind in LABELS
    for way in WAYS
    if "floats" not in way or kind in ("integers", "floats") or (kind, way) == ("truths", "parquet of floats")
]


@pytest.mark.parametrize(("kind", "way"), CASES)
def test_every_way_to_write_a_label_finds_its_group(run, tmp_path, kind, way):
    cert, frame = certified(tmp_path, LABELS[kind])
    path = written(frame, tmp_path, way)
    columns = ["--prediction", "p", "--group", "g"]
    done = run("apply", "cert.json", path, *columns, "-o", "out.parquet")
    assert done.returncode == 0, done.stderr
    before, after = (duckdb.sql(f"from '{name}'") for name in (path, tmp_path / "out.parquet"))
    out = after.df()
    expected = cert.interval(frame.p, frame.g)
    np.testing.assert_array_equal(out[["lower", "upper"]].to_numpy(), expected)
    if path.suffix == ".parquet":
        assert after.types[:3] == before.types
        assert after.project("g").fetchall() == before.project("g").fetchall()
    else:
        assert out.g.tolist() == [line.split(",")[2] for line in path.read_text().splitlines()[1:]]
    done = run("check", "cert.json", path, "--target", "y", *columns, "--json")
    assert done.returncode == 2, done.stderr
    verdict = pacband.check(cert, frame.y, frame.p, groups=frame.g)
    assert json.loads(done.stdout) == json.loads(json.dumps(verdict.to_dict()))
    if way not in ("csv", "parquet of texts"):
        return
    done = run("report", "cert.json", path, "--target", "y", *columns, "-o", "out.json")
    assert done.returncode == 0, done.stderr
    if path.suffix == ".csv":
        state = ["--state", "state.json", "--target", "y"]
        done = run("monitor", "cert.json", path, *columns, *state, "--json")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_labels_of_single_precision_find_their_groups_again(run, tmp_path, suffix):
    rng = np.random.default_rng(0)
    labels = np.array([0.1, 0.3], dtype=np.float32)[np.arange(600) % 2]
    frame = pd.DataFrame({"y": rng.standard_normal(600) * (1 + labels), "p": np.zeros(600), "g": labels})
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    columns = ["--prediction", "p", "--group", "g"]
    done = run("certify", "rows.parquet", "--target", "y", *columns, "--eps", 0.1, "--delta", 0.05, "-o", "cert.json")
    assert done.returncode == 0, done.stderr
    done = run("apply", "cert.json", f"rows.{suffix}", "-o", "out.parquet")
    assert done.returncode == 0, done.stderr
    out = pd.read_parquet(tmp_path / "out.parquet")
    expected = pacband.load(tmp_path / "cert.json").interval(frame.p, frame.g)
    np.testing.assert_array_equal(out[["lower", "upper"]].to_numpy(), expected)
    for command, options in {"check": [], "report": ["-o", "out.html"], "monitor": ["--state", "state.json"]}.items():
        if (command, suffix) != ("monitor", "parquet"):
            done = run(command, "cert.json", f"rows.{suffix}", *options)
            # These are the calibration rows: they cannot test the promise.
            assert done.returncode == (2 if command == "check" else 0), (command, done.stderr)


@pytest.mark.parametrize("odd", ["1.4", "0.6", "1.5", "01", "x", "True"])
def test_a_label_near_a_certified_one_is_refused_by_its_name(run, tmp_path, odd):
    certified(tmp_path, [1, 2])
    rows = [f"0,{label},0" for label in ("1", "2", odd)]
    (tmp_path / "new.csv").write_text("\n".join(["p,g,y", *rows, ""]))
    columns = ["--prediction", "p", "--group", "g"]
    commands = {
        "apply": ["-o", "out.csv"],
        "check": ["--target", "y"],
        "report": ["--target", "y", "-o", "out.html"],
        "monitor": ["--target", "y", "--state", "state.json"],
    }
    for command, options in commands.items():
        done = run(command, "cert.json", "new.csv", *columns, *options)
        assert done.returncode == 2, (command, done.stdout)
        assert odd in done.stderr
        assert "Traceback" not in done.stderr
    assert not {"out.csv", "out.html"} & {path.name for path in tmp_path.iterdir()}


def test_labels_that_a_column_cannot_tell_apart_are_refused(run, tmp_path):
    certified(tmp_path, ["1", "1.0"])
    pd.DataFrame({"p": [0.0], "g": [1]}).to_parquet(tmp_path / "new.parquet")
    done = run("apply", "cert.json", "new.parquet", "--prediction", "p", "--group", "g")
    assert done.returncode == 2
    assert "cannot be distinguished" in done.stderr
