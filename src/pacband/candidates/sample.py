"""The training rows of a search: read into a matrix, standardised, drawn, and split into folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pacband.candidates.reader import TableReader
from pacband.core.arrays import Floats
from pacband.exceptions import InvalidInput
from pacband.scale.crossfit import Folds, make_folds

__all__ = ["Sample", "draw_sample"]

# Screening uses at most this many rows.
_MOST_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class Sample:
    """Training rows, and those among them that are screened.

    Attributes
    ----------
    reader : TableReader
        Converts a table to the matrix.
    all_table, all_target : ndarray
        All rows: the matrix, and the standardised target.
    table, target : ndarray
        The rows that are screened.
    folds : list of (train, test)
        Their folds.
    location, unit : float
        The mean and the standard deviation of the target of all rows.
    seed : int
        Seeds the models.
    """

    reader: TableReader
    all_table: Floats
    all_target: Floats
    table: Floats
    target: Floats
    folds: Folds
    location: float
    unit: float
    seed: int


def draw_sample(
    X: Any,
    y: Floats,
    random: np.random.RandomState,
    kinds: Mapping[str, str] | None = None,
    clusters: npt.NDArray[Any] | None = None,
    *,
    plain_rows: bool = True,
) -> Sample:
    """Read a table of training rows, and draw the rows to screen and their folds.

    Parameters
    ----------
    X : array or dataframe of shape (n, columns)
        The rows.
    y : ndarray of shape (n,)
        Their targets, which are not constant.
    random : RandomState
        Draws the rows, the folds and the seed.
    kinds, clusters, plain_rows
        The kinds of the columns, the rows that stay in one fold, and whether rows are draws, as in `auto_candidates`.
    """
    reader = TableReader().fit(X, kinds=kinds, independent=plain_rows and clusters is None)
    table = reader.transform(X)
    if len(table) != len(y):
        raise InvalidInput(f"X and y must have one length, got {len(table)} and {len(y)}.")
    location, unit = float(y.mean()), float(y.std())
    target = (y - location) / unit
    seed = int(random.randint(2**31 - 1))
    rows = np.sort(random.permutation(len(y))[:_MOST_ROWS])
    # The more rows there are, the less a fit needs those of the fold that it leaves out.
    n_folds = 5 if len(rows) < 3000 else 4 if len(rows) < 15_000 else 3
    together = None if clusters is None else clusters[rows]
    folds = make_folds(n_folds, len(rows), together, random_state=seed)
    return Sample(reader, table, target, table[rows], target[rows], folds, location, unit, seed)
