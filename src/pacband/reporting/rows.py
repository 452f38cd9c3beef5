"""The rows of a report: every one scored, and a sample of them kept to be drawn.

What is promised or counted comes from all rows. What is drawn or sliced comes from at most `SAMPLE` of them, picked
at random once and for all: a report of ten million rows shows the same figures, of the same size, in nearly the
same time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pacband._arrays import Floats, Numbers, as_numbers, check_same_rows
from pacband._labels import as_labels, group_rows
from pacband.certificate import AnyCertificate, Certificate, FamilyCertificate, GroupCertificate, single_of
from pacband.certificate.family import split_candidate
from pacband.exceptions import InvalidInput
from pacband.selection import measure

__all__ = ["SAMPLE", "Rows", "read_rows"]

Column: TypeAlias = npt.NDArray[Any]

SAMPLE = 100_000
MOST_FEATURES = 100


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows under a certificate. All arrays but `scores` hold the sampled rows only.

    Attributes
    ----------
    n_rows, n_violations : int
        How many rows there are in all, and how many of them exceed their bound.
    calibration : bool
        Whether these are the rows the certificate was made from: γ̄ comes out the same.
    exact : bool
        Whether the fingerprint does so as well. It does not where predictions were computed again and rounded
        otherwise.
    scores : array
        The score of every row.
    score, gamma, error, half_width : array
        Score, the γ̄ that bounds it, signed error and half-width of the band (means over several outputs).
    y, prediction, lower, upper : array
        The band; the first output of several.
    scale : array or None
        σ̂ (the mean of a pair, or over outputs).
    features : mapping of str to array
        Columns by which rows can be sliced, `groups` included.
    parts : tuple of (int, int)
        Rows, and rows beyond their bound, of every part that has a promise of its own: all, or each group.
    """

    n_rows: int
    n_violations: int
    calibration: bool
    exact: bool
    scores: Floats
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
    n_outputs: int
    parts: tuple[tuple[int, int], ...]

    @property
    def outside(self) -> npt.NDArray[np.bool_]:
        """Which of the sampled rows exceed their bound."""
        return self.score > self.gamma

    @property
    def sampled(self) -> bool:
        """Whether the sampled rows are fewer than all."""
        return len(self.score) < self.n_rows


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
) -> Rows:
    """Score the rows by the certificate's own rule, or raise."""
    single = single_of(certificate)
    if y_pred is None and candidates is not None and isinstance(certificate, FamilyCertificate):
        if certificate.best not in candidates:
            raise InvalidInput(f"candidates must have the best one, {certificate.best!r}, got {list(candidates)}.")
        y_pred, scale = split_candidate(candidates[certificate.best])
    if y_pred is None:
        raise InvalidInput("y_pred must be given with y: the predictions of the same rows.")
    if groups is None and isinstance(certificate, GroupCertificate):
        raise InvalidInput("groups must be given: this certificate has a bound for each group.")
    single.check_scale(scale)
    check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=groups)
    target, prediction = single.check_outputs("y", y), single.check_outputs("y_pred", y_pred)
    scores = single.rule.scores(target, prediction, scale)
    labels = None if groups is None else as_labels(groups)
    _check_length("groups", labels, len(scores))
    gamma: Any = single.gamma
    if isinstance(certificate, GroupCertificate):
        gamma = certificate.gamma(labels)
    calibration, exact = _recognised(certificate, scores, labels)
    drawn = _draw(len(scores))
    spread = [_mean_output(part.astype(np.float64)) for part in _picked(single, scale, target, drawn)]
    picked_gamma = np.broadcast_to(np.asarray(gamma, dtype=np.float64), scores.shape)[drawn]
    picked_scale = _parts_of(scale, drawn)
    band = single.rule.band(picked_gamma, prediction[drawn], picked_scale)
    lower, upper = band[..., 0], band[..., 1]
    error = np.subtract(target[drawn], prediction[drawn], dtype=np.float64)
    return Rows(
        n_rows=len(scores),
        n_violations=int(np.count_nonzero(scores > gamma)),
        calibration=calibration,
        exact=exact,
        scores=scores,
        score=scores[drawn],
        gamma=picked_gamma,
        error=_mean_output(np.abs(error)) if error.ndim == 2 else error,
        half_width=_half_width(lower, upper, prediction[drawn]),
        y=_first_output(target[drawn]),
        prediction=_first_output(prediction[drawn]),
        lower=_first_output(lower),
        upper=_first_output(upper),
        scale=np.mean(spread, axis=0) if spread else None,
        features=_features(X, feature_names, labels, len(scores), drawn),
        n_outputs=single.n_outputs,
        parts=_parts(certificate, scores > gamma, labels),
    )


def _parts(
    certificate: AnyCertificate, outside: npt.NDArray[np.bool_], labels: Column | None
) -> tuple[tuple[int, int], ...]:
    if labels is None or not isinstance(certificate, GroupCertificate):
        return ((len(outside), int(outside.sum())),)
    return tuple((len(rows), int(outside[rows].sum())) for rows in group_rows(labels).values())


def _recognised(certificate: AnyCertificate, scores: Floats, labels: Column | None) -> tuple[bool, bool]:
    """Return whether these are the scores a certificate was made from, up to rounding and to the last bit."""
    if labels is None or not isinstance(certificate, GroupCertificate):
        return _same(single_of(certificate), scores)
    members = group_rows(labels)
    if set(members) != set(certificate.groups):
        return False, False
    alike = [_same(each, scores[members[label]]) for label, each in certificate.groups.items()]
    return all(calibration for calibration, _ in alike), all(exact for _, exact in alike)


def _same(single: Certificate, scores: Floats) -> tuple[bool, bool]:
    if len(scores) != single.n_samples:
        return False, False
    measured = measure(scores.copy(), single.rank)
    if (measured.gamma, measured.digest) == (single.gamma, single.data_digest):
        return True, True
    # Nine digits of one score agree by chance only where scores are tied.
    close = math.isclose(measured.gamma, single.gamma, rel_tol=1e-9)
    return close and int(np.count_nonzero(scores == measured.gamma)) == 1, False


def _draw(n_rows: int) -> Any:
    """All rows, or a random subset of them in their order, the same each time."""
    if n_rows <= SAMPLE:
        return slice(None)
    return np.unique(np.random.default_rng(0).integers(0, n_rows, SAMPLE))


def _picked(single: Certificate, scale: Any, target: Numbers, drawn: Any) -> tuple[Floats, ...]:
    spread = single.rule.spread(scale, target.shape)
    floor = single.min_scale
    parts = (part[drawn].astype(np.float64) for part in spread.parts)
    return tuple(part if floor is None else np.fmax(part, floor) for part in parts)


def _parts_of(scale: Any, drawn: Any) -> Any:
    if scale is None:
        return None
    if isinstance(scale, tuple):
        return tuple(_parts_of(part, drawn) for part in scale)
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


def _features(X: Any, names: Sequence[str] | None, labels: Column | None, n_rows: int, drawn: Any) -> dict[str, Column]:
    columns = {} if X is None else _columns(X, names, n_rows, drawn)
    if labels is not None:
        columns = {
            "group": labels[drawn].astype(str),
            **{name: column for name, column in columns.items() if name != "group"},
        }
    return columns


def _columns(X: Any, names: Sequence[str] | None, n_rows: int, drawn: Any) -> dict[str, Column]:
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
    return dict(zip(given, map(_feature, arrays), strict=False))


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
