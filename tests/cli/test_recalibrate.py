"""`pacband recalibrate`: the next certificate of a chain, for a certificate and for a model."""

import json
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

import pacband as library
from pacband import CertifiedFamily, CertifiedRegressor
from support.estimators import linear

PROMISE = ("--eps", "0.1", "--delta", "0.01")
COLUMNS = ("--target", "y", "--prediction", "yhat", "--scale", "s")


@pytest.fixture
def fresh(tmp_path):
    """Rows as those of `rows`, from another seed."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-2, 2, 2000)
    scale = 0.1 + 0.1 * np.abs(x)
    frame = pd.DataFrame(
        {
            "y": np.sin(x) + 2 * scale * rng.standard_normal(2000),
            "yhat": np.sin(x),
            "s": scale,
            "site": rng.choice(["north", "south"], 2000),
            "machine": np.arange(2000) // 4,
        }
    )
    frame.to_csv(tmp_path / "fresh.csv", index=False)
    return frame


@pytest.mark.parametrize("group", [None, "site"])
def test_a_certificate_has_the_successor_that_python_makes(rows, fresh, run, tmp_path, group):
    named = [] if group is None else ["--group", group]
    assert run("certify", "data.csv", *COLUMNS, *named, *PROMISE, "-o", "cert.json")[0] == 0
    before = (tmp_path / "cert.json").read_bytes()
    asked = ["recalibrate", "cert.json", "fresh.csv", "-o", "next.json", "--report", "page.html", "--json"]
    code, out, err = run(*asked)
    assert code == 0, err
    assert err.splitlines()[-1] == "Saved next.json and page.html"
    first, second = library.load("cert.json"), library.load("next.json")
    groups = {} if group is None else {"groups": fresh.site}
    expected = library.recalibrate(first, fresh.y, fresh.yhat, fresh.s, **groups)
    assert [part.gamma for part in second.parts.values()] == [part.gamma for part in expected.parts.values()]
    assert out.encode() == (tmp_path / "next.json").read_bytes()
    printed = run("recalibrate", "cert.json", "fresh.csv", "-o", "-")
    assert json.loads(printed.stdout)["content"].keys() == json.loads(out)["content"].keys()
    assert "Saved" not in printed.stderr
    assert "With confidence" in printed.stderr
    for part in second.parts.values():
        assert (part.generation, part.predecessor, part.delta) == (2, first.digest, 0.005)
    # It states its columns, and is an input of the next command.
    assert second.basis.columns == first.basis.columns
    assert "The bound agrees with the calibration rows" in (tmp_path / "page.html").read_text()
    assert run("check", "next.json", "fresh.csv").returncode == 2
    assert (tmp_path / "cert.json").read_bytes() == before


def test_the_successor_of_a_family_is_that_of_its_best_candidate(rows, fresh, run, tmp_path):
    candidates = ["--candidate", "good=yhat:s", "--candidate", "rough=rough"]
    assert run("certify", "data.csv", "--target", "y", *candidates, *PROMISE, "-o", "cert.json")[0] == 0
    assert run("recalibrate", "cert.json", "fresh.csv", *COLUMNS, "-o", "next.json")[0] == 0
    assert library.load("next.json").predecessor == library.load("cert.json").digest


def test_units_overlapping_groups_runs_and_given_bounds_have_successors(fresh, run, tmp_path):
    rng = np.random.default_rng(0)
    runs = pd.DataFrame({"run": np.repeat(np.arange(300), 3), "k": np.tile([1, 2, 3], 300), "p": 0.0})
    runs["y"] = rng.standard_normal(900)
    runs.to_csv("runs.csv", index=False)
    runs.assign(y=rng.standard_normal(900)).to_csv("more.csv", index=False)
    old = fresh.assign(y=fresh.yhat + fresh.s * rng.standard_normal(2000), kind=np.arange(2000) % 2)
    old.to_csv("old.csv", index=False)
    fresh.assign(kind=np.arange(2000) % 2).to_csv("fresh.csv", index=False)
    lines = {
        "units": ("old.csv", [*COLUMNS, "--unit", "machine", *PROMISE], "fresh.csv"),
        "overlapping": ("old.csv", [*COLUMNS, "--group", "site", "--group", "kind", *PROMISE], "fresh.csv"),
        "bound": ("old.csv", [*COLUMNS, "--tolerance", "3", "--delta", "0.01"], "fresh.csv"),
        "runs": (
            "runs.csv",
            ["--target", "y", "--prediction", "p", "--run", "run", "--step", "k", *PROMISE],
            "more.csv",
        ),
        "weights": ("old.csv", [*COLUMNS, "--importance", "s", "--at-most", "0.5", *PROMISE], "fresh.csv"),
    }
    for name, (file, options, more) in lines.items():
        code, _, err = run("certify", file, *options, "-o", f"{name}.json")
        assert code == 0, err
        importance = ["--importance", "s"] if name == "weights" else []
        code, _, err = run("recalibrate", f"{name}.json", more, *importance, "-o", f"{name}2.json")
        assert code == 0, err
        first, second = library.load(f"{name}.json"), library.load(f"{name}2.json")
        assert {part.generation for part in second.parts.values()} == {2}
        assert list(second.parts) == list(first.parts)
        assert second.basis.draws == first.basis.draws
        if name == "bound":
            assert second.gamma == first.gamma == 3.0
    # Fresh rows of a weighted certificate need their weights.
    code, out, err = run("recalibrate", "weights.json", "fresh.csv", "-o", "no.json")
    assert (code, out) == (2, "")
    assert "the successor needs the draws of its predecessor" in err
    assert not (tmp_path / "no.json").exists()


def test_a_model_is_recalibrated_in_a_new_file(run, tmp_path):
    rows, more = linear(600, 0), linear(700, 1)
    model = CertifiedRegressor(LinearRegression(), scale=library.scale.NeighborScale(), eps=0.1, delta=0.05)
    model.fit(rows[["a", "b"]], rows.y0).save("model.pacband")
    before = (tmp_path / "model.pacband").read_bytes()
    rows.to_csv("rows.csv", index=False)
    more.to_csv("more.csv", index=False)
    asked = ["recalibrate", "model.pacband", "more.csv", "--target", "y0", "-o", "next.pacband"]
    code, out, err = run(*asked, "--certificate", "next.json", "--report", "page.html")
    assert code == 0, err
    assert err.splitlines()[-1] == "Saved next.pacband, next.json and page.html"
    assert "It is certificate 2 of a chain" in out
    successor, expected = library.load("next.pacband"), model.recalibrate(more[["a", "b"]], more.y0)
    assert replace(successor.certificate_, created=expected.certificate_.created) == expected.certificate_
    assert successor.certificate_ == library.load("next.json")
    np.testing.assert_array_equal(
        successor.predict_interval(more[["a", "b"]]), expected.predict_interval(more[["a", "b"]])
    )
    assert "The bound agrees with the calibration rows" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "model.pacband").read_bytes() == before
    # The third follows the second: δ/(k(k − 1)).
    linear(700, 2).to_csv("third.csv", index=False)
    assert run("recalibrate", "next.pacband", "third.csv", "--target", "y0", "-o", "third.pacband")[0] == 0
    third = library.load("third.pacband").certificate_
    assert (third.generation, third.predecessor) == (3, successor.certificate_.digest)
    assert third.delta == pytest.approx(0.05 / 6)


def test_another_sharpest_candidate_is_named(run, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(1500)
    table = pd.DataFrame({"x": x, "y": 2 * x + 0.1 * rng.standard_normal(1500)})
    candidates = {"line": LinearRegression(), "mean": DummyRegressor()}
    CertifiedFamily(candidates, eps=0.1, delta=0.05).fit(table[["x"]], table.y).save("model.pacband")
    for name, slope in {"same": 2.0, "other": -2.0}.items():
        fresh = rng.standard_normal(800)
        noise = 0.1 * rng.standard_normal(800)
        pd.DataFrame({"x": fresh, "y": slope * fresh + noise}).to_csv(f"{name}.csv", index=False)
        done = run("recalibrate", "model.pacband", f"{name}.csv", "--target", "y", "-o", f"{name}.pacband")
        assert done.returncode == 0, done.stderr
        assert ("Note: 'mean' is the sharpest candidate now, in place of 'line'" in done.stderr) == (name == "other")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("model.pacband", "rows.csv", "--target", "y0"), "these were also used to fit it"),
        (("model.pacband", "few.csv", "--target", "y0"), "certificate 2 of the chain"),
        (("model.pacband", "fresh.csv", "--target", "y0", "--rule", "best"), "Invalid value for '--rule'"),
        (("model.pacband", "fresh.csv", "--target", "none"), "there is no column 'none'"),
        (("model.pacband", "empty.csv", "--target", "y0"), "no rows"),
        (("cert.json", "calibration.csv", "--target", "y0", "--prediction", "a"), "its predecessor was made from"),
        (("cert.json", "few.csv", "--target", "y0", "--prediction", "a"), "certificate 2 of the chain"),
        (("cert.json", "fresh.csv", "--target", "y0"), "names no column of predictions"),
        (("cert.json", "fresh.csv", "--target", "y0", "--prediction", "a", "--unit", "site"), "no promise about units"),
        (
            ("cert.json", "fresh.csv", "--target", "y0", "--prediction", "a", "--certificate", "b.json"),
            "is for model files",
        ),
        (("rows.csv", "fresh.csv", "--target", "y0"), "rows.csv"),
    ],
)
def test_what_recalibrate_refuses(run, tmp_path, line, words):
    rows, calibration = linear(600, 0), linear(600, 3)
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0).fit(rows[["a", "b"]], rows.y0)
    model.save("model.pacband")
    library.certify(calibration.y0, calibration.a, eps=0.1, delta=0.05).save("cert.json")
    for name, frame in (("rows", rows), ("calibration", calibration), ("fresh", linear(600, 2))):
        frame.to_csv(f"{name}.csv", index=False)
    rows[:20].to_csv("few.csv", index=False)
    rows[:0].to_csv("empty.csv", index=False)
    code, out, err = run("recalibrate", *line, "-o", "next.json")
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())
    assert not (tmp_path / "next.json").exists()


def test_strict_writes_nothing_if_rows_depend_on_each_other(run, tmp_path):
    rows, more = linear(600, 0), linear(1200, 1)
    noise = np.cumsum(np.random.default_rng(0).standard_normal(1200)) / 10
    more.assign(y0=more.a + noise).to_csv("more.csv", index=False)
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, random_state=0).fit(rows[["a", "b"]], rows.y0)
    model.save("model.pacband")
    asked = ["recalibrate", "model.pacband", "more.csv", "--target", "y0", "-o", "next.pacband"]
    code, out, err = run(*asked, "--strict")
    assert (code, out) == (1, "")
    assert "Nothing was written" in err
    assert not (tmp_path / "next.pacband").exists()
    code, out, err = run(*asked)
    assert code == 0
    assert "Warning: " in err


def test_the_successor_says_what_its_predecessor_does_and_replaces_no_file(run, tmp_path):
    rows, more = linear(600, 0), linear(700, 1)
    about = {"name": "seal wear", "target": "wear of the seal", "unit": "mm"}
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, about=about).fit(rows[["a", "b"]], rows.y0)
    model.save("model.pacband")
    more.to_csv("more.csv", index=False)
    asked = ["recalibrate", "model.pacband", "more.csv", "-o", "next.pacband", "--certificate", "next.json"]
    # What the certificate states about the target names no column.
    code, out, err = run(*asked)
    assert (code, out) == (2, "")
    assert "name the --target column" in err
    asked += ["--target", "y0"]
    for taken in ("next.pacband", "next.json"):
        (tmp_path / taken).write_text("old")
        code, out, err = run(*asked)
        assert (code, out) == (2, "")
        assert taken in err
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["model.pacband", "more.csv", taken])
        (tmp_path / taken).unlink()
    assert run(*asked)[0] == 0
    certificate = library.load("next.json")
    assert certificate.basis.about == model.certificate_.basis.about
    assert certificate.basis.about.model.digest is not None
    assert run(*asked, "--overwrite")[0] == 0
    renamed = model.recalibrate(more[["a", "b"]], more.y0, about={"name": "other"}).certificate_.basis.about
    assert (renamed.name, renamed.target, renamed.model.digest) == ("other", None, certificate.basis.about.model.digest)


def _certify_with_model(run, tmp_path):
    (tmp_path / "old.onnx").write_bytes(b"old")
    (tmp_path / "new.onnx").write_bytes(b"new")
    stated = ["--name", "pump", "--scope", "lab", "--model-name", "forest", "--model-version", "3.1"]
    code, _, err = run(
        "certify", "data.csv", *COLUMNS, *PROMISE, *stated, "--model-file", "old.onnx", "-o", "cert.json"
    )
    assert code == 0, err
    return library.load("cert.json").about


@pytest.mark.parametrize(
    ("options", "model", "note"),
    [
        ([], {"name": "forest"}, "--model-version (version) and --model-file (digest)"),
        (["--model-file", "old.onnx"], {"name": "forest", "version": "3.1", "digest": b"old"}, None),
        (["--model-file", "new.onnx"], {"name": "forest", "digest": b"new"}, "with --model-version (version)."),
        (
            ["--model-file", "new.onnx", "--model-version", "4", "--model-name", "tree"],
            {"name": "tree", "version": "4", "digest": b"new"},
            None,
        ),
    ],
)
def test_the_successor_names_a_model_only_if_it_is_stated_again(rows, fresh, run, tmp_path, options, model, note):
    before = _certify_with_model(run, tmp_path)
    code, _, err = run("recalibrate", "cert.json", "fresh.csv", *options, "--scope", "field", "-o", "next.json")
    assert code == 0, err
    after = library.load("next.json").about
    assert (after.name, after.target, after.scope) == (before.name, before.target, "field")
    expected = {name: sha256(value).hexdigest() if name == "digest" else value for name, value in model.items()}
    assert after.to_dict()["model"] == expected
    assert ("Note: the predictions may be those of another model" in err) == (note is not None)
    assert note is None or note in err


def test_python_drops_version_and_digest_of_a_certificate_too(rows, fresh):
    about = {"name": "pump", "model": {"name": "forest", "version": "3.1", "digest": "ab" * 32}}
    first = library.certify(rows.y, rows.yhat, rows.s, eps=0.1, delta=0.01, about=about)
    second = library.recalibrate(first, fresh.y, fresh.yhat, fresh.s)
    assert second.about.to_dict() == {"name": "pump", "model": {"name": "forest"}}
    assert library.recalibrate(first, fresh.y, fresh.yhat, fresh.s, about=first.about).about == first.about


def test_a_model_keeps_its_identity_and_takes_the_options(run, tmp_path):
    rows, more = linear(600, 0), linear(700, 1)
    about = {"name": "seal", "model": {"name": "line", "version": "7"}}
    model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, about=about).fit(rows[["a", "b"]], rows.y0)
    model.save("model.pacband")
    more.to_csv("more.csv", index=False)
    asked = ["recalibrate", "model.pacband", "more.csv", "--target", "y0", "-o", "next.pacband"]
    code, out, err = run(*asked, "--model-file", "model.pacband")
    assert (code, out) == (2, "")
    assert "--model-file is for certificates" in err
    code, out, err = run(*asked, "--name", "a\tb")
    assert (code, out) == (2, "")
    assert "--name must be one line" in err
    assert not (tmp_path / "next.pacband").exists()
    code, out, err = run(*asked, "--issued-by", "bench 7")
    assert code == 0, err
    assert library.load("next.pacband").certificate_.about == replace(model.certificate_.about, issued_by="bench 7")


def test_other_columns_than_those_certified_are_a_warning_in_every_command(rows, fresh, run):
    fresh.assign(other=fresh.yhat).to_csv("fresh.csv", index=False)
    assert run("certify", "data.csv", *COLUMNS, *PROMISE, "-o", "cert.json")[0] == 0
    commands = {
        "recalibrate": ["fresh.csv", "-o", "next.json"],
        "check": ["data.csv", "--group", "site"],
        "monitor": ["fresh.csv", "--state", "state.json"],
        "report": ["fresh.csv", "-o", "page.html"],
    }
    for name, line in commands.items():
        _, _, err = run(name, "cert.json", *line)
        assert "the columns that were certified" not in err, name
    for name, line in commands.items():
        # Other files: a revoked monitor reads no more, and a certificate is not replaced.
        again = [word.replace("next", "other").replace("state.", "watch.") for word in line[1:]]
        _, _, err = run(name, "cert.json", "fresh.csv", *again, "--prediction", "other")
        assert "these are not the columns that were certified: prediction 'other' in place of 'yhat'" in err, name
        again = [word.replace("other", "third").replace("watch.", "watch3.") for word in again]
        _, _, err = run(name, "cert.json", "fresh.csv", *again, "--target", "other")
        assert "these are not the columns that were certified: target 'other' in place of 'y'" in err, name
        # The target is no prediction, whichever of the two is named: an error of zero would pass any test.
        again = [word.replace("third", "fourth").replace("watch3.", "watch4.") for word in again]
        for named in (["--target", "yhat"], ["--prediction", "y"], ["--target", "rough", "--prediction", "rough"]):
            code, out, err = run(name, "cert.json", "fresh.csv", *again, *named)
            assert (code, out) == (2, ""), name
            assert "must be different columns" in err, name


def test_a_weighted_model_needs_the_weights_of_the_fresh_rows(run, tmp_path):
    rows, more = linear(900, 0).assign(w=1.0), linear(900, 1).assign(w=1.0)
    draws = library.draws.Weighted("w", at_most=2.0)
    model = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, draws=draws, random_state=0)
    model.fit(rows[["a", "b", "w"]], rows.y0).save("model.pacband")
    more.to_csv("more.csv", index=False)
    asked = ["recalibrate", "model.pacband", "more.csv", "--target", "y0", "-o", "next.pacband"]
    code, out, err = run(*asked)
    assert (code, out) == (2, "")
    assert "a successor needs the weights of the fresh rows: name their column with --importance." in err
    assert not (tmp_path / "next.pacband").exists()
    code, _, err = run(*asked, "--importance", "w")
    assert code == 0, err
