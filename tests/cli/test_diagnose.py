"""`pacband diagnose`: its report, its exit codes and its errors."""

import json

import pandas as pd

from support.diagnosed import sound


def run(arguments):
    from click.testing import CliRunner

    from pacband.cli.diagnose import command

    done = CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=True)
    return done.exit_code, done.output, done.exception


def test_command_line(rng, tmp_path):
    data = sound(rng, 800)
    frame = pd.DataFrame({"y": data["y"], "p": data["y_pred"], "s": data["scale"], "g": data["groups"]})
    frame["a"], frame["b"] = data["X"].T
    train = frame.iloc[:8].assign(y=lambda rows: rows["y"] + 1.0)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    train.to_csv(tmp_path / "train.csv", index=False)
    columns = ["--target", "y", "--prediction", "p", "--scale", "s", "--group", "g", "--input", "a", "--input", "b"]
    for name in ("rows.csv", "rows.parquet"):
        code, output, _ = run([tmp_path / name, *columns, "--training", tmp_path / "train.csv"])
        assert (code, output[:40]) == (0, "No evidence against the promise in 8 che"), output
    frame.iloc[:9].to_csv(tmp_path / "train.csv", index=False)
    for name in ("rows.csv", "rows.parquet"):
        code, output, _ = run([tmp_path / name, *columns, "--training", tmp_path / "train.csv", "--json"])
        assert code == 1
        assert [finding["check"] for finding in json.loads(output)["findings"]] == ["overlap with training"]
        code, _, error = run([tmp_path / name, "--target", "y", "--prediction", "q"])
        assert code == 1
        assert "there is no column 'q'" in str(error)
    assert run([tmp_path / "rows.csv", "--target", "y", "--prediction", "p", "--training", "t.csv"])[0] == 2
