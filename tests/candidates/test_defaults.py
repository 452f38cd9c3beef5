"""The default predictors and scale models."""

import numpy as np

from pacband.candidates.defaults import COARSER, default_predictors, default_scales
from pacband.candidates.reader import TableReader


def test_a_skewed_positive_target_is_also_tried_by_its_log(rng):
    X = rng.uniform(-1, 1, (60, 2))
    y = np.exp(2 * X[:, 0] + 0.3 * rng.standard_normal(60))
    reader = TableReader().fit(X)
    assert any("log" in name for name in default_predictors(reader, X, y, 0, 1))
    assert not any("log" in name for name in default_predictors(reader, X, -y, 0, 1))
    logs = {name: model for name, model in default_predictors(reader, X, y, 0, 1).items() if "log" in name}
    assert list(logs) == ["deep boosting of the log", "smooth process of the log"]
    z = (y - y.mean()) / y.std()
    for log in logs.values():
        assert np.corrcoef(log.fit(X, z).predict(X), z)[0, 1] > 0.8


def test_the_finest_process_of_a_skewed_positive_target_learns_its_log(rng):
    X = rng.uniform(-1, 1, (1000, 2))
    y = np.exp(3 * X[:, 0] * X[:, 1])
    finest = list(default_predictors(TableReader().fit(X), X, y, 0, 1))[-1]
    assert finest == "fine rough process of the log"


def test_a_column_of_many_categories_stays_codes_for_boosting(rng):
    many, few = np.arange(300) % 201, np.arange(300) % 3
    X = np.array(
        [[f"m{a}", f"f{b}", c] for a, b, c in zip(many, few, rng.uniform(size=300), strict=True)], dtype=object
    )
    reader = TableReader().fit(X)
    predictors = default_predictors(reader, reader.transform(X), rng.standard_normal(300), 0, 1)
    assert predictors["shallow boosting"].categorical_features == [1]
    assert predictors["deep boosting"].categorical_features == [1]


def test_what_is_most_useful_comes_first(rng):
    orders = []
    for n_rows in (200, 5000):
        X = rng.uniform(size=(n_rows, 2))
        orders.append(list(default_predictors(TableReader().fit(X), X, X[:, 0], 0, 1)))
    few, many = orders
    fine = ["fine smooth process", "fine rough process on ranks", "fine rough process"]
    assert set(many) - set(few) == {"quick process", *fine}
    assert set(few) < set(many)
    assert many[-3:] == fine
    assert few.index("smooth process") < few.index("medium boosting") < few.index("deep boosting")
    assert many.index("quick process") < many.index("medium boosting") < many.index("deep boosting")
    assert many.index("deep boosting") < many.index("smooth process")
    assert COARSER.keys() < {*few, *many, "fine rough process of the log"}
    assert all(many.index(coarse) < many.index(fine) for fine, coarse in COARSER.items() if fine in many)
    assert few[:2] == many[:2] == ["linear", "quick boosting"]


def test_the_first_scale_is_quick_for_few_rows_and_for_many(rng):
    reader = TableReader().fit(rng.uniform(size=(60, 2)))
    orders = [list(default_scales(reader, 2, n_rows, 0.9, 0, 1)) for n_rows in (200, 5000)]
    assert orders == [["neighbours", "boosting", "trees", "window"], ["boosting", "neighbours", "trees", "window"]]


def test_one_default_scale_is_a_window_of_the_target(rng):
    scales = default_scales(TableReader().fit(rng.uniform(size=(60, 2))), 2, 60, 0.9, 0, 1)
    assert [name for name, scale in scales.items() if scale.of_target] == ["window"]
    assert scales["window"].model.mass == 0.9
