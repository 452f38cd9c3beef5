"""Recipes of `examples/data/relative_error.py`: a relative error by the scale |T(x)|, a factor by logarithms."""

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression

import pacband

PROMISE = {"eps": 0.1, "delta": 0.01}


def draw(rng, n):
    X = rng.uniform(1.0, 10.0, (n, 1))
    return X, X[:, 0] * np.exp(0.3 * rng.standard_normal(n))


def test_the_bound_with_the_scale_of_the_prediction_is_the_relative_error(rng):
    X, y = draw(rng, 1000)
    model = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp).fit(*draw(rng, 1000))
    certified = pacband.CertifiedRegressor(model, scale=lambda X: np.abs(model.predict(X)), **PROMISE).calibrate(X, y)
    prediction, cert = model.predict(X), certified.certificate_
    relative = np.sort(np.abs(y - prediction) / prediction)[::-1]
    assert cert.gamma == relative[cert.rank - 1]
    assert cert.gamma == pacband.certify(y, prediction, scale=np.abs(prediction), **PROMISE).gamma
    np.testing.assert_allclose(
        certified.predict_interval(X), prediction[:, None] * [1 - cert.gamma, 1 + cert.gamma], rtol=1e-12
    )


def test_the_exponential_of_the_band_of_a_logarithm_is_a_factor(rng):
    certified = pacband.CertifiedRegressor(LinearRegression(), random_state=0, **PROMISE)
    X, y = draw(rng, 2000)
    certified.fit(X, np.log(y))
    fresh, target = draw(rng, 5000)
    ends, factor = np.exp(certified.predict_interval(fresh)), np.exp(certified.certificate_.gamma)
    prediction = np.exp(certified.predict(fresh))
    np.testing.assert_allclose(ends, prediction[:, None] * [1 / factor, factor], rtol=1e-12)
    # The same rows are inside, whether prices or their logarithms are compared, but for the last digit.
    kept = certified.certificate_.basis.scores(np.log(target), np.log(prediction)) <= certified.certificate_.gamma
    inside = (ends[:, 0] <= target) & (target <= ends[:, 1])
    assert (kept != inside).sum() <= 1
    assert ends.min() > 0
