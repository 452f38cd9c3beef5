"""A bound for every ε at once, so that ε may be chosen after looking at the scores.

The true violation probabilities V₁ ≤ V₂ ≤ … of the largest score, the second largest, … are the order
statistics of N uniform numbers (where scores are continuous; with ties they are smaller). One certificate bounds
one of them. A curve bounds them all: levels e₁ ≤ e₂ ≤ … such that

    P{V_r ≤ e_r for every r} ≥ 1 − δ.

Every level has the same chance η of failing alone, B(r − 1; N, e_r) = η, so that no part of the curve is favoured.
`pacband.certification.boundary` finds the largest η for which the chance that *any* of them fails is at most δ. The
inequality of Dvoretzky, Kiefer, Wolfowitz and Massart has the levels (r − 1)/N + sqrt(ln(1/δ)/2N), which are far from
these where ε is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pacband.certificate.about import About
from pacband.certificate.curve import Curve
from pacband.certification.boundary import Design, GivenLevels, SpacedRanks, largest_eta
from pacband.certification.terms import Terms
from pacband.checks.screening import screen_rows
from pacband.checks.warning import warn_of_findings
from pacband.core.arrays import Floats, check_same_rows
from pacband.core.checks import check_probability
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import WHOLE, DeltaShare, min_samples
from pacband.scores import ScoreRule, align, as_rows, row_shape, score_rows
from pacband.selection.ranked import Ranked

__all__ = ["Curve", "certify_curve", "curve_of_scores"]


def certify_curve(
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    delta: float = 1e-6,
    eps: float | Iterable[float] | None = None,
    max_eps: float = 0.5,
    side: str = "both",
    n_candidates: int = 1,
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
    clip: tuple[float | None, float | None] | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> Curve:
    """Certify the errors for every ε at once, so that ε may be chosen after looking at the curve.

    Parameters
    ----------
    y, y_pred, scale
        As in `certify`: rows that neither the predictor nor the scale has seen.
    delta : float in (0, 1)
        The largest probability that the curve fails at any ε.
    eps : float or iterable of float, optional
        Certify these ε only, all at once: a little sharper than the whole curve, and quick for any N. (Another
        ε then has the bound of the next smaller one.)
    max_eps : float in (0, 1)
        Without `eps`: the largest ε of interest. Above it, the bound stays what it is there.
    side, min_scale, nonfinite, gauge, clip, about
        As in `certify`.
    n_candidates : int
        The number n_F of models that you will choose from, if this is one of several. Each curve uses δ/n_F, so that
        all hold together, and the one that is chosen holds, with confidence 1 − δ.

    Notes
    -----
    From rank 256 on, the curve steps over ranks: by an eighth of √r, the spread of the r-th violation, or by
    r/150 where that is more. This costs next to no sharpness and keeps ten million samples a matter of seconds.

    References
    ----------
    .. [1] A. Moscovich, B. Nadler, "Fast calculation of boundary crossing probabilities for Poisson processes",
       Statistics & Probability Letters 123, 2017.
    .. [2] A. Moscovich, B. Nadler, C. Spiegelman, "On the exact Berk-Jones statistics and their p-value
       calculation", Electronic Journal of Statistics 10, 2016: levels of equal local chance.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> y = np.random.default_rng(0).standard_normal(2000)
    >>> curve = pacband.certify_curve(y, np.zeros(2000), delta=0.01)
    >>> [round(curve.gamma(eps), 2) for eps in (0.02, 0.05, 0.1)]
    [2.55, 2.11, 1.74]
    >>> curve.rank(0.05), pacband.max_rank(2000, 0.05, 0.01)  # what it costs to choose ε afterwards
    (69, 78)
    """
    max_eps = check_probability("max_eps", max_eps)
    terms = Terms.create(
        # A largest ε is no choice of ε: it may be more than half.
        eps=min(max_eps, 0.5),
        delta=delta,
        side=side,
        n_candidates=n_candidates,
        min_scale=min_scale,
        nonfinite=nonfinite,
        gauge=gauge,
        clip=clip,
        about=about,
    )
    grid = None if eps is None else _check_grid(eps)
    target = as_rows(terms.scoring, "y", y)
    check_same_rows(y=y, y_pred=y_pred, scale=scale)
    prediction, spread = align(terms.scoring, target, y_pred, scale)
    curve = curve_of_scores(
        score_rows(terms.scoring, target, prediction, spread),
        delta=terms.delta,
        share=terms.share,
        eps=grid,
        max_eps=max_eps,
        scoring=terms.scoring,
        **row_shape(target),
        scale_kind=spread.kind,
        about=terms.about,
    )
    warn_of_findings(screen_rows(terms.scoring, terms.draws.sample(len(target)), target, prediction, spread))
    return curve


def curve_of_scores(
    scores: Floats | Ranked,
    *,
    delta: float,
    share: DeltaShare = WHOLE,
    eps: tuple[float, ...] | None = None,
    max_eps: float = 0.5,
    scoring: ScoreRule,
    n_outputs: int,
    scale_kind: str,
    n_steps: int | None = None,
    about: About | None = None,
) -> Curve:
    """Return the curve of scores that were computed already, or of a summary that never understates them.

    The curve uses a share of δ: the even one of n_F candidates, or a candidate's weight.
    """
    n_samples, own_delta = len(scores), share.own_delta(delta)
    design: Design = SpacedRanks(max(1, int(max_eps * n_samples))) if eps is None else GivenLevels(eps)
    eta = largest_eta(n_samples, own_delta, design)
    levels, ranks = design.boundary(n_samples, eta)
    if not len(ranks):
        largest = max(eps or (max_eps,))
        needed = min_samples(largest, own_delta)
        raise NotEnoughSamples(
            f"eps={largest:g} and delta={delta:g} need at least {needed} samples, got n_samples={n_samples}.",
            n_samples=n_samples,
            needed=needed,
        )
    ranked = scores if isinstance(scores, Ranked) else Ranked.of(scores)
    return Curve(
        delta=delta,
        local_delta=eta,
        n_samples=n_samples,
        levels=tuple(levels.tolist()),
        ranks=tuple(ranks.tolist()),
        gammas=tuple(ranked.at(ranks).tolist()),
        scoring=scoring,
        n_outputs=n_outputs,
        n_steps=n_steps,
        scale_kind=scale_kind,
        scores=ranked.values,
        share=share,
        about=about or About(),
    )


def _check_grid(eps: float | Iterable[float]) -> tuple[float, ...]:
    values = eps if isinstance(eps, Iterable) else [eps]
    grid = tuple(sorted({check_probability("eps", value) for value in values}))
    if not grid:
        raise InvalidInput("eps must have at least one value, got none.")
    return grid
