"""How a family is fitted: which predictor a scale belongs to, and what is done only once."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput, LocalKernelRidge, LocalRidge, datasets
from pacband.candidates.members import Member, copy_fitted, copy_unfitted, fit_members, predict_members
from pacband.scale import (
    EnsembleScale,
    FloorScale,
    LeverageScale,
    NeighborScale,
    ProductScale,
    QuantileScale,
    ResidualScale,
    StdScale,
)

PROMISE = {"eps": 0.1, "delta": 0.01, "random_state": 0}
X, Y = datasets.paper_sample(600, random_state=3)
X_CAL, Y_CAL = datasets.paper_sample(400, random_state=4)


class Counted(KNeighborsRegressor):
    fits = 0
    answers = 0

    def fit(self, X, y):
        type(self).fits += 1
        return super().fit(X, y)

    def predict(self, X):
        type(self).answers += 1
        return super().predict(X)


@pytest.fixture
def counted():
    Counted.fits = Counted.answers = 0
    return Counted(20)


@pytest.mark.parametrize(
    "scale",
    [NeighborScale(), ResidualScale(regressor=Ridge()), ProductScale([NeighborScale(), LeverageScale()])],
    ids=["neighbour", "residual", "product"],
)
def test_a_scale_learns_from_the_predictor_it_is_used_with(scale):
    model = CertifiedRegressor(KNeighborsRegressor(20), scale=scale, **PROMISE).fit(X, Y)
    alone = clone(scale)
    (alone.scales[0] if isinstance(scale, ProductScale) else alone).set_params(estimator=KNeighborsRegressor(20))
    told = CertifiedRegressor(KNeighborsRegressor(20), scale=alone, **PROMISE).fit(X, Y)
    assert model.certificate_.gamma == told.certificate_.gamma
    np.testing.assert_array_equal(model.predict_interval(X_CAL), told.predict_interval(X_CAL))


@pytest.mark.parametrize("scale", [NeighborScale(), ResidualScale(), EnsembleScale(), StdScale(), QuantileScale()])
def test_alone_a_scale_must_be_told_its_predictor(scale):
    with pytest.raises(InvalidInput, match=f"{type(scale).__name__} has estimator=None.*fitted alone: give it an"):
        scale.fit(X, Y)
    with pytest.raises(InvalidInput, match="fitted alone"):
        FloorScale(scale).fit(X, Y)


def test_a_scale_may_keep_an_estimator_of_its_own():
    own = NeighborScale(LinearRegression())
    fitted = fit_members({"a": Member(KNeighborsRegressor(5), own)}, X, Y)["a"].scale
    np.testing.assert_array_equal(fitted.errors_, clone(own).fit(X, Y).errors_)


def test_the_predictor_is_fitted_once_and_crossed_once_for_all_its_scales(counted):
    members = {
        "plain": Member(counted),
        "neighbour": Member(counted, NeighborScale()),
        "residual": Member(counted, ResidualScale(regressor=Ridge())),
        "floor": Member(counted, FloorScale(NeighborScale(n_neighbors=5))),
    }
    fitted = fit_members(members, X, Y)
    assert Counted.fits == 1 + 5
    assert len({id(member.predictor) for member in fitted.values()}) == 1
    Counted.answers = 0
    columns = predict_members(fitted, X_CAL)
    assert Counted.answers == 1
    for name, member in fitted.items():
        for together, single in zip(columns[name], member.predict_with_scale(X_CAL), strict=True):
            np.testing.assert_array_equal(together, single)


def test_spread_scales_use_the_fit_that_predicts():
    forest = RandomForestRegressor(5, random_state=0)
    fitted = fit_members(
        {
            "std": Member(BayesianRidge(), StdScale()),
            "spread": Member(forest, EnsembleScale(cv=2)),
            "ends": Member(forest, QuantileScale(LinearRegression(), LinearRegression())),
        },
        X,
        Y,
    )
    for member in fitted.values():
        assert member.scale.estimator_ is member.predictor


def test_std_as_a_word_and_as_a_scale_agree():
    fitted = fit_members({"word": Member(BayesianRidge(), "std"), "scale": Member(BayesianRidge(), StdScale())}, X, Y)
    columns = predict_members(fitted, X_CAL)
    np.testing.assert_array_equal(columns["word"][1], columns["scale"][1])


def test_frozen_predictors_and_functions_are_judged_directly():
    frozen = FrozenEstimator(KNeighborsRegressor(20).fit(X_CAL, Y_CAL))
    for predictor in (frozen, frozen.predict):
        member = fit_members({"a": Member(predictor, NeighborScale())}, X, Y)["a"]
        assert member.predictor is predictor
        np.testing.assert_array_equal(member.scale.errors_, Y - frozen.predict(X))


def test_a_frozen_scale_stays_as_it_is():
    frozen = FrozenEstimator(NeighborScale(LinearRegression()).fit(X, Y))
    member = fit_members({"a": Member(LinearRegression(), frozen)}, X_CAL, Y_CAL)["a"]
    np.testing.assert_array_equal(member.scale.predict(X), frozen.predict(X))


def test_a_fitted_scale_keeps_no_rows_of_its_predictor():
    scale = fit_members({"a": Member(LinearRegression(), NeighborScale())}, X, Y)["a"].scale
    assert scale._predictor is None
    assert scale.estimator is None


def test_models_fitted_together_keep_their_scales():
    family = CertifiedFamily.from_grid(LocalRidge(decay=1.0), {"decay": [1.0, 5.0]}, scale=NeighborScale(), **PROMISE)
    family.fit(X, Y)
    alone = CertifiedRegressor(LocalRidge(decay=5.0), scale=NeighborScale(), n_candidates=2, **PROMISE)
    alone.fit(X, Y)
    assert family.certificate_.candidates["decay=5.0"].gamma == pytest.approx(alone.certificate_.gamma, rel=1e-9)
    shared = LocalRidge(decay=5.0)
    mixed = CertifiedFamily({"own": (shared, "std"), "near": (shared, NeighborScale())}, **PROMISE).fit(X, Y)
    assert mixed.estimators_["own"] is mixed.estimators_["near"]


def test_a_pair_scale_makes_an_asymmetric_certificate():
    scale = QuantileScale(LinearRegression(), LinearRegression())
    model = CertifiedRegressor(KNeighborsRegressor(20), scale=FloorScale(scale), **PROMISE).fit(X, Y)
    assert model.certificate_.scale_kind == "asymmetric"
    lower, upper = model.scale_.predict(X_CAL)
    centre, gamma = model.predict(X_CAL), model.certificate_.gamma
    np.testing.assert_allclose(model.predict_interval(X_CAL), np.c_[centre - gamma * lower, centre + gamma * upper])


def test_a_user_scale_may_ask_whose_it_is():
    class Level(NeighborScale):
        def used_with(self, predictor):
            assert predictor.declared is members["a"].predictor
            return super().used_with(predictor)

    members = {"a": Member(LinearRegression(), Level())}
    assert fit_members(members, X, Y)["a"].scale.errors_.shape == (600,)


def test_a_part_that_several_members_have_is_copied_once():
    model, declared = FrozenEstimator(Ridge().fit([[0.0], [1.0]], [0.0, 1.0])), BayesianRidge()
    found = copy_unfitted({"a": Member(model), "b": Member(model, abs), "c": Member(declared, "std")})
    assert found["a"].predictor is found["b"].predictor is not model
    assert (found["b"].scale, found["c"].predictor, found["c"].scale) == (abs, declared, "std")


def test_calibrate_copies_a_predictor_that_several_members_have_once():
    model, near = Ridge().fit(X, Y), NeighborScale(Ridge()).fit(X, Y)
    family = CertifiedFamily({"one": model, "two": (model, abs), "near": (model, near)}, **PROMISE)
    found = family.set_params(min_scale=1e-3).calibrate(X_CAL, Y_CAL).members_
    assert found["one"].predictor is found["two"].predictor is found["near"].predictor is not model
    assert found["near"].scale is not near


def test_calibrate_copies_what_the_members_of_a_grid_share_once():
    fitted = LocalKernelRidge(gamma=1.0).fit_grid(X, Y, [{"decay": 1.0}, {"decay": 2.0}])
    members = CertifiedFamily(dict(zip("ab", fitted, strict=True)), **PROMISE).calibrate(X_CAL, Y_CAL).members_
    one, two = (members[name].predictor._model for name in "ab")
    assert one.design is two.design is not fitted[0]._model.design
    assert one.locality is two.locality


class Restored(Ridge):
    """Makes its state anew whenever it is asked for it."""

    def __getstate__(self):
        return {"version": 1, "state": {**self.__dict__}}

    def __setstate__(self, state):
        self.__dict__.update(state["state"])


def test_parts_that_cannot_be_copied_are_used_themselves_and_the_others_are_copied():
    class Uncopied(Ridge):
        def __deepcopy__(self, memo):
            memo[id(self.shared)] = "half made"
            raise TypeError

    shared = np.arange(3.0)
    models = [Restored().fit(X, Y) for _ in range(8)]
    uncopied = Uncopied().fit(X, Y)
    uncopied.shared = models[-1].shared = shared
    members = {"uncopied": uncopied, **{str(k): model for k, model in enumerate(models)}}
    found = copy_fitted({name: Member(model) for name, model in members.items()})
    assert found["uncopied"].predictor is uncopied
    for k, model in enumerate(models):
        copied = found[str(k)].predictor
        assert copied is not model
        np.testing.assert_array_equal(copied.coef_, model.coef_)
    np.testing.assert_array_equal(copied.shared, shared)
    assert copied.shared is not shared
