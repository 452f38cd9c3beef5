"""A deployed model: the scale that its band uses, and its successor."""

import json
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import pacband
from pacband import CertifiedFamily, CertifiedRegressor, NotEnoughSamples, ReusedData, datasets, max_rank
from pacband.draws import Units, Weighted
from pacband.exceptions import InvalidInput
from pacband.planning.shares import successor_delta
from support.twins import put_in_place

PROMISE = {"eps": 0.1, "delta": 0.01, "random_state": 0}
X, Y = datasets.paper_sample(2000, random_state=0)
FRESH = datasets.paper_sample(1500, random_state=1)


def spread(X):
    return 0.2 + np.abs(np.asarray(X)[:, 0])


def timeless(certificate):
    """Return what a certificate states, but for the time at which it was made."""
    return re.sub(r'"created": "[^"]*"', "", json.dumps(certificate.to_dict()))


def family(**options):
    candidates = {"line": LinearRegression(), "near": (KNeighborsRegressor(40), spread)}
    return CertifiedFamily(candidates, **PROMISE, **options).fit(X, Y)


@pytest.mark.parametrize("min_scale", [None, 1.0])
@pytest.mark.parametrize("scale", [None, spread, lambda X: (spread(X), 3 * spread(X))], ids=["none", "one", "pair"])
def test_the_band_is_the_prediction_plus_and_minus_the_bound_times_the_scale(scale, min_scale):
    model = CertifiedRegressor(LinearRegression(), scale=scale, min_scale=min_scale, **PROMISE).fit(X, Y)
    found, prediction, gamma = model.predict_scale(FRESH[0]), model.predict(FRESH[0]), model.certificate_.gamma
    lower, upper = found if isinstance(found, tuple) else (found, found)
    assert lower.shape == prediction.shape
    expected = np.stack([prediction - gamma * lower, prediction + gamma * upper], axis=-1)
    np.testing.assert_allclose(model.predict_interval(FRESH[0]), expected, rtol=1e-13, atol=1e-13)
    if scale is None:
        assert (found == 1.0).all()
    if min_scale is not None:
        assert min(lower.min(), upper.min()) == min_scale


def test_the_scale_of_several_outputs_has_their_shape():
    both = np.column_stack([Y, 2 * Y])
    for scale in (None, spread):
        model = CertifiedRegressor(LinearRegression(), scale=scale, **PROMISE).fit(X, both)
        found = model.predict_scale(FRESH[0])
        assert found.shape == (1500, 2)
        band, centre = model.predict_interval(FRESH[0]), model.predict(FRESH[0])
        np.testing.assert_allclose(band[..., 1], centre + model.certificate_.gamma * found, rtol=1e-13, atol=1e-13)
    matrix = CertifiedRegressor(LinearRegression(), gauge=np.eye(2), **PROMISE).fit(X, both)
    assert matrix.predict_scale(FRESH[0]).shape == (1500,)


def test_a_family_tells_the_scale_of_each_candidate():
    model = family()
    np.testing.assert_array_equal(model.predict_scale(FRESH[0], candidate="near"), spread(FRESH[0]))
    assert (model.predict_scale(FRESH[0], candidate="line") == 1.0).all()
    np.testing.assert_array_equal(
        model.predict_scale(FRESH[0]), model.predict_scale(FRESH[0], candidate=model.best_name_)
    )
    with pytest.raises(InvalidInput, match="candidate must be"):
        model.predict_scale(FRESH[0], candidate="none")


@pytest.mark.parametrize("groups", [None, lambda X: np.asarray(X)[:, 0] > 0], ids=["one", "groups"])
def test_a_regressor_is_recalibrated_as_its_certificate_is(groups, tmp_path):
    model = CertifiedRegressor(LinearRegression(), scale=spread, groups=groups, **PROMISE).fit(X, Y)
    before = model.certificate_.digest, model.get_params(), model.training_rows_.copy()
    labels = {} if groups is None else {"groups": groups(FRESH[0])}
    expected = pacband.recalibrate(model.certificate_, FRESH[1], *model.predict_with_scale(FRESH[0]), **labels)
    for successor in (model.recalibrate(*FRESH), pacband.recalibrate(model, *FRESH)):
        assert timeless(successor.certificate_) == timeless(expected)
        assert successor is not model
        np.testing.assert_array_equal(successor.predict(FRESH[0]), model.predict(FRESH[0]))
        assert pacband.check(successor, *datasets.paper_sample(900, random_state=2)).holds
    assert model.certificate_.digest == before[0]
    assert model.get_params() == before[1]
    np.testing.assert_array_equal(model.training_rows_, before[2])


