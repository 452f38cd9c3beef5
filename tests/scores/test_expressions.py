"""Both evaluators on the same awkward rows: numpy and the expressions of engines agree to the last bit."""

import math
from dataclasses import replace
from decimal import Decimal

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacband.scores import ScoreRule, outwards, scores_of
from pacband.scores import band as band_in_numpy
from pacband.scores.clip import check_clip
from pacband.scores.columns import Columns
from pacband.scores.expressions import (
    all_of,
    any_of,
    at_least,
    band,
    beyond_exact,
    count,
    distances,
    fails,
    finite,
    fixed_terms,
    in_range,
    outside_range,
    positive,
    scale_part,
    score,
)
from pacband.scores.means import exact_mean, fixed_mean, fixed_unit
from pacband.selection.expressions import fingerprint_terms
from pacband.selection.fingerprint import CUT, fingerprint_total, fingerprint_unit

LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": lambda frame: duckdb.from_df(frame),
}
# Zeros of both signs, subnormal numbers, neighbours, powers of two, halves, thirds, huge numbers.
AWKWARD = [
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 0.1, 1 / 3, -1 / 3, 0.5, 1.0, math.nextafter(1.0, 2.0),
    math.nextafter(1.0, 0.0), -1.0, 1.5, 2.0, 2.5, 1e15 + 0.3, 2.0**52 + 1, -(2.0**53), 123456789.123456789, 1e150, -1e150,
]  # fmt: skip
SCALES = [5e-324, 1e-300, 1 / 3, 1.0, math.nextafter(1.0, 2.0), 7.0, 1e10, 1e300]


def awkward_rows(*, overflow=False):
    """Return every awkward target with every awkward prediction, and scales in turn; those that overflow on request."""
    rows = pd.DataFrame([(y, p) for y in AWKWARD for p in AWKWARD], columns=["y", "p"])
    rows["s"] = np.resize(SCALES, len(rows))
    rows["u"] = np.resize(SCALES[::-1][1:], len(rows))
    rows["z"], rows["q"] = rows["y"].to_numpy()[::-1], rows["p"].to_numpy()[::-1].copy()
    with np.errstate(over="ignore"):
        largest = np.abs(rows["y"] - rows["p"]) / rows[["s", "u"]].min(axis=1)
        other = np.abs(rows["z"] - rows["q"]) / rows[["s", "u"]].min(axis=1)
    return rows if overflow else rows[np.isfinite(largest) & np.isfinite(other)].reset_index(drop=True)


def evaluated(frame, **expressions):
    """Return expressions on a table of any library, as float64 arrays; missing values are NaN."""
    found = nw.from_native(frame).select(**expressions)
    found = found.collect() if isinstance(found, nw.LazyFrame) else found
    return [np.asarray(nw.to_native(found[name].cast(nw.Float64)).to_numpy(), dtype=float) for name in expressions]


def bits(values):
    """Return the bits of floats, to compare them to the last one. Of the two zeros, the positive one."""
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64).tolist()


COLUMNS = {
    "Algorithm 1": Columns(("y",), ("p",)),
    "Algorithm 2": Columns(("y",), ("p",), (("s",),)),
    "pair": Columns(("y",), ("p",), (("s",), ("u",))),
    "outputs": Columns(("y", "z"), ("p", "q"), (("s", "u"),)),
    "outputs, one scale": Columns(("y", "z"), ("p", "q"), (("s",),)),
}


def arrays(rows, columns):
    """Return y, T and σ̂ as the numpy evaluator takes them."""

    def values(names):
        return rows[names[0]].to_numpy() if len(names) == 1 else rows[list(names)].to_numpy()

    parts = tuple(values(part) for part in columns.scale)
    return values(columns.target), values(columns.prediction), parts if len(parts) == 2 else parts[0] if parts else None


