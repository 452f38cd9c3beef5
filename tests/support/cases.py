"""Awkward tables, each with what the arrays say of it: columns as Arrow types, the one form that knows them all."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow as pa

N = 400
COLUMNS = {"target": "y", "prediction": "p", "scale": "s"}


@dataclass(frozen=True)
class Case:
    """A table, what is asked of it, and which of its columns must be refused.

    Attributes
    ----------
    table : pyarrow.Table
        The rows.
    refused : tuple of str
        The roles ("target", "prediction", "scale", "group") whose column breaks a rule. Every command that computes
        with one of them refuses the table.
    texts : bool
        Whether a CSV file of it, in which every cell is a text, holds sound numbers all the same.
    either : bool
        Whether a way in may refuse what the arrays accept, because it has no such names.
    names : mapping of role to column
        What the columns are called.
    options : mapping
        What the promise says besides ε and δ.
    """

    table: pa.Table
    refused: tuple[str, ...] = ()
    texts: bool = False
    either: bool = False
    names: dict = field(default_factory=lambda: dict(COLUMNS))
    options: dict = field(default_factory=dict)

    def column(self, role):
        """Return the exact numbers of a column as float64, NaN where there is none: by Python, not by an engine."""
        values = self.table.column(self.names[role]).to_pylist()
        return np.array([np.nan if value is None else float(value) for value in values])

    def labels(self):
        """Return the groups, or None."""
        return None if "group" not in self.names else self.table.column(self.names["group"]).to_pylist()


@cache
def base():
    """Rows of one group each, whose predictions are whole numbers: they fit every numeric type."""
    rng = np.random.default_rng(7)
    p = rng.integers(0, 100, N)
    s = np.round(rng.uniform(0.5, 2.0, N), 3)
    return pa.table({"y": p + s * rng.standard_normal(N), "p": p.astype(float), "s": s})


def put(name, values, kind=None, *, table=None):
    """Return the rows with one column replaced or added."""
    table = base() if table is None else table
    column = pa.array(values, kind)
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)


def spoilt(name, value):
    """Return the values of a column, one of them replaced in the third row and one in the last."""
    values = base().column(name).to_pylist()
    values[3] = values[-1] = value
    return values


def whole(kind):
    """Return the predictions in another numeric type."""
    return put("p", [int(value) for value in base().column("p").to_pylist()], kind)


def decimals(kind, step):
    """Return the predictions as decimals with a fractional part."""
    return put(
        "p", [Decimal(int(v)) + k % 7 * Decimal(step) for k, v in enumerate(base().column("p").to_pylist())], kind
    )


def large(role, kind, offset):
    """Return rows in which one column holds integers that float64 cannot tell apart."""
    convert = Decimal if pa.types.is_decimal(kind) else int
    return put(role, [convert(offset + int(v)) for v in base().column("p").to_pylist()], kind)


def renamed(y, p, s):
    """Return the rows under other names."""
    return Case(base().rename_columns([y, p, s]), names={"target": y, "prediction": p, "scale": s}, either=True)


def grouped(labels, kind=None, **options):
    """Return rows with a column of groups."""
    return Case(put("g", labels, kind), names={**COLUMNS, "group": "g"}, **options)


HALF = [k % 2 for k in range(N)]
VIOLATE = {"options": {"nonfinite": "violate"}}
FLOOR = {"options": {"min_scale": 0.75}}
TEXT = ["plain", "a,b", 'say "x"', "two\nlines", "=1+1", "ü; |\t", "", "NA", "\\", "'"]
EXTREMES = [5e-324, -0.0, 0.0, 1e-300, 1e300, -1.7e308, 2.0**-1074, 9007199254740994.0, 0.1, 1 / 3]

CASES = {
    "plain": Case(base()),
    # Types of numbers.
    "float32": Case(put("s", np.float32(base().column("s").to_numpy()), table=whole(pa.float32()))),
    "int8": Case(whole(pa.int8())),
    "uint8": Case(whole(pa.uint8())),
    "int32": Case(whole(pa.int32())),
    "int64": Case(whole(pa.int64())),
    "uint64": Case(whole(pa.uint64())),
    "boolean": Case(put("p", [v > 50 for v in base().column("p").to_pylist()])),
    "decimal": Case(decimals(pa.decimal128(12, 3), "0.125")),
    "decimal that is no float": Case(decimals(pa.decimal128(12, 2), "0.01")),
    "decimal of many digits": Case(decimals(pa.decimal128(38, 20), "0.12345678901234567891")),
    "whole decimal": Case(put("p", [Decimal(int(v)) for v in base().column("p").to_pylist()], pa.decimal128(20, 0))),
    "extremes": Case(put("p", [EXTREMES[k % 10] for k in range(N)], table=put("y", [EXTREMES[k % 7] for k in range(N)])),
                     options={"nonfinite": "violate"}),
    # Integers beyond 2**53.
    "large int64 target": Case(large("y", pa.int64(), 10**18), ("target",)),
    "large int64 prediction": Case(large("p", pa.int64(), -(10**18)), ("prediction",)),
    "large int64 scale": Case(large("s", pa.int64(), 10**17), ("scale",)),
    "large uint64": Case(large("p", pa.uint64(), 2**63), ("prediction",)),
    "large decimal": Case(large("p", pa.decimal128(30, 0), 10**20), ("prediction",)),
    # A text with a decimal point is one of a float.
    "large decimal with digits": Case(large("p", pa.decimal128(38, 2), 10**20), ("prediction",), texts=True),
    "one large integer": Case(put("p", [2**53 + 1, *[int(v) for v in base().column("p").to_pylist()[1:]]], pa.int64()), ("prediction",)),
    "large int64 with nulls": Case(put("p", [None, *[10**18 + int(v) for v in base().column("p").to_pylist()[1:]]], pa.int64()),
                                   ("prediction",), options={"nonfinite": "violate"}),
    "the largest exact integer": Case(put("p", [2**53 - k for k in range(N)], pa.int64(), table=put("y", [float(2**53 - k // 2) for k in range(N)]))),
    # What is no number.
    "null prediction": Case(put("p", spoilt("p", None)), ("prediction",)),
    "null integer prediction": Case(put("p", [None if v is None else int(v) for v in spoilt("p", None)], pa.int64()), ("prediction",)),
    "nan prediction": Case(put("p", spoilt("p", float("nan"))), ("prediction",)),
    "infinite prediction": Case(put("p", spoilt("p", float("inf"))), ("prediction",)),
    "null prediction, violating": Case(put("p", spoilt("p", None)), **VIOLATE),
    "null boolean prediction, violating": Case(put("p", [None, *[v > 50 for v in base().column("p").to_pylist()[1:]]]), **VIOLATE),
    "nan prediction, violating": Case(put("p", spoilt("p", float("nan"))), **VIOLATE),
    "infinite prediction, violating": Case(put("p", spoilt("p", float("-inf"))), **VIOLATE),
    "infinite target": Case(put("y", spoilt("y", float("inf"))), ("target",)),
    "infinite target, violating": Case(put("y", spoilt("y", float("inf"))), ("target",), **VIOLATE),
    "null scale": Case(put("s", spoilt("s", None)), ("scale",)),
    "null scale, violating": Case(put("s", spoilt("s", None)), ("scale",), **VIOLATE),
    "nan scale": Case(put("s", spoilt("s", float("nan"))), ("scale",)),
    "zero scale": Case(put("s", spoilt("s", 0.0)), ("scale",)),
    "negative scale": Case(put("s", spoilt("s", -1.0)), ("scale",)),
    "infinite scale": Case(put("s", spoilt("s", float("inf"))), ("scale",)),
    "null scale with a floor": Case(put("s", spoilt("s", None)), **FLOOR),
    "zero scale with a floor": Case(put("s", spoilt("s", 0.0)), **FLOOR),
    "infinite scale with a floor": Case(put("s", spoilt("s", float("inf"))), ("scale",), **FLOOR),
    "texts": Case(put("p", ["a", "b"] * (N // 2)), ("prediction",)),
    "texts of numbers": Case(put("p", [str(v) for v in base().column("p").to_pylist()]), ("prediction",), texts=True),
    "one text": Case(put("p", ["n/a", *[str(v) for v in base().column("p").to_pylist()[1:]]]), ("prediction",)),
    "categories": Case(put("p", pa.array(["low", "high"] * (N // 2)).dictionary_encode()), ("prediction",)),
    "dates": Case(put("p", [date(2024, 1, 1 + k % 28) for k in range(N)]), ("prediction",)),
    "times": Case(put("y", [datetime(2024, 1, 1, k % 24) for k in range(N)]), ("target",)),
    "all null": Case(put("p", [None] * N, pa.float64()), ("prediction",)),
    "no rows": Case(base().slice(0, 0), ("rows",)),
    # Names and neighbours.
    "awkward texts beside": Case(put("t", [TEXT[k % len(TEXT)] for k in range(N)], table=put("a", [k % 3 for k in range(N)]))),
    "names of SQL": renamed("select", "from", "order by"),
    "quotes in names": renamed('the "y"', "it's", "a`b"),
    "star": renamed("*", "p", "s"),
    "patterns": renamed("^y$", "^p.*$", "s*"),
    "dollars": renamed("$$", "$p$", "{s}"),
    "spaces and signs": renamed("y (°C)", "p,1", "s;2"),
    "numbers as names": renamed("0", "1", "2"),
    "names of ours": renamed("q0", "c0", "g"),
    "names apart in case only": renamed("y", "Y", "s"),
    # Groups.
    "integer groups": grouped(HALF, pa.int64()),
    "small integer groups": grouped(HALF, pa.int8()),
    "text groups": grouped(["north" if k else "south" for k in HALF]),
    "groups like numbers": grouped(["1" if k else "01" for k in HALF]),
    "groups of odd texts": grouped(["a,b" if k else 'say "x"' for k in HALF]),
    "boolean groups": grouped([bool(k) for k in HALF]),
    "float groups": grouped([k + 0.5 for k in HALF], pa.float64()),
    "category groups": grouped(pa.array(["north" if k else "south" for k in HALF]).dictionary_encode()),
    "null group": grouped([None, *HALF[1:]], pa.int64(), refused=("group",)),
    "null text group": grouped([None, *["north" if k else "south" for k in HALF[1:]]], pa.string(), refused=("group",)),
}  # fmt: skip

# Groups in a CSV file are texts, and a certificate made from one says so.
TEXT_LABELS = {"integer groups", "small integer groups", "boolean groups", "float groups"}


def with_missing_labels():
    """Return rows of which two have no target yet: `monitor` counts them apart, all else refuses them."""
    return Case(put("y", spoilt("y", None)), ("target",))


CASES["null target"] = with_missing_labels()
CASES["nan target"] = replace(CASES["null target"], table=put("y", spoilt("y", float("nan"))))
