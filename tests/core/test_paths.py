"""A name means a file, the Parquet files below a directory, or the files that match a pattern."""

import pytest

from pacband.core.paths import files_named
from pacband.exceptions import InvalidInput


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def test_names_mean_files_directories_and_patterns(tmp_path):
    touch(tmp_path, "a.csv", "b[1].csv", "below/c.parquet", "below/deep/d.parquet", "below/e.csv")

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


@pytest.mark.parametrize(
    "names", [["Z.CSV", "a.csv", "b.csv.gz", "c.tsv", "d.TSV.gz", "e/f.tsv.gz"], ["a.parquet", "b.pq", "c.PARQUET"]]
)
def test_no_table_of_a_directory_is_left_out(names, tmp_path):
    touch(tmp_path, *names, "notes.txt", ".hidden.csv", ".hidden/x.pq")
    assert files_named(str(tmp_path)) == [str(tmp_path / name) for name in names]


@pytest.mark.parametrize("pair", [("x.csv", "x.csv.gz"), ("x.tsv", "x.tsv.gz"), ("x.CSV", "x.csv.gz"), ("x.parquet", "x.pq")])  # fmt: skip
def test_a_packed_copy_beside_its_file_is_refused(pair, tmp_path):
    first, second = (tmp_path / "d" / name for name in pair)
    touch(tmp_path, "d/e/x.csv.gz", *(f"d/{name}" for name in pair))
    for name in ("d", "d*"):
        with pytest.raises(InvalidInput) as caught:
            files_named(str(tmp_path / name))
        assert str(caught.value).startswith(f"{first} and {second} differ only in their endings")
    # Whoever names both files has both, and in two directories they are two tables.
    assert files_named(str(tmp_path / "d" / "x.*")) == [str(first), str(second)]
    second.unlink()
    assert str(first) in files_named(str(tmp_path / "d"))
