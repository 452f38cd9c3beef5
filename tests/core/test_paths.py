"""A name means a file, the Parquet files below a directory, or the files that match a pattern."""

from pacband.core.paths import files_named


def test_names_mean_files_directories_and_patterns(tmp_path):
    for name in ("a.csv", "b[1].csv", "below/c.parquet", "below/deep/d.parquet", "below/e.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")

    def found(name):
        return [path.removeprefix(f"{tmp_path}/") for path in files_named(f"{tmp_path}/{name}")]

    assert found("a.csv") == ["a.csv"]
    # A name that exists is no pattern.
    assert found("b[1].csv") == ["b[1].csv"]
    assert found("*.csv") == ["a.csv", "b[1].csv"]
    parquet = ["below/c.parquet", "below/deep/d.parquet"]
    assert found("below") == parquet
    assert found("bel*") == parquet
    # Every file once, though its directory matches as well.
    assert sorted(found("below/**/*")) == [*parquet, "below/e.csv"]
    assert found("nothing") == []
