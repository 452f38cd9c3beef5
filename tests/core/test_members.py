"""The rows of groups: by labels, by masks, and by several columns of labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband import InvalidInput
from pacband.core.members import as_masks, group_members, groups_of_columns, refuse_same_groups


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_members_are_the_rows_of_each_mask(rows):
    night, north = (np.array(column) for column in zip(*rows, strict=True))
    masks = {"all": np.ones(len(rows), dtype=bool), "night": night, "north": north}
    found = group_members(masks)
    assert {name: members.tolist() for name, members in found.items()} == {
        name: [k for k, is_in in enumerate(mask) if is_in] for name, mask in masks.items()
    }


def test_labels_are_groups_that_do_not_overlap():
    found = group_members(["b", "a", "b"])
    assert {name: rows.tolist() for name, rows in found.items()} == {"a": [1], "b": [0, 2]}


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series], ids=["list", "numpy", "pandas", "polars"])
def test_masks_of_any_library(make):
    masks = as_masks({"x": make([True, False]), "y": make([True, True])})
    assert masks["x"].tolist() == [True, False]
    assert masks["x"].dtype == np.bool_


def test_every_label_of_every_column_is_a_group_with_one_name_in_every_kind_of_table():
    masks = groups_of_columns({"site": ["a", "b", "a"], "shift": np.array([1, 2, 2]), "wet": [True, False, False]})
    assert {name: mask.tolist() for name, mask in masks.items()} == {
        "site=a": [True, False, True],
        "site=b": [False, True, False],
        "shift=1": [True, False, False],
        "shift=2": [False, True, True],
        "wet=false": [False, True, True],
        "wet=true": [True, False, False],
    }
    assert set(groups_of_columns({"shift": [1.0, 2.0]})) == set(groups_of_columns({"shift": ["1", "2"]}))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: as_masks({}), "groups must have at least one mask, got none"),
        (lambda: as_masks({"a": [1, 0]}), "group 'a' must be a mask, True for the rows in it, got values of int64"),
        (lambda: as_masks({"a": ["x", "y"]}), "group 'a' must be a mask"),
        (lambda: as_masks({"a": [True, None]}), "groups must have a label in every row"),
        (lambda: as_masks({"a": [True, True], "b": [True]}), "group 'a' and group 'b' must have one length, got 2 and 1"),
        (lambda: as_masks({"a": [[True]]}), "groups must have one label per row"),
        (lambda: as_masks({"a": [True, False, False], "b": [True, True, False]}), r"outside of all groups are 1 row, row 2 \(counting from 0\)\. Leave these rows out, or add a group of all rows"),
        (lambda: as_masks({None: [True]}), "group labels must be strings"),
        (lambda: groups_of_columns({"a": ["x", "NA"]}), "column 'a' must have a label in every row, got 'NA' in some"),
        (lambda: groups_of_columns({"a": ["1", "1.0"]}), "the labels of column 'a' must be distinguishable as texts"),
        (lambda: groups_of_columns({"a": ["b=c"], "a=b": ["c"]}), "two columns make a group 'a=b=c': rename one of them"),
        (lambda: refuse_same_groups({"x": 1}, {"x": 2}), "two columns make a group 'x'"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()
