"""Promises within groups: the group of a row is read off X."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import beta, kstest, norm
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge

from pacband import CertifiedRegressor, InvalidInput, NotEnoughSamples, certify_groups, load, max_rank
from support.estimators import NOISE, PROMISE, draw, everyone, line, truth


def side_of_line(X):
    return X[:, 0] > 0


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


def test_every_group_keeps_the_beta_law_at_its_share_of_delta():
    """Scores are continuous and T is fixed, so the true violation within a group is Beta(r, N − r + 1).

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
        ({"groups": "site", "rank": 3}, None, "rank must be None with groups, because each group has its own, got 3"),
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
