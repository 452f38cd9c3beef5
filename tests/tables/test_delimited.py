"""The texts of CSV files are numbers to the last bit, or are refused with their place."""

import gzip

import pandas as pd
import pytest

from pacband.exceptions import InvalidInput
from pacband.tables.opening import open_table
from support.files import ENGINES, certified, expected, same, write

pytestmark = pytest.mark.usefixtures("here")

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
    with pytest.raises(InvalidInput, match=r"^a.csv: column 'yhat' must be numeric, got .*The first such row is 399 "):
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
    whole = gzip.compress(rows.to_csv().encode())
    for damaged in (whole[: len(whole) // 2], whole[:-1], whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:]):
        with open("cut.csv.gz", "wb") as file:
            file.write(damaged)
        with pytest.raises(InvalidInput, match=r"cut.csv.gz is damaged or cut off"):
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
