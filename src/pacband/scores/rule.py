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
====================  ============================  ========================================

Without a scale σ̂ is one: Algorithm 1 of the paper; with one, Algorithm 2. Rows are worked through in blocks
that stay in cache, so that every check comes at the price of one pass; all arithmetic is float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pacband.core.arrays import Floats, Numbers, as_numbers, blocks, name_rows
from pacband.core.checks import check_choice
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores.means import exact_mean

__all__ = ["Matrix", "ScoreRule", "Spread", "outwards"]

Matrix: TypeAlias = tuple[tuple[float, ...], ...]

SIDES = ("both", "upper", "lower")
POLICIES = ("raise", "violate")


@dataclass(frozen=True, slots=True)
class Spread:
    """The scale of every row, in parts: () where σ̂ is one, (σ̂,), or the pair (σ̂⁻, σ̂⁺).

    A part is an array that broadcasts against the errors. `floor` is the declared min_scale.
    """

    parts: tuple[Numbers, ...]
    floor: float | None

    @property
    def kind(self) -> str:
        """Return "none", "symmetric" or "asymmetric"."""
        return ("none", "symmetric", "asymmetric")[len(self.parts)]

    def block(self, rows: slice) -> tuple[Floats, ...]:
        """Return the parts of these rows, floored; raise where one is not a positive finite number."""
        floored = tuple(self._floored(part[rows]) for part in self.parts)
        if not all(part.min() > 0.0 and part.max() < math.inf for part in floored):
            raise self._invalid()
        return floored

    def mean(self) -> float:
        """Return the mean of σ̂ over the rows (of (σ̂⁻ + σ̂⁺)/2 for a pair)."""
        if not self.parts:
            return 1.0
        return sum(exact_mean(part) for part in self.block(slice(None))) / len(self.parts)

    def _floored(self, part: Numbers) -> Floats:
        if self.floor is None:
            return part.astype(np.float64, copy=False)
        # fmax lets a NaN scale fall to the floor as well.
        return np.fmax(part, self.floor, dtype=np.float64)

    def _invalid(self) -> InvalidScale:
        bad = np.zeros(len(self.parts[0]), dtype=bool)
        for part in self.parts:
            floored = self._floored(part)
            unsound = ~((floored > 0.0) & (floored < np.inf))
            bad |= unsound.reshape(len(unsound), -1).any(axis=1)
        cure = "" if self.floor is not None else " Declare a min_scale to put a floor under it."
        return InvalidScale(
            f"scale must be positive and finite in every row: it is zero, negative, NaN or infinite in "
            f"{name_rows(bad)}.{cure}"
        )


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """How a row becomes a score: one rule, the same at calibration and at prediction.

    Attributes
    ----------
    side : {"both", "upper", "lower"}
        Which errors count.
    gauge : "max" or tuple of tuples of float
        For several outputs: the largest scaled error, or the norm of a positive definite matrix.
    min_scale : float or None
        The declared floor of σ̂, used where σ̂ is below it or NaN.
    nonfinite : {"raise", "violate"}
        Whether a NaN or infinite prediction is refused, or counted as an infinite error.
    """

    side: str = "both"
    gauge: str | Matrix = "max"
    min_scale: float | None = None
    nonfinite: str = "raise"

    @classmethod
    def create(cls, *, side: str, gauge: Any, min_scale: Any, nonfinite: str) -> ScoreRule:
        """Build the rule from what a user passed, or raise."""
        check_choice("side", side, SIDES)
        check_choice("nonfinite", nonfinite, POLICIES)
        if min_scale is not None:
            if (
                isinstance(min_scale, bool)
                or not isinstance(min_scale, (int, float, np.number))
                or not 0.0 < min_scale < math.inf
            ):
                raise InvalidScale(f"min_scale must be a positive finite number, got {min_scale!r}.")
            try:
                min_scale = float(min_scale)
            except OverflowError:
                raise InvalidScale("min_scale must be a positive finite number, got a larger integer.") from None
        if isinstance(gauge, str):
            check_choice("gauge", gauge, ("max",))
        else:
            if side != "both":
                raise InvalidInput(f"a matrix gauge has no sides: side must be 'both', got {side!r}.")
            gauge = _positive_definite(gauge)
        return cls(side=side, gauge=gauge, min_scale=min_scale, nonfinite=nonfinite)

    def spread(self, scale: Any, shape: tuple[int, ...]) -> Spread:
        """Return the scale that a user passed, checked for its shape against rows of this shape."""
        if scale is None:
            return Spread((), self.min_scale)
        pair = isinstance(scale, tuple)
        if pair and len(scale) != 2:
            raise InvalidInput(f"a scale pair must be (lower, upper), got {len(scale)} parts.")
        if pair and (self.side != "both" or not isinstance(self.gauge, str)):
            raise InvalidInput("a scale pair (lower, upper) goes with side='both' and gauge='max' only.")
        error_shape = shape if isinstance(self.gauge, str) else shape[:1]
        return Spread(tuple(_scale_part(part, error_shape) for part in (scale if pair else (scale,))), self.min_scale)

    def scores(self, y: Any, y_pred: Any, scale: Any = None) -> Floats:
        """Return one score per row, all of them numbers.

        Examples
        --------
        >>> ScoreRule().scores([3.0, 1.0], [2.0, 2.0], scale=[1.0, 4.0])
        array([1.  , 0.25])
        >>> ScoreRule(side="lower").scores([3.0, 1.0], [2.0, 2.0])
        array([-1.,  1.])
        """
        target, prediction = as_numbers("y", y), as_numbers("y_pred", y_pred)
        if target.shape != prediction.shape:
            raise InvalidInput(f"y and y_pred must have the same shape, got {target.shape} and {prediction.shape}.")
        return self.score_rows(target, prediction, self.spread(scale, target.shape))

    def score_rows(self, target: Numbers, prediction: Numbers, spread: Spread) -> Floats:
        """Return one score per row of arrays whose shapes were checked."""
        self._check_outputs(target)
        ellipsoid = self._ellipsoid()
        scores = np.empty(len(target))
        finite = True
        with np.errstate(all="ignore"):
            for rows in blocks(len(target)):
                out = scores[rows] if target.ndim == 1 else None
                error = np.subtract(target[rows], prediction[rows], out=out, dtype=np.float64)
                parts = spread.block(rows)
                score = self._score(error, parts) if ellipsoid is None else ellipsoid.scores(error, parts)
                if score is not out:
                    scores[rows] = score
                # Where one side counts, a score may also overflow downwards.
                finite &= bool(np.isfinite(score).all() if self.side != "both" else score.max() < math.inf)
        if not finite:
            self._settle_nonfinite(scores, target, prediction)
        return scores

    def bound(self, gamma: float, scale: Any) -> Any:
        """Return γσ̂, rounded outwards as in `band`: one value for each of `scale`, or one number for a number."""
        array = as_numbers("scale", scale, scalar=True)
        (part,) = Spread((np.atleast_1d(array),), self.min_scale).block(slice(None))
        bound = outwards(gamma) * part
        return bound if array.ndim else float(bound[0])

    def band(self, gamma: float | Floats, y_pred: Any, scale: Any = None) -> Floats:
        """Return the lower and upper end, (n, 2) or (n, k, 2), of the values whose score is at most γ.

        Each end is rounded outwards by less than 1e-15 of the half-width: three roundings lie between y and
        γσ̂ (of e, of the score, of the product), so that without it a y whose score *is* γ could fall
        outside by one unit in the last place; with tied errors that would be a real share of the rows.
        The sum T ± γσ̂ itself needs no care: rounding is monotonic and y is a float. For a matrix gauge the same
        three roundings lie between y and the box, whatever the condition of the matrix; see `_Ellipsoid`.

        Examples
        --------
        >>> ScoreRule().band(2.0, [10.0, 20.0], scale=[0.5, 1.0])
        array([[ 9., 11.],
               [18., 22.]])
        """
        prediction = as_numbers("y_pred", y_pred, empty=True)
        self._check_outputs(prediction)
        spread, ellipsoid = self.spread(scale, prediction.shape), self._ellipsoid()
        outward = np.broadcast_to(outwards(gamma), len(prediction))
        ends = np.empty((*prediction.shape, 2))
        with np.errstate(over="ignore"):
            self._fill(ends, prediction, spread, outward, ellipsoid)
        if self.side != "both":
            ends[..., 0 if self.side == "upper" else 1] = -math.inf if self.side == "upper" else math.inf
        return ends

    def _fill(
        self, ends: Floats, prediction: Numbers, spread: Spread, outward: Floats, ellipsoid: _Ellipsoid | None
    ) -> None:
        for rows in blocks(len(prediction)):
            centre = prediction[rows]
            if self.nonfinite == "raise" and not np.isfinite(centre).all():
                raise _nonfinite("y_pred", prediction)
            factor = outward[rows] if centre.ndim == 1 else outward[rows, None]
            parts = spread.block(rows)
            if ellipsoid is not None:
                box = ellipsoid.box(parts)
                parts = (box if centre.ndim == 2 else box.reshape(-1),)
            low = factor * parts[0] if parts else factor
            high = factor * parts[1] if len(parts) == 2 else low
            np.subtract(centre, low, out=ends[rows, ..., 0])
            np.add(centre, high, out=ends[rows, ..., 1])
            if self.nonfinite == "violate":
                # A prediction that counts as an infinite error has no finite band.
                ends[rows][~np.isfinite(centre)] = (-math.inf, math.inf)

    def mean_bound(self, gamma: float, mean_scale: float) -> float:
        """Return the mean of γσ̂ over the rows; for a matrix gauge, of the half-widths of its box."""
        ellipsoid = self._ellipsoid()
        return gamma * mean_scale * (1.0 if ellipsoid is None else float(ellipsoid.widths.mean()))

    def mean_offset(self, target: Numbers, prediction: Numbers) -> float:
        """Return the mean distance from y to T(x) towards the side that is bounded; zero where both are.

        Shifting T moves γ by as much the other way, so that only both together say how sharp a bound is.
        """
        if self.side == "both":
            return 0.0
        distance = np.subtract(prediction, target, dtype=np.float64)
        distance = distance[np.isfinite(distance)]
        if not len(distance):
            return math.inf
        return exact_mean(distance) * (1.0 if self.side == "upper" else -1.0)

    def unanswered(self, prediction: Numbers) -> int:
        """Return how many rows have a prediction that counts as an infinite error, and no finite band."""
        finite = np.isfinite(prediction)
        return 0 if finite.all() else int((~finite.reshape(len(finite), -1).all(axis=1)).sum())

    def _score(self, error: Floats, parts: tuple[Floats, ...]) -> Floats:
        """Score one block of errors, in place where possible."""
        if self.side == "lower":
            np.negative(error, out=error)
        divisor = np.where(error > 0.0, parts[1], parts[0]) if len(parts) == 2 else parts[0] if parts else None
        if self.side == "both":
            np.abs(error, out=error)
        if divisor is not None:
            np.divide(error, divisor, out=error)
        if error.ndim == 1:
            return error
        largest = np.asarray(error.max(axis=1))
        if self.side != "both":
            # The largest would hide an output that is −∞, as that of T(x) = ∞ is.
            largest[~np.isfinite(error).all(axis=1)] = math.nan
        return largest

    def _settle_nonfinite(self, scores: Floats, target: Numbers, prediction: Numbers) -> None:
        if not np.isfinite(target).all():
            raise _nonfinite("y", target)
        broken = ~np.isfinite(prediction)
        if self.nonfinite == "raise" and broken.any():
            raise _nonfinite("y_pred", prediction)
        if self.nonfinite == "raise":
            with np.errstate(over="ignore"):
                lost = ~np.isfinite(scores) | ~np.isfinite(_row_sum(np.abs(target - prediction)))
            raise InvalidInput(f"the score overflows float64 in {name_rows(lost)}.")
        scores[broken.reshape(len(broken), -1).any(axis=1) | ~np.isfinite(scores)] = math.inf

    def _check_outputs(self, array: Numbers) -> None:
        if isinstance(self.gauge, str):
            return
        outputs = array.shape[1] if array.ndim == 2 else 1
        if outputs != len(self.gauge):
            raise InvalidInput(
                f"a {len(self.gauge)}×{len(self.gauge)} gauge takes {len(self.gauge)} outputs, got {outputs}."
            )

    def _ellipsoid(self) -> _Ellipsoid | None:
        return None if isinstance(self.gauge, str) else _Ellipsoid.of(np.array(self.gauge))


