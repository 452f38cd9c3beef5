"""A model file with raw rows, in every command: it answers as its certificate does to what the model predicts."""

import json
import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband as library
from pacband import CertifiedFamily, CertifiedRegressor
from pacband.draws import Units
from support.estimators import linear
from support.shell import PROGRAM, start
from support.shell import training_table as table

PROMISE = {"eps": 0.1, "delta": 0.05, "random_state": 0}
# What `pacband predict` calls the new columns.
PREDICTED = ("--target", "y0", "--prediction", "prediction", "--scale", "s")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a scaled model, its certificate, raw rows, and rows that drift."""
    folder = tmp_path_factory.mktemp("made")
    rows = linear(600, 0)
    model = CertifiedRegressor(LinearRegression(), scale=library.scale.NeighborScale(), **PROMISE)
    model.fit(rows[["a", "b"]], rows.y0).save(folder / "model.pacband")
    model.certificate_.save(folder / "cert.json")
    rows.to_csv(folder / "training.csv", index=False)
    for kind, factor in (("fresh", 1), ("drift", 4)):
        found = linear(500, factor)
        found["y0"] = found.a + factor * (found.y0 - found.a)
        found.to_csv(folder / f"{kind}.csv", index=False)
        found.to_json(folder / f"{kind}.jsonl", orient="records", lines=True, double_precision=15)
    return folder


@pytest.fixture
def predicted(made, run):
    """The raw rows with predictions and scales, by the model, as a file."""
    assert run("predict", made / "model.pacband", made / "fresh.csv", "--scale-column", "s", "-o", "new.csv")[0] == 0
    return "new.csv"


def of_state(path):
    content = json.loads(path.read_text())["content"]
    return {name: content[name] for name in ("certificate", "state", "watches")}


def test_predict_adds_the_scale_of_the_band(made, predicted, tmp_path):
    rows, model = pd.read_csv(tmp_path / predicted), library.load(made / "model.pacband")
    np.testing.assert_allclose(rows["s"], model.predict_scale(rows[["a", "b"]]), rtol=1e-15)
    gamma = model.certificate_.gamma
    np.testing.assert_allclose(rows["upper"], rows["prediction"] + gamma * rows["s"], rtol=1e-13, atol=1e-13)


def test_a_pair_of_scales_has_two_columns(tmp_path, run):
    rows = linear(500, 0)
    scale = library.scale.QuantileScale(LinearRegression(), LinearRegression(), random_state=0)
    model = CertifiedRegressor(LinearRegression(), scale=scale, **PROMISE).fit(rows[["a", "b"]], rows.y0)
    model.save(tmp_path / "model.pacband")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["predict", "model.pacband", "rows.csv", "-o", "new.csv", "--scale-column"]
    assert run(*asked, "s")[0] == 0
    new = pd.read_csv(tmp_path / "new.csv")
    np.testing.assert_allclose(
        new[["s_lower", "s_upper"]].to_numpy().T, model.predict_scale(rows[["a", "b"]]), rtol=1e-12
    )
    (tmp_path / "new.csv").unlink()
    for name, words in (
        ("lower", "the new columns need different names"),
        ("a", "has a column"),
        ("up", "two new columns"),
    ):
        names = ["--upper", "up_upper"] if name == "up" else []
        rows.rename(columns={"site": "a_lower"}).to_csv(tmp_path / "rows.csv", index=False)
        code, out, err = run(*asked, name, *names)
        assert (code, out) == (2, ""), err
        assert words in err
        assert not (tmp_path / "new.csv").exists()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_monitor_of_a_model_counts_as_that_of_its_certificate(made, predicted, run, tmp_path, form):
    raw = made / f"fresh.{form}"
    code, out, err = run("monitor", made / "model.pacband", "--state", "raw.json", "--target", "y0", raw)
    assert (code, err) == (0, "")
    assert out.startswith("500 rows, ")
    assert run("monitor", made / "cert.json", "--state", "cert.json", *PREDICTED, predicted).returncode == 0
    assert of_state(tmp_path / "raw.json") == of_state(tmp_path / "cert.json")
    # Again from standard input, a row at a time; rows whose label is not known yet are counted as such.
    text = raw.read_bytes()
    asked = ["monitor", made / "model.pacband", "--state", "again.json", "--target", "y0", "--batch-size", "200"]
    assert run(*asked, stdin=text)[0] == 0
    assert of_state(tmp_path / "again.json")["watches"][0]["n_violations"] == of_state(tmp_path / "raw.json")["watches"][0]["n_violations"]  # fmt: skip
    code, out, err = run("monitor", made / "model.pacband", "--state", "raw.json", "--target", "y0", raw)
    assert (code, out) == (0, "")
    assert "500 rows were already processed" in err
    code, out, err = run(
        "monitor", made / "model.pacband", "--state", "raw.json", "--target", "y0", made / f"drift.{form}"
    )
    assert code == 1
    assert "revoked" in err
    # Without rows, the certificate in the model file is enough.
    assert run("monitor", made / "model.pacband", "--state", "raw.json", "--acknowledge")[0] == 1


def test_a_monitor_follows_raw_rows(made, tmp_path):
    lines = (made / "fresh.csv").read_text().splitlines(keepends=True)
    log = tmp_path / "log.csv"
    log.write_text("".join(lines[:11]))
    asked = [
        *PROGRAM,
        "monitor",
        made / "model.pacband",
        "--state",
        tmp_path / "s.json",
        "--target",
        "y0",
        "--follow",
        log,
    ]
    process = start(asked, stderr=None)
    try:
        assert process.stdout.readline().startswith("10 rows")
        with open(log, "a") as more:
            more.write("".join(lines[11:31]))
        assert process.stdout.readline().startswith("30 rows")
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        process.stdout.close()


def test_reports_and_diagnoses_of_a_model_are_those_of_its_certificate(made, predicted, run, tmp_path):
    numbers = ["--format", "json", "-o", "-", "--feature", "a", "--feature", "b"]
    code, out, err = run("report", made / "model.pacband", made / "fresh.csv", "--target", "y0", *numbers)
    assert (code, err) == (0, "")
    told = json.loads(out)
    expected = json.loads(run("report", made / "cert.json", predicted, *PREDICTED, *numbers).stdout)
    for content in (told, expected):
        del content["created"], content["command"]
    assert told == expected
    code, out, err = run("report", made / "model.pacband", made / "drift.csv", "--target", "y0", "-o", "drift.html")
    assert code == 1
    assert "<html" in (tmp_path / "drift.html").read_text()
    inputs = ["--input", "a", "--input", "b", "--json"]
    code, out, err = run("diagnose", made / "model.pacband", made / "fresh.csv", "--target", "y0", *inputs)
    assert (code, err) == (0, "")
    found = json.loads(out)["p_values"]
    assert found.pop("overlap with training") == 1.0
    direct = run("diagnose", predicted, *PREDICTED, *inputs, "--eps", "0.1", "--delta", "0.05").stdout
    assert found == pytest.approx(json.loads(direct)["p_values"])
    code, out, _ = run("check", made / "model.pacband", made / "fresh.csv", "--target", "y0", "--report", "check.html")
    assert code == 0
    assert "<html" in (tmp_path / "check.html").read_text()


def test_training_rows_are_found_in_reports_and_diagnoses(made, run):
    code, out, _ = run("diagnose", made / "model.pacband", made / "training.csv", "--target", "y0")
    assert code == 1
    assert "calibration rows are training rows as well" in out
    asked = ["report", made / "model.pacband", made / "training.csv", "--target", "y0", "--format", "json", "-o", "-"]
    checks = [finding["check"] for finding in json.loads(run(*asked).stdout)["diagnosis"]["findings"]]
    assert checks[0] == "overlap with training"


def test_large_tables_are_counted_whole(made, run, monkeypatch):
    from pacband.tables import sample

    asked = ["report", made / "model.pacband", made / "fresh.csv", "--target", "y0", "--format", "json", "-o", "-"]
    small = json.loads(run(*asked).stdout)
    monkeypatch.setattr(sample, "WHOLE", 300)
    monkeypatch.setattr(sample, "SAMPLE", 200)
    large = json.loads(run(*asked).stdout)
    assert large["rows"]["n_rows"] == 500
    assert large["rows"]["n_violations"] == small["rows"]["n_violations"]
    assert large["verdict"]["state"] == small["verdict"]["state"] == "kept"
    assert run("diagnose", made / "model.pacband", made / "fresh.csv", "--target", "y0")[0] == 0


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """A model of machines, by labels at fit and by a column of its constructor, and rows of new machines."""
    folder = tmp_path_factory.mktemp("machines")
    rng = np.random.default_rng(0)

    def rows(first):
        machine = np.arange(first, first + 200).repeat(4)
        frame = linear(800, first).assign(machine=machine)
        return frame.assign(y0=frame.y0 + rng.standard_normal(200).repeat(4))

    old = rows(0)
    passed = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0)
    passed.fit(old[["a", "b"]], old.y0, draws=Units(old.machine, name="machine")).save(folder / "passed.pacband")
    named = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0, draws=Units("machine"))
    named.fit(old[["a", "b", "machine"]], old.y0).save(folder / "named.pacband")
    old.to_csv(folder / "old.csv", index=False)
    rows(1000).to_csv(folder / "new.csv", index=False)
    return folder


@pytest.mark.parametrize("model", ["passed", "named"])
def test_units_of_raw_rows_are_counted(machines, run, tmp_path, model):
    path, new = machines / f"{model}.pacband", machines / "new.csv"
    code, out, _ = run("monitor", path, "--state", "s.json", "--target", "y0", "--finish", new)
    assert (code, out.splitlines()[-1].startswith("200 machines")) == (0, True), out
    expected = library.check(
        *(lambda m, r: (m.certificate_, r.y0, m.predict(r[["a", "b"]])))(library.load(path), pd.read_csv(new)),
        draws=Units(pd.read_csv(new).machine, name="machine"),
    )
    watched = of_state(tmp_path / "s.json")["watches"][0]
    assert watched["n_violations"] == expected.counts[""].violations
    asked = ["report", path, new, "--target", "y0", "--format", "json", "-o", "-"]
    assert json.loads(run(*asked).stdout)["rows"]["n_rows"] == 200
    assert run("diagnose", path, new, "--target", "y0").returncode == 0
    checks = json.loads(run("report", path, machines / "old.csv", *asked[3:]).stdout)["diagnosis"]["findings"]
    assert "calibration machines are training machines as well" in checks[0]["seen"]
    code, out, err = run("recalibrate", path, new, "--target", "y0", "-o", "next.pacband")
    assert code == 0, err
    assert library.load(tmp_path / "next.pacband").certificate_.n_samples == 200
    code, out, err = run("recalibrate", path, machines / "old.csv", "--target", "y0", "-o", "no.pacband")
    assert (code, out) == (2, "")
    assert "no machine may have both training rows and calibration rows" in err
    assert not (tmp_path / "no.pacband").exists()


def test_a_family_with_groups_has_one_certificate_file(tmp_path, run):
    """Groups that a file spells in another way are those of the model: 1.0 is the group 1."""
    rows = linear(900, 0).assign(kind=np.arange(900) % 2 + 1)
    candidates = {"line": LinearRegression(), "scaled": (LinearRegression(), library.scale.NeighborScale())}
    model = CertifiedFamily(candidates, groups="kind", **PROMISE).fit(rows[["a", "kind"]], rows.y0)
    model.save(tmp_path / "model.pacband")
    model.certificate_.save(tmp_path / "cert.json")
    fresh = linear(600, 1).assign(kind=[f"{k % 2 + 1}.0" for k in range(600)])
    fresh.to_csv(tmp_path / "fresh.csv", index=False)
    assert run("predict", "model.pacband", "fresh.csv", "--scale-column", "s", "-o", "new.csv")[0] == 0
    scaled = model.certificate_.scale_kind != "none"
    columns = ["--prediction", "prediction", "--group", "kind", *(["--scale", "s"] if scaled else [])]
    assert run("apply", "cert.json", "new.csv", *columns, "--lower", "l", "--upper", "u", "-o", "bands.csv")[0] == 0
    bands = pd.read_csv(tmp_path / "bands.csv")
    np.testing.assert_array_equal(bands[["l", "u"]], bands[["lower", "upper"]])
    said = [run("check", "model.pacband", "fresh.csv", "--target", "y0", "--json"),
            run("check", "cert.json", "new.csv", "--target", "y0", *columns, "--json")]  # fmt: skip
    assert json.loads(said[0].stdout) == json.loads(said[1].stdout)
    assert run("monitor", "model.pacband", "--state", "raw.json", "--target", "y0", "fresh.csv")[0] == 0
    assert run("monitor", "cert.json", "--state", "s.json", "--target", "y0", *columns, "new.csv")[0] == 0
    assert of_state(tmp_path / "raw.json") == of_state(tmp_path / "s.json")
    told = [json.loads(run(*line, "--format", "json", "-o", "-", "--feature", "a").stdout)["rows"] for line in (
        ("report", "model.pacband", "fresh.csv", "--target", "y0"), ("report", "cert.json", "new.csv", "--target", "y0", *columns)
    )]  # fmt: skip
    assert told[0] == told[1]
    assert run("diagnose", "model.pacband", "fresh.csv", "--target", "y0")[0] == 0
    assert run("recalibrate", "model.pacband", "fresh.csv", "--target", "y0", "-o", "next.pacband")[0] == 0
    assert next(iter(library.load(tmp_path / "next.pacband").certificate_.groups.values())).generation == 2


def test_categories_and_gaps_of_a_stream_are_those_of_a_table(fitted, run, tmp_path):
    model = fitted[0] / "model.pacband"
    fresh = table(300, seed=3)
    fresh.loc[5, "colour"] = "violet"
    fresh.to_csv(tmp_path / "fresh.csv", index=False, na_rep="NA")
    fresh.to_json(tmp_path / "fresh.jsonl", orient="records", lines=True, double_precision=15)
    counted = json.loads(run("check", model, "fresh.csv", "--target", "y", "--json").stdout)["counts"][0]
    for form in ("csv", "jsonl"):
        # The certificate of `fit` states the target.
        assert run("monitor", model, "--state", f"{form}.json", f"fresh.{form}")[0] == 0
        assert of_state(tmp_path / f"{form}.json")["watches"][0]["n_violations"] == counted["violations"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"a": "much", "b": 1, "y0": 0}', "column 'a' must be numeric, got 'much'"),
        ('{"a": 1e999, "b": 1, "y0": 0}', "column 'a' must be finite or missing"),
        ('{"a": [1], "b": 1, "y0": 0}', "column 'a' must be numeric"),
        ('{"b": 1, "y0": 0}', "has no 'a'"),
    ],
)
def test_cells_that_a_model_cannot_read_are_refused(made, run, tmp_path, row, words):
    (tmp_path / "rows.jsonl").write_text(row + "\n")
    code, out, err = run("monitor", made / "model.pacband", "--state", "s.json", "--target", "y0", "rows.jsonl")
    assert (code, out) == (2, "")
    assert words in err
    assert not (tmp_path / "s.json").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("monitor", "MODEL", "--state", "s.json", "ROWS"), "name the --target column"),
        (
            ("monitor", "MODEL", "--state", "s.json", "--target", "y0", "--scale", "b", "ROWS"),
            "a model predicts by itself, and its certificate states the promise: --scale cannot be given",
        ),
        (
            ("monitor", "MODEL", "--state", "s.json", "--target", "y0", "--unit", "site", "ROWS"),
            "no promise about units",
        ),
        (("monitor", "MODEL", "--state", "s.json", "--target", "y0", "--target", "b", "ROWS"), "predicts 1 output(s)"),
        (("report", "MODEL", "ROWS", "-o", "r.html"), "name the --target column"),
        (
            ("report", "MODEL", "ROWS", "--target", "y0", "--prediction", "a", "-o", "r.html"),
            "a model predicts by itself",
        ),
        (("report", "MODEL", "ROWS", "--target", "none", "-o", "r.html"), "there is no column 'none'"),
        (
            ("report", "MODEL", "ROWS", "--target", "y0", "--feature", "none", "-o", "r.html"),
            "there is no column 'none'",
        ),
        (("diagnose", "MODEL", "ROWS", "--target", "y0", "--eps", "0.2"), "--eps cannot be given"),
        (("diagnose", "MODEL", "ROWS", "--target", "y0", "--seed", "1"), "--seed cannot be given"),
        (("diagnose", "MODEL", "ROWS", "ROWS", "--target", "y0"), "give one table, or a model file and one table"),
        (("diagnose", "ROWS", "ROWS", "--target", "y0"), "give one table, or a model file and one table"),
        (("diagnose", "ROWS", "--target", "y0"), "name the --target and the --prediction column"),
        (("diagnose", "MODEL", "ROWS"), "name the --target column"),
        (("recalibrate", "MODEL", "ROWS", "-o", "r.html"), "name the --target column"),
        (
            ("recalibrate", "MODEL", "ROWS", "--target", "y0", "--group", "site", "-o", "r.html"),
            "the promise: --group cannot be given",
        ),
        (("check", "MODEL", "ROWS", "--report", "r.html"), "name the --target column"),
        (("check", "MODEL", "ROWS", "--target", "y0", "--run", "a"), "the promise: --run cannot be given"),
        (
            ("check", "MODEL", "ROWS", "--target", "y0", "--group", "site", "--group", "b"),
            "with a model, --group names one column, got site, b",
        ),
    ],
)
def test_what_commands_refuse_with_a_model(made, run, tmp_path, line, words):
    named = {"MODEL": made / "model.pacband", "ROWS": made / "fresh.csv"}
    code, out, err = run(*(named.get(part, part) for part in line))
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())
    assert [path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")] == []


@pytest.mark.filterwarnings("always")
def test_a_monitor_says_that_the_model_was_fitted_on_the_rows(run, tmp_path):
    rows = linear(900, 0)
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0).fit(rows[["a", "b"]], rows.y0)
    model.save(tmp_path / "model.pacband")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    linear(900, 1).to_csv(tmp_path / "fresh.csv", index=False)
    asked = ["monitor", "model.pacband", "--target", "y0", "--json"]
    code, out, err = run(*asked, "--state", "old.json", "rows.csv")
    assert code == 0, err
    assert err.count("Warning: the model was fitted on") == 1
    assert json.loads(out.splitlines()[-1])["training_rows"] == len(model.training_rows_)
    code, out, err = run(*asked, "--state", "new.json", "fresh.csv")
    assert (code, err) == (0, "")
    assert "training_rows" not in out
