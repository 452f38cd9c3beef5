"""Peers: the width of certified bands on real tables, against MAPIE and crepes at the same guarantee.

Three parts:

1. At the same guarantee. Tables are split 60/20/20 into rows to train, to calibrate and to test. Peers promise an
   average over draws; here each is given the confidence level at which its quantile is exactly the score of the rank
   that `pacband.max_rank` allows, so that its promise is ours: with confidence 1 − δ, at least 1 − ε of the errors stay
   within. That it is that order statistic is checked on its intervals. pacband pays for choosing among its
   candidates out of the same δ; a peer gets the best of all its learners *after the fact*, for free.
2. At the peers' own promise: how often "90 %" intervals cover less than 90 %, over many calibration draws.
3. The largest table, with the default time budget.

- MAPIE: absolute scores; residual-normalised with its own split of the calibration rows, and with a residual model
  that is cross-fitted on the training rows; conformalized quantile regression.
- crepes: difficulty by the 25 nearest neighbours, from their targets or from cross-fitted residuals.
- learners of both: ridge, random forest, extra trees and two of our settings of histogram boosting; the forests
  have more trees than ours.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from crepes import WrapRegressor
from crepes.extras import DifficultyEstimator
from mapie.conformity_scores import ResidualNormalisedScore
from mapie.regression import ConformalizedQuantileRegressor, SplitConformalRegressor
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacband
from benchmarks._bands import DELTA, EPS, Outcome, certified, judge
from benchmarks._tables import Array, Split, load_table, split_rows, split_table
from benchmarks._timing import print_table

TABLES = ("power_plant", "concrete", "protein", "diabetes")
# Peers leave it to their users to cross-fit a model of the residuals; here it is done for them.
LENT = "cross-fitted"


def main(quick: bool = False) -> None:
    # MAPIE remarks on crossing quantiles, and crepes on what it is given, at every call.
    warnings.simplefilter("ignore")
    logging.disable(logging.INFO)
    _compare_widths(seeds=1 if quick else 5, tables=("concrete", "diabetes") if quick else TABLES)
    _compare_promises(draws=50 if quick else 400)
    _run_largest(rows=4000 if quick else None, time_budget=60.0 if quick else None)


def _compare_widths(seeds: int, tables: tuple[str, ...]) -> None:
    header = ["", "mean width", "of best peer", "violations", "fit seconds"]
    summary = []
    print(f"\nat the same guarantee: ε = {EPS}, δ = {DELTA}, mean over {seeds} seeds; the best learner of each method")
    for table in tables:
        outcomes: dict[str, list[Outcome]] = {}
        for seed in range(seeds):
            for name, outcome in _contenders(_numbers(split_table(table, seed))):
                outcomes.setdefault(name, []).append(outcome)
        widths = {name: float(np.mean([o.width for o in found])) for name, found in outcomes.items()}
        best: dict[str, str] = {}
        for name in sorted(widths, key=widths.__getitem__):
            best.setdefault(name.split(",")[0], name)
        ours = widths.pop("pacband")
        peer = min(widths, key=widths.__getitem__)
        own = min((name for name in widths if LENT not in name), key=widths.__getitem__)
        print(f"\n{table}")
        print_table(
            header,
            [
                [
                    name,
                    f"{np.mean([o.width for o in outcomes[name]]):.4g}",
                    f"{np.mean([o.width for o in outcomes[name]]) / widths[peer]:.3f}",
                    f"{np.mean([o.violations for o in outcomes[name]]):.3f}",
                    f"{np.mean([o.seconds for o in outcomes[name]]):.1f}",
                ]
                for name in best.values()
            ],
        )
        summary.append((table, ours / widths[peer], peer, ours / widths[own], own))
    print(f"\nwidth of pacband over that of the best peer; 'unaided' is without what is {LENT} for the peer")
    rows = [[table, f"{ratio:.3f}", peer, f"{unaided:.3f}", own] for table, ratio, peer, unaided, own in summary]
    means = [f"{np.exp(np.mean(np.log([row[k] for row in summary]))):.3f}" for k in (1, 3)]
    print_table(
        ["", "ratio", "best peer", "unaided", "best peer unaided"],
        [*rows, ["geometric mean", means[0], "", means[1], ""]],
    )


def _contenders(split: Split) -> Iterator[tuple[str, Outcome]]:
    start = perf_counter()
    _, _, interval = certified(split)
    yield "pacband", judge(split, interval(split.X_test), perf_counter() - start)
    rank = pacband.max_rank(len(split.y_cal), EPS, DELTA)
    yield from _quantile_pairs(split, rank)
    for learner, model in _learners(len(split.y)).items():
        start = perf_counter()
        fitted = model.fit(split.X, split.y)
        took = perf_counter() - start
        unseen, more = None, 0.0
        if learner in {"ridge", "extra trees", "deep boosting"}:
            start = perf_counter()
            unseen = cross_val_predict(clone(model), split.X, split.y, cv=4)
            more = perf_counter() - start
        yield from _mapie(split, rank, learner, fitted, took, unseen, more)
        yield from _crepes(split, rank, learner, fitted, took, unseen, more)


def _mapie(
    split: Split, rank: int, learner: str, fitted: Any, took: float, unseen: Array | None, more: float
) -> Iterator[tuple[str, Outcome]]:
    n = len(split.y_cal)
    start = perf_counter()
    model = SplitConformalRegressor(fitted, confidence_level=_mapie_level(n, rank), prefit=True)
    ends = model.conformalize(split.X_cal, split.y_cal).predict_interval(split.X_test)[1][:, :, 0]
    _verify(ends, np.abs(split.y_cal - fitted.predict(split.X_cal)), rank, 1.0)
    yield f"MAPIE absolute, {learner}", judge(split, ends, took + perf_counter() - start)

    start = perf_counter()
    # MAPIE sets a quarter of the calibration rows aside for the residual model.
    n_own = n - int(np.ceil(0.25 * n))
    score = ResidualNormalisedScore(_residual_model(), random_state=0)
    level = _mapie_level(n_own, pacband.max_rank(n_own, EPS, DELTA))
    model = SplitConformalRegressor(fitted, confidence_level=level, conformity_score=score, prefit=True)
    ends = model.conformalize(split.X_cal, split.y_cal).predict_interval(split.X_test)[1][:, :, 0]
    yield f"MAPIE residual, {learner}", judge(split, ends, took + perf_counter() - start)

    if unseen is not None:
        start = perf_counter()
        residual = ExponentialOf(_residual_model()).fit(split.X, np.abs(split.y - unseen))
        score = ResidualNormalisedScore(residual, prefit=True)
        model = SplitConformalRegressor(
            fitted, confidence_level=_mapie_level(n, rank), conformity_score=score, prefit=True
        )
        ends = model.conformalize(split.X_cal, split.y_cal).predict_interval(split.X_test)[1][:, :, 0]
        errors = np.abs(split.y_cal - fitted.predict(split.X_cal))
        _verify(ends, errors / residual.predict(split.X_cal), rank, residual.predict(split.X_test))
        yield f"MAPIE cross-fitted residual, {learner}", judge(split, ends, took + more + perf_counter() - start)


def _quantile_pairs(split: Split, rank: int) -> Iterator[tuple[str, Outcome]]:
    for leaves in (8, 31):
        start = perf_counter()
        models = [
            HistGradientBoostingRegressor(
                loss="quantile",
                quantile=level,
                max_iter=200,
                learning_rate=0.06,
                max_leaf_nodes=leaves,
                random_state=0,
            ).fit(split.X, split.y)
            for level in (EPS / 2, 1 - EPS / 2, 0.5)
        ]
        level = _mapie_level(len(split.y_cal), rank)
        model = ConformalizedQuantileRegressor(models, confidence_level=level, prefit=True)
        model.conformalize(split.X_cal, split.y_cal)
        ends = model.predict_interval(split.X_test, symmetric_correction=True)[1][:, :, 0]
        low, high = (m.predict(split.X_cal) for m in models[:2])
        scores = np.maximum(low - split.y_cal, split.y_cal - high)
        expected = np.sort(scores)[len(scores) - rank]
        low, high = (m.predict(split.X_test) for m in models[:2])
        assert np.allclose(ends, np.column_stack([low - expected, high + expected])), "another order statistic"
        yield f"MAPIE CQR, boosting of {leaves} leaves", judge(split, ends, perf_counter() - start)


def _crepes(
    split: Split, rank: int, learner: str, fitted: Any, took: float, unseen: Array | None, more: float
) -> Iterator[tuple[str, Outcome]]:
    knowledge = {"targets": {"y": split.y}}
    if unseen is not None:
        knowledge["cross-fitted residuals"] = {"residuals": split.y - unseen}
    for kind, known in knowledge.items():
        start = perf_counter()
        difficulty = DifficultyEstimator().fit(X=split.X, **known, k=25, scaler=True)
        model = WrapRegressor(fitted)
        model.calibrate(split.X_cal, split.y_cal, de=difficulty)
        confidence = 1.0 - (rank + 0.5) / (len(split.y_cal) + 1)
        ends = model.predict_int(split.X_test, confidence=confidence)
        errors = np.abs(split.y_cal - fitted.predict(split.X_cal))
        _verify(ends, errors / difficulty.apply(split.X_cal), rank, difficulty.apply(split.X_test))
        seconds = took + perf_counter() - start + (0.0 if kind == "targets" else more)
        yield f"crepes kNN of {kind}, {learner}", judge(split, ends, seconds)


def _compare_promises(draws: int) -> None:
    rng = np.random.default_rng(0)
    n_cal = 500

    def draw(n: int) -> tuple[Array, Array]:
        X = rng.uniform(-1, 1, (n, 1))
        return X, np.sin(3 * X[:, 0]) + (0.1 + 0.4 * np.abs(X[:, 0])) * rng.standard_normal(n)

    model = HistGradientBoostingRegressor(max_iter=50, random_state=0).fit(*draw(2000))
    X_test, y_test = draw(100_000)
    errors = np.abs(y_test - model.predict(X_test))
    coverages: dict[str, list[float]] = {"MAPIE, 90 %": [], "crepes, 90 %": [], "pacband, ε = 0.1, δ = 0.05": []}
    for _ in range(draws):
        X, y = draw(n_cal)
        mapie = SplitConformalRegressor(model, confidence_level=0.9, prefit=True).conformalize(X, y)
        crepes = WrapRegressor(model)
        crepes.calibrate(X, y)
        # All three bands have one half-width for every x: one row shows it.
        halves = [
            np.ptp(mapie.predict_interval(X[:1])[1]) / 2,
            np.ptp(crepes.predict_int(X[:1], confidence=0.9)) / 2,
            pacband.certify(y, model.predict(X), eps=EPS, delta=DELTA).gamma,
        ]
        for found, half in zip(coverages.values(), halves, strict=True):
            found.append(float((errors <= half).mean()))
    print(f"\nat the peers' own promise: coverage over {draws} draws of {n_cal} calibration rows")
    print_table(
        ["", "mean coverage", "least", "draws below 90 %"],
        [
            [name, f"{np.mean(found):.4f}", f"{np.min(found):.4f}", f"{np.mean(np.array(found) < 0.9):.1%}"]
            for name, found in coverages.items()
        ],
    )


def _run_largest(rows: int | None, time_budget: float | None) -> None:
    X, y = load_table("protein")
    split = _numbers(split_rows(X[:rows], y[:rows], seed=0))
    start = perf_counter()
    family, certificate, interval = certified(split, **({} if time_budget is None else {"time_budget": time_budget}))
    seconds = perf_counter() - start
    outcome = judge(split, interval(split.X_test), seconds)
    budget = "the default budget" if time_budget is None else f"a budget of {time_budget:.0f} s"
    print(f"\nprotein, {len(y[:rows])} rows, {len(split.y)} to train, with {budget}")
    print_table(
        ["best", "mean width", "violations", "seconds"],
        [[certificate.best, f"{outcome.width:.4g}", f"{outcome.violations:.3f}", f"{seconds:.0f}"]],
    )
    print(f"\n{family}")


class ExponentialOf(RegressorMixin, BaseEstimator):
    """A regressor of the log of a positive target, as MAPIE asks of a residual model that is fitted already."""

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: Array, y: Array) -> ExponentialOf:
        """Fit the log, from a tenth of the median upwards."""
        self.n_features_in_ = X.shape[1]
        self.regressor_ = clone(self.regressor).fit(X, np.log(np.maximum(y, 0.1 * np.median(y))))
        return self

    def predict(self, X: Array) -> Array:
        """Return the exponential of the prediction."""
        return np.exp(self.regressor_.predict(X))


def _learners(n_rows: int) -> dict[str, Any]:
    leaves, least = (64, 10) if n_rows < 2000 else (128, 5)
    return {
        "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13))),
        "random forest": RandomForestRegressor(200, min_samples_leaf=2, max_features=0.4, n_jobs=-1, random_state=0),
        "extra trees": ExtraTreesRegressor(300, n_jobs=-1, random_state=0),
        "shallow boosting": HistGradientBoostingRegressor(
            max_iter=500, learning_rate=0.06, max_leaf_nodes=8, min_samples_leaf=10, max_features=0.5, random_state=0
        ),
        "deep boosting": HistGradientBoostingRegressor(
            max_iter=300,
            learning_rate=0.06,
            max_leaf_nodes=leaves,
            min_samples_leaf=least,
            l2_regularization=3.0,
            max_features=0.5,
            random_state=0,
        ),
    }


def _residual_model() -> Any:
    return HistGradientBoostingRegressor(
        max_iter=150, learning_rate=0.05, max_leaf_nodes=15, l2_regularization=5.0, random_state=0
    )


def _mapie_level(n: int, rank: int) -> float:
    """The confidence level at which MAPIE takes the r-th largest of n scores, the ⌈(n + 1)·level⌉-th smallest."""
    return (n + 1 - rank - 0.5) / (n + 1)


def _verify(ends: Array, scores: Array, rank: int, scale: Array | float) -> None:
    """Check that a peer's band is the r-th largest score times the scale."""
    half = np.sort(scores)[len(scores) - rank] * scale
    assert np.allclose((ends[:, 1] - ends[:, 0]) / 2, half, rtol=1e-6), "a peer took another order statistic"


def _numbers(split: Split) -> Split:
    """Return the split with plain arrays of features."""
    X, X_cal, X_test = (part.to_numpy(np.float64) for part in (split.X, split.X_cal, split.X_test))
    return replace(split, X=X, X_cal=X_cal, X_test=X_test)
