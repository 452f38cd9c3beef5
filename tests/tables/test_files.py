"""From a file to numbers: the rows that were named, and only those, by one set of rules in every engine."""

import gzip
import os
import threading
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from pacband import certify, certify_groups
from pacband.exceptions import InvalidInput
from pacband.tables import certify_frame
from pacband.tables.connection import allowing, connect, workspace
from pacband.tables.files import open_files, write_table
from pacband.tables.opening import open_table

PROMISE = {"eps": 0.1, "delta": 0.01}
# What Dask imports warns.
ENGINES = ["duckdb", pytest.param("dask", marks=pytest.mark.filterwarnings("ignore"))]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rows(rng):
    y = rng.standard_normal(400)
    return pd.DataFrame({"y": y, "yhat": y + 0.1 * rng.standard_normal(400), "s": 1.0 + rng.random(400)})


def certified(*paths, engine="duckdb", scale=None, group=None):
    numeric = ["y", "yhat", *([scale] if scale else [])]
    with open_table(paths, numeric, also=[group] if group else [], engine=engine) as table:
        return certify_frame(table, target="y", prediction="yhat", scale=scale, group=group, **PROMISE)


def expected(*frames, scale=None):
    table = pd.concat(frames)
    return certify(
        table.y.to_numpy(float),
        table.yhat.to_numpy(float),
        None if scale is None else table[scale].to_numpy(float),
        **PROMISE,
    )


def same(found, wanted):
    assert (found.gamma, found.n_samples, found.data_digest) == (wanted.gamma, wanted.n_samples, wanted.data_digest)


