"""Rows the model has seen: known in any container and precision, and told from rows that agree by chance."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from pacband import CertifiedRegressor, ReusedData
from pacband.certification.reused_rows import refuse_copies
from pacband.core.row_hashes import row_fingerprints
from pacband.core.row_repeats import chance_of_repeats

PROMISE = {"eps": 0.05, "delta": 1e-3, "random_state": 0}


def sound(rng, n):
    X = rng.standard_normal((n, 3))
    return X, X[:, 0] + rng.standard_normal(n)


def nearest():
    return CertifiedRegressor(KNeighborsRegressor(1), **PROMISE)


@pytest.mark.parametrize("times", [2, 3, 10])
@pytest.mark.parametrize("columns", [1, 3])
def test_fit_refuses_a_table_whose_rows_were_copied(rng, times, columns):
    X, y = sound(rng, 1000)
    X, y = np.repeat(X[:, :columns], times, axis=0), np.repeat(y, times)
    with pytest.raises(ReusedData, match=r"are copies of rows that it trains on.*drop_duplicates\(\), or pass calib"):
        nearest().fit(X, y)
    # The cure in the message is one.
    assert nearest().fit(X[::times], y[::times]).certificate_.gamma > 0
    nearest().fit(
        X, y, calibration=sound(rng, 500)[:2] if columns == 3 else (sound(rng, 500)[0][:, :1], rng.random(500))
    )


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


@pytest.mark.parametrize("kind", ["float32", "float16 of few digits", "frame", "objects", "texts"])
def test_training_rows_are_known_again_in_another_type(rng, kind):
    X, y = sound(rng, 1000)
    if kind.startswith("float16"):
        X, y = X.astype(np.float16).astype(float), y.astype(np.float16).astype(float)
    model = nearest().fit(X, y, calibration=sound(rng, 500))
    copies = {
        "float32": (X.astype(np.float32), y.astype(np.float32)),
        "float16 of few digits": (X.astype(np.float16), y.astype(np.float16)),
        "frame": (pd.DataFrame(X, columns=list("abc")).astype("Float32"), pl.Series(y)),
        "objects": (X.astype(object), y.astype(object)),
        "texts": (X.astype(str).astype(object), y),
    }
    seen = row_fingerprints(*copies[kind])
    np.testing.assert_array_equal(seen, model._training_rows)
    if kind.startswith("float"):
        with pytest.raises(ReusedData):
            model.calibrate(*copies[kind])
    # One bit more than float32 has is the same row; a difference that float32 can tell is another one.
    assert not np.isin(row_fingerprints(X * (1 + 1e-6), y), seen).any()


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
    model.calibrate(*fresh)


def test_after_oversampling_diagnose_and_the_check_of_a_model_find_training_rows(rng, tmp_path):
    import pacband
    from pacband.tables.files import open_files
    from pacband.tables.model_checking import check_model

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
            verdict = check_model(model, dict.fromkeys(names, "number"), files.relation(), target=["y"])
        assert (verdict.reused, verdict.training_rows) == (reused, 100 * reused)


def coarse_tables(rng, n):
    """Independent rows that agree by chance, some often, some rarely, some in everything that X tells."""
    grid, line = rng.integers(0, 10, (n, 3)), rng.integers(0, 1000, (n, 1))
    noise = rng.standard_normal(n)
    yield rng.integers(0, 5, (n, 2)), rng.integers(0, 3, n)
    yield rng.integers(0, 30, (n, 3)), rng.integers(0, 10, n)
    yield grid, grid @ [1.0, 10.0, 100.0]
    yield grid, (grid.sum(axis=1) + 0.3 * noise).round()
    yield line, np.sin(line[:, 0])
    yield rng.poisson(20, (n, 1)), rng.poisson(3, n)
    yield rng.integers(0, 2, (n, 20)), rng.integers(0, 2, n)
    yield rng.poisson(3, (n, 3)), rng.poisson(2, n)
    yield (grid - grid.mean(axis=0)) / grid.std(axis=0), rng.integers(0, 3, n)
    yield np.minimum(rng.zipf(1.6, (n, 2)), 1000), np.minimum(rng.zipf(1.6, n), 1000)
    yield rng.uniform(0, 1, (n, 2)).round(2), rng.uniform(0, 1, n).round(1)
    yield np.c_[rng.integers(0, n * n // 20, n), rng.integers(0, 2, n)], np.ones(n)
    yield (
        np.array([rng.choice(list("abcdefghij"), n), rng.choice(["x", "y"], n)], dtype=object).T,
        rng.integers(0, 9, n),
    )
    yield np.c_[rng.integers(1, 6, (n, 4)), rng.integers(18, 80, n)], rng.integers(1, 6, n)
    yield rng.integers(0, 3, (n, 2)), noise


def judged(X, y, rng):
    """Split at random, and say how many calibration rows agree with a training row, and whether that is refused."""
    prints, order = row_fingerprints(X, y), rng.permutation(len(y))
    calibration, training = np.split(prints[order], [len(y) // 3])
    try:
        refuse_copies(training, calibration, chance_of_repeats((X, y)))
    except ReusedData:
        return int(np.isin(calibration, training).sum()), True
    return int(np.isin(calibration, training).sum()), False


@pytest.mark.parametrize("n", [60, 300, 3000])
def test_rows_that_agree_by_chance_are_no_copies(rng, n):
    # Chance has to bring ten times what is expected, and more; by Poisson's law that is a probability below 1e-6.
    found = [judged(X, y, rng) for X, y in coarse_tables(rng, n)]
    assert sum(agree > 0 for agree, _ in found) >= 6
    assert not any(refused for _, refused in found)


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_real_rows_drawn_without_replacement_are_no_copies(rng, columns):
    from sklearn.datasets import load_diabetes, load_iris

    for table in (load_diabetes(scaled=False).data, load_iris().data):
        for target in range(table.shape[1]):
            rows = rng.permutation(len(table))[:120]
            others = [k for k in range(table.shape[1]) if k != target][:columns]
            assert not judged(table[rows][:, others], table[rows, target], rng)[1]


def tables_that_repeat(rng, n):
    """Independent rows of sound tables that repeat by nature: each with the name of what repeats."""
    X, y = sound(rng, n)
    for share in (0.02, 0.1, 0.7):
        rest = rng.random(n) < share
        yield f"{share:.0%} at rest", (np.where(rest[:, None], 0.0, X), np.where(rest, 0.0, y))
    # Two states that the rows are in, and a gap in all columns.
    state = rng.integers(0, 3, n)
    states = np.array([[0.1, 0.2, 0.3], [1.5, 2.5, 3.7], [np.nan] * 3])[state]
    free = rng.random(n) < 0.5
    yield "three states", (np.where(free[:, None], X, states), np.where(free, y, state))
    station = rng.integers(0, n // 10, n)
    places = rng.standard_normal((n // 10, 2))[station]
    yield "places", (places, rng.poisson(2, n))
    yield "places and hours", (np.c_[places, rng.integers(0, 24, n)], rng.poisson(2, n))
    codes = [np.eye(levels)[rng.integers(0, levels, n)] for levels in (5, 12, 7)]
    yield "one column a category", (np.hstack(codes), np.hstack(codes) @ np.arange(24.0))
    yield "one column a category but the first", (np.hstack([code[:, 1:] for code in codes]), codes[0][:, 0])


def test_tables_that_repeat_by_nature_have_no_copies(rng):
    for name, (X, y) in tables_that_repeat(rng, 3000):
        agree, refused = judged(X, y, rng)
        assert agree > 0, name
        assert not refused, name


def test_copies_beside_rows_that_repeat_by_nature_are_refused(rng):
    for name, (X, y) in tables_that_repeat(rng, 3000):
        if name.endswith("at rest") or name == "three states":
            again = np.r_[np.arange(3000), np.arange(3000)]
            assert judged(X[again], y[again], rng)[1], name
    X, y = sound(rng, 1000)
    codes = np.hstack([np.eye(levels)[rng.integers(0, levels, 1000)] for levels in (5, 12, 7)])
    again = np.repeat(np.arange(1000), 3)
    assert judged(codes[again], y[again], rng)[1]
    assert judged(np.c_[codes, X][again], codes[again] @ np.arange(24.0), rng)[1]
    # Four rows that were copied twenty times are no states, nor is one that was copied ten times.
    for rows, times in ((4, 40), (1, 10)):
        more = np.r_[np.arange(1000), np.repeat(np.arange(rows), times)]
        assert judged(X[more], y[more], rng)[1]


def test_rows_at_rest_may_calibrate_a_model_that_was_fitted_on_such_rows(rng):
    (_, (X, y)), *_ = tables_that_repeat(rng, 3000)
    model = nearest().fit(X, y)
    (_, (X_new, y_new)), *_ = tables_that_repeat(rng, 1000)
    model.calibrate(X_new, y_new)
    with pytest.raises(ReusedData):
        model.calibrate(np.r_[X_new, X[:20]], np.r_[y_new, y[:20]])


def test_copies_are_told_from_chance_in_every_kind_of_table(rng):
    n = 1000
    tables = {
        "a continuum": sound(rng, n),
        "targets of few values": (rng.standard_normal((n, 2)), rng.integers(0, 5, n)),
        "one continuum among categories": (
            np.c_[rng.standard_normal(n), rng.integers(0, 2, (n, 3))],
            rng.integers(0, 5, n),
        ),
        "decimals": (rng.uniform(0, 2, (n, 5)).round(2), rng.uniform(0, 2, n).round(2)),
        "a coarse X": (rng.integers(0, 5, (n, 2)), rng.standard_normal(n)),
        "many levels": (rng.integers(0, 100, (n, 3)), rng.integers(0, 10, n)),
    }
    for name, (X, y) in tables.items():
        for again in (np.repeat(np.arange(n), 3), np.r_[np.arange(n), rng.integers(0, n, 300)]):
            assert judged(X[again], y[again], rng)[1], name
        assert not judged(X, y, rng)[1], name


def test_a_training_set_is_not_refused_for_the_groups_of_a_coarse_table(rng):
    coarse, target = rng.integers(0, 5, (3000, 2)), rng.integers(0, 3, 3000)
    CertifiedRegressor(Ridge(), **PROMISE).fit(coarse, target)
