"""What the certificate of an estimator says about its model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

import pacband
from pacband import About, CertificateError, CertifiedFamily, CertifiedRegressor, InvalidInput

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


@pytest.mark.parametrize("kind", KINDS)
def test_the_digest_of_another_model_is_refused(kind):
    rows = np.c_[X[:, 0], X[:, 1] > 0]
    first = KINDS[kind](about=ABOUT).fit(rows, Y)
    # The same model may state what its first certificate states.
    again = KINDS[kind](about=first.certificate_.about).fit(rows, Y)
    assert again.certificate_.about == first.certificate_.about
    other = KINDS[kind](about=first.certificate_.about)
    with pytest.raises(InvalidInput, match=f"the digest of another model, {first.certificate_.about.model.digest}"):
        other.fit(rows, 2 * Y)
    assert not hasattr(other, "certificate_")


def test_a_file_whose_certificate_is_of_another_model_is_refused(tmp_path, monkeypatch):
    model = KINDS["regressor"](about=ABOUT).fit(X, Y)
    with monkeypatch.context() as patch:
        # As before the digest was compared.
        patch.setattr("pacband.models.digest.members_digest", lambda members: "ab" * 32)
        model.calibrate(X + 9, Y + 9)
    assert model.certificate_.about.model.digest == "ab" * 32
    with pytest.raises(CertificateError, match="holds a certificate of another model"):
        pacband.load(model.save(tmp_path / "model.pacband"))


def test_a_digest_is_kept_where_pacband_computes_none():
    stated = {"model": {"digest": "ab" * 32}}
    model = CertifiedRegressor(lambda X: X[:, 0], eps=0.1, delta=0.05, about=stated).calibrate(X, Y)
    assert model.certificate_.about.model.digest == "ab" * 32


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
