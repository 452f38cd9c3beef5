"""Terms and scores make a certificate: Algorithm 1, Algorithm 2 and Theorem 1 are one mechanism.

The rank is chosen from (N, ε, δ, n_F) alone. Then the scores are computed, and the score at that rank is the bound. A
constant scale is Algorithm 1, any other scale Algorithm 2; a family of one candidate is either of them.

The public functions check their options and make `Terms`. The functions behind them (`certify_rows`, …) take terms, and
serve tables and estimators as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pacband.certificate import About, Certificate, FamilyCertificate, GroupCertificate
from pacband.certificate.family import check_candidates, split_candidate
from pacband.certification.bounding import certify_draws
from pacband.certification.reused_rows import check_predicted, read_training, refuse_reused_rows
from pacband.certification.terms import Terms
from pacband.checks.scored import Others
from pacband.checks.screening import screen_rows
from pacband.checks.warning import warn_of_findings
from pacband.core.arrays import check_lengths, check_same_rows
from pacband.core.frozen import FrozenMap
from pacband.core.labels import as_labels, listed
from pacband.core.members import as_masks, cells_of, group_members
from pacband.core.row_hashes import row_fingerprints
from pacband.draws import Draws, Spaced
from pacband.exceptions import InvalidInput
from pacband.planning.shares import DeltaShare, weighted_shares
from pacband.scores import align, as_rows, mean_offset, mean_scale, row_shape, score_rows, unanswered
from pacband.scores.columns import Columns

__all__ = [
    "certify",
    "certify_family",
    "certify_family_rows",
    "certify_group_rows",
    "certify_groups",
    "certify_rows",
]


def certify(
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
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
    draws: Draws | None = None,
    training: Any = None,
    about: About | Mapping[str, Any] | None = None,
) -> Certificate:
    """Certify the errors of a predictor on data it has not seen (Algorithms 1 and 2).

    Parameters
    ----------
    y : array-like of shape (n,), (n, k) or (n, H, k)
        Targets of the calibration rows: numbers, k outputs, or runs of H steps with k outputs each. Not one of them may
        have been used to build the predictor or the scale. Runs must be independent of each other: sliding windows of
        one run are not.
    y_pred : array-like, same shape
        Their predictions T(x).
    scale : array-like, pair of array-likes, float, optional
        σ̂(x) > 0, the expected size of the error: one value per row (or per row and output; for runs per step, (n, H),
        see `pacband.scale.HorizonScale`). A tuple (lower, upper) makes an asymmetric band. Without it, the bound is
        the same for every x.
    eps, delta : float in (0, 1)
        The promise: with confidence 1 − δ, at least 1 − ε of future errors stay within the bound.
    rank : int, optional
        Take the score of this rank from the top. By default `rule` chooses it.
    rule : {"exact", "paper", "maximum"}
        See `plan`.
    side : {"both", "upper", "lower"}
        Bound |y − T|, or y − T from above, or T − y from above.
    n_candidates : int
        The number n_F of models that you will choose from, if this is one of several.
    min_scale : float, optional
        A floor under σ̂, at calibration and at prediction alike. Without it a scale ≤ 0 or NaN is refused.
    nonfinite : {"raise", "violate"}
        Refuse NaN and infinite predictions, or count them as infinite errors, which keeps the promise.
    gauge : "max", positive definite matrix of shape (k, k) or (H, k, k), or Share
        With k outputs: the largest scaled error, or sqrt(eᵀ Σ⁻¹ e). For runs, all steps count, each by its own matrix
        if there are H; with a `Share`, at least that share of the steps.
    clip : pair (low, high), optional
        The range that y never leaves, such as ``(0, None)``: the ends of the band are clipped to it, and the promise
        stays. A row outside of it is refused here; fresh rows outside of it are violations for `check` and `Monitor`.
        Predictions and the bound γ̄ do not change. If the whole band lies outside of the range, both ends are the
        nearest end of the range. The clipped width does not choose the sharpest candidate of a family.
    draws : Units, Spaced or Weighted, optional
        What one independent draw is, if it is not a row; see `pacband.draws`.
    training : pair (y_pred, y), optional
        Predictions and targets of the rows that the model was fitted on. If more calibration rows are among them than
        agree by chance, they are refused. Without it, pacband cannot see which rows a model was fitted on.
    about : About or mapping, optional
        Who issues the certificate, and which model and target it is about; see `About`.

    Returns
    -------
    Certificate

    Raises
    ------
    NotEnoughSamples
        If n rows are too few for (ε, δ). The message states how many are needed, and what these can promise.
    InvalidInput, InvalidScale
        If the input breaks one of the rules above. The message states which, and in which rows.
    ReusedData
        If rows of `training` are among the calibration rows.

    Warns
    -----
    PromiseWarning
        If rows do not look like independent draws from one distribution. In sound data that has a probability of at
        most 1e-4. `diagnose` looks closer.
    UnlikelyPromise
        If ε or δ is more than half, which is usually a mistake.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, 2000)
    >>> y = np.sin(x) + (0.1 + 0.1 * np.abs(x)) * rng.standard_normal(2000)
    >>> cert = pacband.certify(y, np.sin(x), scale=0.1 + 0.1 * np.abs(x), eps=0.05, delta=1e-6)
    >>> print(cert.promise)
    With confidence 99.9999 %, at least 95 % of future errors satisfy |y − T(x)| ≤ 2.14183·σ̂(x).
    >>> cert.interval(y_pred=[0.0], scale=[0.2]).round(3)
    array([[-0.428,  0.428]])
    """
    terms = Terms.create(
        eps=eps,
        delta=delta,
        rank=rank,
        rule=rule,
        side=side,
        n_candidates=n_candidates,
        min_scale=min_scale,
        nonfinite=nonfinite,
        gauge=gauge,
        clip=clip,
        draws=draws,
        about=about,
    )
    if training is not None:
        seen, fitted = read_training(training, "(y_pred, y)")
        if fitted is not None:
            check_predicted(fitted, seen, (y_pred, y))
        refuse_reused_rows(seen, row_fingerprints(y_pred, y), (y_pred, y), fitted=fitted)
    return certify_rows(terms, y, y_pred, scale)


def certify_family(
    y: Any,
    candidates: Mapping[str, Any],
    *,
    eps: float = 0.05,
    delta: float = 1e-6,
    weights: Mapping[str, float] | Iterable[float] | None = None,
    rank: int | None = None,
    rule: str = "exact",
    side: str = "both",
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
    clip: tuple[float | None, float | None] | None = None,
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> FamilyCertificate:
    """Certify a family of candidates at once, and pick the sharpest at no loss of the promise (Theorem 1).

    Each candidate is certified at δ/n_F, or at δ·w_j with prior weights. Then all hold together with confidence
    1 − δ, and the best may be chosen afterwards: the one with the smallest mean of γ̄_j·σ̂_j(x_i). With
    nonfinite="violate", a candidate that predicts NaN in some rows has no finite band there, and an infinite mean.

    Parameters
    ----------
    y : array-like
        Targets of the calibration rows.
    candidates : mapping of str to y_pred or (y_pred, scale)
        The predictions, and scales where there are any, of each candidate on the same rows.
    weights : mapping or sequence of float, optional
        The part of δ that each candidate may use; positive, summing to one. Choose it before looking at y. A mapping or
        a pandas Series is matched by name, a sequence by position.
    eps, delta, rank, rule, side, min_scale, nonfinite, gauge, clip, draws, about
        As in `certify`.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, 2000)
    >>> y = np.sin(x) + (0.1 + 0.1 * np.abs(x)) * rng.standard_normal(2000)
    >>> family = pacband.certify_family(
    ...     y,
    ...     {"zero": np.zeros(2000), "sine": np.sin(x), "scaled": (np.sin(x), 0.1 + 0.1 * np.abs(x))},
    ... )
    >>> family.best
    'scaled'
    """
    check_candidates(candidates)
    terms = Terms.create(
        eps=eps,
        delta=delta,
        rank=rank,
        rule=rule,
        side=side,
        min_scale=min_scale,
        nonfinite=nonfinite,
        gauge=gauge,
        clip=clip,
        draws=draws,
        about=about,
    )
    return certify_family_rows(terms, y, candidates, weighted_shares(weights, list(candidates)))


def certify_groups(
    y: Any,
    y_pred: Any,
    groups: Any,
    scale: Any = None,
    *,
    eps: float = 0.05,
    delta: float = 1e-6,
    rule: str = "exact",
    side: str = "both",
    n_candidates: int = 1,
    min_scale: float | None = None,
    nonfinite: str = "raise",
    gauge: Any = "max",
    clip: tuple[float | None, float | None] | None = None,
    draws: Draws | None = None,
    about: About | Mapping[str, Any] | None = None,
) -> GroupCertificate:
    """Certify the errors within every group of rows: each of G groups at δ/G, so that all hold together.

    An overall promise may hold on average and fail in every row of a small group. This promise holds in each group.
    The groups must not depend on the errors. They may overlap: a row in several groups has the largest of their bounds.

    Parameters
    ----------
    y, y_pred, scale
        As in `certify`.
    groups : array-like of shape (n,), or mapping of str to mask
        The group of every row: strings, numbers or booleans. For groups that overlap, the mask of every group, True for
        the rows in it. Every row must be in a group: only groups have a bound. To give the other rows a bound as well,
        add a group of all rows.
    eps, delta, rule, side, n_candidates, min_scale, nonfinite, gauge, clip, draws, about
        As in `certify`; each of n_F candidates in each of G groups is certified at δ/(n_F·G).

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> site = np.repeat(["north", "south"], 1000)
    >>> y = np.where(site == "north", 1.0, 3.0) * rng.standard_normal(2000)
    >>> cert = pacband.certify_groups(y, np.zeros(2000), site, eps=0.1, delta=0.01)
    >>> cert.interval([0.0, 0.0], ["north", "south"]).round(1)
    array([[-1.7,  1.7],
           [-5.5,  5.5]])

    Groups that overlap:

    >>> masks = {"all": np.ones(2000, bool), "south": site == "south"}
    >>> cert = pacband.certify_groups(y, np.zeros(2000), masks, eps=0.1, delta=0.01)
    >>> cert.interval([0.0, 0.0], {"all": [True, True], "south": [False, True]}).round(1)
    array([[-4.2,  4.2],
           [-5.5,  5.5]])
    """
    terms = Terms.create(
        eps=eps,
        delta=delta,
        rule=rule,
        side=side,
        n_candidates=n_candidates,
        min_scale=min_scale,
        nonfinite=nonfinite,
        gauge=gauge,
        clip=clip,
        draws=draws,
        about=about,
    )
    return certify_group_rows(terms, y, y_pred, groups, scale)


def certify_rows(
    terms: Terms,
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    columns: Columns | None = None,
    others: Others | None = None,
    screen: bool = True,
) -> Certificate:
    """Certify rows on these terms, and warn if they do not look independent, unless `screen` is false.

    `columns` names the columns if they come from a table. `others` returns the other columns of that table.
    """
    check_same_rows(y=y, y_pred=y_pred, scale=scale, draws=terms.draws.row_values)
    target = as_rows(terms.scoring, "y", y)
    sample = terms.draws.sample(len(target))
    rank = terms.choose_rank(sample.n_draws)
    prediction, spread = align(terms.scoring, target, y_pred, scale)
    scores = sample.reduce(score_rows(terms.scoring, target, prediction, spread))
    basis = terms.promise(**row_shape(target), scale_kind=spread.kind, columns=columns)
    certificate = certify_draws(terms, basis, sample, scores, rank, terms.share)
    if screen:
        warn_of_findings(screen_rows(terms.scoring, sample, target, prediction, spread, others=others))
    return certificate


def certify_family_rows(
    terms: Terms,
    y: Any,
    candidates: Mapping[str, Any],
    shares: Mapping[str, DeltaShare],
    *,
    columns: Mapping[str, Columns] | None = None,
    others: Others | None = None,
) -> FamilyCertificate:
    """Certify the candidates of a family on these terms, each at its share of δ.

    Warns if the errors of the best one do not look independent; `others` as in `certify_rows`.
    """
    check_same_rows(y=y, draws=terms.draws.row_values)
    target, scoring = as_rows(terms.scoring, "y", y), terms.scoring
    sample = terms.draws.sample(len(target))
    ranks = terms.family_ranks(sample.n_draws, shares)
    aligned = {}
    for name, candidate in candidates.items():
        y_pred, scale = split_candidate(candidate)
        check_same_rows(y=y, **{f"candidate {name!r}": y_pred, f"the scale of candidate {name!r}": scale})
        aligned[name] = align(scoring, target, y_pred, scale, name=f"y_pred of candidate {name!r}")

    certificates, scales, offsets, without_band = {}, {}, {}, {}
    for name, (prediction, spread) in aligned.items():
        try:
            scores = sample.reduce(score_rows(scoring, target, prediction, spread))
        except InvalidInput as error:
            raise type(error)(f"candidate {name!r}: {error}") from None
        basis = terms.promise(
            **row_shape(target), scale_kind=spread.kind, columns=None if columns is None else columns[name]
        )
        certificates[name] = certify_draws(terms, basis, sample, scores, ranks[name], shares[name])
        scales[name] = mean_scale(scoring, spread)
        offsets[name] = mean_offset(scoring, target, prediction)
        without_band[name] = unanswered(prediction)
    family = FamilyCertificate.of(certificates, scales, offsets, without_band)
    warn_of_findings(screen_rows(scoring, sample, target, *aligned[family.best], others=others))
    return family


def certify_group_rows(
    terms: Terms,
    y: Any,
    y_pred: Any,
    groups: Any,
    scale: Any = None,
    *,
    columns: Columns | None = None,
    others: Others | None = None,
    screen: bool = True,
) -> GroupCertificate:
    """Certify the rows within every group on these terms, each at an even part of their share.

    Warns if the rows of one group do not look independent; `others` and `screen` as in `certify_rows`.
    """
    overlapping = isinstance(groups, Mapping)
    masks = tuple(groups.values()) if overlapping else groups
    check_same_rows(y=y, y_pred=y_pred, groups=masks, scale=scale, draws=terms.draws.row_values)
    target = as_rows(terms.scoring, "y", y)
    # Rows of groups that overlap are compared with rows in the same groups.
    labels = cells_of(as_masks(groups)) if overlapping else as_labels(groups)
    check_lengths(y=target, groups=labels)
    if isinstance(terms.draws, Spaced):
        raise InvalidInput("Spaced draws cannot be combined with groups: certify the series of every group by itself.")
    sample = terms.draws.sample(len(target))
    members = group_members(groups, sample.assign)
    if empty := [label for label, places in members.items() if not len(places)]:
        raise InvalidInput(f"every group needs rows: {listed(empty)} {'has' if len(empty) == 1 else 'have'} none.")
    parts = {label: sample.part(places) for label, places in members.items()}
    ranks = terms.group_ranks({label: part.n_draws for label, part in parts.items()})
    prediction, spread = align(terms.scoring, target, y_pred, scale)
    scores = sample.reduce(score_rows(terms.scoring, target, prediction, spread))
    basis = terms.promise(**row_shape(target), scale_kind=spread.kind, columns=columns)
    share = terms.share.among(len(members))
    certificates = {
        label: certify_draws(terms, basis, parts[label], sample.scores_of_part(scores, places), ranks[label], share)
        for label, places in members.items()
    }
    if screen:
        found = screen_rows(terms.scoring, sample, target, prediction, spread, groups=labels, others=others)
        warn_of_findings(found)
    return GroupCertificate(groups=FrozenMap(certificates), overlapping=overlapping)
