"""Draws in estimators: a column of X in the constructor, labels at fit; the column is no feature."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput, check, load
from pacband.draws import Rows, Spaced, Units, Weighted
from pacband.estimators.drawing import (
    draws_from_dict,
    draws_to_dict,
    read_draws,
    refuse_seen_units,
    unit_fingerprints,
    without_column,
)
from pacband.exceptions import CertificateError, OutOfRange, ReusedData
from pacband.scale import ResidualScale

PROMISE = {"eps": 0.2, "delta": 0.1, "random_state": 0}


def table(seed=0, n_units=120, n_rows=5):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(n_units), n_rows) + 1000 * seed
    x = rng.standard_normal(len(unit))
    y = 2 * x + rng.standard_normal(n_units).repeat(n_rows) + 0.3 * rng.standard_normal(len(unit))
    return pd.DataFrame({"machine": unit, "x": x, "w": rng.uniform(0, 1, len(unit))}), y


@pytest.mark.parametrize("library", [pd.DataFrame, lambda frame: pl.from_pandas(frame)])
def test_a_column_in_the_constructor_is_labels_at_fit(library):
    frame, y = table()
    named = CertifiedRegressor(LinearRegression(), draws=Units("machine"), **PROMISE)
    named.fit(library(frame[["machine", "x"]]), y)
    given = CertifiedRegressor(LinearRegression(), **PROMISE)
    given.fit(library(frame[["x"]]), y, draws=Units(frame["machine"], name="machine"))
    assert named.certificate_.gamma == given.certificate_.gamma
    assert named.certificate_.promise == given.certificate_.promise
    assert "of future machines keep all their errors" in named.certificate_.promise
    assert named.feature_names_in_.tolist() == ["x"]
    # Rows to predict may have the column or not.
    np.testing.assert_array_equal(
        named.predict_interval(library(frame[["machine", "x"]])), named.predict_interval(library(frame[["x"]]))
    )
    np.testing.assert_array_equal(named.predict(library(frame[["machine", "x"]])), given.predict(library(frame[["x"]])))
    assert clone(named).draws.column == "machine"


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_the_models_never_see_the_column():
    frame, y = table()
    model = CertifiedRegressor(RandomForestRegressor(5, random_state=0), draws=Weighted("w", at_most=1.0), **PROMISE)
    model.fit(frame[["x", "w"]], y)
    assert model.estimator_.feature_names_in_.tolist() == ["x"]
    assert model.certificate_.basis.draws.kind == "weighted"
    X_fit, X_cal, _, _ = model.split_rows(frame[["x", "w"]], y)
    assert list(X_fit.columns) == list(X_cal.columns) == ["x"]


def test_split_indices_are_the_split_of_fit():
    frame, y = table()
    model = CertifiedRegressor(LinearRegression(), **PROMISE)
    units = Units(frame["machine"])
    fit, calibrate = model.split_indices(frame[["x"]], y, draws=units)
    model.fit(frame[["x"]], y, draws=units)
    expected = LinearRegression().fit(frame[["x"]].iloc[fit], y[fit])
    prediction = expected.predict(frame[["x"]].iloc[calibrate])
    found = check(model.certificate_, y[calibrate], prediction, draws=units.take(calibrate))
    assert found.reused
    assert CertifiedRegressor(lambda X: X["x"], **PROMISE).split_indices(frame, y, draws=units) == (None, None)


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
@pytest.mark.parametrize("draws", [Units("machine", 0.8), Units("machine", "one", random_state=3), Spaced(3, 0.01), Weighted("w", at_most=1.0)])  # fmt: skip
def test_a_model_file_keeps_the_draws(draws, tmp_path):
    frame, y = table()
    frame = frame[["x", draws.column]] if draws.column else frame[["x"]]
    model = CertifiedRegressor(LinearRegression(), draws=draws, **PROMISE).fit(frame, y)
    model.save(tmp_path / "model.pacband")
    again = load(tmp_path / "model.pacband")
    assert again.certificate_ == model.certificate_
    assert (again.draws.kind, again.draws.column) == (draws.kind, draws.column)
    np.testing.assert_array_equal(again.predict_interval(frame), model.predict_interval(frame))
    fresh, target = table(1, n_units=300)
    again.calibrate(fresh[list(frame.columns)], target)
    assert again.certificate_.basis.draws == model.certificate_.basis.draws


def test_draws_of_a_file_are_checked():
    assert draws_from_dict(draws_to_dict(Spaced(5, 0.1))).kind == Spaced(5, 0.1).kind
    for wrong in (
        {"columns": [], "kind": "nothing"},
        {"columns": ["w"], "kind": "weighted", "at_most": -1.0, "seed": 0},
    ):
        with pytest.raises((KeyError, InvalidInput)):
            draws_from_dict(wrong)


def test_a_file_without_draws_is_as_before(tmp_path):
    from pacband.estimators.saving import take_apart

    frame, y = table()
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(frame[["x"]], y)
    assert "draws" not in take_apart(model)["parameters"]
    labelled = CertifiedRegressor(LinearRegression(), **PROMISE).fit(frame[["x"]], y, draws=Units(frame["machine"]))
    labelled.save(tmp_path / "model.pacband")
    assert load(tmp_path / "model.pacband").certificate_ == labelled.certificate_


def test_units_that_the_model_was_fitted_on_do_not_calibrate_it_later(tmp_path):
    frame, y = table()
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(frame[["x"]], y, draws=Units(frame["machine"]))
    fit, calibrate = model.split_indices(frame[["x"]], y, draws=Units(frame["machine"]))
    model.save(tmp_path / "model.pacband")
    fresh, target = table(1)
    for each in (model, load(tmp_path / "model.pacband")):
        assert len(each.training_units_) == frame["machine"].iloc[fit].nunique()
        # New rows of machines that the model has seen.
        with pytest.raises(ReusedData, match="no unit may have both training rows and calibration rows"):
            each.calibrate(fresh[["x"]], target, draws=Units(frame["machine"]))
        known = frame["machine"].iloc[calibrate].to_numpy()
        each.calibrate(fresh[["x"]][: len(known)], target[: len(known)], draws=Units(known.astype(str)))


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_calibrate_needs_the_draws_again():
    frame, y = table()
    model = CertifiedRegressor(LinearRegression(), **PROMISE).fit(frame[["x"]], y, draws=Units(frame["machine"]))
    fresh, target = table(1)
    before = model.certificate_
    with pytest.raises(InvalidInput, match="about draws of kind 'units': pass them as draws, got 'rows'"):
        model.calibrate(fresh[["x"]], target)
    assert model.certificate_ is before
    model.calibrate(fresh[["x"]], target, draws=Units(fresh["machine"]))
    assert model.certificate_.n_samples == 120
    ready = CertifiedRegressor(lambda X: 2 * X["x"], **PROMISE).calibrate(fresh, target, draws=Spaced(3))
    assert ready.certificate_.n_samples == 200


def test_separate_calibration_rows_have_draws_of_their_own():
    frame, y = table()
    fresh, target = table(1)
    model = CertifiedRegressor(LinearRegression(), **PROMISE)
    units, others = Units(frame["machine"]), Units(fresh["machine"])
    model.fit(frame[["x"]], y, calibration=(fresh[["x"]], target, others), draws=units)
    assert model.certificate_.n_samples == 120
    with pytest.raises(InvalidInput, match="same kind of draws as X"):
        model.fit(frame[["x"]], y, calibration=(fresh[["x"]], target), draws=units)
    with pytest.raises(ReusedData, match=r"no unit may have both training rows and calibration rows.*: 120 have, 0, 1"):
        model.fit(frame[["x"]], y, calibration=(fresh[["x"]], target, units), draws=units)
    named = CertifiedRegressor(LinearRegression(), draws=Units("machine"), **PROMISE)
    columns = ["machine", "x"]
    named.fit(frame[columns], y, calibration=(fresh[columns], target))
    assert named.certificate_.gamma == model.certificate_.gamma
    with pytest.raises(ReusedData, match="no machine may have both"):
        named.fit(frame[columns], y, calibration=(frame[columns][:100], y[:100]))
    refuse_seen_units(None, others)
    assert unit_fingerprints(Rows()) is None
    # A label is one unit, whatever its type.
    assert unit_fingerprints(Units([1, 2])).tolist() == unit_fingerprints(Units(["2", "1.0"])).tolist()


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        (None, Units("machine"), "draws at fit must have one value per row, got the column 'machine'"),
        (Units("machine"), Units([1]), "they cannot be given again"),
        (Units([1, 2]), None, "must name a column of X, because an estimator has no data"),
        (Units("nobody"), None, "draws must name a column of X, 'machine', 'x', 'w'; got 'nobody'"),
        (None, "machine", "draws must be Units, Spaced or Weighted"),
        (None, Units([1, 2]), "must have one length, got 600 and 2"),
        (None, Spaced(601), "gap must not exceed the number of rows, 600"),
        (None, Weighted(np.full(600, 2.0), at_most=1.0), r"importance must be in \[0, at_most\]"),
    ],
)
def test_what_is_declared_wrongly_is_refused_before_any_fit(option, given, message):
    class Untouched(LinearRegression):
        def fit(self, X, y):
            raise AssertionError("nothing is fitted")

    frame, y = table()
    model = CertifiedRegressor(Untouched(), draws=option, **PROMISE)
    with pytest.raises(InvalidInput, match=message):
        model.fit(frame, y, draws=given)
    with pytest.raises(InvalidInput, match="so that X must be a dataframe, got ndarray"):
        read_draws(Units("machine"), None, frame.to_numpy())
    assert without_column(Units("machine"), frame.to_numpy()).shape == (600, 3)


def test_groups_and_units_go_together_and_groups_and_series_do_not():
    frame, y = table(n_units=400)
    frame["site"] = np.where(frame["machine"] % 2, 1.0, 0.0)
    model = CertifiedRegressor(LinearRegression(), groups="site", draws=Units("machine"), **PROMISE)
    model.fit(frame[["machine", "x", "site"]], y)
    assert [part.n_samples for part in model.certificate_.groups.values()] == [40, 40]
    with pytest.raises(InvalidInput, match="Spaced draws cannot be combined with groups"):
        CertifiedRegressor(LinearRegression(), groups="site", **PROMISE).fit(frame[["x", "site"]], y, draws=Spaced(5))


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_folds_of_a_scale_keep_units_together():
    """A forest that has seen a machine predicts it too well: σ̂ from folds of rows is too small."""
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(300), 6)
    X = rng.random(300)[unit][:, None]
    y = rng.standard_normal(300)[unit] + 0.1 * rng.standard_normal(1800)
    scales = []
    for draws in (Units(unit), None):
        model = CertifiedRegressor(RandomForestRegressor(20, random_state=0), scale=ResidualScale(), **PROMISE)
        scales.append(np.mean(model.fit(X, y, draws=draws).scale_.predict(X)))
    assert scales[0] > 2 * scales[1]


def test_a_family_is_fitted_and_certified_by_draws(tmp_path):
    frame, y = table(n_units=200)
    candidates = {"line": LinearRegression(), "scaled": (LinearRegression(), ResidualScale())}
    family = CertifiedFamily(candidates, draws=Units("machine"), **PROMISE).fit(frame[["machine", "x"]], y)
    assert family.certificate_.n_samples == 40
    assert "for each of the 2 candidates at least 80 % of future machines keep all" in family.certificate_.promise
    family.save(tmp_path / "family.pacband")
    assert load(tmp_path / "family.pacband").draws.column == "machine"


def test_the_automatic_family_keeps_units_together(monkeypatch):
    from pacband.candidates import screening

    seen = {}
    draw = screening.draw_sample

    def watched(X, y, random, kinds=None, clusters=None, **options):
        seen["sample"], seen["clusters"] = draw(X, y, random, kinds, clusters, **options), clusters
        return seen["sample"]

    monkeypatch.setattr(screening, "draw_sample", watched)
    frame, y = table(n_units=60)
    family = CertifiedFamily("auto", n_jobs=1, time_budget=0.5, draws=Units("machine"), **PROMISE)
    family.fit(frame[["machine", "x"]], y)
    assert seen["sample"].table.shape[1] == 1
    for train, test in seen["sample"].folds:
        assert not set(seen["clusters"][train]) & set(seen["clusters"][test])
    assert family.certificate_.basis.draws.unit == "machine"


@pytest.mark.parametrize("draws", [None, Units("machine"), Spaced(3, 0.01), Weighted("w", at_most=1.0)])
def test_only_plain_rows_are_warned_of_numbers_out_of_range(draws):
    frame, y = table(n_units=60)
    columns = {Units: ["machine", "x"], Weighted: ["w", "x"]}.get(type(draws), ["x"])
    family = CertifiedFamily("auto", n_jobs=1, time_budget=0.5, draws=draws, **PROMISE).fit(frame[columns], y)
    with nullcontext() if draws else pytest.warns(OutOfRange, match="column 'x' is beyond the range"):
        family.predict(frame[columns].assign(x=frame.x + 100.0))


def test_a_damaged_declaration_in_a_file_is_refused(monkeypatch, tmp_path):
    from pacband.estimators import saving

    frame, y = table()
    model = CertifiedRegressor(LinearRegression(), draws=Units("machine"), **PROMISE).fit(frame[["machine", "x"]], y)
    monkeypatch.setattr(
        saving, "draws_to_dict", lambda draws: {"columns": ["machine"], "kind": "units", "within": "some"}
    )
    model.save(tmp_path / "model.pacband")
    with pytest.raises(CertificateError, match="within must be one of"):
        load(tmp_path / "model.pacband")


@pytest.mark.filterwarnings("ignore::pacband.PromiseWarning")  # rows of one machine that are taken for draws
def test_units_on_average_and_an_interval_of_importance():
    frame, y = table(n_units=300)
    frame["high"] = np.minimum(1.1 * frame["w"], 1.0)
    average = CertifiedRegressor(LinearRegression(), draws=Units("machine", "average"), **PROMISE)
    average.fit(frame[["machine", "x"]], y)
    assert (average.certificate_.rank, average.certificate_.n_samples) == (None, 60)
    between = CertifiedRegressor(LinearRegression(), draws=Weighted(("w", "high"), at_most=1.0), **PROMISE)
    between.fit(frame[["x", "w", "high"]], y)
    assert between.feature_names_in_.tolist() == ["x"]
    assert between.certificate_.basis.draws.interval
    fitted = CertifiedRegressor(LinearRegression(), **PROMISE)
    fitted.fit(frame[["x"]], y, draws=Weighted((frame["w"], frame["high"]), at_most=1.0))
    assert fitted.certificate_.gamma == between.certificate_.gamma
    assert draws_from_dict(draws_to_dict(between.draws)).columns == ("w", "high")
    family = CertifiedFamily("auto", n_jobs=1, time_budget=0.5, draws=Units("machine", "average"), **PROMISE)
    family.fit(frame[["machine", "x"]], y)
    assert all(part.evidence is not None for part in family.certificate_.candidates.values())


def test_units_of_training_rows_from_elsewhere_do_not_calibrate():
    frame, y = table()
    fresh, target = table(1)
    ready = LinearRegression().fit(frame[["x"]], y)
    columns = ["machine", "x"]
    model = CertifiedRegressor(ready, draws=Units("machine"), **PROMISE)
    model.calibrate(fresh[columns], target, training=(frame[columns], y))
    # Other rows of the same machines.
    with pytest.raises(ReusedData, match="no machine may have both training rows and calibration rows"):
        model.calibrate(frame[columns], y + 1.0, training=(frame[columns], y))
    # Rows are compared without the column of units, with or without the column in the training rows.
    with pytest.raises(ReusedData, match="calibration needs rows the model has not seen"):
        model.calibrate(frame[columns], y, training=(frame[columns].assign(machine=frame["machine"] + 10_000), y))


def test_numbers_of_rows_do_not_hide_copies_across_the_split():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 1000))
    order = rng.permutation(np.repeat(np.arange(1000), 3))
    frame = pd.DataFrame({"id": np.arange(3000), "x": x[order]})
    with pytest.raises(ReusedData, match="fit needs every row once"):
        CertifiedRegressor(LinearRegression(), **PROMISE).fit(frame, y[order])
    x, y = rng.standard_normal((2, 3000))
    CertifiedRegressor(LinearRegression(), **PROMISE).fit(frame.assign(x=x), y)


def test_units_named_by_fractions_are_units_of_their_own(rng):
    labels = np.repeat([f"1.{k}" for k in range(1, 301)], 3)
    X, y = rng.standard_normal((900, 1)), rng.standard_normal(900)
    model = CertifiedRegressor(LinearRegression(), eps=0.2, delta=0.1, random_state=0).fit(X, y, draws=Units(labels))
    assert len(model.training_units_) + model.certificate_.n_samples == 300
