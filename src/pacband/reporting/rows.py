"""The rows of a report: every one counted, and a sample of them kept to be drawn.

What is promised or counted comes from all rows (`census`). What is drawn or sliced comes from about `SAMPLE` of them,
picked at random once and for all: a report of ten million rows shows the same figures, of the same size, in nearly the
same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband.certificate import AnyCertificate, FamilyCertificate, groups_overlap
from pacband.certificate.family import split_candidate
from pacband.core.arrays import Floats, Numbers, as_numbers
from pacband.core.labels import as_labels
from pacband.draws import ROWS, DrawKind, Draws
from pacband.draws.kinds import SpacedDraws, UnitDraws
from pacband.exceptions import InvalidInput
from pacband.judging.judge import Judge
from pacband.reporting.census import Census, count_rows
from pacband.scores import spread_of
from pacband.tables.sample import SAMPLE, SEED, draw_rows

__all__ = [
    "MOST_FEATURES", "SAMPLE", "Features", "Rows", "best_columns", "check_shown_once", "pick_scale", "read_rows",
    "sampled_rows",
]  # fmt: skip

Column: TypeAlias = npt.NDArray[Any]

MOST_FEATURES = 100


@dataclass(frozen=True)
class Features:
    """The columns by which rows can be sliced, of all that were given: the first ones."""

    columns: Mapping[str, Column]
    n_given: int


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows under a certificate. The counts are those of all rows; all arrays but `all_scores` hold the drawn rows only.

    Attributes
    ----------
    census : Census
        Counts over all rows.
    all_scores : array
        The score of every row if the rows are in memory, else of every drawn row.
    score, gamma, error, half_width : array
        Score, the γ̄ that bounds it, signed error and half-width of the band (means over several outputs).
    y, prediction, lower, upper : array
        The band; the first output of several.
    scale : array or None
        σ̂ (the mean of a pair, or over outputs).
    features : mapping of str to array
        Columns by which rows can be sliced, `groups` included.
    n_features : int
        How many features were given; no more than `MOST_FEATURES` are looked at.
    kind : DrawKind
        What one draw is. If it is not a row, every draw is shown by the row whose score it has, and "rows" are draws.
    picked : array of int or None
        The rows whose scores the draws have; None where every row is a draw.
    """

    census: Census
    all_scores: Floats
    score: Floats
    gamma: Floats
    error: Floats
    half_width: Floats
    y: Floats
    prediction: Floats
    lower: Floats
    upper: Floats
    scale: Floats | None
    features: Mapping[str, Column]
    n_features: int
    n_outputs: int
    kind: DrawKind = ROWS
    picked: npt.NDArray[np.intp] | None = None

    @property
    def draw_words(self) -> str:
        """How draws are shown, where they are not rows; else empty."""
        if self.picked is None:
            return ""
        if isinstance(self.kind, UnitDraws):
            return f"Each {self.kind.noun} is one draw, and is shown by the row whose score it has."
        if isinstance(self.kind, SpacedDraws):
            return f"Every {self.kind.gap}-th row is a draw. All other rows are left out."
        return "The rows that were accepted as draws are shown."

    @property
    def n_rows(self) -> int:
        """How many rows there are in all."""
        return self.census.n_rows

    @property
    def n_violations(self) -> int:
        """How many of all rows exceed their bound."""
        return self.census.n_violations

    @property
    def calibration(self) -> bool:
        """Whether these are the rows the certificate was made from."""
        return self.census.calibration

    @property
    def exact(self) -> bool:
        """Whether their fingerprint is that of the certificate."""
        return self.census.exact

    @property
    def outside(self) -> npt.NDArray[np.bool_]:
        """Which of the drawn rows exceed their bound."""
        return self.score > self.gamma

    @property
    def n_drawn(self) -> int:
        """How many rows the figures show."""
        return len(self.score)

    @property
    def sampled(self) -> bool:
        """Whether the drawn rows are fewer than all."""
        return self.n_drawn < self.n_rows

    @property
    def sample_words(self) -> str:
        """Which rows the figures show, where they do not show all."""
        return f"{self.n_drawn:,} of {self.n_rows:,} {self.kind.tested}, drawn with seed {SEED}" if self.sampled else ""


def read_rows(
    certificate: AnyCertificate,
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    groups: Any = None,
    candidates: Mapping[str, Any] | None = None,
    draws: Draws | None = None,
) -> Rows:
    """Judge the rows by the certificate, or raise; then draw some of them."""
    y_pred, scale = best_columns(certificate, y_pred, scale, candidates)
    if y_pred is None and not certificate.basis.scoring.own:
        raise InvalidInput("y_pred must be given with y: the predictions of the same rows.")
    judge = Judge(certificate)
    check_shown_once(certificate)
    # Groups that the certificate does not know about are one more way to slice the rows.
    judged = judge.judge(y, y_pred, scale, groups if judge.grouped else None, draws=draws)
    labels = None if groups is None else as_labels(groups)
    _check_length("groups", labels, judged.n_rows)
    target, prediction, _ = judge.basis.align(y, y_pred, scale)
    drawn = _draw(len(judged.scores))
    shown = drawn if judged.rows is None else judged.rows[drawn]
    rows = sampled_rows(
        certificate,
        count_rows(judge, judged),
        target[shown],
        prediction[shown],
        pick_scale(scale, shown),
        all_scores=judged.scores,
        drawn_scores=judged.scores[drawn],
        labels=None if labels is None else labels[shown],
        features=Features({}, 0) if X is None else _columns(X, feature_names, judged.n_rows, shown),
    )
    return replace(rows, kind=judge.basis.draws, picked=judged.rows)


