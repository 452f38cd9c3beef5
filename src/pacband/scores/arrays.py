r"""From rows to scores, and from a bound on the score back to a band around the prediction.

A row (y, T(x), σ̂(x)) has one score. Every variant of the method is another score under the same promise:

====================  ============================  ========================================
what is bounded       score, with e = y − T(x)      rows whose score is at most γ
====================  ============================  ========================================
side "both"           \|e\| / σ̂                       T − γσ̂ ≤ y ≤ T + γσ̂
side "upper"          e / σ̂                         y ≤ T + γσ̂
side "lower"          −e / σ̂                        T − γσ̂ ≤ y
a pair (σ̂⁻, σ̂⁺)       max(e / σ̂⁺, −e / σ̂⁻)         T − γσ̂⁻ ≤ y ≤ T + γσ̂⁺
k outputs, "max"      the largest of the k scores   a box: the k bands together
k outputs, matrix Σ   sqrt(eᵀ Σ⁻¹ e) / σ̂            an ellipsoid, in the box ± γσ̂·sqrt(Σ_kk)
H steps               the largest of the H scores   a tube: all steps inside
H steps, `Share`      the ⌈share·H⌉-th smallest     a tube: at least that share of the steps inside
own scores            the row itself                no band: the score is bounded
====================  ============================  ========================================

Without a scale σ̂ is one: Algorithm 1 of the paper; with one, Algorithm 2. The rows are processed in blocks that
stay in cache, so that every check costs no pass of its own. All arithmetic is float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats, Numbers, as_numbers, blocks, name_rows
from pacband.exceptions import InvalidInput
from pacband.scores.clip import clip_ends, outside_range, refuse_outside
from pacband.scores.ellipsoid import Ellipsoid
from pacband.scores.means import exact_mean
from pacband.scores.rule import ScoreRule
from pacband.scores.runs import as_rows
from pacband.scores.spread import Spread, spread_of

__all__ = [
    "align",
    "as_prediction",
    "band",
    "bound",
    "mean_bound",
    "mean_offset",
    "mean_scale",
    "outwards",
    "score_rows",
    "scores_of",
    "unanswered",
]


def scores_of(rule: ScoreRule, y: Any, y_pred: Any, scale: Any = None) -> Floats:
    """Return one score per row, all of them numbers.

    Examples
    --------
    >>> scores_of(ScoreRule(), [3.0, 1.0], [2.0, 2.0], scale=[1.0, 4.0])
    array([1.  , 0.25])
    >>> scores_of(ScoreRule(side="lower"), [3.0, 1.0], [2.0, 2.0])
    array([-1.,  1.])
    """
    target = as_rows(rule, "y", y)
    return score_rows(rule, target, *align(rule, target, y_pred, scale))


def align(rule: ScoreRule, target: Numbers, y_pred: Any, scale: Any, *, name: str = "y_pred") -> tuple[Numbers, Spread]:
    """Return the predictions and the scale as arrays of the targets' shape, or raise."""
    prediction = as_prediction(rule, y_pred, target.shape, name=name)
    if prediction.shape != target.shape:
        raise InvalidInput(f"y and {name} must have the same shape, got {target.shape} and {prediction.shape}.")
    return prediction, spread_of(rule, scale, target.shape)


def as_prediction(rule: ScoreRule, y_pred: Any, shape: tuple[int, ...], *, name: str = "y_pred") -> Numbers:
    """Return T(x) as an array, or raise. Own scores have no prediction: it is zero in every row."""
    if rule.own:
        if y_pred is not None:
            raise InvalidInput("this certificate bounds a score: pass the scores alone, without predictions.")
        return np.broadcast_to(np.float64(0.0), shape)
    if y_pred is None:
        raise InvalidInput(f"{name} must be given: the errors y − T(x) are bounded.")
    return as_rows(rule, name, y_pred, steps=shape[1] if len(shape) == 3 else None)


def score_rows(rule: ScoreRule, target: Numbers, prediction: Numbers, spread: Spread) -> Floats:
    """Return one score per row of arrays whose shapes were checked."""
    if rule.outside == "raise":
        refuse_outside(rule.clip, target)
    outside = outside_range(rule.clip, target)
    ellipsoid = _ellipsoid(rule, target)
    scores = np.empty(len(target))
    finite = True
    with np.errstate(all="ignore"):
        for rows in blocks(len(target), math.prod(target.shape[1:])):
            # The errors of one output are written where their scores will be: no second array is needed.
            out = scores[rows] if target.ndim == 1 else None
            error = np.subtract(target[rows], prediction[rows], out=out, dtype=np.float64)
            parts = spread.block(rows)
            score = _score(rule, error, parts) if ellipsoid is None else ellipsoid.scores(error, parts)
            # The largest score finds NaN and +∞. If one side counts, a score may also overflow to −∞.
            finite &= bool(np.isfinite(score).all() if rule.side != "both" else score.max() < math.inf)
            broken = ~np.isfinite(score) if score.ndim == 2 else None
            if outside is not None:
                beyond = outside[rows].any(axis=-1) if outside.ndim > score.ndim else outside[rows]
                # A score that is no number stays: it may be refused.
                score[beyond & np.isfinite(score)] = math.inf
            if broken is not None:
                score = _over_steps(rule, score, broken)
            if score is not out:
                scores[rows] = score
    if not finite:
        _resolve_nonfinite(rule, scores, target, prediction)
    return scores


