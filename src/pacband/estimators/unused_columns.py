"""Checks of rows by the columns that a model does not use, such as the machine or the day of each row."""

from __future__ import annotations

from typing import Any

from pacband.checks.frames import columns_of_frame
from pacband.checks.screening import check_times, screen_columns
from pacband.checks.warning import warn_of_findings
from pacband.estimators.family import CertifiedFamily
from pacband.scores import spread_of

__all__ = ["check_order_of_time", "check_unused_columns"]


def check_unused_columns(family: CertifiedFamily, X: Any, y: Any, unused: Any) -> None:
    """Warn if rows that calibrated resemble each other within a column that the model does not use.

    X, y and `unused` have all rows that `fit` got; X and `unused` are dataframes.
    """
    if not len(unused.columns):
        return
    # The split depends on the seed alone, so this is the split of `fit`.
    _, rows, _, target = family.split_rows(X, y)
    others = columns_of_frame(unused.loc[rows.index])
    assert others is not None  # a dataframe has columns
    prediction, scale = family.predict_with_scale(rows)
    scoring = family.certificate_.basis.scoring
    groups = None if family.groups is None else rows[family.groups].to_numpy()
    warn_of_findings(
        screen_columns(scoring, target, prediction, spread_of(scoring, scale, target.shape), others, groups=groups)
    )


def check_order_of_time(unused: Any) -> None:
    """Warn if the rows of a series are not in the order of a column of times."""
    others = columns_of_frame(unused)
    assert others is not None  # a dataframe has columns
    finding = check_times(others(slice(0, len(unused))))
    warn_of_findings([] if finding is None else [finding])