def sampled_rows(
    certificate: AnyCertificate,
    census: Census,
    target: Numbers,
    prediction: Numbers,
    scale: Any,
    *,
    all_scores: Floats,
    drawn_scores: Floats,
    labels: Column | None,
    features: Features,
) -> Rows:
    """Return the rows of a report from the counts over all rows, and columns of the drawn ones.

    Own scores have no band: the score is bounded from above.
    """
    basis, single = certificate.basis, certificate.single
    gamma = certificate.gamma(labels) if single is None else np.full(len(drawn_scores), single.gamma)  # type: ignore[union-attr,operator]
    scales = [_mean_output(part) for part in spread_of(basis.scoring, scale, target.shape).block(slice(None))]
    if basis.scoring.own:
        lower, upper = np.full(len(gamma), -np.inf), gamma
    else:
        band = basis.band(gamma, prediction, scale)
        lower, upper = band[..., 0], band[..., 1]
    error = np.subtract(target, prediction, dtype=np.float64)
    columns = dict(features.columns)
    if labels is not None:
        columns = {"group": labels.astype(str), **{name: c for name, c in columns.items() if name != "group"}}
    return Rows(
        census=census,
        all_scores=all_scores,
        score=drawn_scores,
        gamma=gamma,
        error=_mean_output(np.abs(error)) if error.ndim == 2 else error,
        half_width=_half_width(lower, upper, prediction),
        y=_first_output(target),
        prediction=_first_output(prediction),
        lower=_first_output(lower),
        upper=_first_output(upper),
        scale=np.mean(scales, axis=0) if scales else None,
        features=columns,
        n_features=features.n_given,
        n_outputs=basis.n_outputs,
    )


def check_shown_once(certificate: AnyCertificate) -> None:
    """Raise unless a report can show every row once: not if rows are runs, and not if groups overlap."""
    runs = certificate.basis.n_steps is not None
    if runs or groups_overlap(certificate):
        kind, cure = ("runs", "check and plot_tube") if runs else ("groups that overlap", "check")
        raise InvalidInput(
            f"a report with rows shows every row once, and this certificate is about {kind}: make the report without "
            f"rows, or use {cure}."
        )


def best_columns(
    certificate: AnyCertificate, y_pred: Any, scale: Any, candidates: Mapping[str, Any] | None
) -> tuple[Any, Any]:
    """Return the prediction and scale of a family's best candidate, where they were not given themselves."""
    if y_pred is not None or candidates is None or not isinstance(certificate, FamilyCertificate):
        return y_pred, scale
    if certificate.best not in candidates:
        raise InvalidInput(f"candidates must have the best one, {certificate.best!r}, got {list(candidates)}.")
    return split_candidate(candidates[certificate.best])


def _draw(n_rows: int) -> Any:
    """All rows, or a random subset of them in their order, the same each time."""
    return slice(None) if n_rows <= SAMPLE else draw_rows(n_rows)


def pick_scale(scale: Any, drawn: Any) -> Any:
    """Return the scale of some rows; a scale that all rows share stays as it is."""
    if scale is None:
        return None
    if isinstance(scale, tuple):
        return tuple(pick_scale(part, drawn) for part in scale)
    array = as_numbers("scale", scale, scalar=True)
    return array if array.ndim == 0 else array[drawn]


def _half_width(lower: Floats, upper: Floats, prediction: Numbers) -> Floats:
    with np.errstate(invalid="ignore"):
        if np.isneginf(lower).all():
            width = upper - prediction
        elif np.isposinf(upper).all():
            width = prediction - lower
        else:
            width = (upper - lower) / 2.0
    return _mean_output(np.asarray(width, dtype=np.float64))


def _mean_output(array: Floats) -> Floats:
    return np.asarray(array.mean(axis=1)) if array.ndim == 2 else array


def _first_output(array: Numbers) -> Floats:
    return np.asarray(array[:, 0] if array.ndim == 2 else array, dtype=np.float64)


def _columns(X: Any, names: Sequence[str] | None, n_rows: int, drawn: Any) -> Features:
    if isinstance(X, Features):
        return Features({name: column[drawn] for name, column in X.columns.items()}, X.n_given)
    if not isinstance(X, (np.ndarray, list, tuple)):
        import narwhals as nw

        frame = nw.from_native(X, allow_series=True, eager_only=True)
        frame = frame.to_frame() if isinstance(frame, nw.Series) else frame
        _check_length("X", frame, n_rows)
        given = list(frame.columns)
        arrays = (frame[name].to_numpy()[drawn] for name in given[:MOST_FEATURES])
    else:
        table = np.asarray(X)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2:
            raise InvalidInput(f"X must have shape (n, p), got {table.shape}.")
        _check_length("X", table, n_rows)
        given = ["x"] if table.shape[1] == 1 else [f"x{j}" for j in range(table.shape[1])]
        arrays = (table[drawn, j] for j in range(min(table.shape[1], MOST_FEATURES)))
    if names is not None:
        if len(names) != len(given):
            raise InvalidInput(f"feature_names must have one name for each of {len(given)} columns, got {len(names)}.")
        given = [str(name) for name in names]
    return Features(dict(zip(given, map(_feature, arrays), strict=False)), len(given))


def _feature(column: Column) -> Column:
    """Return numbers where all values are; a table of objects holds both."""
    if column.dtype.kind != "O":
        return column
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return column


def _check_length(name: str, value: Any, n_rows: int) -> None:
    if value is not None and len(value) != n_rows:
        raise InvalidInput(f"{name} and y must have one length, got {len(value)} and {n_rows}.")
