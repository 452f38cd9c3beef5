"""One rule for all ways in: every command gives what float64 arrays give, to the last bit, or refuses in one sentence.

The table of awkward cases × ways in × commands. What a way in cannot express is left out by `expresses`, by name.
"""

import pytest

import pacband
from support.cases import CASES, COLUMNS, HALF, base, grouped
from support.ways import (
    ARRAYS,
    COMMANDS,
    FILES,
    FRAMES,
    PROMISE,
    TEXTS,
    Refused,
    by_arrays,
    by_files,
    by_frames,
    expected,
)

# Dask has not yet followed what pandas is going to change.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index:DeprecationWarning")

WAYS = {
    **{name: (by_arrays, convert, COMMANDS) for name, convert in ARRAYS.items()},
    **{name: (by_frames, convert, ("certify", "apply", "check")) for name, convert in FRAMES.items()},
    **{name: (by_files, write, COMMANDS) for name, write in FILES.items()},
}
# These run in engines or read many files: most of their table is for the long studies.
STREAMS = {"csv", "csv from elsewhere", "csv among keys", "standard input", "json lines"}
LONG = {
    "lists", "objects", "pyarrow arrays", "pandas of objects", "standard input", "pandas nullable series", "pandas arrow series", "pandas nullable", "pandas of arrow", "polars", "arrow dataset",
    "polars of parquet", "dask", "dask of arrow", "dask of parquet", "spark",
    "csv from elsewhere", "csv packed", "csv parts", "csv among keys", "parquet", "parquet among keys",
}  # fmt: skip


def expresses(case, way, command):
    """Whether a way in has such a table, and such a command."""
    left_out = (
        # `monitor` reads one stream of CSV or JSON lines; the others read no JSON.
        way in FILES and command == "monitor" and way not in STREAMS,
        way == "json lines" and command != "monitor",
        # `diagnose` reads one file: the order of its rows counts.
        way == "csv parts" and command == "diagnose",
        # Without types of their own for gaps, pandas and numpy made floats of these integers before we saw them.
        case == "large int64 with nulls"
        and way in ("numpy", "pandas series", "pandas", "pandas nullable series", "dask"),
        case == "large int64 with nulls" and way in ("pandas nullable", "pandas of objects", "dask of parquet"),
        # No rows are no sign of anything.
        case == "no rows" and (command in ("report", "diagnose", "monitor") or way == "pandas of objects"),
    )
    return not any(left_out)


def table():
    """Yield every combination, the long ones marked."""
    for case in CASES:
        for way, (_, _, commands) in WAYS.items():
            for command in commands:
                if expresses(case, way, command):
                    long = way in LONG or (command in ("report", "diagnose") and way not in ("numpy", "csv"))
                    marks = [pytest.mark.verify] if long else []
                    yield pytest.param(case, way, command, id=f"{case} | {way} | {command}", marks=marks)


@pytest.fixture
def small_engine(limit):
    """Let tables in engines be too large to be fetched whole, and their windows too large to be fetched at once."""
    limit(sample=100, few=60)


def must_refuse(case, way, command):
    """Whether the command computes with a column that breaks a rule."""
    if case.texts and way in TEXTS:
        return False
    if command == "monitor" and case in (CASES["null target"], CASES["nan target"]):
        return False
    used = {"prediction", "scale", "group"} | ({"target", "rows"} if command != "apply" else set())
    return bool(used & set(case.refused))


def certificate_for(case):
    """Return a certificate of sound rows that the case's rows can be held against."""
    clean = {role: base().column(name).to_numpy() for role, name in COLUMNS.items()}
    if "group" not in case.names:
        return pacband.certify(clean["target"], clean["prediction"], clean["scale"], **PROMISE, **case.options)
    known = case.labels() if "group" not in case.refused else HALF
    if any(isinstance(label, str) for label in case.labels()):
        known = [label or "north" for label in case.labels()]
    return pacband.certify_groups(
        clean["target"], clean["prediction"], known, clean["scale"], **PROMISE, **case.options
    )


@pytest.mark.parametrize(("name", "way", "command"), list(table()))
def test_every_way_in_gives_what_arrays_give_or_refuses(name, way, command, small_engine, tmp_path):
    case = CASES[name]
    run, convert, _ = WAYS[way]
    certificate = certificate_for(case)
    if must_refuse(case, way, command):
        with pytest.raises(Refused) as refusal:
            run(convert, case, command, certificate, tmp_path)
        assert len(str(refusal.value)) > 20
        return
    try:
        answer = run(convert, case, command, certificate, tmp_path)
    except Refused:
        # True and False are no numbers where every cell is a text.
        if case.either or ("boolean" in name and "groups" not in name and way in TEXTS):
            return
        raise
    assert answer == expected(case, command, certificate, tmp_path)


def test_the_table_is_as_large_as_it_is_said_to_be():
    combinations = list(table())
    assert len(combinations) > 7000
    assert len({case.values[0] for case in combinations}) == len(CASES)
    assert grouped(HALF).names["group"] == "g"
