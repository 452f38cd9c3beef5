"""Files that change while they are read are refused; columns that are not computed with pass through unchanged."""

import os

import pandas as pd
import pytest

from pacband.exceptions import InvalidInput
from pacband.tables.files import open_files
from pacband.tables.opening import open_table
from pacband.tables.writing import write_table
from support.files import certified, expected, same, write

pytestmark = pytest.mark.usefixtures("here")


def grow(path):
    with open(path, "a") as file:
        file.write("0,0,1\n")


def replace(path):
    with open(path, "rb") as file:
        data = file.read()
    with open("new", "wb") as file:
        file.write(data)
    os.replace("new", path)


def overwrite(path):
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(-5, 2)
        file.write(b"9")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def written_meanwhile(paths, change):
    with open_table(paths, ["y"], output="out.csv") as table:
        write_table(table, "out.csv")
        change()


CHANGES = {
    "grown": (grow, r"it had \d+ bytes and has \d+ now"),
    "replaced": (replace, "another file has taken its name"),
    "overwritten": (overwrite, "it was written to"),
    "gone": (os.unlink, "it is gone"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_changes_is_refused_and_nothing_is_written(rows, change, kind):
    make, how = CHANGES[change]
    write(rows, f"a.{kind}")
    write(rows, f"b.{kind}")
    message = f"^b.{kind} changed while it was read: {how}"
    with pytest.raises(InvalidInput, match=message), open_files([f"a.{kind}", f"b.{kind}"]):
        make(f"b.{kind}")
    write(rows, f"b.{kind}")
    with pytest.raises(InvalidInput, match=message):
        written_meanwhile([f"a.{kind}", f"b.{kind}"], lambda: make(f"b.{kind}"))
    assert not os.path.exists("out.csv")
    assert not [name for name in os.listdir() if name.endswith(".tmp")]


def test_what_goes_wrong_in_a_file_that_changed_is_said_to_come_from_that(rows):
    write(rows, "a.csv")
    with pytest.raises(InvalidInput, match=r"a.csv changed while it was read"), open_files(["a.csv"]):
        assert grow("a.csv")
    with pytest.raises(ZeroDivisionError), open_files(["a.csv"]):
        raise ZeroDivisionError


def test_integers_beyond_float64_pass_through_where_they_are_not_computed_with(rows):
    write(rows.assign(id=str(2**60 + 1)), "a.csv")
    with open_table(["a.csv"], ["y"], output="out.csv") as table:
        write_table(table, "out.csv")
    assert set(pd.read_csv("out.csv", dtype=str)["id"]) == {str(2**60 + 1)}


def test_a_column_called_star_is_no_other_column(rng):
    # So many rows that the table stays in the engine.
    n = 140_000
    table = pd.DataFrame({"y": rng.standard_normal(n), "*": 0.0, "yhat": 0.0})
    table.to_parquet("a.parquet")
    with pytest.raises(InvalidInput, match=r"a column is called '\*'"), open_table(["a.parquet"], ["y", "*"], also=[]):
        pass
    same(certified("a.parquet"), expected(table))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not os.path.exists("/proc/self/net/tcp"), reason="needs /proc")
def test_dask_listens_to_nobody(rows):
    write(rows, "a.parquet")
    before = listening()
    with open_table(["a.parquet"], ["y", "yhat"], also=[], engine="dask") as table:
        table.compute()
        assert listening() == before


def listening():
    """Return the sockets of this process that wait for others."""
    own = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            own.add(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    found = set()
    for kind in ("tcp", "tcp6"):
        with open(f"/proc/self/net/{kind}") as table:
            for line in list(table)[1:]:
                cells = line.split()
                if cells[3] == "0A" and f"socket:[{cells[9]}]" in own:
                    found.add((kind, cells[1]))
    return found