def rules(kind):
    sides = ("both",) if kind == "pair" else ("both", "upper", "lower")
    return [
        ScoreRule(side=side, min_scale=floor, nonfinite=nonfinite)
        for side in sides
        for floor in (None, 0.7)
        for nonfinite in ("raise", "violate")
    ]


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_scores_have_the_same_bits(library, kind):
    rows, columns = awkward_rows(), COLUMNS[kind]
    for rule in rules(kind):
        (found,) = evaluated(LIBRARIES[library](rows), q=score(rule, columns))
        assert bits(found) == bits(scores_of(rule, *arrays(rows, columns))), rule


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_not_finite_counts_as_an_infinite_error_in_both(library, kind):
    rows, columns = awkward_rows(overflow=True), COLUMNS[kind]
    rows.loc[::7, "p"], rows.loc[1::7, "q"], rows.loc[2::7, "p"] = np.nan, np.inf, -np.inf
    for rule in (rule for rule in rules(kind) if rule.nonfinite == "violate"):
        (found,) = evaluated(LIBRARIES[library](rows), q=score(rule, columns))
        expected = scores_of(rule, *arrays(rows, columns))
        assert np.isinf(expected).any()
        assert bits(found) == bits(expected), rule


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_floor_replaces_small_and_missing_scales_in_both(library):
    rows = pd.DataFrame({"y": 1.0, "p": 0.0, "s": [0.0, -1.0, np.nan, 0.69, 0.7, 0.71, 1e300, 5e-324]})
    rule = ScoreRule(min_scale=0.7)
    found = evaluated(LIBRARIES[library](rows), q=score(rule, COLUMNS["Algorithm 2"]), s=scale_part(rule, "s"))
    expected = scores_of(rule, rows["y"], rows["p"], rows["s"])
    assert bits(found[0]) == bits(expected)
    assert bits(found[1]) == bits([0.7, 0.7, 0.7, 0.7, 0.7, 0.71, 1e300, 0.7])


def same_bands(table, rows, columns, rule, gamma):
    """Assert that the bands of an engine are those of numpy, and return them."""
    _, prediction, scale = arrays(rows, columns)
    expected = band_in_numpy(rule, gamma, prediction, scale).reshape(len(rows), -1, 2)
    factor = nw.lit(float(outwards(gamma)), nw.Float64)
    for output in range(len(columns.prediction)):
        low, high = band(rule, factor, columns, output)
        found = evaluated(table, row=nw.col("p"), low=low, high=high)
        assert bits(found[1]) == bits(expected[:, output, 0]), rule
        assert bits(found[2]) == bits(expected[:, output, 1]), rule
    return expected


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_bands_have_the_same_bits(library, kind):
    rows, columns = awkward_rows(), COLUMNS[kind]
    rows.loc[::11, "p"] = np.nan
    for rule in rules(kind):
        here = rows if rule.nonfinite == "violate" else rows[rows["p"].notna()]
        for gamma in (0.0, 1 / 3, 1.0, 1e-300, 1e200):
            same_bands(LIBRARIES[library](here), here, columns, rule, gamma)


RANGES = [(0.0, None), (None, 1.0), (-1 / 3, 2.0), (-math.inf, math.inf)]


def ranges(kind, **options):
    """Return the rules for fresh rows whose target has a range, or none."""
    return [
        replace(rule, clip=check_clip(clip), **options)
        for rule in rules(kind)
        for clip in RANGES
        if rule.min_scale is None
    ]


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_targets_outside_of_their_range_count_as_infinite_errors_in_both(library, kind):
    rows, columns = awkward_rows().iloc[::9], COLUMNS[kind]
    table = LIBRARIES[library](rows)
    for rule in ranges(kind, outside="violate"):
        (found,) = evaluated(table, q=score(rule, columns))
        assert bits(found) == bits(expected := scores_of(rule, *arrays(rows, columns))), rule
        assert rule.clip is None or 0 < np.isinf(expected).sum() < len(rows)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_ends_of_the_range_are_in_it_and_what_is_no_number_is_not_outside(library):
    rows = pd.DataFrame({"y": [-1.0, math.nextafter(-1.0, -2.0), 2.0, math.nextafter(2.0, 3.0), np.nan], "z": 0.0})
    for clip, inside in (((-1.0, 2.0), [1, 0, 1, 0]), ((-1.0, None), [1, 0, 1, 1]), ((None, 2.0), [1, 1, 1, 0])):
        rule = ScoreRule(clip=clip, outside="violate")
        (found,) = evaluated(LIBRARIES[library](rows.head(4)), a=in_range(rule, nw.col("y")).cast(nw.Int64))
        assert found.tolist() == inside
        for names in (("y",), ("y", "z"), ("z", "y")):
            (found,) = evaluated(LIBRARIES[library](rows), a=outside_range(rule, names).cast(nw.Int64))
            assert np.nan_to_num(found).tolist() == [*(1 - one for one in inside), 0]


def test_rows_are_outside_of_their_range_only_where_that_counts_as_a_violation():
    assert in_range(ScoreRule(), nw.col("y")) is None
    assert outside_range(ScoreRule(outside="violate"), ("y",)) is None
    assert outside_range(ScoreRule(clip=(0.0, None)), ("y",)) is None


