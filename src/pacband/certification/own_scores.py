"""`certify_scores`: Property 1 itself, for any scalar score that the user computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacband.certificate import About, Certificate
from pacband.certificate.about import as_about
from pacband.certification.arrays import certify_rows
from pacband.certification.terms import Terms, check_draws
from pacband.certification.tolerance import ToleranceTerms, default_eps, refuse_with_tolerance
from pacband.core.arrays import as_numbers
from pacband.core.checks import check_positive_integer
from pacband.draws import Draws
from pacband.exceptions import InvalidInput
from pacband.planning import DeltaShare, check_choice_of_rank
from pacband.scores import ScoreRule

__all__ = ["certify_scores", "own_terms"]


def certify_scores(
    scores: Any,
    *,
    eps: float | None = None,
    delta: float = 1e-6,
    rank: int | None = None,
    rule: str = "exact",
    tolerance: float | None = None,
    n_candidates: int = 1,
    nonfinite: str = "raise",
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> Certificate:
    """Certify scores that you compute yourself: at least 1 − ε of future scores are at most γ̄ (Property 1).

    Any scalar serves: a loss, a distance, a runtime, a margin of a constraint. The certificate bounds the score; it has
    no band around a prediction. `check`, `Monitor.update`, `report` and `Certificate.verify` take the scores in place
    of y, without predictions.

    Parameters
    ----------
    scores : array-like of shape (n,)
        The calibration scores; large is bad. Nothing that computes them may have been built from these rows.
    eps : float in (0, 1), optional
        As in `certify`; by default 0.05. With a tolerance it must be left out.
    delta, rank, rule, n_candidates, draws, about
        As in `certify`.
    tolerance : float, optional
        A given bound on the score: ε is then found, as in `certify_tolerance`.
    nonfinite : {"raise", "violate"}
        Refuse scores that are NaN or infinite, or count each of them as +∞, which keeps the promise.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np, pacband
    >>> seconds = np.random.default_rng(0).gamma(2.0, 0.5, 2000)
    >>> cert = pacband.certify_scores(seconds, eps=0.05, delta=1e-6)
    >>> print(cert.promise)
    With confidence 99.9999 %, at least 95 % of future scores are at most 2.8073.
    >>> pacband.check(cert, np.random.default_rng(1).gamma(2.0, 0.5, 500)).holds
    True

    Success-run testing: 59 tests without a failure show a reliability of 95 % with confidence 95 %.

    >>> pacband.certify_scores(np.zeros(59), tolerance=0.5, delta=0.05).eps <= 0.05
    True
    """
    terms = own_terms(
        eps=eps,
        delta=delta,
        rank=rank,
        rule=rule,
        tolerance=tolerance,
        n_candidates=n_candidates,
        nonfinite=nonfinite,
        draws=draws,
        about=about,
    )
    column = as_numbers("scores", scores)
    if column.ndim != 1:
        raise InvalidInput(f"scores must have shape (n,): one score a row, got {column.shape}.")
    if isinstance(terms, ToleranceTerms):
        return terms.certify_rows(column, None)
    return certify_rows(terms, column, None)


def own_terms(
    *,
    eps: Any,
    delta: Any,
    rank: Any,
    rule: Any,
    tolerance: Any,
    n_candidates: Any,
    nonfinite: Any,
    draws: Any,
    about: Any = None,
) -> Terms | ToleranceTerms:
    """Check what a user passed for own scores, or raise."""
    scoring = ScoreRule.of_own_scores(nonfinite)
    if tolerance is not None:
        refuse_with_tolerance(eps=eps, rank=rank, rule=rule)
        return ToleranceTerms.create(
            tolerance=tolerance, delta=delta, scoring=scoring, n_candidates=n_candidates, draws=draws, about=about
        )
    eps, delta, rank = check_choice_of_rank(default_eps(eps), delta, rank, rule)
    share = DeltaShare(check_positive_integer("n_candidates", n_candidates))
    return Terms(
        eps=eps,
        delta=delta,
        rank=rank,
        rule=rule,
        scoring=scoring,
        share=share,
        draws=check_draws(draws),
        about=as_about(about),
    )
