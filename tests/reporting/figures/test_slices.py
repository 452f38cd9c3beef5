"""Weak slices are found, and seldom where there are none."""

import numpy as np
import pytest

import pacband
from pacband.exceptions import InvalidInput
from pacband.reporting import rows as report_rows
from pacband.reporting.figures.slices import slice_numbers


def test_slices_show_counts(paper, axes):
    x, y, predicted, _, _ = paper
    cert = pacband.certify(y, predicted, eps=0.05, delta=1e-3)
    ax = pacband.plot_slices(cert, y, predicted, by=np.abs(x), name="|x|", n_bins=3, ax=axes)
    third = np.argsort(np.argsort(np.abs(x))) * 3 // len(x)
    expected = [np.mean(np.abs(y - predicted)[third == k] > cert.gamma) for k in range(3)]
    drawn = np.sort(np.concatenate([line.get_ydata() for line in ax.get_lines() if line.get_marker() in "oD"]))
    np.testing.assert_allclose(drawn, np.sort(expected), atol=0.004)


def test_weak_slices_are_found_and_seldom_made_up(table, rng):
    X, y, prediction = table
    cert = pacband.certify(y, prediction, eps=0.1, delta=1e-3)
    slicings = pacband.report(cert, y, prediction, X=X).summary.numbers["slices"]
    assert slicings[0].feature == "load"
    assert [part.weak for part in slicings[0].slices] == [True, *[False] * 6, True]
    # 200 sound tables at a level of 1 %: more than 13 with any weak slice has probability below 1e-6.
    alarms = 0
    for _ in range(200):
        noise, features = rng.standard_normal(400), rng.standard_normal((400, 2))
        cert = pacband.certify(noise, np.zeros(400), eps=0.1, delta=0.1)
        rows = report_rows.read_rows(cert, rng.standard_normal(400), np.zeros(400), X=features)
        alarms += any(part.weak for slicing in slice_numbers(rows, 0.1, level=0.01) for part in slicing.slices)
    assert alarms <= 13


def test_one_value_cannot_be_sliced(paper):
    _, y, predicted, scale, cert = paper
    with pytest.raises(InvalidInput, match="one value only"):
        pacband.plot_slices(cert, y, predicted, scale, by=np.ones(len(y)))
