"""User columns as arrays: integers that float64 cannot hold, and rows that are matched by an index."""

from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import pacband
from pacband.core.arrays import EXACT, as_numbers, check_lengths
from pacband.exceptions import InvalidInput

N = 400
LARGE = EXACT + 1

# Ways to hand over a column with one large number in it, which must not be the one that is rounded without a word.
COLUMNS = {
    "int64": lambda v: np.array([v, 1]),
    "uint64": lambda v: np.array([v, 1], dtype=np.uint64),
    "object": lambda v: np.array([v, 1.5], dtype=object),
    "masked": lambda v: np.ma.array([v, 1], mask=[False, True]),
    "masked objects": lambda v: np.ma.array([v, 1], mask=[False, True], dtype=object),
    "list": lambda v: [v, 1],
    "list with floats": lambda v: [v, 1.5],
    "tuple": lambda v: (v, 1.5),
    "deque": lambda v: deque([v, 1.5]),
    "rows": lambda v: [[v, 0.5], [1, 1]],
    "list of arrays": lambda v: [np.array([v, 1]), np.array([0.5, 1.0])],
    "decimals": lambda v: [Decimal(v), Decimal("0.1")],
    "decimals between integers": lambda v: [Decimal(v) - Decimal("0.5"), Decimal("0.1")],
    "fractions": lambda v: [Fraction(v), Fraction(1, 3)],
    "pandas": lambda v: pd.Series([v, 1]),
    "pandas Int64": lambda v: pd.Series([v, 1], dtype="Int64"),
    "pandas Int64 with null": lambda v: pd.Series([v, None], dtype="Int64"),
    "pandas UInt64 with null": lambda v: pd.Series([v, None], dtype="UInt64"),
    "pandas objects": lambda v: pd.Series([v, None], dtype=object),
    "pandas array": lambda v: pd.array([v, None], dtype="Int64"),
    "pandas index": lambda v: pd.Index([v, 1]),
    "pandas arrow": lambda v: pd.Series([v, None], dtype="int64[pyarrow]"),
    "pandas arrow decimals": lambda v: pd.Series([Decimal(v), None], dtype=pd.ArrowDtype(pa.decimal128(30, 0))),
    "pandas frame": lambda v: pd.DataFrame({"a": [v, 1], "b": [0.5, 1.0]}),
    "pandas frame with null": lambda v: pd.DataFrame({"a": pd.Series([v, None], dtype="Int64"), "b": [0.5, 1.0]}),
    "polars": lambda v: pl.Series([v, 1]),
    "polars with null": lambda v: pl.Series([v, None]),
    "polars UInt64 with null": lambda v: pl.Series([v, None], dtype=pl.UInt64),
    "polars Int128": lambda v: pl.Series([v, None], dtype=pl.Int128),
    "polars decimals": lambda v: pl.Series([Decimal(v), None]),
    "polars frame": lambda v: pl.DataFrame({"a": [v, 1], "b": [0.5, 1.0]}),
    "polars frame of decimals": lambda v: pl.DataFrame({"a": [Decimal(v), None], "b": [0.5, 1.0]}),
    "pyarrow": lambda v: pa.array([v, None]),
    "pyarrow chunks": lambda v: pa.chunked_array([[v, None]]),
    "pyarrow decimals": lambda v: pa.chunked_array([pa.array([Decimal(v), None])]),
    "pyarrow table": lambda v: pa.table({"a": [v, 1], "b": [0.5, 1.0]}),
}


@pytest.mark.parametrize("wrap", COLUMNS.values(), ids=COLUMNS)
def test_integers_beyond_float64_are_refused_from_every_column(wrap):
    with pytest.raises(InvalidInput, match=r"y has integers beyond 2\*\*53, .* subtract an offset first"):
        as_numbers("y", wrap(LARGE))
    accepted = as_numbers("y", wrap(EXACT - 1)).astype(np.float64)
    assert accepted.flat[0] in (EXACT - 1, EXACT - 1.5)


@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 2**70, 10**400, -(2**70)])
def test_integers_beyond_64_bits_are_refused(value):
    for column in ([value, 1], [value, -1], [value, 0.5], np.array([value, 1], dtype=object), value):
        with pytest.raises(InvalidInput, match=r"integers beyond 2\*\*53"):
            as_numbers("y", column, scalar=True)


@pytest.mark.parametrize("wrap", [lambda column: column, pd.Series, list], ids=["array", "series", "list"])
def test_times_and_durations_are_no_numbers_whatever_their_units(wrap):
    durations = np.empty(2, dtype=object)
    durations[:] = np.timedelta64(1, "m"), np.timedelta64(30, "s")
    years = np.empty(1, dtype=object)
    years[:] = [np.datetime64("2020")]
    for column in (durations, years):
        with pytest.raises(InvalidInput, match="y must be numeric, got"):
            as_numbers("y", wrap(column))


def test_a_masked_integer_is_no_number_and_may_be_any():
    hidden = np.ma.array([1, LARGE], mask=[False, True])
    np.testing.assert_array_equal(as_numbers("y", hidden), [1.0, np.nan])


