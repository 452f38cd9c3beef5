"""Given tolerances, own scores and the outlook on the command line."""

import json

import pytest

import pacband as library

COLUMNS = ("--target", "y", "--prediction", "yhat")
GIVEN = ("certify", "data.csv", *COLUMNS, "--tolerance", "0.7")


@pytest.fixture
def scored(rows, tmp_path):
    """The table with a column of scores."""
    frame = rows.assign(loss=(rows.y - rows.yhat) ** 2)
    frame.to_csv(tmp_path / "data.csv", index=False)
    return frame


def test_the_share_is_printed_and_saved(run, rows, tmp_path):
    expected = library.certify_tolerance(rows.y, rows.yhat, 0.7)
    done = run(*GIVEN, "-o", "cert.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(expected.promise)
    assert "The bound was given and the share was found" in done.stdout
    cert = library.load(tmp_path / "cert.json")
    assert (cert.eps, cert.gamma, cert.bound_given) == (expected.eps, 0.7, True)
    assert json.loads(run(*GIVEN, "--json").stdout)["content"]["bound"] == "given"


def test_exit_1_where_the_wanted_share_is_not_met(run, rows, tmp_path):
    eps = library.certify_tolerance(rows.y, rows.yhat, 0.7).eps
    assert run(*GIVEN, "--eps", repr(eps), "-o", "met.json").returncode == 0
    done = run(*GIVEN, "--eps", repr(eps * (1 - 1e-12)), "-o", "missed.json")
    assert done.returncode == 1
    assert "the wanted share is not met: up to" in done.stderr
    assert library.load(tmp_path / "missed.json").eps == eps
    # The default of --eps asks for nothing.
    assert run("certify", "data.csv", *COLUMNS, "--tolerance", "0.1").returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rank", "3"), "--tolerance cannot be combined with --rank or --rule"),
        (("--rule", "paper"), "--tolerance cannot be combined with --rank or --rule"),
        (("--group", "site"), "a tolerance cannot be combined with group or candidates"),
        (("--eps", "2"), "eps must be in (0, 1), got 2.0"),
        (("--score", "s"), "--score cannot be combined with --target"),
        (("--tolerance", "-1"), "tolerance must be zero or a positive finite number, got -1.0"),
        (("--tolerance", "nan"), "tolerance must be zero or a positive finite number, got nan"),
        (("--tolerance", "x"), "'x' is not a valid float"),
        (("--tolerance", "0"), "all 3000 calibration scores exceed the tolerance 0"),
    ],
)
def test_bad_options_write_nothing(run, rows, tmp_path, options, message):
    given = ("certify", "data.csv", *COLUMNS) if options[0] == "--tolerance" else GIVEN
    done = run(*given, *options, "-o", "cert.json", "--report", "report.html")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "cert.json").exists()
    assert not (tmp_path / "report.html").exists()


def test_own_scores_from_certify_to_monitor(run, scored, tmp_path):
    done = run("certify", "data.csv", "--score", "loss", "-o", "cert.json", "--report", "report.html")
    assert done.returncode == 0, done.stderr
    assert "of future scores are at most" in done.stdout
    cert = library.load(tmp_path / "cert.json")
    assert cert.gamma == library.certify_scores(scored.loss).gamma
    scored.assign(loss=scored.loss * 0.99).to_csv(tmp_path / "new.csv", index=False)
    assert run("check", "cert.json", "new.csv").returncode == 0
    assert run("check", "cert.json", "new.csv", "--target", "s").returncode == 1
    watched = run("monitor", "cert.json", "--state", "state.json", "new.csv", "--json")
    assert watched.returncode == 0, watched.stderr
    expected = int((scored.loss * 0.99 > cert.gamma).sum())
    assert json.loads(watched.stdout.splitlines()[-1])["violations"] == expected
    refused = run("apply", "cert.json", "new.csv", "-o", "bands.csv")
    assert refused.returncode == 2
    assert "this certificate bounds a score: there is no band around a prediction" in refused.stderr
    assert not (tmp_path / "bands.csv").exists()
    given = run("certify", "data.csv", "--score", "loss", "--tolerance", "0.1", "--eps", "0.5")
    assert given.returncode == 0
    assert "The bound was given" in given.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--score", "loss", "--target", "y"), "--score cannot be combined with --target"),
        (("--score", "loss", "--scale", "s"), "--score cannot be combined with --target"),
        (("--score", "loss", "--side", "upper"), "side, --min-scale, gauge and clip are about errors"),
        (("--score", "lost"), "there is no column 'lost'"),
        (("--score", "id"), "'id'"),
        ((), "name the --target column"),
    ],
)
def test_bad_scores_write_nothing(run, scored, tmp_path, arguments, message):
    if "id" in arguments:
        scored.assign(id="word").to_csv(tmp_path / "data.csv", index=False)
    done = run("certify", "data.csv", *arguments, "-o", "cert.json")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "cert.json").exists()


def test_outlook_beside_the_bands(run, rows, tmp_path):
    run("certify", "data.csv", *COLUMNS, "-o", "cert.json")
    cert = library.load(tmp_path / "cert.json")
    words = f"With confidence 99.9999 %, at most {cert.outlook(500)} of the next 500 rows exceed the bound."
    done = run("apply", "cert.json", "data.csv", "-o", "bands.csv", "--outlook", "500")
    assert done.returncode == 0
    assert words in done.stderr
    report = run("report", "cert.json", "-o", "-", "--format", "json", "--outlook", "500")
    outlook = json.loads(report.stdout)["outlook"]
    assert (outlook["n_future"], outlook["violations"], outlook["text"]) == (500, cert.outlook(500), words)
    for m in ("0", "-3", "1.5", str(10**13)):
        for arguments in (("apply", "cert.json", "data.csv", "-o", "new.csv"), ("report", "cert.json", "-o", "r.html")):
            refused = run(*arguments, "--outlook", m)
            assert refused.returncode == 2, m
            assert not (tmp_path / arguments[-1]).exists()


def test_outlook_of_groups(run, rows, tmp_path):
    run("certify", "data.csv", *COLUMNS, "--group", "site", "-o", "cert.json")
    most = max(library.load(tmp_path / "cert.json").outlook(100).values())
    done = run("apply", "cert.json", "data.csv", "-o", "bands.csv", "--outlook", "100")
    assert f"at most {most} of the next 100 rows of any one group exceed the bound." in done.stderr
