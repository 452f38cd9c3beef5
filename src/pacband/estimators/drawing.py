"""What one draw is, for an estimator: a column of X that its constructor names, or labels that `fit` receives."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.certification.terms import check_draws
from pacband.core.cells import label_text
from pacband.core.labels import Label, as_labels, factorize, listed
from pacband.core.row_hashes import Fingerprints
from pacband.draws import ROWS, DrawKind, Draws, Units, Weighted, draw_kind
from pacband.draws.declaring import declare
from pacband.exceptions import InvalidInput, ReusedData

__all__ = [
    "draws_from_dict",
    "draws_to_dict",
    "read_draws",
    "refuse_other_draws",
    "refuse_seen_units",
    "seen_units",
    "split_off_units",
    "unit_fingerprints",
    "without_column",
]


def read_draws(option: Draws | None, given: Any, X: Any) -> Draws:
    """Return the draws that some rows make, with the values of their column, or raise.

    Parameters
    ----------
    option : Draws or None
        What the constructor declares. It has no data: it names a column of X.
    given : Draws or None
        What `fit` or `calibrate` received. It has the labels or weights of the rows.
    X : array-like or dataframe
        The rows, with the column.
    """
    if option is None:
        draws = check_draws(given)
        if draws.columns:
            raise InvalidInput(
                f"draws at fit must have one value per row, got the column {draws.columns[0]!r}: name a column of X in "
                "the constructor."
            )
        return draws
    if given is not None:
        raise InvalidInput("draws were declared in the constructor: they cannot be given again.")
    draws = check_draws(option)
    if isinstance(draws, (Units, Weighted)) and not draws.columns:
        raise InvalidInput(
            "draws in the constructor must name a column of X, because an estimator has no data: pass labels or "
            "weights to fit(X, y, draws=...)."
        )
    if not draws.columns:
        return draws
    frame = _as_frame(X)
    if frame is None:
        raise InvalidInput(
            f"draws name the column {draws.columns[0]!r}, so that X must be a dataframe, got {type(X).__name__}."
        )
    for column in draws.columns:
        if column not in frame.columns:
            raise InvalidInput(f"draws must name a column of X, {listed(frame.columns, 12)}; got {column!r}.")
    return draws.bind(*(frame.get_column(column).to_native() for column in draws.columns))


def without_column(option: Draws | None, X: Any) -> Any:
    """Return X without the columns that the draws are read from: they are no features. X need not have them."""
    columns = option.columns if isinstance(option, Draws) else ()
    frame = _as_frame(X) if columns else None
    if frame is None:
        return X
    found = [column for column in columns if column in frame.columns]
    return frame.drop(*found).to_native() if found else X


def split_off_units(option: Draws | None, training: Any) -> tuple[Any, Fingerprints | None]:
    """Return training rows (X, y) without the column of the draws, and the units in it; None if there are none."""
    if not isinstance(option, Draws) or not isinstance(training, (tuple, list)) or len(training) != 2:
        return training, None
    X, y = training
    frame = _as_frame(X) if option.columns else None
    if frame is None or not set(option.columns) <= set(frame.columns):
        return training, None
    return (without_column(option, X), y), unit_fingerprints(read_draws(option, None, X))


def unit_fingerprints(draws: Draws, rows: npt.NDArray[np.intp] | None = None) -> Fingerprints | None:
    """Return 64 bits of the SHA-256 of every unit, or of the units of some rows; None where draws are no units.

    A label has one fingerprint in every table: 1, 1.0 and "1" are one unit.
    """
    if not isinstance(draws, Units):
        return None
    names, _ = factorize(as_labels(draws.labels if rows is None else draws.take(rows).labels))
    return np.array(sorted(map(_fingerprint, names)), dtype=np.uint64)


def seen_units(training: Fingerprints | None, draws: Draws) -> list[Label]:
    """Return the units of these draws that a model was fitted on; none where draws are no units."""
    if training is None or not isinstance(draws, Units):
        return []
    names, _ = factorize(as_labels(draws.labels))
    seen = np.isin(np.array([_fingerprint(name) for name in names], dtype=np.uint64), training)
    return [name for name, known in zip(names, seen.tolist(), strict=True) if known]


def refuse_seen_units(training: Fingerprints | None, calibration: Draws) -> None:
    """Raise if a unit has training rows and calibration rows: the model has seen it, so that it is no new unit."""
    if shared := seen_units(training, calibration):
        assert isinstance(calibration, Units)  # no other draws have units
        raise ReusedData(
            f"no {calibration.kind.noun} may have both training rows and calibration rows, because the promise is "
            f"about new ones: {len(shared)} have, {listed(shared)}."
        )


def refuse_other_draws(kind: DrawKind, found: Draws) -> None:
    """Raise if rows would be counted as draws, although a model promises something about other draws."""
    if kind != ROWS and type(found.kind) is not type(kind):
        raise InvalidInput(
            f"the certificate of this model is about draws of kind {kind.kind!r}: pass them as draws, got "
            f"{found.kind.kind!r}."
        )


def _fingerprint(unit: Label) -> int:
    text = label_text(unit) or str(unit)
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def draws_to_dict(draws: Draws) -> dict[str, Any]:
    """Return the draws of a constructor as values for a model file."""
    return {"columns": list(draws.columns), **draws.kind.to_dict()}


def draws_from_dict(content: Mapping[str, Any]) -> Draws:
    """Rebuild the draws of a constructor from `draws_to_dict`."""
    values = dict(content)
    columns = values.pop("columns")
    return declare(draw_kind(values), *columns)


def _as_frame(X: Any) -> Any:
    """Return X as a narwhals frame, or None if it is no dataframe."""
    if isinstance(X, np.ndarray):
        return None
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None
