"""One pair (T, σ̂), certified: Algorithms 1 and 2 as an estimator."""

from __future__ import annotations

from typing import Any

from pacband.candidates.members import Member
from pacband.certificate import Certificate, GroupCertificate
from pacband.certification.arrays import certify_group_rows, certify_rows
from pacband.certification.terms import Terms
from pacband.core.checks import check_positive_integer
from pacband.estimators.base import Calibration, Certified
from pacband.estimators.grouping import Grouping
from pacband.planning import Share

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
    rank, rule, side, min_scale, nonfinite, gauge
        As in `certify`.
    n_candidates : int
        The number of such models that you will choose from by their certificates, if this is one of several.
    groups : None, str, int or function
        Make the promise within every group of rows, each of G groups at δ/G as in `certify_groups`. The group of a
        row is a column of X, by its name in a dataframe or by its position, or what a function of X gives. The
        models see that column like any other.
    calibration_size : int, float or None
        How many rows, or what share, `fit` keeps for calibration; with groups, of each group. None is what `plan`
        asks for or a fifth of the rows, whichever is more, but at most half.
    random_state : int, RandomState or None
        Seeds the split.

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
        groups: Grouping = None,
        calibration_size: int | float | None = None,
        random_state: Any = None,
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
        self.groups = groups
        self.calibration_size = calibration_size
        self.random_state = random_state

    def _declare_members(self) -> dict[str, Member]:
        return {"estimator": Member(self.estimator, self.scale)}

    def _share_delta(self) -> list[Share]:
        return [Share(check_positive_integer("n_candidates", self.n_candidates))]

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
