"""A monitor of a model says that the model was fitted on some of the rows or units."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedRegressor, InvalidInput, Monitor, PromiseWarning
from pacband.datasets import paper_sample
from pacband.draws import Units

X, Y = paper_sample(3000, random_state=0)


@pytest.fixture(scope="module")
def model():
    return CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, Y)


def test_training_rows_are_a_warning_once_and_a_number(model):
    monitor = Monitor(model)
    with pytest.warns(PromiseWarning, match=r"the model was fitted on \d+ of these rows") as said:
        monitor.update(X[:1500], Y[:1500])
    assert len(said) == 1
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monitor.update(X[1500:], Y[1500:])
    assert monitor.n_training_rows == len(model.training_rows_)
    assert "training rows" in monitor._repr_html_()
    # They are counted all the same.
    assert monitor.n_rows == 3000
    assert monitor.merge().n_training_rows == monitor.n_training_rows


def test_one_training_row_among_fresh_ones_is_found(model):
    fit, _ = model.split_indices(X, Y)
    monitor = Monitor(model)
    monitor.update(*paper_sample(200, random_state=1))
    assert monitor.n_training_rows == 0
    with pytest.warns(PromiseWarning, match="fitted on 1 of these rows"):
        monitor.update(X[fit[:1]], Y[fit[:1]])
    assert monitor.n_training_rows == 1


def test_fresh_rows_need_no_word(model):
    monitor = Monitor(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monitor.update(*paper_sample(2000, random_state=1))
        # The label is not known yet.
        monitor.update(X[:5], np.full(5, np.nan))
    assert (monitor.n_training_rows, monitor.n_training_units) == (0, 0)


def test_if_the_warning_is_an_error_nothing_is_counted(model):
    monitor = Monitor(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PromiseWarning):
            monitor.update(X, Y)
    assert (monitor.n_rows, monitor.n_training_rows) == (0, 0)


def machines(seed, first):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"machine": np.arange(first, first + 150).repeat(5), "load": rng.uniform(size=750)})
    return frame, frame["load"] + rng.standard_normal(150).repeat(5)


def test_new_rows_of_training_units_are_found_and_each_unit_counts_once():
    rows, y = machines(0, 0)
    model = CertifiedRegressor(LinearRegression(), draws=Units("machine"), eps=0.2, delta=0.1, random_state=0)
    model.fit(rows, y)
    n_fit = rows["machine"].iloc[model.split_indices(rows, y)[0]].nunique()
    monitor, (again, target) = Monitor(model), machines(1, 0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for start in range(0, 750, 7):
            monitor.update(again[start : start + 7], target[start : start + 7])
    assert ["of these units" in str(warning.message) for warning in said] == [True]
    assert (monitor.n_training_units, monitor.n_training_rows) == (n_fit, 0)
    assert "training units" in monitor._repr_html_()
    fresh = Monitor(model)
    fresh.update(*machines(1, 1000))
    assert fresh.n_training_units == 0


def test_a_model_without_a_certificate_is_refused():
    with pytest.raises(InvalidInput, match="no certificate yet"):
        Monitor(CertifiedRegressor(LinearRegression()))