def test_wide_floats_are_refused_only_where_float64_would_change_them_beyond_its_integers():
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long double is float64 here")
    with pytest.raises(InvalidInput, match=r"beyond 2\*\*53"):
        as_numbers("y", np.array([LARGE, 1], dtype=np.longdouble))
    kept = np.array([0.1, 1e300, np.nan, np.inf], dtype=np.longdouble)
    assert as_numbers("y", kept) is kept


def test_large_floats_and_infinite_decimals_are_what_they_are():
    floats = [1e300, 2.0**60, -1e17]
    for column in (floats, np.array(floats), pd.Series(floats), pl.Series([*floats, None]), [*floats, 3]):
        assert as_numbers("y", column).astype(np.float64)[0] == 1e300
    np.testing.assert_array_equal(as_numbers("y", [Decimal("Infinity"), Decimal("NaN"), 1]), [np.inf, np.nan, 1.0])


def test_nanoseconds_as_python_integers_do_not_certify_zero():
    y = [1_700_000_000 * 10**9 + k for k in range(N)]
    with pytest.raises(InvalidInput, match=r"y has integers beyond 2\*\*53"):
        pacband.certify(y, [float(value) for value in y], eps=0.1, delta=0.01)


def series(values):
    return pd.Series(values, index=np.arange(len(values)))


def shuffled(values):
    return pd.Series(values, index=np.arange(len(values))).iloc[::-1]


Y, P, S = np.random.default_rng(0).uniform(1, 2, (3, N))
GROUPS = np.repeat(["a", "b"], N // 2)
PAIR = pacband.certify(Y, P, (S, S), eps=0.1, delta=0.01)
GROUPED = pacband.certify_groups(Y, P, GROUPS, (S, S), eps=0.1, delta=0.01)
FAMILY = pacband.certify_family(Y, {"m": (P, (S, S))}, eps=0.1, delta=0.01)
CALLS = {
    "certify": lambda y, p, pair, g: pacband.certify(y, p, pair, eps=0.1, delta=0.01),
    "certify_curve": lambda y, p, pair, g: pacband.certify_curve(y, p, pair, delta=0.01, eps=[0.1]),
    "certify_family": lambda y, p, pair, g: pacband.certify_family(y, {"m": (p, pair)}, eps=0.1, delta=0.01),
    "certify_groups": lambda y, p, pair, g: pacband.certify_groups(y, p, g, pair, eps=0.1, delta=0.01),
    "interval": lambda y, p, pair, g: PAIR.interval(p, pair),
    "interval of a family": lambda y, p, pair, g: FAMILY.interval(p, pair),
    "interval of groups": lambda y, p, pair, g: GROUPED.interval(p, g, pair),
    "verify": lambda y, p, pair, g: PAIR.verify(y, p, pair),
    "verify a family": lambda y, p, pair, g: FAMILY.verify(y, {"m": (p, pair)}),
    "verify groups": lambda y, p, pair, g: GROUPED.verify(y, p, g, pair),
    "check": lambda y, p, pair, g: pacband.check(PAIR, y, p, pair),
    "check groups": lambda y, p, pair, g: pacband.check(GROUPED, y, p, pair, groups=g),
    "Monitor": lambda y, p, pair, g: pacband.Monitor(PAIR).update(y, p, pair),
    "Monitor of groups": lambda y, p, pair, g: pacband.Monitor(GROUPED).update(y, p, pair, groups=g),
    "diagnose": lambda y, p, pair, g: pacband.diagnose(y, p, pair),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_pairs_of_scales_with_another_index_are_refused(call):
    y, p, s, g = series(Y), series(P), series(S), series(GROUPS)
    call(y, p, (s, s), g)
    for pair in ((shuffled(S), s), (s, shuffled(S)), (shuffled(S), shuffled(S)), (S, shuffled(S))):
        with pytest.raises(InvalidInput, match=r"must have the same index, got different ones: align them"):
            call(y, p, pair, g)


@pytest.mark.parametrize("name", [name for name in CALLS if "groups" in name])
def test_groups_with_another_index_are_refused(name):
    y, p, s = series(Y), series(P), series(S)
    with pytest.raises(InvalidInput, match=r"must have the same index"):
        CALLS[name](y, p, (s, s), shuffled(GROUPS))


def test_the_bounds_of_a_pair_are_of_the_same_rows():
    PAIR.bound((series(S), series(S)))
    with pytest.raises(InvalidInput, match=r"both parts of scale must have the same index"):
        PAIR.bound((series(S), shuffled(S)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_outputs_of_one_name_are_not_matched_with_those_of_another(frame):
    y = frame({"a": Y, "b": 100 + P})
    with pytest.raises(InvalidInput, match=r"columns in the same order, got \['a', 'b'\] and \['b', 'a'\]"):
        pacband.certify(y, frame({"b": 100 + P, "a": Y}), eps=0.1, delta=0.01)
    for names in (("a", "b"), ("a_hat", "b_hat")):
        assert pacband.certify(y, frame(dict(zip(names, (Y, 100 + P), strict=True))), eps=0.1, delta=0.01).gamma == 0.0


def test_columns_of_different_lengths_are_refused():
    check_lengths(y=[1.0, 2.0], X=csr_array((2, 3)), groups=None, frame=pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(InvalidInput, match=r"^y and X must have one length, got 2 and 3\.$"):
        check_lengths(y=np.zeros(2), groups=["a", "b"], X=csr_array((3, 2)))
