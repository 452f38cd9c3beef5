"""Screening: which pairs (T, σ̂) have the narrowest bands, on training rows alone.

The stages are functions that return values: cross-fit the predictors, blend them, cross-fit the scale models to the
out-of-fold errors of the blend, rank all pairs by the mean width of their bands, and fit the stack of the sharpest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.candidates.blend import Blend, fit_blend, meta_table
from pacband.candidates.defaults import COARSER, ScaleModel, default_predictors, default_scales
from pacband.candidates.fitting import fit_together, is_boosting, one_openmp_thread
from pacband.candidates.ledger import Ledger, Tried, late
from pacband.candidates.pairs import Goal, Pair, rank_pairs
from pacband.candidates.sample import Sample, draw_sample
from pacband.candidates.search_plan import SearchPlan
from pacband.candidates.stack import Averaged, Band, Evaluation, Stack
from pacband.candidates.trials import FIT_ERRORS, OutOfFold, Task, cross_fit_all, estimate_seconds
from pacband.candidates.workers import Workers
from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput

__all__ = ["ScaleSignals", "cross_fit_predictors", "cross_fit_scales", "fit_stack", "screen", "share_for_scales"]

# A first scale narrows the band more than one more predictor. The predictors leave it the time that it needs, with a
# margin, but at least, and not more than, a share of the budget.
_SCALE_MARGIN, _LEAST_FOR_SCALES, _MOST_FOR_SCALES = 1.5, 0.15, 0.4
# Workers need a few seconds to be ready: in less than this they do not pay.
_SECONDS_TO_START = 10.0
# If the last fits take more rows than the screening, so large a share of the budget is kept for them.
_SHARE_OF_ALL_ROWS = 0.25
# A fit has failed if its error at rows that it has seen is so many times that of fits that have not seen them.
_FAILED, _ROUNDING = 1.25, 1e-9
# So many rows show it.
_ROWS_TO_CHECK = 1000


@dataclass(frozen=True, eq=False)
class ScaleSignals:
    """The scale models that were not dropped, and their features."""

    meta: Floats
    models: Mapping[str, OutOfFold]

    def evaluate(self, blend: Blend) -> Evaluation:
        """Return the out-of-fold predictions and signals of the rows."""
        outputs = {name: model.predictions for name, model in self.models.items()}
        return Evaluation.from_outputs(blend.predictions, blend.weights, outputs)


def screen(
    X: Any,
    y: Floats,
    goal: Goal,
    ledger: Ledger,
    *,
    most: int,
    random: np.random.RandomState,
    workers: Workers,
    predictors: Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | None = None,
    clusters: npt.NDArray[Any] | None = None,
    plain_rows: bool = True,
    plan: SearchPlan | None = None,
) -> tuple[dict[str, Band], list[Tried], SearchPlan]:
    """Return the sharpest pairs, fitted, the record of all that was tried, and the plan that repeats the search.

    Parameters
    ----------
    X, y
        Training rows; y is not constant.
    goal : Goal
        How the width of a band is measured.
    ledger : Ledger
        The time that is left. Receives the drops and the steps.
    most : int
        How many pairs are returned, at most.
    random : RandomState
        Draws the rows, the folds and the seed of the models.
    workers : Workers
        What fits the models. They are started if they pay.
    predictors, kinds, clusters, plain_rows, plan
        As in `auto_candidates`. With a plan, the ledger has no limit.
    """
    if predictors is not None and not predictors:
        raise InvalidInput(f"predictors must contain at least one estimator, got {predictors!r}.")
    sample = draw_sample(X, y, random, kinds, clusters, plain_rows=plain_rows)
    if predictors is None:
        predictors = default_predictors(sample.reader, sample.table, y, sample.seed, workers.n_jobs)
    n_rows, n_columns = sample.table.shape
    scales = default_scales(sample.reader, n_columns, n_rows, 1.0 - goal.level, sample.seed, workers.n_jobs)
    if plan is not None:
        plan.check(predictors, scales, sample.all_table.shape)
        predictors = _take(predictors, plan.predictors, "", ledger)
        scales = _take(scales, plan.scales, "scale by ", ledger)
    if ledger.seconds_left() > _SECONDS_TO_START and any(map(is_boosting, predictors.values())):
        workers.start()
    if len(sample.target) < len(y):
        ledger.reserve_share(_SHARE_OF_ALL_ROWS)
    ledger.expect_steps(len(predictors) + len(scales) + 1)

    kept_share = share_for_scales(scales, sample, ledger, workers)
    models = cross_fit_predictors(predictors, sample, ledger, workers, kept_share=kept_share)
    blend = fit_blend({name: model.predictions for name, model in models.items()}, sample.target)
    signals = cross_fit_scales(scales, blend, sample, ledger, workers)
    ranked = rank_pairs(blend, signals.evaluate(blend), sample.target, goal)
    chosen = ranked[:most]
    use_all = _has_time_for_all(models, sample, ledger) if plan is None else plan.all_rows
    if plan is None and not use_all:
        ledger.drop("the fits on all rows", 0.0, late("no time for them"))
    stack = fit_stack(chosen, blend, models, signals, sample, use_all=use_all, workers=workers)
    ledger.finish_step()

    record = [
        Tried(pair.name, pair.width * sample.unit, _seconds(pair, models, signals), "chosen" if k < most else "wider")
        for k, pair in enumerate(ranked)
    ]
    done = SearchPlan(tuple(models), tuple(signals.models), use_all, *sample.all_table.shape)
    return {pair.name: pair.make_band(stack) for pair in chosen}, record + ledger.dropped, done


def share_for_scales(scales: Mapping[str, ScaleModel], sample: Sample, ledger: Ledger, workers: Workers) -> float:
    """Return the share of the budget that the predictors leave to the scale models: enough for the first of them."""
    if not ledger.limited or not scales:
        return _LEAST_FOR_SCALES
    # The scale model will be fitted to other numbers, and to a few more columns.
    task = Task("", next(iter(scales.values())).model, np.sqrt(np.abs(sample.target)))
    try:
        seconds = _SCALE_MARGIN * estimate_seconds(task, sample.table, sample.folds, workers=workers)
    except FIT_ERRORS:
        # The same error drops the scale model later, with its reason.
        return _LEAST_FOR_SCALES
    return min(max(ledger.share_of(seconds), _LEAST_FOR_SCALES), _MOST_FOR_SCALES)


def cross_fit_predictors(
    predictors: Mapping[str, Any],
    sample: Sample,
    ledger: Ledger,
    workers: Workers,
    *,
    kept_share: float = _LEAST_FOR_SCALES,
) -> dict[str, OutOfFold]:
    """Cross-fit the predictors to the standardised target. The first that succeeds is never dropped."""
    tasks = {name: Task(name, model, sample.target) for name, model in predictors.items()}
    found = cross_fit_all(
        tasks,
        sample.table,
        sample.folds,
        ledger,
        kept_share=kept_share,
        workers=workers,
        coarser=COARSER,
        needs_one=True,
    )
    if not found:
        first = ledger.dropped[0]
        raise InvalidInput(f"not one predictor could be fitted: {first.name} {first.status}.")
    return found


def cross_fit_scales(
    scales: Mapping[str, ScaleModel], blend: Blend, sample: Sample, ledger: Ledger, workers: Workers
) -> ScaleSignals:
    """Cross-fit the scale models to the out-of-fold errors of the blend, or to the target itself."""
    meta = meta_table(sample.table, blend.predictions, blend.weights)
    roots = np.sqrt(np.abs(sample.target - blend.centre))
    tasks = {
        name: Task(f"scale by {name}", scale.model, sample.target if scale.of_target else roots)
        for name, scale in scales.items()
    }
    return ScaleSignals(meta, cross_fit_all(tasks, meta, sample.folds, ledger, kept_share=0.0, workers=workers))


def fit_stack(
    chosen: Sequence[Pair],
    blend: Blend,
    models: Mapping[str, OutOfFold],
    signals: ScaleSignals,
    sample: Sample,
    *,
    use_all: bool,
    workers: Workers,
) -> Stack:
    """Fit what the chosen pairs need.

    Predictors are fitted on all rows, or without `use_all` on the screened ones; a fit that has failed is replaced by
    that of a fold. Scale models are fitted to the out-of-fold errors, which only the screened rows have.
    """
    names = {name for pair in chosen for name in pair.centre.parts}
    scale_names = {name for pair in chosen for name, _ in pair.recipe.signals}
    if any(pair.centre.towards_window for pair in chosen):
        scale_names.add("window")
    if scale_names:
        # The features of the scale models, and the spread, come from all parts of the blend.
        names |= set(blend.parts)
    weights = {name: weight for name, weight in zip(blend.names, blend.weights, strict=True) if name in names}
    scales = {name: model for name, model in signals.models.items() if name in scale_names}

    table, target = (sample.all_table, sample.all_target) if use_all else (sample.table, sample.target)
    fitted = fit_together(
        [models[name].task.model for name in weights], table, [target] * len(weights), workers=workers
    )
    fitted = [_sound_fit(fit, models[name], sample, workers) for name, fit in zip(weights, fitted, strict=True)]
    fitted_scales = fit_together(
        [scale.task.model for scale in scales.values()],
        signals.meta,
        [scale.task.target for scale in scales.values()],
        workers=workers,
    )
    return Stack(
        sample.reader,
        {name: Averaged([*models[name].fits, fit]) for name, fit in zip(weights, fitted, strict=True)},
        np.array(list(weights.values())),
        sample.location,
        sample.unit,
        dict(zip(scales, fitted_scales, strict=True)),
    )


def _sound_fit(fit: Any, model: OutOfFold, sample: Sample, workers: Workers) -> Any:
    """Return the fit on all rows, or, if it has failed, that of the first fold that has not.

    A model that searches its parameters may end at far worse ones with other rows. A process that takes noise for
    signal is not found: it is exact at the rows that it has seen.
    """
    rows = slice(None, None, -(-len(sample.target) // _ROWS_TO_CHECK))
    table, target = sample.table[rows], sample.target[rows]

    def error(predictions: Floats) -> float:
        return float(np.sqrt(np.mean((target - predictions) ** 2)))

    most = _FAILED * error(model.predictions[rows]) + _ROUNDING
    with one_openmp_thread():
        if error(fit.predict(table)) <= most:
            return fit
        for train, _ in sample.folds:
            (other,) = fit_together([model.task.model], sample.table[train], [sample.target[train]], workers=workers)
            if error(other.predict(table)) <= most:
                return other
    return fit


def _has_time_for_all(models: Mapping[str, OutOfFold], sample: Sample, ledger: Ledger) -> bool:
    """Whether the predictors can be fitted on all rows in the time that is left."""
    ratio = len(sample.all_target) / len(sample.target)
    estimate = ratio * sum(model.seconds for model in models.values()) / len(sample.folds)
    return ratio == 1.0 or estimate < ledger.seconds_left()


def _take(models: Mapping[str, Any], names: Sequence[str], prefix: str, ledger: Ledger) -> dict[str, Any]:
    """Return the models that a plan names. Records that the others are dropped."""
    for name in models:
        if name not in names:
            ledger.drop(f"{prefix}{name}", 0.0, "the plan leaves it out")
    return {name: models[name] for name in names}


def _seconds(pair: Pair, models: Mapping[str, OutOfFold], signals: ScaleSignals) -> float:
    """Return how long the predictor and the scale models of a pair took. A blend itself takes no time."""
    own = [models[pair.centre.name]] if pair.centre.name in models else []
    own += [signals.models[name] for name, _ in pair.recipe.signals if name in signals.models]
    return sum((model.seconds for model in own), start=0.0)