def ranks_of_the_chain():
    """Return the ranks of three generations of a family, and those that δ/(k(k − 1)) among two candidates allows."""
    model, found, allowed = family(), [], []
    for generation in (2, 3):
        fresh = datasets.paper_sample(1500, random_state=generation)
        model = model.recalibrate(*fresh)
        delta = Fraction(PROMISE["delta"]) / (generation * (generation - 1)) / 2
        found += [part.rank for part in model.certificate_.candidates.values()]
        allowed += [max_rank(1500, 0.1, float(delta))] * 2
    return model, found, allowed


def test_every_candidate_has_its_share_of_the_delta_of_its_place_in_the_chain(tmp_path):
    model, found, allowed = ranks_of_the_chain()
    assert found == allowed
    certificate = model.certificate_
    assert {(part.generation, part.chain_delta) for part in certificate.candidates.values()} == {(3, 0.02)}
    assert certificate.delta <= 0.01 / 6
    path = certificate.save(tmp_path / "family.json")
    assert pacband.load(path) == certificate
    # The successor may predict by another candidate than its predecessor.
    assert model.best_name_ == certificate.best


def test_a_chain_that_gives_every_place_the_whole_delta_is_noticed(monkeypatch):
    put_in_place(monkeypatch, successor_delta, lambda chain_delta, generation: Fraction(chain_delta) / 4)
    _, found, allowed = ranks_of_the_chain()
    assert found != allowed


def test_a_family_with_groups_is_recalibrated_in_each_of_them(tmp_path):
    frame, fresh = (
        pd.DataFrame({"x": rows[0][:, 0], "half": (rows[0][:, 0] > 0).astype(int)}) for rows in ((X, Y), FRESH)
    )
    candidates = {"line": LinearRegression(), "near": KNeighborsRegressor(40)}
    model = CertifiedFamily(candidates, groups="half", **PROMISE).fit(frame, Y)
    successor = model.recalibrate(fresh, FRESH[1])
    assert set(successor.certificates_) == set(candidates)
    for certificate in successor.certificates_.values():
        for part in certificate.groups.values():
            assert (part.generation, part.predecessor) == (2, model.certificate_.digest)
            assert part.rank == max_rank(part.n_samples, 0.1, 0.01 / 2 / 4)
    again = pacband.load(successor.save(tmp_path / "model.pacband"))
    assert again.certificate_ == successor.certificate_
    np.testing.assert_array_equal(again.predict_interval(fresh), successor.predict_interval(fresh))
    third = again.recalibrate(*_half(3))
    assert next(iter(third.certificate_.groups.values())).generation == 3


def _half(seed):
    rows, y = datasets.paper_sample(1500, random_state=seed)
    return pd.DataFrame({"x": rows[:, 0], "half": (rows[:, 0] > 0).astype(int)}), y


def test_seen_rows_and_units_cannot_recalibrate():
    model = family()
    with pytest.raises(ReusedData, match="these were also used to fit it"):
        model.recalibrate(X, Y)
    successor = model.recalibrate(*FRESH)
    with pytest.raises(ReusedData, match="these have the scores that its predecessor was made from"):
        successor.recalibrate(*FRESH)
    with pytest.raises(NotEnoughSamples, match="certificate 2 of the chain"):
        model.recalibrate(FRESH[0][:40], FRESH[1][:40])
    with pytest.raises(InvalidInput, match="no certificate yet"):
        CertifiedRegressor(LinearRegression()).recalibrate(*FRESH)
    with pytest.raises(InvalidInput, match="rule must be"):
        model.recalibrate(*FRESH, rule="best")


def test_units_and_weights_stay_what_they_were():
    rng = np.random.default_rng(0)

    def machines(first):
        machine = np.arange(first, first + 150).repeat(5)
        rows = pd.DataFrame({"machine": machine, "load": rng.uniform(size=750)})
        return rows, rows["load"] + rng.standard_normal(150).repeat(5)

    first = machines(0)
    model = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, draws=Units("machine"), random_state=0)
    model.fit(*first)
    successor = model.recalibrate(*machines(1000))
    assert successor.certificate_.basis.draws == model.certificate_.basis.draws
    assert (successor.certificate_.n_samples, successor.certificate_.generation) == (150, 2)
    with pytest.raises(ReusedData, match="no machine may have both training rows and calibration rows"):
        model.recalibrate(*first)
    weighted = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0)
    weighted.fit(X, Y, draws=Weighted(np.full(2000, 0.5), at_most=1.0, random_state=0))
    with pytest.raises(InvalidInput, match="the successor needs the draws of its predecessor"):
        weighted.recalibrate(*FRESH)
    fresh = Weighted(np.full(1500, 0.5), at_most=1.0, random_state=0)
    assert weighted.recalibrate(*FRESH, draws=fresh).certificate_.generation == 2
