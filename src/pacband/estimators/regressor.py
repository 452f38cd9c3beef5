"""One pair (T, σ̂), certified: Algorithms 1 and 2 as an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacband.candidates.members import Member
from pacband.certificate import About, Certificate, GroupCertificate
from pacband.certification.arrays import certify_group_rows, certify_rows
from pacband.certification.terms import Terms
from pacband.core.checks import check_positive_integer
from pacband.draws import Draws
from pacband.estimators.base import Certified
from pacband.estimators.division import Calibration
from pacband.estimators.grouping import Grouping
from pacband.planning import DeltaShare

__all__ = ["CertifiedRegressor"]


class CertifiedRegressor(Certified):
    """A regressor whose error is certified.

    Parameters
    ----------
    estimator : estimator or function
        The predictor T: anything that follows scikit-learn's conventions, a FrozenEstimator, or a function of X.
    scale : None, "std", estimator or function
        The scale σ̂: none, the predictor's own ``predict(X, return_std=True)``, an estimator with ``fit(X, y)``
        whose ``predict`` gives σ̂(x) > 0 (see `pacband.scale`), or a function of X. One that returns a tuple
        (lower, upper) makes an asymmetric band.
    eps, delta : float in (0, 1)
        The promise: with confidence 1 − δ, at least 1 − ε of future errors stay within the bound.
    rank, rule, side, min_scale, nonfinite, gauge, clip
        As in `certify`.
    n_candidates : int
        The number of such models that you will choose from by their certificates, if this is one of several.
    groups : None, str, int or function
        Make the promise within every group of rows, each of G groups at δ/G as in `certify_groups`. The group of a
        row is a column of X, by its name in a dataframe or by its position, or what a function of X gives. The
        models see that column like any other.
    draws : None, Units, Spaced or Weighted
        What one independent draw is, if it is not a row. The constructor takes no data: ``Units("machine")`` and
        ``Weighted("w", at_most=10)`` name a column of a dataframe X. This column is not a feature, and rows to predict
        need not have it. Pass labels and weights to ``fit(X, y, draws=...)``.
    calibration_size : int, float or None
        How many draws, or what share, `fit` keeps for calibration; with groups, of each group. None is what `plan`
        asks for or a fifth of the draws, whichever is more, but at most half. Draws are rows, units, or every gap-th
        row of a series; of weighted draws, it is the number of rows from which draws are accepted.
    random_state : int, RandomState or None
        Seeds the split.
    about : None, About or mapping
        Who issues the certificate, and which model and target it is about; see `About`. If anything is stated, the
        certificate states the digest of the fitted model as well, unless a part of it is a function or of a kind that
        pacband does not declare.

    Attributes
    ----------
    certificate_ : Certificate or GroupCertificate
        The promise.
    estimator_, scale_
        The fitted predictor and scale.

    Notes
    -----
    Put pipelines and searches *inside*: ``CertifiedRegressor(make_pipeline(...))``. A step outside, such as feature
    selection or ``GridSearchCV`` around this estimator, sees the y of rows that then calibrate, and the promise is
    void; unless `calibration` rows are passed to `fit` that nothing outside has seen.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pacband import CertifiedRegressor, datasets
    >>> X, y = datasets.paper_sample(5000, random_state=0)
    >>> model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, y)
    >>> print(model.certificate_.promise)
    With confidence 99 %, at least 90 % of future errors satisfy |y − T(x)| ≤ 13.0872.
    >>> model.predict_interval(X[:1]).shape
    (1, 2)

    Within groups, here the left and the right half of the line:

    >>> model = CertifiedRegressor(
    ...     LinearRegression(), eps=0.1, delta=0.01, groups=lambda X: X[:, 0] > 0, random_state=0
    ... ).fit(X, y)
    >>> list(model.certificate_.groups)
    [False, True]

    Several rows of every machine, and new machines to come. The column of machines is not a feature:

    >>> import numpy as np, pandas as pd
    >>> from pacband.draws import Units
    >>> rng = np.random.default_rng(0)
    >>> machine = np.repeat(np.arange(300), 10)
    >>> rows = pd.DataFrame({"machine": machine, "load": rng.uniform(size=3000)})
    >>> wear = 3 * rows["load"] + rng.standard_normal(300)[machine] + 0.1 * rng.standard_normal(3000)
    >>> model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05, draws=Units("machine"), random_state=0)
    >>> print(model.fit(rows, wear).certificate_.promise)
    With confidence 95 %, at least 90 % of future machines keep all their errors within |y − T(x)| ≤ 2.44744.
    >>> model.predict_interval(rows[["load"]][:1]).round(1)
    array([[-0.4,  4.5]])
    """

    file_kind = "regressor"
    certificate_: Certificate | GroupCertificate

    def __init__(
        self,
        estimator: Any,
        *,
        scale: Any = None,
        eps: float = 0.05,
        delta: float = 1e-6,
        rank: int | None = None,
        rule: str = "exact",
        side: str = "both",
        n_candidates: int = 1,
        min_scale: float | None = None,
        nonfinite: str = "raise",
        gauge: Any = "max",
        clip: tuple[float | None, float | None] | None = None,
        groups: Grouping = None,
        draws: Draws | None = None,
        calibration_size: int | float | None = None,
        random_state: Any = None,
        about: About | Mapping[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.scale = scale
        self.eps = eps
        self.delta = delta
        self.rank = rank
        self.rule = rule
        self.side = side
        self.n_candidates = n_candidates
        self.min_scale = min_scale
        self.nonfinite = nonfinite
        self.gauge = gauge
        self.clip = clip
        self.groups = groups
        self.draws = draws
        self.calibration_size = calibration_size
        self.random_state = random_state
        self.about = about

    def _declare_members(self) -> dict[str, Member]:
        return {"estimator": Member(self.estimator, self.scale)}

    def _share_delta(self) -> list[DeltaShare]:
        return [DeltaShare(check_positive_integer("n_candidates", self.n_candidates))]

    def _certify(self, terms: Terms, members: dict[str, Member], rows: Calibration) -> Certificate | GroupCertificate:
        prediction, scale = members["estimator"].predict_with_scale(rows.X)
        if rows.labels is not None:
            return certify_group_rows(terms, rows.y, prediction, rows.labels, scale, others=rows.others)
        return certify_rows(terms, rows.y, prediction, scale, others=rows.others)

    def set_fitted(self, members: dict[str, Member], certificate: Certificate | GroupCertificate) -> None:
        """Set the fitted attributes: from here on, this certificate belongs to these members."""
        self.members_, self.certificate_ = members, certificate
        self.estimator_, self.scale_ = members["estimator"].predictor, members["estimator"].scale

    def _select(self, name: str | None) -> tuple[Member, Certificate | GroupCertificate]:
        return self.members_["estimator"], self.certificate_
