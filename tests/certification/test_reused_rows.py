"""Rows that the model has seen do not calibrate it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import Ridge

import pacband
from pacband import CertifiedRegressor, InvalidInput, ReusedData
from pacband.core.row_hashes import row_fingerprints
from support.copied_rows import PROMISE, nearest, sound, tables_that_repeat


@pytest.mark.parametrize("times", [2, 3, 10])
@pytest.mark.parametrize("columns", [1, 3])
def test_fit_refuses_a_table_whose_rows_were_copied(rng, times, columns):
    X, y = sound(rng, 1000)
    X, y = np.repeat(X[:, :columns], times, axis=0), np.repeat(y, times)
    with pytest.raises(ReusedData, match=r"are copies of rows that it trains on.*drop_duplicates\(\), or pass calib"):
        nearest().fit(X, y)
    # The cure in the message is one.
    assert nearest().fit(X[::times], y[::times]).certificate_.gamma > 0
    fresh = sound(rng, 500)[:2] if columns == 3 else (sound(rng, 500)[0][:, :1], rng.random(500))
    assert nearest().fit(X, y, calibration=fresh).certificate_.n_samples == 500


def test_copies_of_a_few_rows_are_refused_too(rng):
    X, y = sound(rng, 1000)
    again = np.r_[np.arange(1000), np.arange(40)]
    with pytest.raises(ReusedData):
        nearest().fit(X[again], y[again])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_copies_in_frames_with_texts_are_refused(rng, make):
    X, y = sound(rng, 600)
    rows = np.repeat(np.arange(600), 3)
    site = rng.choice(["a", "b"], 600)
    frame = make({"x": X[rows, 0], "site": site[rows]})
    model = CertifiedRegressor(lambda X: np.zeros(len(X)), scale=Ridge(), **PROMISE)
    with pytest.raises(ReusedData):
        model.fit(frame, y[rows])


@pytest.mark.parametrize("saved", [False, True])
def test_after_oversampling_a_calibration_set_with_training_rows_is_refused(rng, saved, tmp_path):
    import pacband

    X, y = sound(rng, 1500)
    more = np.r_[np.arange(1500), np.repeat(np.arange(500), 2)]
    fresh = sound(rng, 300)
    model = nearest().fit(X[more], y[more], calibration=sound(rng, 500))
    if saved:
        model = pacband.load(model.save(tmp_path / "model.pacband"))
    half = np.r_[X[:300], fresh[0]], np.r_[y[:300], fresh[1]]
    with pytest.raises(ReusedData):
        model.calibrate(*half)
    with pytest.raises(ReusedData):
        nearest().fit(X[more], y[more], calibration=half)
    assert model.calibrate(*fresh).certificate_.n_samples == 300


def test_after_oversampling_diagnose_and_the_check_of_a_model_find_training_rows(rng, tmp_path):
    import pacband
    from pacband.tables.files import open_files
    from pacband.tables.model_checking import check_model
    from pacband.tables.model_rows import ModelTable

    X, y = sound(rng, 1500)
    more = np.r_[np.arange(1500), np.repeat(np.arange(500), 2)]
    fresh = sound(rng, 900)
    some = np.r_[X[:100], fresh[0]], np.r_[y[:100], fresh[1]]
    names = ["a", "b", "c"]
    model = nearest().fit(pd.DataFrame(X[more], columns=names), y[more], calibration=(pd.DataFrame(fresh[0], columns=names), fresh[1]))  # fmt: skip
    for rows, reused in ((some, True), (fresh, False)):
        diagnosis = pacband.diagnose(rows[1], np.zeros(len(rows[1])), X=rows[0], training=(X[more], y[more]))
        assert (diagnosis.p_values["overlap with training"] == 0.0) == reused
    for rows, reused in ((some, True), (sound(rng, 900), False)):
        pd.DataFrame(rows[0], columns=names).assign(y=rows[1]).to_parquet(tmp_path / "rows.parquet")
        with open_files([tmp_path / "rows.parquet"]) as files:
            verdict = check_model(ModelTable.of(model, files.relation(), target=["y"]))
        assert (verdict.reused, verdict.training_rows) == (reused, 100 * reused)


def test_rows_at_rest_may_calibrate_a_model_that_was_fitted_on_such_rows(rng):
    (_, (X, y)), *_ = tables_that_repeat(rng, 3000)
    model = nearest().fit(X, y)
    (_, (X_new, y_new)), *_ = tables_that_repeat(rng, 1000)
    assert model.calibrate(X_new, y_new).certificate_.n_samples == len(y_new)
    with pytest.raises(ReusedData):
        model.calibrate(np.r_[X_new, X[:20]], np.r_[y_new, y[:20]])


def test_a_training_set_is_not_refused_for_the_groups_of_a_coarse_table(rng):
    coarse, target = rng.integers(0, 5, (3000, 2)), rng.integers(0, 3, 3000)
    model = CertifiedRegressor(Ridge(), **PROMISE).fit(coarse, target)
    assert model.certificate_.n_samples + len(model.training_rows_) == 3000


def test_certify_refuses_the_rows_that_the_model_was_fitted_on(rng):
    y, p = rng.standard_normal(1000), rng.standard_normal(1000)
    train = rng.standard_normal(500), rng.standard_normal(500)
    assert pacband.certify(y, p, training=train).n_samples == 1000
    with pytest.raises(ReusedData, match="20 rows, the first 0, 1, 2"):
        pacband.certify(np.r_[train[1][:20], y], np.r_[train[0][:20], p], training=train)
    with pytest.raises(InvalidInput, match=r"training must be a pair \(y_pred, y\)"):
        pacband.certify(y, p, training=y)


def test_calibrate_refuses_rows_that_the_model_was_fitted_on_elsewhere(rng):
    X, y = rng.standard_normal((800, 2)), rng.standard_normal(800)
    fitted = Ridge().fit(X[:400], y[:400])
    model = CertifiedRegressor(fitted, **PROMISE)
    assert model.calibrate(X[400:], y[400:], training=(X[:400], y[:400])).certificate_.n_samples == 400
    for training in ((X[:400], y[:400]), row_fingerprints(X[:400], y[:400])):
        with pytest.raises(ReusedData, match="1 row, row 400"):
            model.calibrate(np.r_[X[400:], X[:1]], np.r_[y[400:], y[:1]], training=training)
    with pytest.raises(InvalidInput, match=r"training must be a pair \(X, y\)"):
        model.calibrate(X[400:], y[400:], training=X[:400])
    with pytest.raises(InvalidInput, match="as many rows each"):
        model.calibrate(X[400:], y[400:], training=(X[:400], y[:300]))


def test_training_in_another_form_is_refused_and_not_ignored(rng):
    """Rows as (X, y) or (y, y_pred) agree with no calibration row: reused ones would not be noticed."""
    predicted = rng.standard_normal(400)
    y = predicted + rng.standard_normal(400)
    promise, other = {"eps": 0.1, "delta": 0.01}, rng.standard_normal(300)
    for training, error, words in (
        ((predicted, y), pacband.ReusedData, "these were also used to fit it: 400 rows"),
        ((predicted[:, None], y), pacband.ReusedData, "these were also used to fit it: 400 rows"),
        ((y, predicted), pacband.InvalidInput, r"training must be a pair \(y_pred, y\), got \(y, y_pred\)"),
        ((rng.standard_normal((400, 3)), y), pacband.InvalidInput, r"shape \(400,\), got \(400, 3\) in training"),
        (
            (rng.standard_normal((400, 1)), y),
            pacband.InvalidInput,
            "400 of the 400 calibration rows have a target of train",
        ),
        ((np.r_[y[:50], other], np.r_[predicted[:50], other + 1]), pacband.InvalidInput, r"got \(y, y_pred\)"),
    ):
        with pytest.raises(error, match=words):
            pacband.certify(y, predicted, training=training, **promise)
    pacband.certify(y, predicted, training=(other, other + rng.standard_normal(300)), **promise)
    # Targets that are counts are shared by chance.
    counts = rng.permutation(400).astype(float)
    pacband.certify(counts, predicted, training=(rng.standard_normal(400), counts), **promise)
    # Of few distinct rows, any order agrees by chance.
    coarse, others = rng.integers(0, 2, (2, 2, 400)).astype(float)
    pacband.certify(*coarse, training=tuple(others), **promise)


def test_rounded_targets_that_many_training_rows_share_are_no_mistake(rng):
    """60 prices to a cent hardly repeat, but 20,000 training rows have nearly all of them."""
    train, y = np.round(rng.uniform(0, 40, 20_000), 2), np.round(rng.uniform(0, 40, 60), 2)
    training = train + rng.standard_normal(20_000), train
    certificate = pacband.certify(y, y + rng.standard_normal(60), training=training, eps=0.2, delta=0.1)
    assert certificate.n_samples == 60
