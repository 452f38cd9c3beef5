"""The draws that the rows of a table make, by what a certificate states about draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pacband.certificate import Promise
from pacband.draws import Draws
from pacband.draws.declaring import declare
from pacband.draws.kinds import RowDraws, UnitDraws, WeightedDraws
from pacband.exceptions import InvalidInput

__all__ = ["bound_draws", "table_draws"]


def table_draws(
    basis: Promise, draws: Draws | None = None, *, unit: str | None = None, importance: str | None = None
) -> Draws | None:
    """Return the draws to read from a table, or None: every row is one.

    Units are read from the column that names them, unless `unit` names another. Rows of a weighted certificate are
    draws of the future distribution, unless `importance` names the column of their weights: then they are distributed
    as the calibration rows were. `draws` declare the same in Python.
    """
    kind = basis.draws
    if draws is not None:
        return draws
    if unit is not None and not isinstance(kind, UnitDraws):
        raise InvalidInput(f"the column of units {unit!r} was named, but the certificate makes no promise about units.")
    if importance is not None and not isinstance(kind, WeightedDraws):
        raise InvalidInput(f"the column of weights {importance!r} was named, but the certificate has no weights.")
    if isinstance(kind, UnitDraws):
        return declare(kind, unit or kind.unit)
    if isinstance(kind, WeightedDraws):
        return None if importance is None else declare(replace(kind, interval=False, interval_delta=0.0), importance)
    return None if isinstance(kind, RowDraws) else declare(kind)


def bound_draws(draws: Draws | None, values: Mapping[str, Any]) -> Draws | None:
    """Return the draws with the values of their column, for `check` and its kin."""
    return draws if draws is None or not draws.columns else draws.bind(*(values[name] for name in draws.columns))
