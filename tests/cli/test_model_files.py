"""Model files where a command expects a certificate."""

import os
import zipfile

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

import pacband
from pacband import CertifiedRegressor


def test_commands_that_take_a_certificate_say_what_is_wrong_with_a_model_file(tmp_path, run):
    X = pd.DataFrame({"a": np.linspace(-1, 1, 300)})
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0).fit(X, 3 * X.a)
    path = model.save(tmp_path / "model.pacband")
    X.assign(y=3 * X.a, p=model.predict(X)).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "cut.pacband").write_bytes(path.read_bytes()[:-9])
    with zipfile.ZipFile(tmp_path / "any.pacband", "w") as archive:
        archive.writestr("anything.txt", "any archive")
    commands = {
        "apply": [],
        "check": ["--target", "y"],
        "monitor": ["--target", "y", "--state", tmp_path / "state.json"],
        "report": ["--target", "y", "-o", tmp_path / "report.html"],
    }
    for command, options in commands.items():
        for name, message in (
            ("cut", "cut.pacband is truncated or damaged"),
            ("any", "any.pacband is not a model of pacband"),
        ):
            arguments = [tmp_path / f"{name}.pacband", tmp_path / "rows.csv", "--prediction", "p", *options]
            code, out, err = run(command, *arguments)
            assert (code, out) == (2, "")
            assert message in err
        assert not {"state.json", "report.html"} & set(os.listdir(tmp_path))
    code, out, err = run("apply", path, tmp_path / "rows.csv", "--prediction", "p")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "a,y,p,lower,upper"
    code, out, err = run("apply", path, tmp_path / "rows.csv")
    assert (code, out) == (2, "")
    assert "a model predicts by itself: `pacband predict` adds its prediction and its band" in err


def test_the_target_of_fit_is_kept_as_a_column_whatever_its_name(tmp_path, run):
    # No certificate can state such a name, and files have them.
    name = "wear\u200b" + "r" * 300
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(size=900)})
    frame[name] = frame.a + 0.1 * rng.standard_normal(900)
    frame[:600].to_csv(tmp_path / "data.csv", index=False)
    frame[600:].to_csv(tmp_path / "fresh.csv", index=False)
    promise = ["--eps", "0.2", "--delta", "0.1", "--time-budget", "0.2", "--jobs", "1"]
    code, _, err = run("fit", "data.csv", "--target", name, *promise, "-o", "model.pacband", "--name", "seal")
    assert code == 0, err
    model = pacband.load(tmp_path / "model.pacband")
    assert (model.target_columns_, model.certificate_.about.target) == ((name,), None)
    code, _, err = run("recalibrate", "model.pacband", "fresh.csv", "-o", "next.pacband")
    assert code == 0, err
    assert pacband.load(tmp_path / "next.pacband").target_columns_ == (name,)
    assert pacband.load(model.save(tmp_path / "again.pacband")).target_columns_ == (name,)
    code, _, err = run("check", "model.pacband", "fresh.csv")
    assert (code, err) == (0, "")
    frame[600:].assign(other=frame[name]).to_csv(tmp_path / "fresh.csv", index=False)
    code, _, err = run("check", "model.pacband", "fresh.csv", "--target", "other")
    assert code == 0, err
    assert "these are not the columns that were certified: target 'other' in place of" in err
    # A model of Python has none, and its file is as before.
    plain = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0).fit(frame[["a"]], frame[name])
    assert b'"target"' not in plain.save(tmp_path / "plain.pacband").read_bytes()[:2000]
