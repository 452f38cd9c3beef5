"""`certify_tolerance`: the bound is given first, and the share of errors within it is found.

Property 1 read the other way. A tolerance t is chosen before looking at the scores. Of N scores, k exceed it. Let ε be
the smallest share with B(k; N, ε) ≤ δ, the upper bound of Clopper and Pearson. Then, with confidence 1 − δ, a future
score exceeds t with probability at most ε. This is a certificate of rank k + 1 whose bound is t. A tolerance that is
chosen after looking at the scores needs a bound for every ε at once: `certify_curve`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pacband.certificate import About, Certificate, Promise
from pacband.certificate.about import as_about
from pacband.certificate.promise import assumptions_of
from pacband.certificate.single import issue
from pacband.certification.terms import check_draws
from pacband.checks.scored import Others
from pacband.checks.screening import screen_rows
from pacband.checks.warning import warn_of_findings
from pacband.core.arrays import check_same_rows
from pacband.core.checks import check_positive, check_positive_integer, check_probability
from pacband.draws import Draws, Rows
from pacband.exceptions import InvalidInput
from pacband.planning import DeltaShare, attained_eps
from pacband.planning.limits import SMALLEST_EPS
from pacband.planning.mistakes import warn_of_mistakes
from pacband.planning.solving import smallest_eps
from pacband.scores import ScoreRule, align, as_rows, row_shape, score_rows
from pacband.scores.columns import Columns
from pacband.selection import Measured, Request, Tally, edges_above, tally
from pacband.selection.fingerprint import fingerprint_unit, seal

__all__ = ["ToleranceTerms", "certify_tolerance", "default_eps", "refuse_with_tolerance"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToleranceTerms:
    """What a user asks for with a given bound.

    Attributes
    ----------
    tolerance : float
        The bound t on the score.
    delta : float
        δ.
    scoring : ScoreRule
        How a row is scored.
    share : DeltaShare
        The part of δ that the certificate may use: all of it, or the even part of n_F candidates.
    draws : Draws
        What one independent draw is.
    about : About
        Who issues the certificate, and which model and target it is about.
    """

    tolerance: float
    delta: float
    scoring: ScoreRule
    share: DeltaShare
    draws: Draws = Rows()  # noqa: RUF009 (it has no state)
    about: About = About()  # noqa: RUF009 (it cannot be changed)

    @classmethod
    def create(
        cls,
        *,
        tolerance: Any,
        delta: Any,
        scoring: ScoreRule,
        n_candidates: Any = 1,
        draws: Any = None,
        about: Any = None,
    ) -> Self:
        """Check what a user passed, or raise."""
        delta, n_candidates = check_probability("delta", delta), check_positive_integer("n_candidates", n_candidates)
        # Raises unless δ/n_F is a budget that is decided exactly.
        attained_eps(1, 1, delta, n_candidates)
        draws = check_draws(draws)
        if draws.kind.averages:
            raise InvalidInput("a tolerance cannot be combined with within='average': use 'all', a share or 'one'.")
        warn_of_mistakes(delta=delta)
        share = DeltaShare(n_candidates)
        if (used := draws.kind.slack(1)) >= share.budget(delta):
            raise InvalidInput(
                f"interval_delta or mixing of the draws uses up {float(used):g} or more, and delta={delta:g} leaves "
                f"{float(share.budget(delta)):g} to this certificate: declare less, or let delta be larger."
            )
        return cls(
            tolerance=_check_tolerance(tolerance, scoring),
            delta=delta,
            scoring=scoring,
            share=share,
            draws=draws,
            about=as_about(about),
        )

    @property
    def request(self) -> Request:
        """What a pass over the scores must count: the scores beyond the tolerance, and the fingerprint."""
        return Request(edges_above(self.tolerance), fingerprint_unit(self.tolerance))

    def certify_rows(
        self,
        y: Any,
        y_pred: Any,
        scale: Any = None,
        *,
        columns: Columns | None = None,
        others: Others | None = None,
    ) -> Certificate:
        """Certify rows in memory, and warn if they do not look independent.

        `columns` names the columns if they come from a table. `others` returns the other columns of that table.
        """
        check_same_rows(y=y, y_pred=y_pred, scale=scale, draws=self.draws.row_values)
        target = as_rows(self.scoring, "y", y)
        prediction, spread = align(self.scoring, target, y_pred, scale)
        sample = self.draws.sample(len(target))
        scores = sample.worst_at(sample.reduce(score_rows(self.scoring, target, prediction, spread)), self.tolerance)
        certificate = self.certify_count(
            tally(scores, self.request), **row_shape(target), scale_kind=spread.kind, columns=columns
        )
        warn_of_findings(screen_rows(self.scoring, sample, target, prediction, spread, others=others))
        return certificate

    def certify_count(
        self,
        found: Tally,
        *,
        n_outputs: int,
        scale_kind: str,
        n_steps: int | None = None,
        columns: Columns | None = None,
    ) -> Certificate:
        """Make the certificate of counted scores, or raise if no share can be promised."""
        n_samples, beyond = found.n_samples, sum(found.at_least)
        if beyond == n_samples:
            raise InvalidInput(
                f"all {n_samples} calibration scores exceed the tolerance {self.tolerance:g}: no share can be promised."
            )
        rank = beyond + 1
        # ε below 1e-9 is not decided exactly; a larger ε is promised as well.
        budget = self.share.budget(self.delta) - self.draws.kind.slack(n_samples)
        eps = max(SMALLEST_EPS, smallest_eps(n_samples, rank, budget)) if budget > 0 else 1.0
        if eps >= 1.0:
            raise InvalidInput(
                f"{beyond} of {n_samples} calibration scores exceed the tolerance {self.tolerance:g}: at "
                f"delta={self.delta:g} no share can be promised."
            )
        basis = Promise(
            eps=eps,
            delta=self.delta,
            scoring=self.scoring,
            scale_kind=scale_kind,
            n_outputs=n_outputs,
            n_steps=n_steps,
            columns=columns,
            assumptions=assumptions_of(self.scoring, self.draws.kind, bound_given=True, runs=n_steps is not None),
            bound_given=True,
            draws=self.draws.kind,
            about=self.about,
        )
        measured = Measured(n_samples, self.tolerance, seal(n_samples, found.total))
        return issue(basis, measured, rank, self.share)


def certify_tolerance(
    y: Any,
    y_pred: Any,
    tolerance: float,
    scale: Any = None,
    *,
    delta: float = 1e-6,
    side: str = "both",
    n_candidates: int = 1,
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
    clip: tuple[float | None, float | None] | None = None,
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> Certificate:
    """Certify the share of errors within a given tolerance.

    The tolerance must be chosen before looking at the scores. If k of N scores exceed it, ε is the smallest share with
    B(k; N, ε) ≤ δ/n_F.

    Parameters
    ----------
    y, y_pred, scale
        Calibration rows, as in `certify`.
    tolerance : float
        The bound on the score: without a scale in units of y, with a scale in units of σ̂(x).
    delta : float in (0, 1)
        The promise fails with probability at most δ.
    side, n_candidates, min_scale, nonfinite, gauge, clip, draws, about
        As in `certify`.

    Returns
    -------
    Certificate
        `gamma` is the tolerance, `eps` is the share that was found, and `rank` − 1 scores exceed the tolerance.

    Raises
    ------
    InvalidInput
        If all scores exceed the tolerance, or nearly all: no share can be promised.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> errors = np.random.default_rng(0).standard_normal(1000)
    >>> cert = pacband.certify_tolerance(errors, np.zeros(1000), 2.5, delta=0.05)
    >>> cert.rank - 1, round(cert.eps, 6)
    (13, 0.020589)
    >>> print(cert.promise)
    With confidence 95 %, at least 97.941 % of future errors satisfy |y − T(x)| ≤ 2.5.
    """
    scoring = ScoreRule.create(side=side, gauge=gauge, min_scale=min_scale, nonfinite=nonfinite, clip=clip)
    terms = ToleranceTerms.create(
        tolerance=tolerance, delta=delta, scoring=scoring, n_candidates=n_candidates, draws=draws, about=about
    )
    return terms.certify_rows(y, y_pred, scale)


def refuse_with_tolerance(*, rank: int | None, rule: str, eps: float | None = None) -> None:
    """Raise if options are given that a tolerance decides."""
    if rank is not None or rule != "exact":
        raise InvalidInput("a tolerance cannot be combined with rank or rule: the rank follows from the count.")
    if eps is not None:
        raise InvalidInput(f"with a tolerance, eps is found: leave it out, got {eps!r}.")


def default_eps(eps: Any) -> Any:
    """Return ε as it is given; without one, and without a tolerance, it is 0.05."""
    return 0.05 if eps is None else eps


def _check_tolerance(tolerance: Any, scoring: ScoreRule) -> float:
    if scoring.side == "both":
        return check_positive("tolerance", tolerance, or_zero=True)
    try:
        number = math.nan if isinstance(tolerance, (bool, str, bytes)) else float(tolerance)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(f"tolerance must be a finite number, got {tolerance!r}.")
    return number