@dataclass(frozen=True, slots=True, eq=False)
class _Ellipsoid:
    """The gauge sqrt(eᵀ Σ⁻¹ e) and the box around its unit ball, with the half-widths w_k = sqrt(Σ_kk).

    By Cauchy and Schwarz |e_k| ≤ w_k·sqrt(eᵀ Σ⁻¹ e), with equality where the ball touches its box. Computed, the right
    side may come out smaller than the left, the more so the worse Σ is conditioned, and a row whose score is γ would
    lie outside the box ± γσ̂w. So the score is the larger of both sides,

        max(sqrt(eᵀ Σ⁻¹ e)/σ̂, |e_1|/(σ̂w_1), …, |e_k|/(σ̂w_k)),

    which is the same number in exact arithmetic. Each of the last terms divides by the very product fl(σ̂w_k) by which
    `ScoreRule.band` multiplies. Hence a score of at most γ gives fl(|e_k|/fl(σ̂w_k)) ≤ γ for every k: with fl(σ̂w_k) as
    the scale, this is the case of one output, for which rounding γ outwards is enough.

    The norm itself comes from a triangular solve: backward stable, and made of operations on whole columns, so that a
    row has the same score alone and among others.

    Attributes
    ----------
    triangle : ndarray of shape (k, k)
        C with CCᵀ = Σ, lower triangular.
    widths : ndarray of shape (k,)
        w.
    """

    triangle: Floats
    widths: Floats

    @classmethod
    def of(cls, matrix: Floats) -> _Ellipsoid:
        return cls(np.asarray(np.linalg.cholesky(matrix)), np.sqrt(np.diag(matrix)))

    def box(self, parts: tuple[Floats, ...]) -> Floats:
        """Return σ̂w of every row, or of all rows at once where σ̂ is one."""
        return parts[0][:, None] * self.widths if parts else self.widths

    def scores(self, errors: Floats, parts: tuple[Floats, ...]) -> Floats:
        """Score one block of errors."""
        columns = np.ascontiguousarray(errors.reshape(len(errors), -1).T)
        squares = np.zeros(len(errors))
        solved: list[Floats] = []
        for row, column in zip(self.triangle, columns, strict=True):
            left = column.copy()
            for factor, before in zip(row, solved, strict=False):
                left -= factor * before
            left /= row[len(solved)]
            solved.append(left)
            squares += left * left
        norm = np.sqrt(squares)
        if parts:
            norm /= parts[0]
        return np.asarray(np.maximum(norm, (np.abs(columns.T) / self.box(parts)).max(axis=1)))


