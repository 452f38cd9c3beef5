r"""Does the promise hold on labelled data it has not seen? An exact test of "a share ε of errors, at most, exceed it".

Of n fresh rows, k exceed the bound. If the promise holds, k follows a binomial distribution with a share of at most ε,
so that k or more have a probability of at most

    P{Bin(n, ε) ≥ k} = I_ε(k, n − k + 1).

Where that is no more than the `level`, the data contradict the promise: a promise that holds is contradicted with a
probability of at most `level`, over all groups together. Data that do not contradict it are no proof of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from pacband.certificate import AnyCertificate, Certificate, GroupCertificate, single_of
from pacband.certificate.certified_labels import refuse_unknown
from pacband.core.arrays import Floats, as_numbers, check_same_rows
from pacband.core.checks import check_probability
from pacband.core.frozen import FrozenMap
from pacband.core.labels import as_labels, factorize, sorted_labels
from pacband.exceptions import InvalidInput
from pacband.judging.verdicts import Count, Verdict
from pacband.selection import Request, Tally, edges_above, sum_tallies
from pacband.selection.fingerprint import fingerprint_total, fingerprint_totals, fingerprint_unit, seal

__all__ = ["Count", "Piece", "Verdict", "bounds_of", "check", "check_pieces", "verdict_of", "violations_above"]

# Some rows: y, y_pred, scale and groups, as `check` takes them.
Piece: TypeAlias = tuple[Any, Any, Any, Any]


def check(
    certificate: AnyCertificate,
    y: Any,
    y_pred: Any,
    scale: Any = None,
    *,
    groups: Any = None,
    level: float = 0.01,
) -> Verdict:
    """Test a promise on labelled rows that were not used to make it.

    Parameters
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The promise; of a family, that of the best candidate.
    y, y_pred, scale : array-like
        Fresh rows, as in `certify`.
    groups : array-like, optional
        The group of every row. A group certificate needs it: each group's own promise is judged. Any other certificate
        promises something about all rows together, and that is what is judged; its groups are listed in
        `Verdict.groups`, to show where the bound is weak.
    level : float in (0, 1)
        The probability that a promise which holds is contradicted, at most.

    Examples
    --------
    >>> import numpy as np, pacband
    >>> rng = np.random.default_rng(0)
    >>> cert = pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=0.05, delta=1e-6)
    >>> pacband.check(cert, rng.standard_normal(500), np.zeros(500)).holds
    True
    >>> pacband.check(cert, 2 * rng.standard_normal(500), np.zeros(500)).holds
    False
    """
    return check_pieces(certificate, [(y, y_pred, scale, groups)], level=level)


def check_pieces(certificate: AnyCertificate, pieces: Iterable[Piece], *, level: float = 0.01) -> Verdict:
    """Test a promise on rows that come in pieces, as `check` does on all of them at once.

    Only counts and fingerprints are kept, one for each group: memory does not grow with the rows.
    """
    level = check_probability("level", level)
    found: dict[Any, Tally] = {}
    grouped, n_rows = False, 0
    for y, y_pred, scale, groups in pieces:
        grouped |= groups is not None
        try:
            tallies = _tallies(certificate, y, y_pred, scale, groups)
        except InvalidInput as error:
            # The rows that the error names are counted from the beginning of the piece.
            raise (type(error)(f"in the rows from {n_rows} on: {error}") if n_rows else error) from None
        for label, tally in tallies.items():
            found[label] = found[label] + tally if label in found else tally
            n_rows += tally.n_samples
    return verdict_of(certificate, {label: found[label] for label in sorted_labels(found)}, level, grouped=grouped)


def bounds_of(certificate: AnyCertificate) -> tuple[Certificate, dict[Any, float] | None]:
    """Return the certificate whose rule scores rows, and γ̄ of every group where they differ."""
    groups = certificate.groups if isinstance(certificate, GroupCertificate) else None
    return single_of(certificate), None if groups is None else {label: part.gamma for label, part in groups.items()}


def violations_above(gamma: float) -> Request:
    """Ask how many scores are larger than γ̄, and for the fingerprint of all."""
    return Request(edges_above(gamma), fingerprint_unit(gamma))


def _tallies(certificate: AnyCertificate, y: Any, y_pred: Any, scale: Any, groups: Any) -> dict[Any, Tally]:
    """Return how many rows of every group there are and exceed its bound, and what their fingerprint needs."""
    single, gammas = bounds_of(certificate)
    check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=groups)
    single.check_scale(scale)
    scores = single.rule.scores(single.check_outputs("y", as_numbers("y", y)), y_pred, scale)
    if groups is None:
        if gammas is not None:
            raise InvalidInput("this certificate promises within groups: pass the groups of the rows.")
        return {"": _tally(len(scores), int((scores > single.gamma).sum()), _total(scores, single.gamma))}
    labels = as_labels(groups)
    if len(labels) != len(scores):
        raise InvalidInput(f"y and groups must have one length, got {len(scores)} and {len(labels)}.")
    names, codes = factorize(labels)
    if gammas is not None:
        refuse_unknown(names, gammas, "groups")
    limits = np.array([single.gamma if gammas is None else gammas[name] for name in names])
    counts = np.bincount(codes, minlength=len(names))
    beyond = np.bincount(codes[scores > limits[codes]], minlength=len(names))
    units = np.array([fingerprint_unit(limit) for limit in limits])
    totals = fingerprint_totals(scores, units, codes)
    columns = (names, counts.tolist(), beyond.tolist(), totals.tolist())
    return {name: _tally(n, violations, total) for name, n, violations, total in zip(*columns, strict=True)}


def _total(scores: Floats, gamma: float) -> int:
    return fingerprint_total(scores, fingerprint_unit(gamma))


def _tally(n_samples: int, violations: int, total: int) -> Tally:
    return Tally(n_samples, (violations,), total, np.empty(0))


def verdict_of(certificate: AnyCertificate, answers: Mapping[Any, Tally], level: float, *, grouped: bool) -> Verdict:
    """Judge what was counted: each group's promise of a group certificate, else the one promise about all rows."""
    if not answers:
        raise InvalidInput("the table is empty: at least one row is needed.")
    if isinstance(certificate, GroupCertificate):
        counts, listed = _counts(certificate, answers), {}
        parts = [(part, answers[label]) for label, part in certificate.groups.items() if label in answers]
    else:
        whole = sum_tallies(answers.values())
        counts, listed = _counts(certificate, {"": whole}), _counts(certificate, answers) if grouped else {}
        parts = [(single_of(certificate), whole)]
    # The fingerprint of the scores is that of the certificate where it was made from these rows.
    reused = all(part.data_digest == seal(answer.n_samples, answer.total) for part, answer in parts)
    return Verdict(level, FrozenMap(counts), reused, FrozenMap(listed))


def _counts(certificate: AnyCertificate, answers: Mapping[Any, Tally]) -> dict[Any, Count]:
    eps = single_of(certificate).eps
    return {label: Count.of(answer.n_samples, sum(answer.at_least), eps) for label, answer in answers.items()}
