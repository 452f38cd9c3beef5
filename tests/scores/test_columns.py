"""The columns of a table: in which order, under which names, and as JSON."""

import pytest

from pacband.scores.columns import Columns

PLAIN = Columns(target=("y",), prediction=("p",))
WHOLE = Columns(target=("y", "z"), prediction=("p", "q"), scale=(("low",), ("high", "higher")), group="site")


@pytest.mark.parametrize("columns", [PLAIN, WHOLE])
def test_columns_survive_json(columns):
    assert Columns.from_dict(columns.to_dict()) == columns


def test_the_values_as_json():
    assert WHOLE.to_dict() == {
        "target": ["y", "z"], "prediction": ["p", "q"], "scale": [["low"], ["high", "higher"]], "group": "site",
    }  # fmt: skip


def test_which_columns_are_read():
    assert WHOLE.predicted == ("p", "q", "low", "high", "higher")
    assert WHOLE.numeric == ("y", "z", *WHOLE.predicted)
    assert WHOLE.all == (*WHOLE.numeric, "site")
    assert PLAIN.all == PLAIN.numeric == ("y", "p")


def test_the_number_of_scales_decides_how_rows_are_scored():
    one = Columns(target=("y",), prediction=("p",), scale=(("s",),))
    assert [columns.scale_kind for columns in (PLAIN, one, WHOLE)] == ["none", "symmetric", "asymmetric"]


def test_all_but_the_group_can_be_renamed():
    names = {name: name.upper() for name in WHOLE.all}
    assert WHOLE.renamed(names) == Columns(
        target=("Y", "Z"), prediction=("P", "Q"), scale=(("LOW",), ("HIGH", "HIGHER")), group="site"
    )


def test_columns_of_runs_and_of_groups_that_overlap_survive_a_file():
    runs = Columns(("y",), ("p",), run="run", step="t", steps=(1, 2, 3))
    groups = Columns(("y",), ("p",), groups=("site", "shift"))
    for columns in (runs, groups):
        assert Columns.from_dict(columns.to_dict()) == columns
    assert runs.to_dict()["steps"] == [1, 2, 3]
    assert groups.to_dict()["groups"] == ["site", "shift"]


def test_the_columns_of_labels_and_of_runs_are_those_that_are_stated():
    runs = Columns(("y",), ("p",), groups=("site", "shift"), run="run", step="t", steps=(1, 2, 3))
    assert runs.others == ("site", "shift", "run", "t")
    assert runs.others_than_run == ("site", "shift", "t")
    assert PLAIN.others == PLAIN.others_than_run == ()
    assert WHOLE.others_than_run == ("site",)