def bound(rule: ScoreRule, gamma: float, scale: Any) -> Any:
    """Return γσ̂, rounded outwards as in `band`: one value for each of `scale`, or one number for a number."""
    array = as_numbers("scale", scale, scalar=True, runs=True)
    (part,) = Spread((np.atleast_1d(array),), rule.min_scale).block(slice(None))
    bounds = outwards(gamma) * part
    return bounds if array.ndim else float(bounds[0])


def band(rule: ScoreRule, gamma: float | Floats, y_pred: Any, scale: Any = None) -> Floats:
    """Return the lower and upper end, (n, 2), (n, k, 2) or (n, H, k, 2), of the values whose score is at most γ.

    With a `Share` of the steps, these are the values of one step whose own score is at most γ.

    Each end is rounded outwards by less than 1e-15 of the half-width. Three roundings lie between y and γσ̂: of e, of
    the score, of the product. Without rounding outwards, a y whose score *is* γ could fall outside by one unit in the
    last place; with tied errors that would be a real share of the rows. The sum T ± γσ̂ itself needs no care: rounding
    is monotonic and y is a float. For a matrix gauge the same three roundings lie between y and the box, whatever the
    condition of the matrix; see `pacband.scores.ellipsoid`. If y has a known range, the ends are clipped to it.

    Examples
    --------
    >>> band(ScoreRule(), 2.0, [10.0, 20.0], scale=[0.5, 1.0])
    array([[ 9., 11.],
           [18., 22.]])
    """
    prediction = as_rows(rule, "y_pred", y_pred, empty=True)
    ellipsoid = _ellipsoid(rule, prediction)
    spread = spread_of(rule, scale, prediction.shape)
    outward = np.broadcast_to(outwards(gamma), len(prediction))
    ends = np.empty((*prediction.shape, 2))
    with np.errstate(over="ignore"):
        _fill_band(rule, ends, prediction, spread, outward, ellipsoid)
    if rule.side != "both":
        ends[..., 0 if rule.side == "upper" else 1] = -math.inf if rule.side == "upper" else math.inf
    clip_ends(rule.clip, ends)
    return ends


def mean_bound(rule: ScoreRule, gamma: float, mean_scale: float) -> float:
    """Return the mean of γσ̂ over the rows; for a matrix gauge, of the half-widths of its box."""
    widths = _step_widths(rule)
    return gamma * mean_scale * (1.0 if widths is None else float(widths.mean()))


def mean_scale(rule: ScoreRule, spread: Spread) -> float:
    """Return the mean of σ̂ over the rows. If every step has its matrix, the steps are weighed by their half-widths."""
    widths = _step_widths(rule) if rule.per_step else None
    return spread.mean(None if widths is None else widths / widths.mean())


def mean_offset(rule: ScoreRule, target: Numbers, prediction: Numbers) -> float:
    """Return the mean distance from y to T(x) towards the side that is bounded; zero if both sides are.

    Shifting T moves γ by as much the other way, so only both together measure how sharp a bound is.
    """
    if rule.side == "both":
        return 0.0
    distance = np.subtract(prediction, target, dtype=np.float64)
    distance = distance[np.isfinite(distance)]
    if not len(distance):
        return math.inf
    return exact_mean(distance) * (1.0 if rule.side == "upper" else -1.0)


def unanswered(prediction: Numbers) -> int:
    """Return how many rows have a prediction that counts as an infinite error, and no finite band."""
    finite = np.isfinite(prediction)
    return 0 if finite.all() else int((~finite.reshape(len(finite), -1).all(axis=1)).sum())


def outwards(gamma: float | Floats) -> Floats:
    """Return γ rounded up by enough for the roundings between y and γσ̂; see `band`."""
    value = np.asarray(gamma, dtype=np.float64)
    return np.asarray(np.nextafter(value + np.abs(value) * 2.0**-50, math.inf))


def _score(rule: ScoreRule, error: Floats, parts: tuple[Floats, ...]) -> Floats:
    """Score one block of errors: each row, or each step of runs. Overwrites `error`."""
    if rule.side == "lower":
        np.negative(error, out=error)
    divisor = None
    if parts:
        divisor = parts[0] if len(parts) == 1 else np.where(error > 0.0, parts[1], parts[0])
    if rule.side == "both":
        np.abs(error, out=error)
    if divisor is not None:
        np.divide(error, divisor, out=error)
    if error.ndim == 1:
        return error
    largest = np.asarray(error.max(axis=-1))
    if rule.side != "both":
        # The maximum would hide an output of −∞, such as that of T(x) = ∞.
        largest[~np.isfinite(error).all(axis=-1)] = math.nan
    return largest