def write(frame, path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    frame.to_csv(path, index=False) if path.endswith("csv") else frame.to_parquet(path)


# Several files


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("first", ["int64", "int8", "float32", "uint64"])
@pytest.mark.parametrize("turned", [False, True])
def test_files_of_different_types_keep_their_numbers(rows, engine, first, turned):
    parts = [rows.assign(yhat=np.zeros(400, first)), rows]
    names = ["2.parquet", "1.parquet"] if turned else ["1.parquet", "2.parquet"]
    for name, part in zip(names, parts, strict=True):
        write(part, f"parts/{name}")
    same(certified("parts", engine=engine), expected(*parts))


MIXED = {
    "text and number": (["1", "2"], [1.0, 2.0], "column 'yhat' is VARCHAR in a.parquet and DOUBLE in b.parquet"),
    "boolean and number": ([True, False], [1.0, 2.0], "column 'yhat' is BOOLEAN in a.parquet and DOUBLE in b.parquet"),
    "date and number": (pd.to_datetime(["2024-01-01"] * 2), [1.0, 2.0], "column 'yhat' is TIMESTAMP.* in a.parquet"),
    "large integers and floats": ([2**53 + 1, 0], [1.0, 2.0], "a.parquet: column 'yhat' has integers beyond 2..53"),
    "negative ones": ([-(2**63), 0], [1.0, 2.0], "a.parquet: column 'yhat' has integers beyond 2..53"),
    "integers and float32": ([2**24 + 1, 0], np.zeros(2, "float32"), "with integers beyond 2..24, and FLOAT in b"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", MIXED)
def test_types_that_do_not_fit_together_are_refused(case, engine):
    one, other, message = MIXED[case]
    write(pd.DataFrame({"y": [0.0, 1.0], "yhat": one}), "a.parquet")
    write(pd.DataFrame({"y": [0.0, 1.0], "yhat": other}), "b.parquet")
    with pytest.raises(InvalidInput, match=message):
        certified("a.parquet", "b.parquet", engine=engine)


def test_other_columns_may_have_other_types_where_they_are_not_read(rows):
    write(rows.assign(note="x"), "a.parquet")
    write(rows.assign(note=1), "b.parquet")
    same(certified("a.parquet", "b.parquet"), expected(rows, rows))
    with open_files(["a.parquet", "b.parquet"]) as files, pytest.raises(InvalidInput, match="column 'note' is VARCHAR"):
        files.relation()


def test_a_column_without_any_value_fits_every_type(rows):
    write(rows.assign(note=None), "a.parquet")
    write(rows.assign(note="x"), "b.parquet")
    if "NULL" not in str(duckdb.sql("select note from 'a.parquet'").types[0]):
        pytest.skip("this DuckDB gives it a type")
    with open_files(["a.parquet", "b.parquet"]) as files:
        assert files.relation().aggregate("count(*), count(note)").fetchall() == [(800, 400)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lacking", ["s", "note"])
def test_a_column_that_one_file_lacks_is_refused(rows, engine, lacking):
    whole = rows.assign(note="x")
    write(whole, "a.parquet")
    write(whole.drop(columns=lacking), "b.parquet")
    message = f"b.parquet has no column '{lacking}', which a.parquet has"
    for order in (["a.parquet", "b.parquet"], ["b.parquet", "a.parquet"]):
        with pytest.raises(InvalidInput, match=message):
            certified(*order, engine=engine)


def test_columns_in_another_order_are_the_same_columns(rows):
    write(rows, "a.parquet")
    write(rows[["s", "yhat", "y"]], "b.parquet")
    same(certified("a.parquet", "b.parquet", scale="s"), expected(rows, rows, scale="s"))


def test_the_schema_of_many_files_is_looked_up_once(rows, monkeypatch):
    from pacband.tables import parquet

    looked = []
    described = parquet._described
    monkeypatch.setattr(parquet, "_described", lambda file: looked.append(file) or described(file))
    write(rows, "many/0.parquet")
    data = Path("many/0.parquet").read_bytes()
    for k in range(1, 300):
        with open(f"many/{k}.parquet", "wb") as file:
            file.write(data)
    with open_files(["many"]) as files:
        assert files.relation().aggregate("count(*)").fetchall() == [(120_000,)]
    assert len(looked) == 1


@pytest.mark.parametrize("library", ["pyarrow", "duckdb", "polars"])
def test_the_columns_of_a_footer_end_where_the_row_groups_begin(rows, library):
    # The rest of a footer differs between files with the same columns, the columns never do.
    from pacband.tables.parquet import _footer, _schema_end
    from pacband.tables.paths import find_files

    wide = pd.concat([rows.add_suffix(f" {k}") for k in range(20)], axis=1).assign(text="é", whole=1, yes=True)
    cut = []
    for name, part in (("a.parquet", wide), ("b.parquet", wide[:7])):
        if library == "pyarrow":
            part.to_parquet(name)
        elif library == "duckdb":
            duckdb.from_df(part).write_parquet(name)
        else:
            pytest.importorskip("polars").from_pandas(part).write_parquet(name)
        (file,) = find_files([name], ".")
        footer = _footer(file)
        end = _schema_end(footer)
        # After the version and the columns comes the number of rows: field 3, an int64.
        assert footer[end] == 0x16
        cut.append(footer[:end])
    assert cut[0] == cut[1]
    assert b"text" in cut[0]


@pytest.mark.parametrize("damage", ["cut", "footer", "length"])
def test_damaged_parquet_files_are_refused(rows, damage):
    write(rows, "a.parquet")
    data = bytearray(Path("a.parquet").read_bytes())
    if damage == "cut":
        data = data[:-100]
    elif damage == "footer":
        size = int.from_bytes(data[-8:-4], "little")
        data[-8 - size : -8] = b"\x19\xfc\xff\xff\xff\xff\xff\xff\x0f" + b"\xff" * (size - 9)
    else:
        data[-8:-4] = b"\xff\xff\xff\x7f"
    with open("b.parquet", "wb") as file:
        file.write(data)
    with pytest.raises(InvalidInput, match=r"b.parquet is a damaged Parquet file"):
        certified("a.parquet", "b.parquet")
    alone = "b.parquet: " if damage == "footer" else "b.parquet is a damaged Parquet file: it has no footer."
    with pytest.raises(InvalidInput, match=alone):
        certified("b.parquet")


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


# Names of files and directories

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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("folder", ["s=3", "yhat=0", "S=3", "y=5/s=3"])
def test_the_name_of_a_directory_replaces_no_column(rows, folder, kind, engine):
    write(rows, f"run/{folder}/d.{kind}")
    wanted = expected(rows, scale="s")
    same(certified(f"run/{folder}/d.{kind}", engine=engine, scale="s"), wanted)
    same(certified(f"run/{folder}/*.{kind}", engine=engine, scale="s"), wanted)
    if kind == "parquet":
        same(certified(f"run/{folder}", engine=engine, scale="s"), wanted)
        for above in ("run", "run/**/*.parquet", "run/*/*.parquet" if folder.count("/") == 0 else "run/*/*/d.parquet"):
            with pytest.raises(InvalidInput, match=r"has a column '.*', and the directory .*=… above it would replace"):
                certified(above, engine=engine, scale="s")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("keys", "labels"), [(["1", "2"], [1, 2]), (["01", "2"], ["01", "2"]), (["a b", "é"], ["a b", "é"])])  # fmt: skip
def test_directories_below_the_named_one_make_a_column(rows, keys, labels, engine):
    for key in keys:
        write(rows, f"top=9/all/part={key}/d.parquet")
    wanted = certify_groups(
        np.tile(rows.y, 2), np.tile(rows.yhat, 2), np.repeat(np.array(labels, dtype=object), 400), **PROMISE
    )
    for given in ("top=9/all", "top=9/all/*/d.parquet", "top=9/all/part=*"):
        found = certified(given, engine=engine, group="part")
        assert list(found.groups) == list(wanted.groups)
        assert all(found.groups[label].gamma == wanted.groups[label].gamma for label in labels)
    with pytest.raises(InvalidInput, match="there is no column 'top'"):
        certified("top=9/all", engine=engine, group="top")


def test_directories_with_different_keys_are_refused(rows):
    write(rows, "all/part=1/d.parquet")
    write(rows, "all/piece=2/d.parquet")
    with pytest.raises(InvalidInput, match="directories with different keys"):
        certified("all")


# Files that change


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


# Texts and numbers

NUMBERS = ["1", "-1.5", "+2", ".5", "5.", "1e5", "1E-3", " 7 ", "\t8", "0.1", "1e-400", "4.35", "123456789.123456789", "2.2250738585072011e-308", "9007199254740992", "-9007199254740992", "9007199254740994.0", "1.7e18", "0000000000000000000000012"]  # fmt: skip
TEXTS = ["0.12d", "1f", "0x1F", "1,000", "NA", "n/a", "null", "None", "true", "1e", "--1", "1 2", "NaN0", "١", "#N/A"]
LARGE = ["9007199254740993", "-9007199254740993", "1700000000000000000", " 9007199254740993", "9" * 45]


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_are_numbers_to_the_last_bit(engine):
    pd.DataFrame({"y": NUMBERS, "yhat": "0"}).to_csv("a.csv", index=False)
    with open_table(["a.csv"], ["y", "yhat"], also=[], engine=engine) as table:
        found = table.df()["y"] if engine == "duckdb" else table.compute()["y"]
    assert list(found) == [float(text) for text in NUMBERS]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_are_no_numbers_are_refused(rows, text, engine):
    write(rows.astype(str).assign(yhat=["0"] * 399 + [text]), "a.csv")
    with pytest.raises(InvalidInput, match=r"^a.csv: column 'yhat' must be numeric, got .*So it is in row 399"):
        certified("a.csv", engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["", '""', "inf", "-Infinity", "nan", "NaN"])
def test_values_that_are_not_finite_are_refused(rows, text, engine):
    write(rows, "a.csv")
    with open("a.csv", "a") as file:
        file.write(f"0,{text},1\n")
    with pytest.raises(InvalidInput, match="finite"):
        certified("a.csv", engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", LARGE)
@pytest.mark.parametrize("column", ["y", "yhat"])
def test_integers_beyond_float64_are_refused_in_texts_too(rows, text, column, engine):
    write(rows.astype(str).assign(**{column: ["0"] * 399 + [text]}), "a.csv")
    with pytest.raises(InvalidInput, match=rf"^a.csv: column '{column}' has integers beyond 2\*\*53"):
        certified("a.csv", engine=engine)


def test_integers_beyond_float64_pass_through_where_they_are_not_computed_with(rows):
    write(rows.assign(id=str(2**60 + 1)), "a.csv")
    with open_table(["a.csv"], ["y"], output="out.csv") as table:
        write_table(table, "out.csv")
    assert set(pd.read_csv("out.csv", dtype=str)["id"]) == {str(2**60 + 1)}


QUOTED = {
    "line breaks": ('y,yhat,t', '{y},{p},"line one\n3,4,line two"'),
    "doubled quotes": ('t,y,yhat', '"pipe 5"",7,8,end",{y},{p}'),
    "backslash": ('t,y,yhat', '"C:\\",{y},{p}'),
    "other line ends": ('t,y,yhat\r', 'x,{y},{p}\r'),
    "semicolons": ('"a,b,c,d";y;yhat', '"1;2,3";{y};{p}'),
    "header with a line break": ('"t\nt",y,yhat', 'x,{y},{p}'),
    "byte order mark": ('\ufeffy,yhat', '{y},{p}'),
    "words for nothing": ('t,y,yhat', 'NA,{y},{p}'),
}  # fmt: skip


def write_quoted(case, rows):
    header, row = QUOTED[case]
    lines = [header, *(row.format(y=repr(y), p=repr(p)) for y, p in zip(rows.y.tolist(), rows.yhat, strict=True))]
    with open("q.csv", "w", newline="") as file:
        file.write("\n".join(lines) + "\n")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", QUOTED)
def test_quoted_texts_are_read_by_the_same_rules_everywhere(rows, case, engine):
    write_quoted(case, rows)
    same(certified("q.csv", engine=engine), expected(rows))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_label_is_the_text_that_stands_in_the_file(rows, engine):
    write(pd.concat([rows.assign(g=label) for label in ("NA", "null", " x", "01")]), "a.csv")
    assert list(certified("a.csv", engine=engine, group="g").groups) == [" x", "01", "NA", "null"]


def test_names_that_differ_by_case_alone_are_refused(rows):
    for kind in ("csv", "parquet"):
        write(rows.assign(Y=1.0), f"a.{kind}")
        with pytest.raises(InvalidInput, match="has columns 'y' and 'Y': names must differ by more than case"):
            certified(f"a.{kind}")


def test_a_column_called_star_is_no_other_column(rng):
    # So many rows that the table stays in the engine.
    n = 140_000
    table = pd.DataFrame({"y": rng.standard_normal(n), "*": 0.0, "yhat": 0.0})
    table.to_parquet("a.parquet")
    with pytest.raises(InvalidInput, match=r"a column is called '\*'"), open_table(["a.parquet"], ["y", "*"], also=[]):
        pass
    same(certified("a.parquet"), expected(table))


# What is no regular file, and what has no end


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
    with pytest.raises(InvalidInput, match=r"^pipe: column 'yhat' must be numeric, got 'x'. So it is in row 1"):
        certified("pipe")
    feeder.join()


def test_a_device_without_end_is_refused():
    for device in ("/dev/zero", "/dev/urandom"):
        if os.path.exists(device):
            with pytest.raises(InvalidInput, match=f"{device} (is neither Parquet nor text|has no header|has a first)"):
                certified(device)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_first_line_without_end_is_refused(name):
    with gzip.open(name, "wb") if name.endswith("gz") else open(name, "wb") as file:
        for _ in range(17):
            file.write(b"a" * (1 << 20))
    with pytest.raises(InvalidInput, match=f"{name} has no header: its first line does not end within 16 MB"):
        certified(name)


def test_a_compressed_file_that_is_cut_off_is_refused(rows):
    with open("cut.csv.gz", "wb") as file:
        file.write(gzip.compress(rows.to_csv().encode())[:30])
    with pytest.raises(InvalidInput, match=r"cut.csv.gz is neither Parquet nor text"):
        certified("cut.csv.gz")


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
@pytest.mark.parametrize("after", ["", "\n", "\n0,0,1,x\n"])
def test_a_cell_of_many_megabytes_is_refused_in_plain_words(rows, after, name):
    # As the last of the file, DuckDB drops the row and says nothing.
    text = rows.assign(t="x").to_csv(index=False) + "0,0,1," + "x" * 34_000_000 + after
    with gzip.open(name, "wt", compresslevel=1) if name.endswith("gz") else open(name, "w") as file:
        file.write(text)
    with pytest.raises(InvalidInput, match=rf"^{name}.*: a row must have at most 2,000,000 bytes"):
        certified(name)


@pytest.mark.parametrize("cell", ['"x', '"x"y'])
def test_a_quote_that_does_not_end_is_refused_in_plain_words(cell):
    with open("a.csv", "w") as file:
        file.write(f"y,yhat,t\n1,2,x\n3,4,{cell}\n5,6,x\n")
    with pytest.raises(InvalidInput, match=r"^a.csv, line 3: a cell that begins with a quote must end with one"):
        certified("a.csv")


# Connections


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