@pytest.mark.parametrize("outside", ["raise", "violate"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_prediction_that_is_refused_has_no_score_of_a_violation(library, outside):
    rows = pd.DataFrame({"y": [1.0, 1.0, 9.0], "p": [0.5, np.nan, np.nan], "z": 1.0, "q": 0.0})
    rule = ScoreRule(clip=(0.0, 5.0), outside=outside)
    for kind, largest in (("Algorithm 1", 0.5), ("outputs", 1.0)):
        columns = replace(COLUMNS[kind], scale=())
        (found,) = evaluated(LIBRARIES[library](rows), q=score(rule, columns))
        assert found[0] == largest
        assert np.isnan(found[1:]).all()


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_infinite_prediction_is_not_hidden_by_another_output(library):
    rows = pd.DataFrame({"y": [1.0, 1.0], "p": [0.5, np.inf], "z": 1.0, "q": 0.0})
    upper = ScoreRule(side="upper")
    one, two = evaluated(
        LIBRARIES[library](rows),
        one=score(upper, Columns(("y",), ("p",))),
        two=score(upper, Columns(("y", "z"), ("p", "q"))),
    )
    assert one.tolist() == [0.5, -math.inf]
    assert two[0] == 1.0
    assert np.isnan(two[1])


@pytest.mark.parametrize("library", LIBRARIES)
def test_own_scores_are_the_column_itself(library):
    rows, columns = pd.DataFrame({"q": [1.5, -2.0, np.inf, np.nan]}), Columns(("q",), ())
    (found,) = evaluated(LIBRARIES[library](rows.head(2)), s=score(ScoreRule.of_own_scores("raise"), columns))
    assert found.tolist() == [1.5, -2.0]
    violate = ScoreRule.of_own_scores("violate")
    (found,) = evaluated(LIBRARIES[library](rows), s=score(violate, columns))
    assert bits(found) == bits(scores_of(violate, rows["q"], None)) == bits([1.5, -2.0, math.inf, math.inf])


@pytest.mark.parametrize("kind", ["Algorithm 2", "pair", "outputs"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_bands_are_clipped_to_the_same_bits(library, kind):
    rows = awkward_rows().iloc[::9]
    table = LIBRARIES[library](rows)
    for rule in ranges(kind):
        ends = same_bands(table, rows, COLUMNS[kind], rule, 1 / 3)
        for limit in rule.clip or ():
            assert limit is None or (ends == limit).any()


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_box_around_an_ellipsoid_has_the_same_bits(library):
    rows = awkward_rows().iloc[::9]
    table = LIBRARIES[library](rows)
    for scale in ((), (("s",),)):
        columns = replace(COLUMNS["outputs"], scale=scale)
        same_bands(table, rows, columns, ScoreRule(gauge=((5.0, 0.5), (0.5, 2.0))), 1 / 3)
        same_bands(table, rows, replace(columns, target=("y",), prediction=("p",)), ScoreRule(gauge=((3.0,),)), 2.0)


def fixed_sums(library, frame, name, unit):
    """Return the exact sums of the coarse and fine parts of a column."""
    coarse, fine = fixed_terms(nw.col(name), unit)
    found = evaluated(LIBRARIES[library](frame), c=coarse, f=fine)
    return [sum(map(int, column.tolist())) for column in found]


@pytest.mark.parametrize("library", LIBRARIES)
def test_means_have_the_same_bits(library, rng):
    for values in (
        rng.uniform(-1.0, 1.0, 500), np.array(AWKWARD), np.array(SCALES), np.full(3, 0.1), np.array([5e-324, -5e-324, 1e-320]),
    ):  # fmt: skip
        unit = fixed_unit(float(np.abs(values).max()))
        sums = fixed_sums(library, pd.DataFrame({"v": values}), "v", unit)
        assert bits([fixed_mean(*sums, unit, len(values))]) == bits([exact_mean(values)])


@pytest.mark.parametrize("library", LIBRARIES)
def test_means_leave_out_what_is_not_finite(library):
    values = pd.DataFrame({"v": [1.5, np.nan, 2.25, np.inf, -np.inf]})
    unit = fixed_unit(2.25)
    assert fixed_mean(*fixed_sums(library, values, "v", unit), unit, 2) == exact_mean(np.array([1.5, 2.25]))


@pytest.mark.parametrize("library", LIBRARIES)
def test_distances_are_missing_where_they_are_not_finite(library):
    rows = pd.DataFrame({"y": [1.0, 1.0, 1.0, -1.7e308], "p": [3.5, np.nan, np.inf, 1.7e308], "z": 1.0, "q": 0.1})
    first, second = distances(COLUMNS["outputs"])
    found = evaluated(LIBRARIES[library](rows), first=first, second=second)
    assert bits(found[0][:1]) == bits([2.5])
    assert np.isnan(found[0][1:]).all()
    assert bits(found[1]) == bits([0.1 - 1.0] * 4)


@pytest.mark.parametrize("gamma", [0.0, 1 / 3, 1.0, 5e-324, 1e300, math.inf])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("library", LIBRARIES)
def test_fingerprints_are_the_same_integers(library, signed, gamma):
    scores = np.array([*AWKWARD, *SCALES, math.inf, 2.0**18, 2.0**18 - 2.0**-35])
    if not signed:
        scores = np.abs(scores)
    unit = fingerprint_unit(gamma)
    (terms,) = evaluated(LIBRARIES[library](pd.DataFrame({"q": scores})), t=fingerprint_terms("q", unit, signed=signed))
    assert [int(term) for term in terms] == [fingerprint_total(scores[k : k + 1], unit) for k in range(len(scores))]
    assert sum(int(term) for term in terms) == fingerprint_total(scores, unit)
    assert max(terms) <= CUT


@pytest.mark.parametrize("library", LIBRARIES)
def test_conditions_on_what_is_missing_or_not_finite(library):
    rows = pd.DataFrame({"v": [1.0, 0.0, -1.0, np.nan, np.inf, -np.inf]})
    value = nw.col("v")
    asked = {
        "finite": finite(value),
        "positive": positive(value),
        "fails": fails(positive(value)),
        "above": at_least("v", 0.0),
    }
    found = nw.from_native(LIBRARIES[library](rows.head(3))).select(**{name: count(one) for name, one in asked.items()})
    found = found.collect() if isinstance(found, nw.LazyFrame) else found
    assert {name: int(found[name][0]) for name in asked} == {"finite": 3, "positive": 1, "fails": 2, "above": 2}
    flags = evaluated(
        LIBRARIES[library](rows), finite=finite(value).cast(nw.Int64), fails=fails(positive(value)).cast(nw.Int64)
    )
    assert np.nan_to_num(flags[0]).tolist() == [1, 1, 1, 0, 0, 0]
    assert flags[1].tolist() == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_integers_and_decimals_beyond_float64_are_seen(library):
    edge = 2**53
    rows = pd.DataFrame({"v": np.array([edge, -edge, edge + 1, -edge - 1, 0])})
    (found,) = evaluated(LIBRARIES[library](rows), b=beyond_exact("v", nw.Int64()).cast(nw.Int64))
    assert found.tolist() == [0, 0, 1, 1, 0]
    assert beyond_exact("v", nw.Float64()) is None
    if library.startswith("polars"):
        decimals = pl.DataFrame(
            {"v": pl.Series([Decimal(edge - 1), Decimal(edge), Decimal(edge + 1)], dtype=pl.Decimal(30, 0))}
        )
        (found,) = evaluated(decimals, b=beyond_exact("v", nw.Decimal()).cast(nw.Int64))
        assert found.tolist() == [0, 1, 1]


@pytest.mark.parametrize("library", ["polars", "polars lazy", "duckdb"])
def test_a_floor_replaces_nan_and_null_and_leaves_infinity(library):
    frame = pl.DataFrame({"s": [0.1, math.nan, None, math.inf, -math.inf, 2.0]})
    # pandas has one value for NaN and null; these two tell them apart.
    table = {"polars": frame, "polars lazy": frame.lazy(), "duckdb": duckdb.from_arrow(frame.to_arrow())}[library]
    (floored,) = evaluated(table, s=scale_part(ScoreRule(min_scale=0.5), "s"))
    assert floored.tolist() == [0.5, 0.5, 0.5, math.inf, 0.5, 2.0]


def test_conditions_that_hold_together_and_by_themselves():
    frame = pl.DataFrame({"a": [1, 1, 0], "b": [1, 0, 0], "c": [1, 0, 0]})
    conditions = [nw.col(name) == 1 for name in "abc"]
    every, some = evaluated(frame, every=all_of(conditions), some=any_of(conditions))
    assert every.tolist() == [1.0, 0.0, 0.0]
    assert some.tolist() == [1.0, 1.0, 0.0]
