"""Every door takes a model with raw rows, and answers as it does to the certificate with the model's predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import pacband
from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput, Monitor, check, datasets, diagnose, report
from pacband.candidates.members import Member
from pacband.draws import Spaced, Units, Weighted

PROMISE = {"eps": 0.1, "delta": 0.01, "random_state": 0}


def sample(n_rows, seed):
    X, y = datasets.paper_sample(n_rows, random_state=seed)
    return pd.DataFrame({"x": X[:, 0], "side": np.where(X[:, 0] > 0, "right", "left")}), y


class OfNumbers(KNeighborsRegressor):
    """Neighbours in the first column."""

    def fit(self, X, y):
        return super().fit(np.asarray(X)[:, :1].astype(float), y)

    def predict(self, X):
        return super().predict(np.asarray(X)[:, :1].astype(float))


def models():
    linear, near = OfNumbers(400), (OfNumbers(30), lambda X: 1.0 + np.asarray(X)[:, 0].astype(float) ** 2)
    return {
        "regressor": CertifiedRegressor(linear, scale=near[1], **PROMISE),
        "pair of scales": CertifiedRegressor(linear, scale=lambda X: (near[1](X), 2 * near[1](X)), **PROMISE),
        "groups": CertifiedRegressor(linear, groups="side", **PROMISE),
        "family": CertifiedFamily({"linear": linear, "near": near}, **PROMISE),
        "family with groups": CertifiedFamily({"linear": linear, "near": near}, groups="side", **PROMISE),
    }


@pytest.fixture(scope="module")
def fitted():
    return {name: model.fit(*sample(2000, 0)) for name, model in models().items()}


@pytest.mark.parametrize("name", list(models()))
def test_each_door_answers_to_a_model_as_to_its_certificate(fitted, name):
    model, (X, y) = fitted[name], sample(1200, 1)
    cert, (prediction, scale) = model.certificate_, model.predict_with_scale(X)
    groups = X["side"] if model.groups else None
    assert check(model, X, y) == check(cert, y, prediction, scale, groups=groups)
    assert check(model, X, 4 * y) == check(cert, 4 * y, prediction, scale, groups=groups)
    assert not check(model, X, 4 * y).holds
    one, other = Monitor(model), Monitor(cert)
    for factor in (1, 4):
        late = np.where(np.arange(len(y)) % 7 == 0, np.nan, factor * y)
        assert one.update(X, late) == other.update(late, prediction, scale, groups=groups)
    assert one.to_dict() == other.to_dict()
    assert (one.state, one.merge().model) == ("revoked", model)
    told, expected = (
        made.to_dict() for made in (report(model, X, y), report(cert, y, prediction, scale, X=X, groups=groups))
    )
    assert told.pop("created")[:4] == expected.pop("created")[:4]
    del told["diagnosis"], expected["diagnosis"]  # a model is also compared with its training rows
    assert told == expected
    promise = {"eps": 0.1, "delta": 0.01}
    found, direct = diagnose(model, X, y), diagnose(y, prediction, scale, X=X, groups=groups, **promise)
    assert {name: p for name, p in found.p_values.items() if name != "overlap with training"} == dict(direct.p_values)
    assert report(model).to_dict()["promise"] == cert.promise


def test_a_door_that_lets_another_candidate_predict_is_noticed(fitted, monkeypatch):
    model, (X, y) = fitted["family"], sample(1200, 1)
    expected = check(model.certificate_, y, *model.predict_with_scale(X))
    other = next(name for name in model.members_ if name != model.best_name_)
    wrong = model.members_[other].predict(X), np.ones(len(X))
    monkeypatch.setattr(Member, "predict_with_scale", lambda self, X: wrong)
    assert check(model, X, y) != expected


def test_rows_that_a_model_was_fitted_on_are_found(fitted):
    model, (X, y) = fitted["regressor"], sample(2000, 0)
    verdict = check(model, X, y)
    assert verdict.reused
    assert verdict.training_rows == len(model.training_rows_)
    for found in (diagnose(model, X, y), report(model, X, y).summary.of_rows.diagnosis):
        assert "overlap with training" in [finding.check for finding in found.findings]
    assert not check(model, *sample(1200, 1)).reused


def machines(seed, first=0, n_units=150):
    rng = np.random.default_rng(seed)
    machine = np.arange(first, first + n_units).repeat(5)
    X = pd.DataFrame({"machine": machine, "load": rng.uniform(size=len(machine))})
    return X, X["load"] + rng.standard_normal(n_units)[machine - first] + 0.1 * rng.standard_normal(len(machine))


def test_units_that_a_model_was_fitted_on_are_found_in_new_rows():
    X, y = machines(0)
    model = CertifiedRegressor(LinearRegression(), draws=Units("machine"), eps=0.2, delta=0.1, random_state=0).fit(X, y)
    again, fresh = machines(1), machines(1, first=1000)
    n_seen = check(model, *again).training_units
    assert 0 < n_seen < 150
    for found in (diagnose(model, *again), report(model, *again).summary.of_rows.diagnosis):
        assert not found.sound
        (finding,) = [finding for finding in found.findings if finding.check == "overlap with training"]
        assert finding.seen.startswith(f"{n_seen} of 150 calibration machines")
    for found in (diagnose(model, *fresh), report(model, *fresh).summary.of_rows.diagnosis):
        assert "overlap with training" not in [finding.check for finding in found.findings]


def test_units_are_read_from_the_column_that_the_model_names_or_passed():
    promise = {"eps": 0.2, "delta": 0.1, "random_state": 0}
    X, y = machines(0)
    named = CertifiedRegressor(LinearRegression(), draws=Units("machine"), **promise).fit(X, y)
    passed = CertifiedRegressor(LinearRegression(), **promise).fit(X[["load"]], y, draws=Units(X["machine"]))
    fresh, target = machines(1, first=1000)
    units = Units(fresh["machine"], name="machine")
    expected = check(named.certificate_, target, named.predict(fresh), draws=units)
    assert check(named, fresh, target) == expected
    assert check(passed, fresh[["load"]], target, draws=Units(fresh["machine"])).counts[""].n_samples == 150
    assert check(named, X, y).training_units > 0
    one, other = Monitor(named), Monitor(named.certificate_)
    one.update(fresh, target)
    other.update(target, named.predict(fresh), draws=units)
    assert one.to_dict() == other.to_dict()
    assert report(named, fresh, target).to_dict()["rows"]["n_rows"] == 150
    assert diagnose(named, fresh, target).n_rows == 750
    with pytest.raises(InvalidInput, match="draws must name a column of X"):
        check(named, fresh[["load"]], target)


def test_a_series_and_weights_are_judged_as_with_the_certificate():
    X, y = datasets.paper_sample(3000, random_state=0)
    fresh, target = datasets.paper_sample(900, random_state=1)
    spaced = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, draws=Spaced(3)).fit(X, y)
    assert check(spaced, fresh, target).counts[""].n_samples == 300
    assert (
        diagnose(spaced, fresh, target).p_values
        == diagnose(
            target, spaced.predict(fresh), X=fresh, eps=0.2, delta=0.1, draws=Spaced(3), training=spaced.training_rows_
        ).p_values
    )
    weighted = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0)
    weighted.fit(X, y, draws=Weighted(np.full(3000, 0.5), at_most=1.0, random_state=0))
    assert check(weighted, fresh, target).counts[""].n_samples == 900


def test_what_a_door_refuses_with_a_model(fitted):
    model, (X, y) = fitted["groups"], sample(300, 1)
    with pytest.raises(InvalidInput, match=r"with a model, pass raw rows: check\(model, X, y\)"):
        check(model, X)
    with pytest.raises(InvalidInput, match=r"scale cannot be given with a model, which predicts by itself"):
        check(model, X, y, np.ones(300))
    with pytest.raises(InvalidInput, match=r"X cannot be given with a model.*report\(model, X, y\)"):
        report(model, X, y, X=X)
    with pytest.raises(InvalidInput, match=r"eps cannot be given with a model.*diagnose\(model, X, y\)"):
        diagnose(model, X, y, eps=0.05)
    with pytest.raises(InvalidInput, match=r"side cannot be given with a model"):
        diagnose(model, X, y, side="upper")
    with pytest.raises(InvalidInput, match="the model reads the group of every row from X"):
        Monitor(model).update(X, y, groups=X["side"])
    with pytest.raises(InvalidInput, match=r"groups cannot be given with a model"):
        pacband.recalibrate(model, X, y, groups=X["side"])
    with pytest.raises(InvalidInput, match="groups were given, but the certificate has none"):
        Monitor(fitted["regressor"]).update(X, y, groups=X["side"])
    for door in (check, report, pacband.recalibrate):
        with pytest.raises(InvalidInput, match="this CertifiedRegressor has no certificate yet: call fit or calibrate"):
            door(CertifiedRegressor(LinearRegression()), X, y)
    with pytest.raises(InvalidInput, match="no certificate yet"):
        Monitor(CertifiedRegressor(LinearRegression()))
    with pytest.raises(InvalidInput, match="certificate must be one that pacband made, got LinearRegression"):
        Monitor(LinearRegression())


def test_the_state_of_a_monitor_belongs_to_certificate_and_model_alike(fitted, tmp_path):
    model, (X, y) = fitted["family with groups"], sample(300, 1)
    monitor = Monitor(model)
    monitor.update(X, y)
    monitor.save(tmp_path / "state.json")
    assert Monitor.load(tmp_path / "state.json", model).n_rows == 300
    again = Monitor.load(tmp_path / "state.json", pacband.load(model.certificate_.save(tmp_path / "cert.json")))
    assert (again.model, again.n_rows) == (None, 300)
