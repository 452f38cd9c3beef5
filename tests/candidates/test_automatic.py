"""The automatic family: what it keeps, and what it never looks at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline

from pacband import CertifiedFamily, InvalidInput, certify
from pacband.candidates.automatic import auto_candidates
from pacband.candidates.entrants import entrants
from pacband.candidates.members import Member, predict_members
from pacband.certification.arrays import certify_family_rows
from support.automatic import FAST, OPTIONS, draw, make_terms, mixed_table


@pytest.fixture(scope="module")
def fast():
    """A family of fast predictors that several tests look at, and its steps."""
    steps = []
    X, y = draw(np.random.default_rng(7), 200)
    options = OPTIONS | {"predictors": FAST, "n_calibration": 300, "progress": lambda *step: steps.append(step)}
    return auto_candidates(X, y, **options), steps


def certified(family, X, y, side="both"):
    terms = make_terms(side=side)
    shares = entrants(terms, list(family.members), len(y))
    members = {name: family.members[name] for name in shares}
    certificate = certify_family_rows(terms, y, predict_members(members, X), shares)
    return members[certificate.best], certificate


def as_numbers(family, X):
    return {name: np.array(columns) for name, columns in predict_members(family.members, X).items()}


def outcome(family):
    return [(tried.name, tried.width, tried.status) for tried in family.tried]


@pytest.mark.verify
def test_sharper_than_one_model_with_a_constant_scale_and_the_promise_holds(rng):
    X, y = draw(rng, 1000)
    X_cal, y_cal = draw(rng, 1000)
    X_test, y_test = draw(rng, 20_000)
    family = auto_candidates(X, y, n_calibration=1000, **OPTIONS)
    member, certificate = certified(family, X_cal, y_cal)
    ends = certificate.interval(*member.predict_with_scale(X_test))
    assert ((y_test < ends[:, 0]) | (y_test > ends[:, 1])).mean() < 0.1

    single = ExtraTreesRegressor(100, min_samples_leaf=3, random_state=0).fit(X, y)
    constant = certify(y_cal, single.predict(X_cal), eps=0.1, delta=0.05)
    assert np.diff(ends).mean() < 0.75 * 2 * constant.gamma


def test_the_estimated_width_is_the_width_to_come(rng):
    X, y = draw(rng, 1200)
    X_cal, y_cal = draw(rng, 2000)
    family = auto_candidates(X, y, n_calibration=2000, predictors=FAST, **OPTIONS)
    _, certificate = certified(family, X_cal, y_cal)
    widths = {tried.name: tried.width for tried in family.tried}
    for name, width in certificate.mean_bound.items():
        assert width == pytest.approx(widths[name], rel=0.12)


def test_the_same_seed_gives_the_same_family_and_another_gives_another(rng):
    X, y = draw(rng, 150)
    new = draw(rng, 50)[0]
    first, second, other = (
        auto_candidates(X, y, random_state=seed, n_jobs=jobs, eps=0.1, delta=0.05, predictors=FAST)
        for seed, jobs in ((3, 1), (3, 2), (4, 2))
    )
    assert outcome(first) == outcome(second)
    assert outcome(first) != outcome(other)
    numbers = as_numbers(second, new)
    for name, columns in as_numbers(first, new).items():
        np.testing.assert_array_equal(columns, numbers[name])


def test_what_is_predicted_at_a_row_does_not_depend_on_the_rows_beside_it(rng, fast):
    new = draw(rng, 30)[0]
    together, alone = as_numbers(fast[0], new), as_numbers(fast[0], new[:1])
    for name in together:
        np.testing.assert_allclose(together[name][:, :1], alone[name], rtol=1e-9)


def test_calibration_rows_are_used_by_the_certificate_alone(rng, fast):
    """Poisoned calibration targets change the certificate and nothing of the family, nor who enters at what share."""
    X_cal, y_cal = draw(rng, 300)
    family = fast[0]
    before = as_numbers(family, X_cal)
    _, clean = certified(family, X_cal, y_cal)
    _, poisoned = certified(family, X_cal, 1000 * y_cal[::-1])
    assert poisoned.certificate.gamma > 10 * clean.certificate.gamma
    shares = [{name: cert.share for name, cert in one.candidates.items()} for one in (clean, poisoned)]
    assert shares[0] == shares[1]
    for name, columns in as_numbers(family, X_cal).items():
        np.testing.assert_array_equal(columns, before[name])


def test_categories_and_gaps_in_frames(rng):
    columns, y = mixed_table(rng, 200)
    family = auto_candidates(pd.DataFrame(columns), y, **OPTIONS)
    new, truth = mixed_table(rng, 200)
    new["city"][0] = "Atlantis"
    (prediction, scale), *_ = predict_members(family.members, pd.DataFrame(new)).values()
    assert np.isfinite(prediction).all()
    assert (scale > 0).all()
    assert np.abs(prediction - truth)[1:].mean() < 0.25 * np.abs(truth - truth.mean()).mean()
    assert not [tried for tried in family.tried if tried.status.startswith("dropped")]


def test_a_polars_frame_gives_the_family_of_a_pandas_frame(rng):
    columns, y = mixed_table(rng, 120)
    families = [auto_candidates(make(columns), y, predictors=FAST, **OPTIONS) for make in (pd.DataFrame, pl.DataFrame)]
    assert outcome(families[0]) == outcome(families[1])
    new = mixed_table(rng, 20)[0]
    made = [
        predict_members(family.members, make(new))
        for family, make in zip(families, (pd.DataFrame, pl.DataFrame), strict=True)
    ]
    for name in made[0]:
        np.testing.assert_array_equal(made[0][name], made[1][name])


def test_pandas_categories_nullable_numbers_and_objects(rng):
    columns, y = mixed_table(rng, 120)
    plain = pd.DataFrame(columns)
    typed = plain.astype({"city": "category", "x": "Float64", "open": "boolean"})
    typed["same"] = typed["same"].astype(object)
    first, second = (auto_candidates(X, y, predictors=FAST, **OPTIONS) for X in (plain, typed))
    assert outcome(first) == outcome(second)


@pytest.mark.parametrize(("n", "columns"), [(10, 3), (30, 1)])
def test_tiny_tables(rng, n, columns):
    X, y = draw(rng, n, columns)
    family = auto_candidates(X, y, **OPTIONS)
    for prediction, scale in predict_members(family.members, draw(rng, 20, columns)[0]).values():
        assert np.isfinite(prediction).all()
        assert (scale > 0).all()


def test_constant_columns(rng):
    y = draw(rng, 100)[1]
    family = auto_candidates(np.ones((100, 2)), y, predictors=FAST, **OPTIONS)
    for prediction, _ in predict_members(family.members, np.ones((3, 2))).values():
        np.testing.assert_allclose(prediction, y.mean(), atol=0.5)


def test_a_constant_target_is_predicted_by_that_constant(rng):
    family = auto_candidates(draw(rng, 50)[0], np.full(50, 7.0), **OPTIONS)
    assert list(family.members) == ["constant"]
    member, certificate = certified(family, draw(rng, 100)[0], np.full(100, 7.0))
    assert certificate.certificate.gamma == 0.0
    assert member.predict([[0.0] * 3]) == [7.0]


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_one_sided(rng, side):
    X, y = draw(rng, 100)
    family = auto_candidates(X, y, side=side, predictors=FAST, **OPTIONS)
    X_cal, y_cal = draw(rng, 300)
    _, certificate = certified(family, X_cal, y_cal, side)
    assert certificate.best in entrants(make_terms(side=side), list(family.members), 300)


def test_candidates_of_ones_own_join(rng):
    X, y = draw(rng, 200)
    extra = {"mine": Member(LinearRegression()), "truth": Member(lambda X: np.sin(3 * X[:, 0]) + X[:, -1])}
    family = auto_candidates(X, y, extra=extra, predictors=FAST, **OPTIONS)
    assert {"mine", "truth"} < set(family.members)
    assert [tried.status for tried in family.tried if tried.name in extra] == ["given", "given"]
    _, certificate = certified(family, *draw(rng, 2000))
    assert {"mine", "truth"} < set(certificate.candidates)
    with pytest.raises(InvalidInput, match="extra must not use the name of a screened candidate, got 'constant'"):
        auto_candidates(X, np.full(200, 1.0), extra={"constant": extra["mine"]}, **OPTIONS)


def test_an_error_of_ones_own_candidate_comes_before_the_search(rng):
    X, y = draw(rng, 200)

    class Refuses(LinearRegression):
        def fit(self, X, y):
            raise ValueError("mine")

    steps = []
    with pytest.raises(ValueError, match="mine"):
        auto_candidates(X, y, extra={"mine": Member(Refuses())}, progress=lambda *step: steps.append(step), **OPTIONS)
    assert not steps


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "two"])
def test_a_number_of_jobs_that_says_nothing_is_refused(rng, n_jobs):
    with pytest.raises(InvalidInput, match="n_jobs must be None or a whole number other than 0, got "):
        auto_candidates(*draw(rng, 200), **OPTIONS | {"n_jobs": n_jobs})


def test_the_record_reads_as_a_table(fast):
    family, steps = fast
    lines = str(family).splitlines()
    assert lines[0].split() == ["tried", "mean", "half-width", "seconds"]
    assert sum(line.endswith(" candidate") for line in lines) == len(family.members) == 5
    assert any(line.endswith("left out: larger still") for line in lines)
    assert "  prediction blend: a weighted mean of the predictors" in lines
    assert lines[-2].startswith("The mean half-width of this table is estimated on training rows")
    assert lines[-1] == family.ended
    assert lines[-2].endswith("the certificate is about as many candidates as they allow, and names the best.")
    one_sided = str(replace(family, side="upper"))
    assert "mean distance from y to the bound" in one_sided
    assert "half-width" not in one_sided
    assert steps == [(k + 1, len(steps)) for k in range(len(steps))]
    widths = [tried.width for tried in family.tried]
    assert min(widths) > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.arange(59.0)}, "one length, got 60 and 59"),
        ({"y": np.ones((60, 2))}, "one target a row"),
        ({"y": np.append(np.nan, np.arange(59.0))}, "y must be finite"),
        ({"X": np.ones((9, 1)), "y": np.arange(9.0)}, "at least 10 training rows, got 9"),
        ({"X": csr_matrix(np.ones((60, 2)))}, "dense table, got a sparse"),
        ({"X": np.ones(60)}, "shape"),
        ({"X": np.ones((60, 0))}, "at least one column"),
        ({"X": np.full((60, 1), np.inf)}, "infinite in 60 rows"),
        ({"X": pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60)})}, "'day' must hold numbers, texts"),
        ({"X": 7.0}, "array or a dataframe"),
        ({"time_budget": 0}, "time_budget must be a positive"),
        ({"eps": 1.5}, "eps must be in"),
        ({"side": "left"}, "side must be one of"),
        ({"predictors": {}}, "predictors must contain at least one"),
    ],
)
def test_bad_input_is_refused_with_its_rule(rng, change, message):
    arguments = {"X": rng.uniform(size=(60, 2)), "y": rng.uniform(size=60), **OPTIONS, **change}
    with pytest.raises(InvalidInput, match=message):
        auto_candidates(arguments.pop("X"), arguments.pop("y"), **arguments)


def test_a_certified_family_finds_its_candidates_itself(rng):
    X, y = draw(rng, 300)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(site=np.where(X[:, 0] > 0, "north", "south"))
    table.loc[::7, "b"] = np.nan
    mine = make_pipeline(make_column_transformer((SimpleImputer(), ["a", "b", "c"])), Ridge())
    family = CertifiedFamily({"auto": "auto", "mine": mine}, eps=0.2, delta=0.1, random_state=0, n_jobs=2).fit(table, y)
    assert "mine" in family.certificate_.candidates
    assert sum(cert.share.fraction for cert in family.certificate_.candidates.values()) <= 1
    assert "candidate of yours" in str(family.auto_)
    assert family.predict_interval(table.iloc[:5]).shape == (5, 2)
    with pytest.raises(InvalidInput, match="weights must be None with 'auto'"):
        CertifiedFamily("auto", weights=[1.0]).fit(table, y)
