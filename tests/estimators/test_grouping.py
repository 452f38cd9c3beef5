"""Promises within groups, and the band of any candidate, through the estimators."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import beta, kstest, norm
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from pacband import (
    CertifiedFamily,
    CertifiedRegressor,
    InvalidInput,
    NotEnoughSamples,
    certify_groups,
    load,
    max_rank,
    plan,
)
from pacband.candidates.entrants import group_entrants
from pacband.certification.terms import Terms

PROMISE = {"eps": 0.1, "delta": 0.01}
NOISE = {"coast": 1.0, "hills": 2.0, "summit": 5.0}


def draw(rng, n):
    """Rows of a number and a site; the noise depends on the site."""
    site = rng.choice(list(NOISE), n, p=[0.6, 0.3, 0.1])
    x = rng.uniform(-1, 1, n)
    y = 3 * x + np.vectorize(NOISE.get)(site) * rng.standard_normal(n)
    return pd.DataFrame({"x": x, "site": site}), y


class Everyone:
    """One group for all; a function would have its address in the names of the tests, other in every process."""

    def __call__(self, X):
        return np.zeros(X.shape[0] if hasattr(X, "shape") else len(np.asarray(X)), dtype=int)

    def __repr__(self):
        return "everyone"


everyone = Everyone()


def side_of_line(X):
    return X[:, 0] > 0


def truth(X):
    return 3 * X["x"].to_numpy()


def line():
    return make_pipeline(make_column_transformer(("passthrough", ["x"])), LinearRegression())


@parametrize_with_checks(
    [
        CertifiedRegressor(Ridge(), eps=0.5, delta=0.5, groups=everyone),
        CertifiedFamily({"ridge": Ridge(), "line": LinearRegression()}, eps=0.5, delta=0.5, groups=everyone),
    ]
)
def test_follows_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("groups", ["site", 1, -1, lambda X: X["site"], lambda X: X["site"].to_list()])
def test_a_column_of_a_frame_makes_the_certificate_of_groups(rng, frame, groups):
    (table, y), (cal, y_cal), (new, _) = draw(rng, 200), draw(rng, 2000), draw(rng, 50)
    table, cal, new = (frame(part.to_dict("list")) for part in (table, cal, new))
    model = CertifiedRegressor(line(), groups=groups, **PROMISE).fit(table, y, calibration=(cal, y_cal))
    fitted = line().fit(table, y)
    expected = certify_groups(y_cal, fitted.predict(cal), cal["site"], **PROMISE)
    assert {label: cert.gamma for label, cert in model.certificate_.groups.items()} == {
        label: cert.gamma for label, cert in expected.groups.items()
    }
    np.testing.assert_array_equal(model.predict_interval(new), expected.interval(fitted.predict(new), new["site"]))
    result = model.predict_interval(new, output="frame")
    assert isinstance(result, frame)


def test_a_column_of_an_array_and_a_function_of_it(rng):
    X = np.column_stack([rng.uniform(-1, 1, 1000), rng.integers(0, 2, 1000)])
    y = X[:, 0] * (1 + X[:, 1]) + rng.standard_normal(1000)
    by_column = CertifiedRegressor(Ridge(), groups=1, random_state=0, **PROMISE).fit(X, y)
    by_function = CertifiedRegressor(Ridge(), groups=lambda X: X[:, 1], random_state=0, **PROMISE).fit(X, y)
    assert list(by_column.certificate_.groups) == [0.0, 1.0]
    np.testing.assert_array_equal(by_column.predict_interval(X), by_function.predict_interval(X))
    listed = CertifiedRegressor(Ridge(), groups=1, random_state=0, **PROMISE).fit(X.tolist(), y.tolist())
    np.testing.assert_allclose(listed.predict_interval(X.tolist()), by_column.predict_interval(X))
    sparse = CertifiedRegressor(Ridge(), groups=everyone, **PROMISE).fit(csr_matrix(X), y)
    assert sparse.predict_interval(csr_matrix(X)).shape == (1000, 2)


def test_fit_draws_calibration_rows_within_every_group_and_uses_each_row_once(rng):
    seen = {}

    class Witness(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            seen["fit"], self.fitted_ = X, True
            return self

        def predict(self, X):
            seen.setdefault("calibrate", X)
            return np.zeros(len(X))

    table, y = draw(rng, 6000)
    CertifiedRegressor(Witness(), groups="site", random_state=0, **PROMISE).fit(table, y)
    assert not set(seen["fit"]["x"]) & set(seen["calibrate"]["x"])
    assert len(seen["fit"]) + len(seen["calibrate"]) == 6000
    planned = plan(**PROMISE, n_candidates=3).n_samples
    for site, rows in table.groupby("site"):
        expected = min(max(planned, len(rows) // 5), len(rows) // 2)
        assert (seen["calibrate"]["site"] == site).sum() == expected
    # Not group after group: folds that a model draws without shuffling would miss whole groups.
    assert seen["fit"]["site"].iloc[:200].nunique() == 3


@pytest.mark.parametrize(("size", "rows"), [(80, [80, 80]), (0.3, [240, 60])])
def test_calibration_size_is_that_of_each_group(rng, size, rows):
    X = np.column_stack([rng.uniform(size=1000), np.arange(1000) < 200])
    model = CertifiedRegressor(Ridge(), groups=1, calibration_size=size, **PROMISE).fit(X, X[:, 0])
    assert [cert.n_samples for cert in model.certificate_.groups.values()] == rows


def test_every_group_keeps_the_beta_law_at_its_share_of_delta():
    """Scores are continuous and T is settled, so the true violation within a group is Beta(r, N − r + 1).

    False alarm: below 1e-6 for each of the three groups, by the level of the test.
    """
    rng = np.random.default_rng(3)
    sizes, sites = {"coast": 150, "hills": 100, "summit": 75}, list(NOISE)
    table = pd.DataFrame({"x": 0.0, "site": np.repeat(sites, [sizes[site] for site in sites])})
    noise = table["site"].map(NOISE).to_numpy()
    violations = {site: [] for site in sites}
    for _ in range(400):
        y = noise * rng.standard_normal(len(table))
        certificate = CertifiedRegressor(truth, groups="site", **PROMISE).calibrate(table, y).certificate_
        for site, cert in certificate.groups.items():
            assert cert.rank == max_rank(sizes[site], **PROMISE, n_candidates=3)
            violations[site].append(2 * norm.sf(cert.gamma / NOISE[site]))
    for site, size in sizes.items():
        rank = max_rank(size, **PROMISE, n_candidates=3)
        assert kstest(violations[site], beta(rank, size - rank + 1).cdf).pvalue > 1e-6
        assert np.mean(np.array(violations[site]) > 0.1) < 0.01


def test_too_few_rows_in_a_group_are_refused_by_its_name_before_any_fit(rng):
    class Untouchable(LinearRegression):
        def fit(self, X, y):
            raise AssertionError("fitted")

    table, y = draw(rng, 500)
    model = CertifiedRegressor(Untouchable(), groups="site", **PROMISE)
    with pytest.raises(NotEnoughSamples, match=r"group 'summit': \d+ of \d+ rows were kept for calibration"):
        model.fit(table, y)
    with pytest.raises(NotEnoughSamples, match=r"group 'summit': .*need at least 55 samples"):
        model.fit(table, y, calibration=draw(rng, 400))
    with pytest.raises(NotEnoughSamples, match="group 'summit'"):
        CertifiedRegressor(truth, groups="site", **PROMISE).calibrate(table, y)
    lone = pd.concat([table, pd.DataFrame({"x": [0.0], "site": ["valley"]})])
    with pytest.raises(InvalidInput, match=r"at least 2 rows.*got n_samples=1 in group 'valley'"):
        CertifiedRegressor(Untouchable(), groups="site", eps=0.5, delta=0.5).fit(lone, np.append(y, 0.0))


def test_a_group_without_a_certificate_is_refused(rng):
    table, y = draw(rng, 2000)
    model = CertifiedRegressor(truth, groups="site", **PROMISE).calibrate(table, y)
    strange = pd.DataFrame({"x": [0.0], "site": ["valley"]})
    with pytest.raises(InvalidInput, match="labels without a certificate: 'valley'"):
        model.predict_interval(strange)
    assert model.predict(strange) == [0.0]
    assert model.predict_interval(strange[:0]).shape == (0, 2)
    with pytest.raises(InvalidInput, match="label in every row: it is missing in 1 row"):
        model.predict_interval(strange.assign(site=None))


def test_the_certificate_keeps_the_groups_it_was_made_for(rng, tmp_path):
    table, y = draw(rng, 4000)
    model = CertifiedRegressor(line(), groups="site", random_state=0, **PROMISE).fit(table, y)
    before = model.predict_interval(table)
    assert load(model.certificate_.save(tmp_path / "cert.json")) == model.certificate_
    model.set_params(groups=None)
    np.testing.assert_array_equal(model.predict_interval(table), before)
    fresh = draw(rng, 1000)
    assert model.calibrate(*fresh).certificate_.n_samples == 1000
    assert model.set_params(groups="site").calibrate(*fresh).certificate_.n_samples == 1000
    assert set(model.certificate_.groups) == set(NOISE)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_interval(table), model.predict_interval(table))
    assert clone(model).groups == "site"


def test_candidates_to_come_share_delta_with_the_groups(rng):
    table, y = draw(rng, 4000)
    model = CertifiedRegressor(truth, groups="site", n_candidates=4, **PROMISE).calibrate(table, y)
    for cert in model.certificate_.groups.values():
        assert cert.rank == max_rank(cert.n_samples, **PROMISE, n_candidates=12)


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
    assert family.best_name_ == "truth"
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
    assert min(distance, key=distance.get) == "truth"


def test_the_automatic_family_within_groups(rng, monkeypatch):
    monkeypatch.setattr(
        "pacband.candidates.screening.default_predictors",
        lambda *_: {"boosting": HistGradientBoostingRegressor(max_iter=20, random_state=0)},
    )
    table, y = draw(rng, 1500)
    options = {"groups": "site", "eps": 0.2, "delta": 0.1, "random_state": 0, "n_jobs": 1}
    family = CertifiedFamily({"auto": "auto", "line": line()}, **options).fit(table, y)
    sizes = [cert.n_samples for cert in family.certificate_.groups.values()]
    terms = Terms.create(eps=0.2, delta=0.1, side="both", min_scale=None, nonfinite="raise", gauge="max")
    assert len(family.certificates_) == len(group_entrants(terms, list(family.auto_.members), sizes)) > 1
    assert set(family.certificate_.groups) == set(NOISE)
    used = [cert.share.fraction for one in family.certificates_.values() for cert in one.groups.values()]
    assert sum(used) <= 1


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


def test_several_outputs_within_groups(rng):
    X = rng.uniform(-1, 1, (2000, 2))
    Y = X + np.where(X[:, :1] > 0, 3.0, 1.0) * rng.standard_normal((2000, 2))
    model = CertifiedRegressor(Ridge(), groups=side_of_line, random_state=0, **PROMISE).fit(X, Y)
    band = model.predict_interval(X)
    assert band.shape == (2000, 2, 2)
    widths = np.diff(band)[..., 0]
    assert widths[X[:, 0] > 0].mean() > 2 * widths[X[:, 0] < 0].mean()


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"groups": "y"}, None, "groups must be a column of X, 'x', 'site'; got 'y'"),
        ({"groups": 2}, None, "groups must be the position of one of the 2 columns of X, got 2"),
        ({"groups": 1.5}, None, "groups must be None, a column of X by name or position, or a function, got 1.5"),
        ({"groups": True}, None, "groups must be None, a column of X by name or position, or a function, got True"),
        ({"groups": lambda X: ["a", "b"]}, None, "one label per row: 100 rows, got 2 labels"),
        ({"groups": lambda X: X}, None, "groups must have one label per row"),
        ({"groups": "site", "rank": 3}, None, "rank must be None with groups, for each group has its own, got 3"),
        ({"groups": "site"}, np.zeros((100, 2)), "groups='site' names a column, so that X must be a dataframe, got ndarray"),
        ({"groups": 0}, csr_matrix(np.ones((100, 2))), "groups must be a function where X is sparse"),
        ({"groups": 0}, np.zeros(100), r"X must have shape \(n, columns\), got \(100,\)"),
    ],
)  # fmt: skip
def test_bad_groups_are_refused_with_rule_and_value(rng, options, X, message):
    table, y = draw(rng, 100)
    with pytest.raises(InvalidInput, match=message):
        CertifiedRegressor(lambda X: np.zeros(X.shape[0]), **{**PROMISE, **options}).calibrate(
            table if X is None else X, y
        )
    if X is None:
        with pytest.raises(InvalidInput, match=message):
            CertifiedRegressor(line(), **{**PROMISE, **options}).fit(table, y)


def test_weights_do_not_go_with_groups(rng):
    family = CertifiedFamily({"a": truth, "b": truth}, weights=[0.5, 0.5], groups="site", **PROMISE)
    with pytest.raises(InvalidInput, match=r"weights must be None with 'auto', .*, and with groups, got"):
        family.fit(*draw(rng, 3000))
