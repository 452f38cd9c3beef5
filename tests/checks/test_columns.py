"""Which columns hold labels, or dates."""

import datetime

import numpy as np
import pytest

from pacband.checks.columns import may_hold_labels, read_labels, read_times


def test_texts_and_integers_that_repeat_are_labels(rng):
    machine = rng.integers(0, 20, 500)
    for column, ordered in [
        (np.char.add("m", machine.astype(str)), False),
        (np.char.add("m", machine.astype(str)).astype(object), False),
        (machine, True),
        (machine.astype(float), True),
        (machine.astype(str).astype(object), True),  # as a CSV file has them
    ]:
        labels = read_labels(column)
        assert labels.n_labels == 20
        assert labels.ordered is ordered


@pytest.mark.parametrize(
    "column",
    [
        np.arange(500),
        np.array([f"row {k}" for k in range(500)]),
        np.linspace(0.0, 1.0, 500),
        np.repeat(["day", "night"], 250),
        np.arange(500) % 2 == 0,
        np.datetime64("2024-01-01") + np.arange(500) % 20,
        np.array(["2024-01-01", "2024-01-02"] * 250, dtype=object),
        np.arange(500) % 9,
        np.zeros((500, 2)),
    ],
)
def test_other_columns_are_not(column):
    assert read_labels(column) is None


def test_the_first_rows_show_which_columns_may_hold_labels():
    for column in (
        np.repeat("m1", 50),
        np.full(50, 7),
        np.arange(50) // 2,
        np.array(["2024-01-01"] * 50, dtype=object),
    ):
        assert may_hold_labels(column)
    for column in (np.arange(50), np.linspace(0.0, 1.0, 50), np.array([f"s{k}" for k in range(50)]), np.arange(50) > 7):
        assert not may_hold_labels(column)


def test_missing_labels_are_left_out(rng):
    column = np.array([f"m{k}" for k in rng.integers(0, 20, 500)], dtype=object)
    column[:10], column[10:20] = None, np.nan
    labels = read_labels(column)
    assert labels.n_labels == 20
    np.testing.assert_array_equal(np.flatnonzero(labels.codes < 0), np.arange(20))


def test_labels_that_stand_together():
    assert read_labels(np.repeat(np.arange(20), 25)).together
    assert not read_labels(np.tile(np.arange(20), 25)).together


@pytest.mark.parametrize(
    "column",
    [
        np.datetime64("2024-01-01") + np.arange(5),
        np.array(["2024-01-01", "2024-01-02 12:30", "2024-01-03T07:00:00+00:00"], dtype=object),
        np.array([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], dtype=object),
    ],
)
def test_dates_sort_in_the_order_of_time(column):
    times = read_times(column)
    assert np.array_equal(np.argsort(times, kind="stable"), np.arange(len(column)))


def test_columns_with_a_gap_or_another_text_are_no_dates():
    assert read_times(np.array(["2024-01-01", "soon"], dtype=object)) is None
    assert read_times(np.array(["2024-01-01", "NaT"], dtype="M8[D]")) is None
    assert read_times(np.array([1.0, 2.0])) is None
    assert read_times(np.array([], dtype=object)) is None


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y %H:%M", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y %I:%M %p"])
def test_dates_of_every_country_sort_in_the_order_of_time(form):
    days = np.arange("2024-11-20", "2025-03-10", dtype="M8[D]")
    texts = np.array([day.astype("M8[s]").item().strftime(form) for day in days], dtype=object)
    times = read_times(texts)
    assert (np.diff(times) > 0).all()
    assert not (np.sort(texts) == texts).all() or form == "%Y/%m/%d"


def test_dates_with_two_meanings_are_no_times():
    assert read_times(np.array(["01/02/2025", "03/04/2025"], dtype=object)) is None
    assert read_times(np.array(["30.02.2025", "31.02.2025"], dtype=object)) is None
    assert read_times(np.array(["31.12.2025", None], dtype=object)) is None


def test_whole_numbers_texts_and_dates_identify_rows_if_none_repeats():
    from pacband.checks.columns import identifies_rows

    for column in ([3, 1, 2], ["a", "b"], [1.0, 2.0, 5.0], np.array(["2024-01-01", "2024-01-02"], "M8[D]")):
        assert identifies_rows(np.asarray(column))
    assert identifies_rows(np.array(["a", 1, None], dtype=object))
    for column in ([3, 1, 3], ["a", "a"], [1.5, 2.0], [True, False], [1.0, np.nan], [7]):
        assert not identifies_rows(np.asarray(column))
    assert not identifies_rows(np.array([0.5, 1], dtype=object))
    assert not identifies_rows(np.eye(2))
