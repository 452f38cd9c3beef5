"""What the certificate of an estimator says about its model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

import pacband
from pacband import About, CertifiedFamily, CertifiedRegressor, InvalidInput

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 2))
Y = X[:, 0] + RNG.normal(size=600)
PROMISE = {"eps": 0.1, "delta": 0.05, "random_state": 0}
ABOUT = About(name="pump", unit="bar", model={"name": "line"})
KINDS = {
    "regressor": lambda **o: CertifiedRegressor(LinearRegression(), **PROMISE, **o),
    "family": lambda **o: CertifiedFamily({"a": LinearRegression(), "b": LinearRegression(positive=True)}, **PROMISE, **o),
    "groups": lambda **o: CertifiedRegressor(LinearRegression(), groups=1, **PROMISE, **o),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("about", [ABOUT, ABOUT.to_dict()], ids=["value", "mapping"])
def test_an_estimator_states_it_with_the_digest_of_the_fitted_model(kind, about, tmp_path):
    rows = np.c_[X[:, 0], X[:, 1] > 0]
    model = clone(KINDS[kind](about=about))
    assert model.get_params()["about"] == about
    stated = model.fit(rows, Y).certificate_.about
    assert (stated.name, stated.unit, stated.model.name) == ("pump", "bar", "line")
    assert stated.model.digest == pacband.model_digest(model.save(tmp_path / "model.pacband"))
    loaded = pacband.load(tmp_path / "model.pacband")
    assert loaded.about == ABOUT
    assert loaded.certificate_ == model.certificate_
    assert loaded.save(tmp_path / "again.pacband").read_bytes() == (tmp_path / "model.pacband").read_bytes()
    assert clone(loaded).fit(rows, Y).certificate_.about == stated


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_states_nothing_has_the_certificate_of_before(kind, tmp_path):
    model = KINDS[kind]().fit(np.c_[X[:, 0], X[:, 1] > 0], Y)
    assert not model.certificate_.about
    assert b"about" not in model.save(tmp_path / "model.pacband").read_bytes()


def test_a_digest_that_the_user_states_is_kept():
    stated = {"model": {"digest": "ab" * 32}}
    assert KINDS["regressor"](about=stated).fit(X, Y).certificate_.about.model.digest == "ab" * 32


def test_bad_words_are_refused_before_any_work():
    class Never(LinearRegression):
        def fit(self, X, y):
            raise AssertionError

    with pytest.raises(InvalidInput, match="name must be one line"):
        CertifiedRegressor(Never(), about={"name": "a\nb"}, **PROMISE).fit(X, Y)


def test_a_model_file_is_replaced_only_if_it_may_be(tmp_path):
    model = KINDS["regressor"]().fit(X, Y)
    before = model.save(tmp_path / "model.pacband", overwrite=False).read_bytes()
    with pytest.raises(InvalidInput, match=r"model\.pacband exists\."):
        model.calibrate(X + 9, Y + 9).save(tmp_path / "model.pacband", overwrite=False)
    assert (tmp_path / "model.pacband").read_bytes() == before
    assert model.save(tmp_path / "model.pacband").read_bytes() != before
