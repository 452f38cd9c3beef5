r"""An exact test of a promise on labelled rows that were not used to make it.

Of n fresh rows, k exceed the bound. If the promise holds, k is binomial with a probability of at most ε, so that k or
more have a probability of at most

    P{Bin(n, ε) ≥ k} = I_ε(k, n − k + 1).

Rows of a series that are a apart are independent up to β(a), as declared: n of them, and the calibration before them,
differ from independent ones by at most nβ(a), which is added. If the sum is at most the `level`, the data contradict
the promise. A promise that holds is contradicted with a probability of at most `level`, over all groups together.
Data that do not contradict it are no proof of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from pacband.certificate import AnyCertificate
from pacband.certificate.draw_words import draw_words
from pacband.certification.fitted import FittedModel, raw_rows
from pacband.certification.reused_rows import SeenRows
from pacband.core.checks import check_probability
from pacband.core.frozen import FrozenMap
from pacband.core.labels import sorted_labels
from pacband.draws import Draws
from pacband.exceptions import InvalidInput
from pacband.judging.averages import check_average
from pacband.judging.judge import Judge
from pacband.judging.verdicts import Count, Verdict
from pacband.selection import Tally, sum_tallies
from pacband.selection.fingerprint import shows_reuse

__all__ = ["Piece", "check", "check_pieces", "mark_seen", "verdict_of"]

# Some rows: y, y_pred, scale and groups, as `check` takes them.
Piece: TypeAlias = tuple[Any, Any, Any, Any]


def check(
    certificate: AnyCertificate | FittedModel,
    y: Any,
    y_pred: Any = None,
    scale: Any = None,
    *,
    groups: Any = None,
    draws: Draws | None = None,
    level: float = 0.01,
) -> Verdict:
    """Test a promise on labelled rows that were not used to make it.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate, GroupCertificate or fitted model
        The promise. Of a family, the promise of the best candidate is tested. With a `CertifiedRegressor` or
        `CertifiedFamily`, pass raw rows: ``check(model, X, y)``. The model predicts them, and reads its own groups and
        its column of units from X. The verdict states how many of the rows it was fitted on.
    y, y_pred, scale : array-like
        Fresh rows, as in `certify`. For a certificate of own scores, y holds the scores, and nothing else is given:
        ``check(certificate, scores)``.
    groups : array-like, optional
        The group of every row. A group certificate needs it: each group's own promise is tested. Any other certificate
        makes one promise about all rows together, and that one is tested; `Verdict.groups` then lists the groups, to
        show where the bound is weak.
    draws : Units or Weighted, optional
        The units of the rows, if the certificate makes a promise about units; all rows of every unit. A certificate of
        a series tests every gap-th of these rows, which follow each other in time. If the certificate has weights,
        fresh rows are draws of the future distribution; with the weights of the rows, draws are accepted from them as
        at calibration.
    level : float in (0, 1)
        The largest probability of contradicting a promise that holds.

    Returns
    -------
    Verdict
        `Verdict.holds` is False if the rows contradict the promise, and True if they do not. It is None if they cannot
        test it: the certificate was made from them, the model was fitted on some of them, or they are so few that no
        outcome contradicts it (for n rows, εⁿ > level).

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> y = rng.standard_normal(2000)
    >>> cert = pacband.certify(y, np.zeros(2000), eps=0.05, delta=1e-6)
    >>> pacband.check(cert, rng.standard_normal(500), np.zeros(500)).holds
    True
    >>> pacband.check(cert, 2 * rng.standard_normal(500), np.zeros(500)).holds
    False
    >>> print(pacband.check(cert, y, np.zeros(2000)).holds)  # the calibration rows
    None

    A model predicts by itself:

    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = pacband.datasets.paper_sample(4000, random_state=0)
    >>> model = pacband.CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, y)
    >>> pacband.check(model, *pacband.datasets.paper_sample(1000, random_state=1)).holds
    True
    """
    if isinstance(certificate, FittedModel):
        level = check_probability("level", level)
        X, target = raw_rows("check(model, X, y)", certificate, y, y_pred, scale=scale)
        rows = certificate.predict_rows(X, target, groups=groups, draws=draws)
        piece = rows.y, rows.y_pred, rows.scale, rows.groups
        verdict = check_pieces(certificate.certificate_, [piece], level=level, draws=rows.draws)
        seen = SeenRows(certificate.training_rows_)
        seen.add(rows.X, rows.y)
        return mark_seen(verdict, seen, len(rows.seen_units))
    return check_pieces(certificate, [(y, y_pred, scale, groups)], level=level, draws=draws)


def check_pieces(
    certificate: AnyCertificate, pieces: Iterable[Piece], *, level: float = 0.01, draws: Draws | None = None
) -> Verdict:
    """Test a promise on rows that come in pieces, as `check` does on all of them at once.

    Only counts and fingerprints are kept, one for each group: memory does not grow with the rows. Units on average must
    come in one piece.
    """
    judge, level = Judge(certificate), check_probability("level", level)
    if judge.basis.draws.averages:
        whole = list(pieces)
        if len(whole) != 1:
            raise InvalidInput(f"units on average must come in one piece, got {len(whole)}: join the rows first.")
        return check_average(judge, *whole[0], draws=draws, level=level)
    found: dict[Any, Tally] = {}
    n_rows = n_outside = 0
    for y, y_pred, scale, groups in pieces:
        try:
            judged = judge.judge(y, y_pred, scale, groups, draws=draws)
        except InvalidInput as error:
            # The error counts its rows from the beginning of the piece.
            raise (type(error)(f"in the rows from {n_rows} on: {error}") if n_rows else error) from None
        for label, tally in judged.tallies().items():
            found[label] = found[label] + tally if label in found else tally
        n_rows += len(judged.scores)
        n_outside += judged.n_outside
    if not n_rows:
        raise InvalidInput("the table is empty: at least one row is needed.")
    answers = {label: found[label] for label in sorted_labels(found)}
    return verdict_of(judge, answers, level, out_of_range=n_outside)


def mark_seen(verdict: Verdict, seen: SeenRows, n_units: int) -> Verdict:
    """Return a verdict that states how many of the rows and units the model was fitted on.

    It is `reused` where these are more rows than chance explains, or any unit: new rows of a unit that the model has
    seen violate too seldom.
    """
    seen.compare()
    reused = verdict.reused or seen.reused or n_units > 0
    return replace(verdict, reused=reused, training_rows=seen.n_rows, training_units=n_units)


def verdict_of(judge: Judge, answers: Mapping[Any, Tally], level: float, *, out_of_range: int = 0) -> Verdict:
    """Return the verdict on counted rows: on each group's promise, or on the one promise about all rows.

    Where there is one promise about all rows, groups are listed beside it. In `out_of_range` rows y left its declared
    range.
    """
    if not answers:
        raise InvalidInput("the table is empty: at least one row is needed.")
    listed: dict[Any, Count] = {}
    if judge.grouped:
        counts = _counts(judge, answers)
        compared = [(part, answers[label]) for label, part in judge.parts.items() if label in answers]
    else:
        whole = sum_tallies(answers.values())
        counts = _counts(judge, {"": whole})
        if list(answers) != [None]:
            listed = _counts(judge, answers)
        compared = [(judge.parts[None], whole)]
    # If the certificate was made from these rows, the fingerprint of the scores is its own.
    reused = shows_reuse((part.data_digest, answer.n_samples, answer.total) for part, answer in compared)
    return Verdict(level, FrozenMap(counts), reused, FrozenMap(listed), out_of_range=out_of_range)


def _counts(judge: Judge, answers: Mapping[Any, Tally]) -> dict[Any, Count]:
    eps, kind = judge.basis.eps, judge.basis.draws
    # In which group a draw is depends on all draws: the dependence of all of them counts for every group. The
    # calibration is one more part of the series.
    n_draws = sum(answer.n_samples for answer in answers.values())
    dependence = kind.dependence(n_draws)
    return {
        label: Count.of(
            answer.n_samples,
            sum(answer.at_least),
            eps,
            counted=draw_words(judge.basis).tested,
            dependence=dependence,
        )
        for label, answer in answers.items()
    }
