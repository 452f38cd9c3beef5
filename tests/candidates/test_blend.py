"""The blend of predictors."""

import numpy as np
import pytest

from pacband.candidates.blend import convex_weights, disagreement, fit_blend, meta_table


def test_convex_weights_find_the_best_blend(rng):
    y = rng.standard_normal(500)
    columns = y[:, None] + rng.standard_normal((500, 3)) * [1.0, 2.0, 20.0]
    weights = convex_weights(columns, y)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0)
    best = np.mean((columns @ weights - y) ** 2)
    for _ in range(50):
        assert best <= np.mean((columns @ rng.dirichlet(np.ones(3)) - y) ** 2) + 1e-9


def test_a_small_weight_is_left_out(rng):
    y = rng.standard_normal(2000)
    columns = {"good": y + 0.1 * rng.standard_normal(2000), "poor": y + 2.0 * rng.standard_normal(2000)}
    assert 0 < convex_weights(np.column_stack(list(columns.values())), y)[1] < 0.02
    blend = fit_blend(columns, y)
    assert blend.names == ("good", "poor")
    assert blend.parts == {"good": 1.0}
    np.testing.assert_array_equal(blend.centre, columns["good"])


def test_many_equally_good_predictors_keep_their_small_weights():
    errors = np.eye(60)
    blend = fit_blend({str(k): column for k, column in enumerate(errors)}, np.full(60, 1 / 60))
    np.testing.assert_allclose(blend.weights, 1 / 60, rtol=1e-6)


def test_the_meta_table_has_the_blend_its_spread_and_the_deviations_of_its_parts():
    table, predictions = np.zeros((2, 1)), np.array([[1.0, 3.0, 100.0], [2.0, 2.0, 100.0]])
    weights = np.array([0.75, 0.25, 0.0])
    np.testing.assert_allclose(disagreement(predictions, weights), [np.sqrt(0.75), 0.0])
    np.testing.assert_allclose(
        meta_table(table, predictions, weights), [[0.0, 1.5, np.sqrt(0.75), -0.5, 1.5], [0.0, 2.0, 0.0, 0.0, 0.0]]
    )
