"""The options that state what a certificate is about, and the files that are not overwritten."""

import json
from hashlib import sha256

import pytest

import pacband as library

COLUMNS = ("--target", "y", "--prediction", "yhat", "--eps", "0.1", "--delta", "0.01")
STATED = (
    "--name", "seal wear", "--unit-of-y", "mm", "--model-name", "forest", "--model-version", "3.1",
    "--issued-by", "Test bench 7", "--scope", "pumps", "--note", "first",
)  # fmt: skip


def test_certify_states_what_its_options_say(run, rows, tmp_path):
    (tmp_path / "forest.onnx").write_bytes(b"abc")
    done = run("certify", "data.csv", *COLUMNS, *STATED, "--model-file", "forest.onnx", "-o", "cert.json")
    assert done.returncode == 0, done.stderr
    about = library.load(tmp_path / "cert.json").about
    assert about.to_dict() == {
        "name": "seal wear",
        "target": "y",
        "unit": "mm",
        "model": {"name": "forest", "version": "3.1", "digest": sha256(b"abc").hexdigest()},
        "issued_by": "Test bench 7",
        "scope": "pumps",
        "note": "first",
    }
    assert " mm.\n" in done.stdout
    assert "Issued by: Test bench 7\n" in done.stdout
    page = run("report", "cert.json", "data.csv", "-o", "report.html")
    assert page.returncode == 0, page.stderr
    assert "seal wear" in (tmp_path / "report.html").read_text("utf-8")


def test_without_these_options_nothing_is_stated(run, rows, tmp_path):
    done = run("certify", "data.csv", *COLUMNS, "--json", "-o", "cert.json")
    assert "about" not in json.loads(done.stdout)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--name", ""), "--name must be a text that is not empty"),
        (("--unit-of-y", "a" * 41), "--unit-of-y must have at most 40 characters, got 41"),
        (("--issued-by", "a\tb"), "--issued-by must be one line without control characters, got U+0009"),
        (("--model-version", "\x1b"), "--model-version must be one line without control characters"),
        (("--note", "a" * 3000), "--note must have at most 2000 characters"),
        (("--model-file", "none.onnx"), "none.onnx: No such file"),
        (("--model-file", "."), "a model must be one file, got the directory ."),
    ],
)
def test_what_is_refused(options, message, run, rows, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    for command in (("certify", "data.csv", *COLUMNS), ("fit", "data.csv", "--target", "y")):
        if command[0] == "fit" and options[0] == "--model-file":
            continue
        done = run(*command, *options, "-o", "out.json")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_certificate_is_not_overwritten_by_accident(run, rows, tmp_path):
    assert run("certify", "data.csv", *COLUMNS, "-o", "cert.json").returncode == 0
    before = (tmp_path / "cert.json").read_bytes()
    for command in (("certify", "data.csv", *COLUMNS[:4], "--eps", "0.2"), ("fit", "data.csv", "--target", "y")):
        done = run(*command, "-o", "cert.json")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("pacband: cert.json exists.")
        assert "do not issue one after another until the bound looks good" in done.stderr
        assert "or add --overwrite to replace this one" in done.stderr
        assert (tmp_path / "cert.json").read_bytes() == before
    # Before the output or behind it, the option is the same.
    for order in (("--overwrite", "-o", "cert.json"), ("-o", "cert.json", "--overwrite")):
        done = run("certify", "data.csv", *COLUMNS[:4], "--eps", "0.2", *order)
        assert done.returncode == 0, done.stderr
    assert library.load(tmp_path / "cert.json").eps == 0.2


def test_an_empty_file_is_no_certificate(run, rows, tmp_path):
    (tmp_path / "cert.json").touch()
    assert run("certify", "data.csv", *COLUMNS, "-o", "cert.json").returncode == 0


def test_in_python_a_certificate_is_kept_on_request(tmp_path):
    cert = library.certify(range(400), [0] * 400, eps=0.1, delta=0.01)
    path = cert.save(tmp_path / "cert.json", overwrite=False)
    with pytest.raises(library.InvalidInput, match=r"cert\.json exists\..*overwrite=True"):
        cert.save(path, overwrite=False)
    assert library.load(cert.save(path)) == cert


@pytest.mark.filterwarnings("always")
def test_apply_warns_of_another_model_and_of_other_columns(run, rows, tmp_path):
    (tmp_path / "forest.onnx").write_bytes(b"abc")
    (tmp_path / "other.onnx").write_bytes(b"other")
    assert run("certify", "data.csv", *COLUMNS, "--model-file", "forest.onnx", "-o", "cert.json").returncode == 0
    done = run("apply", "cert.json", "data.csv", "-o", "bands.csv", "--model-file", "forest.onnx")
    assert (done.returncode, done.stderr) == (0, "Saved bands.csv\n")
    # Nothing is expected of rows for which the promise does not hold.
    done = run("apply", "cert.json", "data.csv", "-o", "bands.csv", "--model-file", "other.onnx", "--outlook", 50)
    assert done.returncode == 1
    assert done.stderr.startswith("Warning: PB012 the SHA-256 of this model is")
    assert done.stderr.endswith("Saved bands.csv\n")
    done = run("apply", "cert.json", "data.csv", "-o", "strict.csv", "--model-file", "other.onnx", "--strict")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("Nothing was written.\n")
    assert not (tmp_path / "strict.csv").exists()
    done = run("apply", "cert.json", "data.csv", "-o", "strict.csv", "--model-file", "forest.onnx", "--strict")
    assert (done.returncode, done.stderr) == (0, "Saved strict.csv\n")
    done = run("apply", "cert.json", "data.csv", "-o", "bands.csv", "--prediction", "rough")
    assert done.returncode == 0
    assert done.stderr.startswith(
        "Warning: these are not the columns that were certified: prediction 'rough' in place of 'yhat'."
    )
    plain = run("certify", "data.csv", *COLUMNS, "-o", "plain.json")
    assert plain.returncode == 0
    done = run("apply", "plain.json", "data.csv", "-o", "more.csv", "--model-file", "forest.onnx")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("Certify with --model-file.\n")
    assert not (tmp_path / "more.csv").exists()


def test_a_fitted_model_is_named_by_its_certificate(fitted):
    folder, _ = fitted
    model = library.load(folder / "model.pacband")
    assert model.certificate_.about.to_dict() == {
        "target": "y",
        "model": {"digest": library.model_digest(folder / "model.pacband")},
    }
