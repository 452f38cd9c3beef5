"""What is asked of a table is answered by every engine, in one pass, and looked up by the question."""

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

from pacband.tables.asks import Ask, ask_groups, ask_rows, ask_windows, count_rows
from support.tables import LAZY

ROWS = pd.DataFrame({"g": ["x", "y", "x", "x"], "v": [1.5, -2.0, 4.0, 0.25], "k": [2**60, 2**60, 1, 2]})


@pytest.mark.parametrize("library", LAZY)
def test_sums_ends_and_counts_of_all_rows(library):
    total, least, most, large = (
        Ask(nw.col("k")),
        Ask(nw.col("v"), "min"),
        Ask(nw.col("v"), "max"),
        count_rows(nw.col("v") > 1),
    )
    answers = ask_rows(nw.from_native(LAZY[library](ROWS)), [total, least, most, large])
    assert answers.n_rows == 4
    # Beyond 2**53, to the last digit.
    assert [answers[ask] for ask in (total, least, most, large)] == [2**61 + 3, -2.0, 4.0, 2]


@pytest.mark.parametrize("library", LAZY)
def test_two_questions_with_one_expression_are_two_questions(library):
    one, other = count_rows(nw.col("v") > 1), count_rows(nw.col("v") > 1)
    answers = ask_rows(nw.from_native(LAZY[library](ROWS)), [one, other])
    assert answers[one] == answers[other] == 2
    with pytest.raises(KeyError):
        answers[count_rows(nw.col("v") > 1)]


@pytest.mark.parametrize("library", LAZY)
def test_no_rows_are_zero(library):
    ask = Ask(nw.col("k"))
    answers = ask_rows(nw.from_native(LAZY[library](ROWS)).filter(nw.col("v") > 99), [ask])
    assert (answers.n_rows, answers[ask]) == (0, 0)


@pytest.mark.parametrize("library", LAZY)
def test_sums_of_every_group(library):
    total, large = Ask(nw.col("k")), count_rows(nw.col("v") > 1)
    found = dict(ask_groups(nw.from_native(LAZY[library](ROWS)), "g", [total, large]))
    assert {key: (one.n_rows, one[total], one[large]) for key, one in found.items()} == {
        "x": (3, 2**60 + 3, 2),
        "y": (1, 2**60, 0),
    }


@pytest.mark.parametrize("library", LAZY)
def test_values_in_a_window_come_with_the_sums_where_the_engine_can(library):
    total = Ask(nw.col("k"))
    found = ask_windows(nw.from_native(LAZY[library](ROWS)), {"v": nw.col("v") > 1}, [total])
    if library == "dask":
        assert found is None
        return
    answers, values = found
    assert (answers.n_rows, answers[total]) == (4, 2**61 + 3)
    assert np.sort(values["v"]).tolist() == [1.5, 4.0]