def outwards(gamma: float | Floats) -> Floats:
    """Return γ rounded up by enough for the roundings between y and γσ̂; see `ScoreRule.band`."""
    bound = np.asarray(gamma, dtype=np.float64)
    return np.asarray(np.nextafter(bound + np.abs(bound) * 2.0**-50, math.inf))


def _row_sum(array: Floats) -> Floats:
    return array if array.ndim == 1 else np.asarray(array.sum(axis=1))


def _scale_part(part: Any, shape: tuple[int, ...]) -> Numbers:
    array = as_numbers("scale", part, scalar=True, empty=True)
    if array.ndim == 1 and len(shape) == 2:
        array = array[:, None]
    fits = array.ndim == 0 or (len(array) == shape[0] and array.shape[1:] in {shape[1:], (1,) * len(shape[1:])})
    if not fits:
        hint = " A pair is a tuple (lower, upper)." if 2 in array.shape else ""
        raise InvalidInput(f"scale must have one value per row of shape {shape}, got shape {array.shape}.{hint}")
    return np.broadcast_to(array, shape) if array.ndim == 0 else array


def _nonfinite(name: str, array: Numbers) -> InvalidInput:
    cure = "" if name == "y" else " With nonfinite='violate' they count as infinite errors."
    return InvalidInput(f"{name} must be finite: it is NaN or infinite in {name_rows(~np.isfinite(array))}.{cure}")


def _positive_definite(gauge: Any) -> Matrix:
    matrix = as_numbers("gauge", gauge).astype(np.float64)
    if matrix.ndim == 1 and matrix.size == 1:
        matrix = matrix.reshape(1, 1)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"gauge must be 'max' or a square matrix, got shape {matrix.shape}.")
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0):
        raise InvalidInput("gauge must be a finite symmetric matrix.")
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InvalidInput("gauge must be positive definite.") from None
    return tuple(tuple(float(value) for value in row) for row in matrix)
