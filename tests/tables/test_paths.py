"""The files that were named are read, each once, by their names: patterns, links, pipes and devices."""

import os
import threading

import pytest

from pacband.exceptions import InvalidInput
from support.files import ENGINES, certified, expected, same, write

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_counts_once(rows, kind):
    write(rows, f"d/a.{kind}")
    os.symlink("a." + kind, f"d/link.{kind}")
    os.link(f"d/a.{kind}", f"d/hard.{kind}")
    a = f"d/a.{kind}"
    for paths, message in (
        ([a, a], "is given twice"),
        ([a, f"d/./a.{kind}"], f"is the same file as {a}"),
        ([a, f"d/link.{kind}"], f"d/link.{kind} is the same file as {a}: its rows would count twice"),
        ([a, f"d/hard.{kind}"], f"d/hard.{kind} is the same file as {a}"),
        ([f"d/a*.{kind}", f"d/?.{kind}"], "is given twice"),
        ([f"d/*.{kind}"], "is the same file as"),
        *([(["d"], "is the same file as")] if kind == "parquet" else []),
    ):
        with pytest.raises(InvalidInput, match=message):
            certified(*paths)


def test_a_pattern_that_finds_a_directory_and_its_files_counts_each_once(rows):
    write(rows, "d/e/a.parquet")
    same(certified("d/**"), expected(rows))


ODD = ["data[1]", "st*r", "q?m", "{a,b}", "dir[1]/x", "d{a,b}/x", "per%20cent", "O'Brien", 'quo"te', "back\\slash", "co:lon", "s=3/x", "_under", "ha#sh", "ü ", "[[]", "a,b"]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", ODD)
def test_what_exists_is_taken_by_its_name(rows, name, kind, engine):
    other = rows.assign(yhat=rows.y + 5.0)
    for near in ("data1", "star", "qum", "a", "b", "dir1/x", "da/x", "db/x", "["):
        write(other, f"{near}.{kind}")
    write(rows, f"{name}.{kind}")
    same(certified(f"{name}.{kind}", engine=engine, scale="s"), expected(rows, scale="s"))


def test_a_directory_with_brackets_is_a_directory(rows):
    write(rows, "d[1]/a.parquet")
    write(rows.assign(yhat=0.0), "d1/a.parquet")
    same(certified("d[1]"), expected(rows))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_links_lead_where_the_system_says(rows, kind):
    # The directory above a link to far/away is far.
    write(rows, f"far/a.{kind}")
    write(rows.assign(yhat=0.0), f"a.{kind}")
    os.makedirs("far/away")
    os.symlink("far/away", "link")
    os.symlink(f"a.{kind}", f"far/other.{kind}")
    for path in (f"link/../a.{kind}", f"link/../other.{kind}", f"link/../a*.{kind}", f"./far/away/../a.{kind}"):
        same(certified(path), expected(rows))


def test_a_pipe_is_read_as_standard_input_is(rows):
    write(rows, "a.csv")
    write(rows, "a.parquet")
    for kind in ("csv", "parquet"):
        os.mkfifo(f"pipe.{kind}")

        def feed(kind=kind):
            with open(f"pipe.{kind}", "wb") as pipe, open(f"a.{kind}", "rb") as file:
                pipe.write(file.read())

        feeder = threading.Thread(target=feed)
        feeder.start()
        same(certified(f"pipe.{kind}"), expected(rows))
        feeder.join()


def test_a_pipe_is_called_by_its_name():
    os.mkfifo("pipe")

    def feed():
        with open("pipe", "w") as pipe:
            pipe.write("y,yhat\n1,2\n3,x\n")

    feeder = threading.Thread(target=feed)
    feeder.start()
    with pytest.raises(InvalidInput, match=r"^pipe: column 'yhat' must be numeric, got 'x'. The first such row is 1 "):
        certified("pipe")
    feeder.join()


def test_a_device_without_end_is_refused():
    for device in ("/dev/zero", "/dev/urandom"):
        if os.path.exists(device):
            with pytest.raises(InvalidInput, match=f"{device} (is neither Parquet nor text|has no header|has a first)"):
                certified(device)
