"""The rows of files that a model is fitted and calibrated on: inputs, targets, unused columns and draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pacband.core.arrays import Floats, name_rows
from pacband.draws import Draws, Weighted
from pacband.exceptions import InvalidInput
from pacband.tables.batches import batches
from pacband.tables.connection import quoted
from pacband.tables.files import Files
from pacband.tables.free_names import free_names
from pacband.tables.survey import Column, inputs_sql, label_sql, numeric_sql, survey

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TrainingRows", "read_training_rows"]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows to fit and to calibrate a model on.

    Attributes
    ----------
    columns : list of Column
        How each column of the files is used, and why not.
    X : DataFrame
        The inputs.
    y : array
        The targets.
    unused : DataFrame
        The columns that are neither inputs nor targets nor draws.
    draws : Draws or None
        The draws that the rows make, with their labels or weights.
    """

    columns: list[Column]
    X: pd.DataFrame
    y: Floats
    unused: pd.DataFrame
    draws: Draws | None

    def take(self, rows: npt.NDArray[np.intp]) -> TrainingRows:
        """Return some of the rows, numbered anew.

        Of a series some rows are dropped, so that those that are left are as far apart as before, or farther.
        """
        X, unused = (table.iloc[rows].reset_index(drop=True) for table in (self.X, self.unused))
        draws = None if self.draws is None else self.draws.take(rows)
        return replace(self, X=X, y=self.y[rows], unused=unused, draws=draws)


def read_training_rows(
    files: Files,
    target: str,
    *,
    features: Sequence[str] = (),
    exclude: Sequence[str] = (),
    categories: Sequence[str] = (),
    dates: Mapping[str, str | None] | None = None,
    group: str | None = None,
    draws: Draws | None = None,
    drop_missing_target: bool = False,
    note: Callable[[str], None] = lambda message: None,
) -> TrainingRows:
    """Read all rows of files, each column as the survey of it says; or raise.

    Parameters
    ----------
    files : Files
        Opened files.
    target : str
        The column to predict.
    features, exclude, categories, dates
        As in `survey`.
    group : str, optional
        The column of groups. It is an input, too: the model reads the group of a row from X, as a text.
    draws : Draws, optional
        Which columns declare the draws. They are no inputs.
    drop_missing_target : bool
        Whether rows without a target are dropped. Otherwise they are refused, as they always are if the promise is
        about whole units.
    note : function of a text
        Called with a sentence that states how many rows were dropped.
    """
    import pandas as pd

    dates = {} if dates is None else dates
    if group is not None:
        features, categories = ([*features, group] if features else []), [*categories, group]
    features = [*features, *dates] if features else []
    drawn = () if draws is None else draws.columns
    for column in drawn:
        if column in (target, *features, *categories, *dates):
            raise InvalidInput(f"{column!r} declares the draws: it cannot be the target, a feature or the group.")
    # Which columns hold numbers is not known yet. Labels keep their texts: 1.234 and 1234 may be two machines.
    possible = set(files.header) - files.format.unclear - {*categories, *drawn}
    relation = files.relation(surveyed=possible)
    left_out = [*exclude, *drawn]
    columns = survey(relation, target, features=features, exclude=left_out, categories=categories, dates=dates)
    columns = [replace(each, why="it declares the draws") if each.name in drawn else each for each in columns]
    if group is not None and not any(column.name == group and column.kind for column in columns):
        raise InvalidInput(f"the group {group!r} must have at least two labels.")
    kinds = {column.name: column.kind for column in columns if column.kind}
    rest = [column.name for column in columns if not column.kind and column.name not in drawn]
    weights = drawn if isinstance(draws, Weighted) else ()
    numbers = [target, *weights, *(name for name, kind in kinds.items() if kind == "number")]
    relation = files.relation(inputs=numbers, surveyed=possible.intersection(rest))
    named_y, *named_draws = free_names(relation, 1 + len(drawn))
    wanted = [inputs_sql(relation, kinds), f"{numeric_sql(relation, target)} as {quoted(named_y)}", *map(quoted, rest)]
    read = numeric_sql if weights else label_sql
    wanted += [f"{read(relation, column)} as {quoted(name)}" for column, name in zip(drawn, named_draws, strict=True)]
    parts = list(batches(relation, ", ".join(wanted)))
    if not parts:
        raise InvalidInput("the table has no rows.")
    table = pd.concat(parts, ignore_index=True)
    y = table.pop(named_y).to_numpy(dtype=np.float64)
    if draws is not None and drawn:
        draws = draws.bind(*(table.pop(name).to_numpy() for name in named_draws))
    missing = np.isnan(y)
    if missing.any():
        where = f"the target {target!r} is missing in {name_rows(missing)}"
        if draws is not None and draws.kind.reads_whole_units:
            raise InvalidInput(
                f"{where}. A promise about whole units needs the targets of all their rows: without some of them, the "
                "largest error of a unit looks smaller than it is. --within one and --within average make promises "
                "about rows; with them, --drop-missing-target drops these rows."
            )
        if not drop_missing_target:
            raise InvalidInput(f"{where}; --drop-missing-target drops these rows.")
        note(f"Dropped {int(missing.sum())} of {len(y)} rows without a target.")
    rows = TrainingRows(columns, table.drop(columns=rest), y, table[rest], draws)
    return rows.take(np.flatnonzero(~missing))
