"""Group labels: one for every row, of types that JSON can store."""

import math

import numpy as np
import pandas as pd
import pytest

from pacband.certificate.certified_labels import locate_rows, refuse_unknown
from pacband.core.labels import (
    as_labels,
    check_label,
    factorize,
    group_rows,
    listed,
    refuse_two_spellings,
    sorted_labels,
)
from pacband.exceptions import InvalidInput


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pd.Categorical], ids=lambda wrap: wrap.__name__)
def test_rows_of_groups_are_found(wrap):
    groups = group_rows(as_labels(wrap(["b", "a", "b"])))
    assert {label: rows.tolist() for label, rows in groups.items()} == {"a": [1], "b": [0, 2]}
    assert list(groups) == ["a", "b"]


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None], np.array([1.0, math.nan]), pd.Series(["a", None]), np.ma.array([1, 2], mask=[False, True]),
        ["a", pd.NA], np.array([1, pd.NA], dtype=object), [1.0, pd.NaT],
    ],
)  # fmt: skip
def test_missing_labels_are_refused(labels):
    with pytest.raises(InvalidInput, match="label in every row: it is missing in 1 row, row 1"):
        as_labels(labels)


def test_labels_of_several_types_are_sorted_by_type():
    assert sorted_labels([2, "a", 1.5, 1]) == [1.5, 1, 2, "a"]
    names, codes = factorize(as_labels([2, "a", 1]))
    assert (names, codes.tolist()) == ([1, 2, "a"], [1, 2, 0])


@pytest.mark.parametrize("label", [math.inf, None, (1, 2), [1]])
def test_labels_that_json_cannot_store_are_refused(label):
    with pytest.raises(InvalidInput, match="group labels must be strings, finite numbers or booleans, got"):
        check_label(label)


def test_shapes_are_checked():
    with pytest.raises(InvalidInput, match=r"one label per row, got shape \(1, 2\)"):
        as_labels(np.array([["a", "b"]]))


def test_labels_without_a_certificate_are_refused():
    assert locate_rows(np.array(["b", "a", "b"]), {"a": 0, "b": 1}).tolist() == [1, 0, 1]
    with pytest.raises(InvalidInput, match=r"^groups has labels without a certificate: 'c'. Certified are 'a', 'b'.$"):
        locate_rows(np.array(["c", "a"]), {"a": 0, "b": 1})
    refuse_unknown(["a"], {"a": 0}, "column 'g'")


def test_long_lists_are_shortened():
    assert listed("abc") == "'a', 'b', 'c'"
    assert listed(range(8)) == "0, 1, 2, 3, 4 and 3 more"


def test_rows_are_located_among_as_many_labels_as_there_are(rng):
    names = [f"group {k}" for k in range(20_000)]
    codes = rng.integers(0, len(names), 50_000)
    places = {name: k for k, name in enumerate(names)}
    assert np.array_equal(locate_rows(np.array(names, dtype=object)[codes], places), codes)
    assert np.array_equal(locate_rows(np.array(names)[codes], places), codes)


def test_times_are_no_labels():
    for unit in ("ns", "D", "us"):
        with pytest.raises(
            InvalidInput, match="group labels must be strings, finite numbers or booleans, got datetime64"
        ):
            as_labels(np.array(["2020-01-01"], dtype=f"datetime64[{unit}]"))


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ([7, "7"], "7 and '7'"),
        (["A1", "7", "8", "7.0"], "'7' and '7.0'"),
        ([0.5, "0.5"], "0.5 and '0.5'"),
        ([-1, "-1.00"], "-1 and '-1.00'"),
    ],
)
def test_a_label_in_two_spellings_is_refused(labels, shown):
    with pytest.raises(InvalidInput, match=f"pumps must be written in one way each: {shown} would count as two"):
        refuse_two_spellings(labels, "pumps")


@pytest.mark.parametrize("labels", [[7, 8.0], ["1.1", "1.10"], ["007", "7"], ["7", "7a", "-"], [], ["", "a"]])
def test_other_labels_are_names(labels):
    refuse_two_spellings(labels, "pumps")
