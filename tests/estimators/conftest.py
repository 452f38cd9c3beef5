import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from pacband import CertifiedRegressor
from support.estimators import MODEL_PROMISE


@pytest.fixture(scope="module")
def rows():
    """Rows to fit a model on, with errors that grow with the second column."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 2))
    return X, X[:, 0] + (0.2 + np.abs(X[:, 1])) * rng.normal(size=400)


@pytest.fixture(scope="module")
def saved(rows, tmp_path_factory):
    """The bytes of a model file."""
    path = tmp_path_factory.mktemp("saved") / "model.pacband"
    CertifiedRegressor(LinearRegression(), **MODEL_PROMISE).fit(*rows).save(path)
    return path.read_bytes()
