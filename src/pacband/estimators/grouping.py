"""The group of every row, read from X."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from pacband.core.cells import matching
from pacband.core.labels import as_labels
from pacband.exceptions import InvalidInput

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["Grouping", "match_groups", "read_labels"]

Grouping: TypeAlias = str | int | Callable[[Any], Any] | None


def read_labels(groups: Grouping, X: Any) -> npt.NDArray[Any] | None:
    """Return the label of every row, or None where there are no groups.

    Parameters
    ----------
    groups : str, int, function or None
        The name of a column of a dataframe, the position of a column, or a function of X that gives the labels.
    X : array-like or dataframe
        The rows.

    Examples
    --------
    >>> read_labels(1, [[0.5, "north"], [0.7, "south"]]).tolist()
    ['north', 'south']
    >>> read_labels(lambda X: X[:, 0] > 0, np.array([[-1.0], [2.0]])).tolist()
    [False, True]
    """
    if groups is None:
        return None
    return as_labels(groups(X) if callable(groups) else _column(groups, X))


def match_groups(model: Certified, table: Any) -> None:
    """Replace the groups of a pandas table by the labels of the certificate, where the table spells them differently.

    Changes `table` in place.
    """
    group = model.grouping_
    if isinstance(group, str):
        certificate: Any = model.certificate_
        match = matching(certificate.groups)
        table[group] = [match(cell) for cell in table[group]]


def _column(groups: Any, X: Any) -> Any:
    if not isinstance(groups, (str, int, np.integer)) or isinstance(groups, bool):
        raise InvalidInput(f"groups must be None, a column of X by name or position, or a function, got {groups!r}.")
    if issparse(X):
        raise InvalidInput("groups must be a function where X is sparse, because a sparse column has no labels.")
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        names = frame.columns
        if isinstance(groups, str):
            if groups not in names:
                raise InvalidInput(f"groups must be a column of X, {', '.join(map(repr, names))}; got {groups!r}.")
            return frame.get_column(groups).to_native()
        return frame.get_column(names[_position(int(groups), len(names))]).to_native()
    if isinstance(groups, str):
        raise InvalidInput(f"groups={groups!r} names a column, so that X must be a dataframe, got {type(X).__name__}.")
    table = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    if table.ndim != 2:
        raise InvalidInput(f"groups={groups} is a column, so that X must have shape (n, columns), got {table.shape}.")
    return table[:, _position(int(groups), table.shape[1])]


def _position(column: int, n_columns: int) -> int:
    if not -n_columns <= column < n_columns:
        raise InvalidInput(f"groups must be the position of one of the {n_columns} columns of X, got {column}.")
    return column
