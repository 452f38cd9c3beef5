"""Connections to DuckDB touch the files that are open, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from pacband.tables.connection import allowing, connect, workspace
from pacband.tables.files import open_files
from support.files import write

pytestmark = pytest.mark.usefixtures("here")


def test_a_connection_touches_what_is_open_and_nothing_else(rows):
    for name in ("a.csv", "secret.csv", "a.parquet", "secret.parquet"):
        write(rows, name)
    with open_files(["a.csv"]) as files:
        connection = connect()
        here = os.getcwd()
        assert connection.sql(f"select count(*) from read_csv('{here}/a.csv')").fetchall() == [(400,)]
        for asked in (
            f"from read_csv('{here}/secret.csv')",
            f"from read_text('{here}/secret.csv')",
            f"from read_csv('{here}/*.csv')",
            f"from read_parquet('{here}/a.parquet')",
            "from read_csv('/etc/passwd')",
            f"from read_csv('{files.folder}/../x.csv')",
            f"from glob('{here}/*')",
            f"copy (select 1) to '{here}/new.csv'",
            f"copy (select 1) to '{here}/a.csv.tmp'",
            f"attach '{here}/new.db'",
            "install httpfs",
            "load httpfs",
            "from read_csv('https://example.org/a.csv')",
            "set enable_external_access = true",
            "set allowed_directories = ['/']",
            "set autoload_known_extensions = true",
        ):
            with pytest.raises(
                duckdb.Error, match=r"disabled|locked|Missing Extension|not loaded|requires the extension"
            ):
                connection.execute(asked).fetchall()
        assert sorted(os.listdir()) == ["a.csv", "a.parquet", "secret.csv", "secret.parquet"]
    with pytest.raises(duckdb.Error, match=r"[Cc]losed"):
        connection.execute("select 1")


FAILING_WRITES = """
import sys
import duckdb
from pacband.tables.connection import allowing, connect

folder, rounds = sys.argv[1:]
for row in range(int(rounds)):
    with allowing([f"{folder}/out.csv"], folder=folder):
        fails = f"case when i = {20_000 * (row % 30 + 1)} then error('no such row') else 'a text' end"
        relation = connect(threads=2).sql(f"select i, i * 1.234567 as a, {fails} as b from range(600001) t(i)")
        try:
            relation.write_csv(f"{folder}/out.csv")
        except duckdb.Error as error:
            print("no such row" in str(error))
"""


def test_a_write_that_fails_ends(tmp_path):
    """With the threads for reading and writing of DuckDB 2.0, one of 8 to 48 such writes waited for ever."""
    command = [sys.executable, "-c", FAILING_WRITES, str(tmp_path), "60"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.split() == ["True"] * 60


def test_every_connection_of_the_package_is_made_in_one_place():
    import pacband

    calls = ("duckdb.connect", "duckdb.sql", "duckdb.from_", "duckdb.read_", "duckdb.query", "duckdb.execute")
    for path in Path(pacband.__file__).parent.rglob("*.py"):
        if path.name != "connection.py":
            text = path.read_text("utf-8")
            assert not [call for call in calls if call in text], path


def test_rows_beyond_the_memory_go_to_a_folder_of_our_own():
    with workspace() as folder:
        connection = connect(threads=1, memory_limit="30MB")
        connection.execute("create table t as select random() r, i from range(3000000) t(i) order by r")
        assert connection.sql("select count(*) from t").fetchall() == [(3_000_000,)]
        assert any(name.startswith("duckdb_temp") for name in os.listdir(folder))
    assert not os.path.exists(folder)
    assert not os.path.exists(".tmp")


def test_a_folder_with_odd_characters_is_a_folder(rows):
    for name in ("it's", "b[r]", "a*b", "{x,y}", "'; copy (select 42) to 'x"):
        os.mkdir(name)
        folder = os.path.abspath(name)
        with allowing(folder=folder):
            connection = connect()
            connection.from_df(rows).write_parquet(f"{folder}/a.parquet")
        assert os.listdir(folder) == ["a.parquet"]
