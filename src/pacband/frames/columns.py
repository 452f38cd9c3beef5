"""Which columns of a table are the target, the predictions, the scales and the groups: named, and found to be there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from pacband._arrays import as_numbers
from pacband.exceptions import InvalidInput

__all__ = ["Frame", "Names", "Pair", "as_frame", "check_columns", "names_of", "pair_of", "read_pair", "read_values"]

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]
# The columns of one quantity: one, or one for each output.
Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """The columns of a predictor T and of its scale σ̂: no parts, one, or the pair (σ̂⁻, σ̂⁺)."""

    prediction: Names
    scale: tuple[Names, ...] = ()

    @property
    def kind(self) -> str:
        """How rows are scored, as certificates call it."""
        return ("none", "symmetric", "asymmetric")[len(self.scale)]

    @property
    def columns(self) -> Names:
        """All of them."""
        return self.prediction + tuple(name for part in self.scale for name in part)


def as_frame(frame: Any) -> Frame:
    """Return a table of any library that narwhals knows, or raise."""
    if type(frame).__module__.startswith("pyarrow.") and hasattr(frame, "get_fragments"):
        import duckdb

        frame = duckdb.from_arrow(frame)
    try:
        known: Frame = nw.from_native(frame)
    except TypeError:
        raise InvalidInput(
            "frame must be a table of pandas, polars, pyarrow, DuckDB, Dask, PySpark or another library that narwhals "
            f"knows, got {type(frame).__name__}."
        ) from None
    return known


def names_of(what: str, given: Any) -> Names:
    """Return the names of the columns of one quantity."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else None
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidInput(
            f"{what} must be the name of a column, or a list of names for several outputs, got {given!r}."
        )
    return names


def pair_of(what: str, prediction: Any, scale: Any) -> Pair:
    """Return the columns of T and σ̂ as a user names them; a scale pair is a tuple (lower, upper)."""
    if isinstance(scale, tuple) and len(scale) != 2:
        raise InvalidInput(f"a scale pair must be (lower, upper), got {len(scale)} parts.")
    parts = scale if isinstance(scale, tuple) else () if scale is None else (scale,)
    return Pair(names_of(what, prediction), tuple(names_of(f"the scale of {what}", part) for part in parts))


def check_columns(frame: Frame, numeric: Iterable[str], group: str | None = None) -> nw.Schema:
    """Raise unless the columns are there, and hold numbers; return what they hold."""
    schema = frame.collect_schema()
    wanted = list(dict.fromkeys(numeric))
    for name in [*wanted, *([group] if group is not None else [])]:
        if name not in schema:
            near = get_close_matches(name, schema, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else f" The columns are {_listed(schema)}."
            raise InvalidInput(f"there is no column {name!r}.{hint}")
    for name in wanted:
        if not (schema[name].is_numeric() or schema[name] == nw.Boolean):
            raise InvalidInput(f"column {name!r} must be numeric, got {schema[name]}.")
    return schema


def read_values(columns: Mapping[str, Any], names: Names) -> Any:
    """Return the columns of one quantity as numbers: one vector, or one matrix for several outputs."""
    values = [as_numbers(f"column {name!r}", columns[name], empty=True) for name in names]
    return values[0] if len(values) == 1 else np.column_stack(values)


def read_pair(columns: Mapping[str, Any], pair: Pair) -> tuple[Any, Any]:
    """Return T and σ̂ as `certify` takes them."""
    parts = tuple(read_values(columns, part) for part in pair.scale)
    return read_values(columns, pair.prediction), parts if len(parts) == 2 else parts[0] if parts else None


def _listed(names: Mapping[str, Any], most: int = 12) -> str:
    shown = ", ".join(map(repr, list(names)[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
