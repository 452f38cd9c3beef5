"""Products and floors of scales."""

import numpy as np

from pacband.scale import (
    FloorScale,
    ProductScale,
)


def test_tempering_and_products_multiply():
    X = np.array([[1.0], [4.0]])
    tempered = ProductScale([lambda X: X[:, 0]], powers=[0.5]).fit(X, [0.0, 0.0])
    np.testing.assert_allclose(tempered.predict(X), [1.0, 2.0])
    pair = ProductScale([lambda X: (X[:, 0], 4 * X[:, 0]), lambda X: X[:, 0]]).fit(X, [0.0, 0.0])
    np.testing.assert_allclose(pair.predict(X), [[1.0, 4.0], [2.0, 8.0]])
    floored = FloorScale(lambda X: (X[:, 0], 4 * X[:, 0]), share=0.0, absolute=3.0).fit(X, [0.0, 0.0])
    np.testing.assert_allclose(floored.predict(X), [[3.0, 4.0], [4.0, 16.0]])
