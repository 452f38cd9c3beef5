"""Checks before certifying: whether the calibration rows are independent draws from one distribution."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pacband.certification.fitted import FittedModel, raw_rows
from pacband.certification.terms import Terms, check_draws
from pacband.checks import Finding
from pacband.core.arrays import check_same_rows
from pacband.core.checks import check_probability
from pacband.diagnostics.arrays import diagnose_rows
from pacband.diagnostics.diagnosis import Diagnosis
from pacband.diagnostics.units import with_seen_units
from pacband.draws import Draws
from pacband.draws.declaring import declare
from pacband.draws.kinds import SpacedDraws
from pacband.exceptions import InvalidInput
from pacband.planning import WHOLE

__all__ = ["Diagnosis", "Finding", "diagnose"]


def diagnose(
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    X: Any = None,
    groups: Any = None,
    training: Any = None,
    level: float = 0.01,
    eps: float | None = None,
    delta: float | None = None,
    side: str = "both",
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
    draws: Draws | None = None,
) -> Diagnosis:
    """Look for properties of the calibration rows that break the promise of a certificate.

    The checks are: serial dependence and drift of scores and errors, in row order and in the order of a column of
    dates; rows that resemble each other within a column of labels; duplicated rows; rows shared with `training`; a few
    scores that dominate; ties; groups beyond the bound; and a scale that does not explain the size of errors.

    In independent rows of one distribution, the probability of one or more findings that can break the promise is at
    most `level`: the checks share it by Holm's method. It counts notes as well if scores are continuous, do not depend
    on the scale, and have tails no heavier than exponential.

    Parameters
    ----------
    y, y_pred, scale
        As in `certify`, in the order in which the rows were drawn. With a `CertifiedRegressor` or `CertifiedFamily`,
        pass the model and raw rows: ``diagnose(model, X, y)``. The model predicts them, the promise is that of its
        certificate, and rows and units that the model was fitted on are found.
    X : array-like or dataframe, optional
        The inputs. They show which rows are copies of each other. The columns of a dataframe that hold texts or
        integers are also tried as labels, such as of machines, and a column of dates as the order of time.
    groups : array-like of shape (n,), optional
        A group for every row.
    training : pair (X, y), optional
        The rows on which the model was fitted; needs `X`.
    level : float in (0, 1)
        An upper bound for the probability of one or more findings in sound data.
    eps, delta : float in (0, 1)
        The planned promise, by default 0.05 and 1e-6. It determines the bound for the checks of groups and ties.
    side, min_scale, nonfinite, gauge, draws
        As in `certify`. With `draws`, the draws are checked: units are compared with each other. There is no `clip`:
        it changes no score, and so no finding.

    Returns
    -------
    Diagnosis
        Each finding states what was seen, how certain it is, its effect on the promise, and what to do.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal(1000)
    >>> pacband.diagnose(noise, np.zeros(1000)).sound
    True
    >>> for i in range(1, 1000):
    ...     noise[i] += 0.6 * noise[i - 1]
    >>> [finding.check for finding in pacband.diagnose(noise, np.zeros(1000)).findings]
    ['serial dependence']
    """
    level = check_probability("level", level)
    if isinstance(y, FittedModel):
        options = {"eps": eps, "delta": delta, "min_scale": min_scale, "X": X}
        options |= {"side": None if side == "both" else side, "nonfinite": None if nonfinite == "raise" else nonfinite}
        options["gauge"] = None if isinstance(gauge, str) and gauge == "max" else gauge
        rows = y.predict_rows(
            *raw_rows("diagnose(model, X, y)", y, y_pred, scale, **options), groups=groups, draws=draws
        )
        diagnosis = diagnose_rows(
            _terms_of(y, rows.draws),
            rows.y,
            rows.y_pred,
            rows.scale,
            X=rows.X,
            groups=rows.groups,
            training=y.known_training if training is None else training,
            level=level,
        )
        return with_seen_units(diagnosis, rows, y.certificate_.basis.draws.counted)
    eps, delta = 0.05 if eps is None else eps, 1e-6 if delta is None else delta
    terms = Terms.create(
        eps=eps, delta=delta, side=side, min_scale=min_scale, nonfinite=nonfinite, gauge=gauge, draws=draws
    )
    check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=groups, draws=terms.draws.row_values)
    if training is not None and X is None:
        raise InvalidInput("training rows were given, but not X: rows are compared in inputs and target.")
    return diagnose_rows(terms, y, y_pred, scale, X=X, groups=groups, training=training, level=level)


def _terms_of(model: FittedModel, draws: Draws | None) -> Terms:
    """Return the terms of a model's certificate, for rows that make these draws."""
    basis = model.certificate_.basis
    if draws is None and isinstance(basis.draws, SpacedDraws):
        draws = declare(basis.draws)
    return Terms(
        eps=basis.eps,
        delta=basis.delta,
        rank=None,
        rule="exact",
        # A range of y changes no score. Rows that left it are looked at as well.
        scoring=replace(basis.scoring, clip=None),
        share=WHOLE,
        draws=check_draws(draws),
    )
