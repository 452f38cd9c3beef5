"""Several pairs (T, σ̂), certified at once: the sharpest predicts, and any may."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from pacband import CertifiedFamily, InvalidInput, LocalRidge, certify_family, max_rank
from pacband.candidates.defaults import default_predictors
from pacband.candidates.entrants import group_entrants
from pacband.certification.terms import Terms
from support.estimators import NOISE, PROMISE, X_NEW, Y_NEW, X, Y, draw, line, sine, truth
from support.twins import put_in_place


def test_shared_work_never_bypasses_a_models_own_predict():
    class Shifted(LocalRidge):
        def predict(self, X, return_std=False):
            answer = super().predict(X, return_std)
            return (answer[0] + 100, answer[1]) if return_std else answer + 100

    family = CertifiedFamily.from_grid(Shifted(), {"decay": [1.0, 2.0]}, random_state=0, **PROMISE).fit(
        X[:600], Y[:600]
    )
    band = family.predict_interval(X_NEW)
    assert np.mean((band[:, 0] > Y_NEW) | (band[:, 1] < Y_NEW)) < 0.15


def test_family_certifies_all_and_predicts_with_the_sharpest():
    candidates = {"line": LinearRegression(), "near": KNeighborsRegressor(30), "process": (BayesianRidge(), "std")}
    family = CertifiedFamily(candidates, random_state=0, **PROMISE).fit(X, Y, calibration=(X_NEW, Y_NEW))
    columns = {
        "line": LinearRegression().fit(X, Y).predict(X_NEW),
        "near": KNeighborsRegressor(30).fit(X, Y).predict(X_NEW),
        "process": BayesianRidge().fit(X, Y).predict(X_NEW, return_std=True),
    }
    expected = certify_family(Y_NEW, columns, **PROMISE)
    assert family.certificate_.mean_bound == expected.mean_bound
    assert family.best_name_ == "near"
    assert set(family.estimators_) == set(candidates)
    np.testing.assert_array_equal(family.predict(X), family.estimators_["near"].predict(X))
    assert family.predict_interval(X).shape == (3000, 2)
    weighted = CertifiedFamily(candidates, weights={"line": 0.2, "near": 0.7, "process": 0.1}, **PROMISE)
    assert weighted.fit(X, Y).certificate_.candidates["near"].weight == pytest.approx(0.7)


def test_family_of_fitted_candidates_is_calibrated():
    family = CertifiedFamily({"sine": sine, "line": LinearRegression().fit(X, Y)}, **PROMISE).calibrate(X_NEW, Y_NEW)
    assert family.best_name_ == "sine"


def test_grid_candidates_with_the_same_words_are_both_kept():
    matrices = [np.eye(200), 2 * np.eye(200)]
    family = CertifiedFamily.from_grid(LocalRidge(), [{"norm": matrices}, {"decay": [2.0]}])
    assert len(family.candidates) == 3


def test_family_from_grid():
    family = CertifiedFamily.from_grid(
        KNeighborsRegressor(), {"n_neighbors": range(5, 30, 5), "weights": ["uniform", "distance"]}, **PROMISE
    )
    assert len(family.candidates) == 10
    assert "n_neighbors=5, weights=uniform" in family.candidates
    assert all(scale is None for _, scale in family.candidates.values())
    steps = []
    own = CertifiedFamily.from_grid(
        BayesianRidge(), {"max_iter": [10, 20]}, progress=lambda *step: steps.append(step), **PROMISE
    )
    assert own.fit(X, Y).certificate_.certificate.scale_kind == "symmetric"
    assert steps == [(100, 200), (200, 200)]


def test_gaussian_process_family_shares_nothing_and_still_works():
    family = CertifiedFamily.from_grid(GaussianProcessRegressor(), {"alpha": [1.0, 20.0]}, **PROMISE)
    assert family.fit(X[:400], Y[:400]).best_name_ in family.candidates


@pytest.mark.parametrize("side", ["both", "upper", "lower"])
def test_a_family_within_groups_predicts_with_the_sharpest(rng, side):
    candidates = {
        "shifted": lambda X: truth(X) + 20.0,
        "flat": lambda X: np.zeros(len(X)),
        "scaled": (truth, lambda X: X["site"].map(NOISE).to_numpy() * (1 + X["x"].to_numpy() ** 2)),
        "truth": truth,
    }
    table, y = draw(rng, 3000)
    family = CertifiedFamily(candidates, groups="site", side=side, **PROMISE).calibrate(table, y)
    assert set(family.certificates_) == set(candidates)
    assert family.certificate_ is family.certificates_[family.best_name_]
    # A bound on one side does not notice a shift: both are equal up to rounding.
    assert family.best_name_ in ({"truth"} if side == "both" else {"truth", "shifted"})
    distance = {}
    for name in candidates:
        for cert in family.certificates_[name].groups.values():
            assert cert.rank == max_rank(cert.n_samples, **PROMISE, n_candidates=12)
        ends = family.predict_interval(table, candidate=name)
        distance[name] = {
            "both": (ends[:, 1] - ends[:, 0]).mean(),
            "upper": (ends[:, 1] - y).mean(),
            "lower": (y - ends[:, 0]).mean(),
        }[side]
    assert distance[family.best_name_] == pytest.approx(min(distance.values()), rel=1e-12)


def test_the_automatic_family_within_groups(rng, monkeypatch):
    boosting = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    put_in_place(monkeypatch, default_predictors, lambda *_: {"boosting": boosting})
    table, y = draw(rng, 1500)
    options = {"groups": "site", "eps": 0.2, "delta": 0.1, "random_state": 0, "n_jobs": 1}
    family = CertifiedFamily({"auto": "auto", "line": line()}, **options).fit(table, y)
    sizes = [cert.n_samples for cert in family.certificate_.groups.values()]
    terms = Terms.create(eps=0.2, delta=0.1, side="both", min_scale=None, nonfinite="raise", gauge="max")
    assert len(family.certificates_) == len(group_entrants(terms, list(family.auto_.members), sizes)) > 1
    assert set(family.certificate_.groups) == set(NOISE)
    used = [cert.share.fraction for one in family.certificates_.values() for cert in one.groups.values()]
    assert sum(used) <= 1


@pytest.mark.parametrize("row", [5, 300, 599])
def test_the_automatic_family_names_rows_of_the_whole_table(rng, row):
    table, y = rng.uniform(-1, 1, (600, 2)), rng.standard_normal(600)
    y[row] = np.nan
    with pytest.raises(InvalidInput, match=rf"y must be finite: it is NaN or infinite in 1 row, row {row} \("):
        CertifiedFamily("auto", random_state=0, **PROMISE).fit(table, y)
    y[row], table[row, 1] = 0.0, np.inf
    with pytest.raises(InvalidInput, match=rf"column 'x1' must be finite .* in 1 row, row {row} \("):
        CertifiedFamily("auto", random_state=0, **PROMISE).fit(table, y)


def test_any_candidate_of_a_family_may_be_used(rng):
    table, y = draw(rng, 3000)
    family = CertifiedFamily({"line": line(), "flat": lambda X: np.zeros(len(X))}, **PROMISE).fit(table, y)
    assert family.best_name_ == "line"
    np.testing.assert_array_equal(family.predict(table, candidate="flat"), 0.0)
    expected = family.certificate_.candidates["flat"].interval(np.zeros(3000))
    np.testing.assert_array_equal(family.predict_interval(table, candidate="flat"), expected)
    np.testing.assert_array_equal(family.predict_interval(table), family.predict_interval(table, candidate="line"))
    for call in (family.predict, family.predict_interval):
        with pytest.raises(InvalidInput, match="candidate must be one of 'line', 'flat', got 'cubic'"):
            call(table, candidate="cubic")


def test_weights_do_not_go_with_groups(rng):
    family = CertifiedFamily({"a": truth, "b": truth}, weights=[0.5, 0.5], groups="site", **PROMISE)
    with pytest.raises(InvalidInput, match=r"weights must be None with 'auto', .*, and with groups, got"):
        family.fit(*draw(rng, 3000))


def test_candidates_need_names_and_pairs_two_parts(rng):
    X, y = rng.standard_normal((300, 1)), rng.standard_normal(300)
    with pytest.raises(InvalidInput, match="candidate names must be strings, got 1"):
        CertifiedFamily({1: LinearRegression(), 2: LinearRegression()}).fit(X, y)
    with pytest.raises(InvalidInput, match=r"a candidate must be estimator or \(estimator, scale\), got 3 parts"):
        CertifiedFamily({"a": (LinearRegression(), None, 3)}).fit(X, y)