def _over_steps(rule: ScoreRule, points: Floats, broken: npt.NDArray[np.bool_]) -> Floats:
    """Return one score a run from the scores of its steps. NaN marks runs that the rule refuses: by `broken` steps."""
    if rule.share is None:
        return np.asarray(points.max(axis=1))
    place = rule.share.place(points.shape[1])
    found = np.partition(np.where(np.isfinite(points), points, math.inf), place, axis=1)[:, place]
    if rule.nonfinite == "raise":
        # A share of the steps would hide the others.
        found[broken.any(axis=1)] = math.nan
    return np.asarray(found)


def _fill_band(
    rule: ScoreRule, ends: Floats, prediction: Numbers, spread: Spread, outward: Floats, ellipsoid: Ellipsoid | None
) -> None:
    """Write T − γσ̂ and T + γσ̂ into `ends`, block by block."""
    for rows in blocks(len(prediction), math.prod(prediction.shape[1:])):
        centre = prediction[rows]
        if rule.nonfinite == "raise" and not np.isfinite(centre).all():
            raise _nonfinite("y_pred", prediction)
        factor = outward[rows].reshape(-1, *(1,) * (centre.ndim - 1))
        parts = spread.block(rows)
        if ellipsoid is not None:
            box = ellipsoid.box(parts)
            parts = (box if centre.ndim > 1 else box.reshape(-1),)
        low = factor * parts[0] if parts else factor
        high = factor * parts[1] if len(parts) == 2 else low
        np.subtract(centre, low, out=ends[rows, ..., 0])
        np.add(centre, high, out=ends[rows, ..., 1])
        if rule.nonfinite == "violate":
            # A prediction that counts as an infinite error has no finite band.
            ends[rows][~np.isfinite(centre)] = (-math.inf, math.inf)


def _resolve_nonfinite(rule: ScoreRule, scores: Floats, target: Numbers, prediction: Numbers) -> None:
    """Raise for numbers that are not finite, or set the score of their rows to +∞, as the rule states."""
    if rule.own:
        if rule.nonfinite == "raise":
            cure = " With nonfinite='violate' they count as infinite scores."
            raise InvalidInput(f"scores must be finite: NaN or infinite in {name_rows(~np.isfinite(scores))}.{cure}")
        scores[~np.isfinite(scores)] = math.inf
        return
    if not np.isfinite(target).all():
        raise _nonfinite("y", target)
    broken = ~np.isfinite(prediction)
    if rule.nonfinite == "raise" and broken.any():
        raise _nonfinite("y_pred", prediction)
    if rule.nonfinite == "raise":
        with np.errstate(over="ignore"):
            distance = np.abs(target - prediction)
            lost = ~np.isfinite(scores) | ~np.isfinite(distance.reshape(len(distance), -1).sum(axis=1))
        raise InvalidInput(f"the score overflows float64 in {name_rows(lost)}.")
    if rule.share is None:
        scores[broken.reshape(len(broken), -1).any(axis=1)] = math.inf
    # With a share of the steps, each broken step counted as infinite: the score of the run may be finite.
    scores[~np.isfinite(scores)] = math.inf


def _ellipsoid(rule: ScoreRule, array: Numbers) -> Ellipsoid | None:
    """Return the ellipsoid of a matrix gauge, or raise unless the rows have its outputs and steps."""
    if not rule.matrices:
        return None
    outputs, size = array.shape[-1] if array.ndim > 1 else 1, len(rule.matrices[0])
    if outputs != size:
        raise InvalidInput(f"a {size}×{size} gauge takes {size} outputs, got {outputs}.")
    if not rule.per_step:
        return Ellipsoid.of(np.array(rule.matrices[0]))
    if array.shape[1] != len(rule.matrices):
        raise InvalidInput(
            f"gauge must have one matrix for each step: it has {len(rule.matrices)}, and the runs have "
            f"{array.shape[1]} steps."
        )
    return Ellipsoid.of(np.array(rule.matrices))


def _step_widths(rule: ScoreRule) -> Floats | None:
    """Return the mean half-width of the box of each matrix of the gauge, or None if the gauge has none."""
    return np.sqrt(np.diagonal(rule.matrices, axis1=1, axis2=2)).mean(axis=1) if rule.matrices else None


def _nonfinite(name: str, array: Numbers) -> InvalidInput:
    cure = "" if name == "y" else " With nonfinite='violate' they count as infinite errors."
    return InvalidInput(f"{name} must be finite: it is NaN or infinite in {name_rows(~np.isfinite(array))}.{cure}")
