r"""Does the promise hold on labelled data it has not seen? An exact test of "a share ε of errors, at most, exceed it".

Of n fresh rows, k exceed the bound. If the promise holds, k follows a binomial distribution with a share of at most ε,
so that k or more have a probability of at most

    P{Bin(n, ε) ≥ k} = I_ε(k, n − k + 1).

Where that is no more than the `level`, the data contradict the promise: a promise that holds is contradicted with a
probability of at most `level`, over all groups together. Data that do not contradict it are no proof of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import narwhals as nw

from pacband._arrays import as_numbers, check_same_rows
from pacband._checks import check_probability
from pacband._counts import exact_interval, exceedance
from pacband._fingerprint import fingerprint_unit, seal
from pacband._frozen import FrozenMap
from pacband._labels import as_labels, group_rows, locate_rows
from pacband._wording import card, figure, percent
from pacband.certificate import AnyCertificate, Certificate, GroupCertificate, single_of
from pacband.exceptions import InvalidInput
from pacband.frames.apply import labelled_columns
from pacband.frames.columns import as_frame, check_columns, in_memory, read_predicted, read_values
from pacband.frames.scan import FamilyScan, GroupScan
from pacband.frames.table import Table
from pacband.selection import Request, Tally, sum_tallies

__all__ = ["Count", "Verdict", "check", "check_frame"]


@dataclass(frozen=True, slots=True)
class Count:
    """How many of some fresh rows exceed the bound.

    Attributes
    ----------
    n_samples, violations : int
        The rows n, and those k of them whose error exceeds the bound.
    eps : float
        The share that may.
    p_value : float
        P{Bin(n, ε) ≥ k}: how likely so many are, at most, if the promise holds.
    interval : pair of float
        The Clopper-Pearson interval of the true share, at 95 %.
    """

    n_samples: int
    violations: int
    eps: float
    p_value: float
    interval: tuple[float, float]

    @classmethod
    def of(cls, n_samples: int, violations: int, eps: float) -> Count:
        """Judge a count.

        Examples
        --------
        >>> count = Count.of(100, 12, 0.05)
        >>> round(count.p_value, 6), [round(end, 4) for end in count.interval]
        (0.004274, [0.0636, 0.2002])
        """
        p_value = exceedance(violations, n_samples, eps)
        return cls(n_samples, violations, eps, p_value, exact_interval(violations, n_samples))

    @property
    def rate(self) -> float:
        """The share of violations seen."""
        return self.violations / self.n_samples

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.violations} of {self.n_samples} errors exceed the bound, {percent(self.rate)} where "
            f"{percent(self.eps)} may (the true share is {percent(low)} to {percent(high)}, p = {self.p_value:.3g})"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether fresh data contradict a certificate; made by `check`.

    Attributes
    ----------
    level : float
        The probability that a promise which holds is contradicted, at most.
    counts : mapping of label to Count
        By group; without groups, one under the empty name.
    reused : bool
        Whether these are the very rows that the certificate was made from: they cannot test it.
    """

    level: float
    counts: FrozenMap[Any, Count]
    reused: bool = False

    @property
    def contradicted(self) -> tuple[Any, ...]:
        """The groups whose promise the data contradict."""
        share = self.level / len(self.counts)
        return tuple(label for label, count in self.counts.items() if count.p_value <= share)

    @property
    def holds(self) -> bool:
        """Whether the data leave the promise standing."""
        return not self.contradicted

    def __str__(self) -> str:
        single = list(self.counts) == [""]
        word = "The data do not contradict the promise" if self.holds else "The data contradict the promise"
        where = "" if single or self.holds else f" in {len(self.contradicted)} of {len(self.counts)} groups"
        width = max(len(str(label)) for label in self.counts)
        lines = [
            str(count) if single else f"{'!' if label in self.contradicted else ' '} {label!s:<{width}}  {count}"
            for label, count in self.counts.items()
        ]
        if self.reused:
            lines.append("These are the rows that the certificate was made from: only fresh rows can test it.")
        return "\n".join([f"{word}{where} (level {figure(self.level)}).", *lines])

    def _repr_html_(self) -> str:
        return card("pacband check", str(self).split("\n")[0], [(str(k), str(v)) for k, v in self.counts.items()])

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-ready values."""
        return {
            "holds": self.holds,
            "reused": self.reused,
            "level": self.level,
            "counts": [
                {"label": label, "contradicted": label in self.contradicted, **asdict(count), "rate": count.rate}
                for label, count in self.counts.items()
            ],
        }


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
        The group of every row. A group certificate needs it; of others, each group is tested against the one bound,
        which they do not promise to keep, but which tells where the model is weak.
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
    level = check_probability("level", level)
    single, gammas = _bounds(certificate)
    check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=groups)
    scores = single.rule.scores(single.check_outputs("y", as_numbers("y", y)), y_pred, _checked(single, scale))
    if groups is None:
        if gammas is not None:
            raise InvalidInput("this certificate promises within groups: pass the groups of the rows.")
        violations = int((scores > single.gamma).sum())
        return _verdict(level, {"": (len(scores), violations)}, single.eps, reused=single.states(scores))
    labels = as_labels(groups)
    if len(labels) != len(scores):
        raise InvalidInput(f"y and groups must have one length, got {len(scores)} and {len(labels)}.")
    members = group_rows(labels)
    if gammas is not None:
        locate_rows(labels, list(gammas))
    bound = gammas or dict.fromkeys(members, single.gamma)
    found = {label: (len(rows), int((scores[rows] > bound[label]).sum())) for label, rows in members.items()}
    if isinstance(certificate, GroupCertificate):
        common = [label for label in certificate.groups if label in members]
        reused = all(certificate.groups[label].states(scores[members[label]]) for label in common)
    else:
        reused = single.states(scores)
    return _verdict(level, found, single.eps, reused=reused)


def check_frame(
    certificate: AnyCertificate,
    frame: Any,
    *,
    target: str | list[str] | None = None,
    prediction: str | list[str] | None = None,
    scale: Any = None,
    group: str | None = None,
    level: float = 0.01,
) -> Verdict:
    """Test a promise on labelled rows of a table; see `check`, and `certify_frame` for tables.

    The columns are by default those that the certificate was made from.
    """
    level = check_probability("level", level)
    single, gammas = _bounds(certificate)
    columns = labelled_columns(single, target=target, prediction=prediction, scale=scale, group=group)
    table = as_frame(frame)
    schema = check_columns(table, columns.numeric, columns.group)
    if isinstance(table, nw.DataFrame):
        values = in_memory(table, schema, columns.all, columns.group)
        groups = None if columns.group is None else values[columns.group]
        y = read_values(values, columns.target)
        return check(certificate, y, *read_predicted(values, columns), groups=groups, level=level)
    distant = Table.of(table, schema, single.rule, {"": columns})
    if columns.group is None:
        answers: Mapping[Any, Any] = FamilyScan(distant)({"": _above(single.gamma)})
    else:
        scan = GroupScan(distant, columns.group)
        labels = scan.counts()
        if unknown := [label for label in labels if gammas is not None and label not in gammas]:
            raise InvalidInput(f"column {columns.group!r} has labels without a certificate: {unknown[:5]}.")
        bound = gammas or dict.fromkeys(labels, single.gamma)
        found = scan({label: _above(bound[label]) for label in labels})
        answers = {label: found[label] for label in labels}
    counts = {label: (found.n_samples, sum(found.at_least)) for label, found in answers.items()}
    return _verdict(level, counts, single.eps, reused=_reused(certificate, answers))


def _bounds(certificate: AnyCertificate) -> tuple[Certificate, dict[Any, float] | None]:
    """Return the certificate whose rule scores rows, and γ̄ of every group where they differ."""
    groups = certificate.groups if isinstance(certificate, GroupCertificate) else None
    return single_of(certificate), None if groups is None else {label: part.gamma for label, part in groups.items()}


def _checked(single: Certificate, scale: Any) -> Any:
    single.check_scale(scale)
    return scale


def _above(gamma: float) -> Request:
    """Ask for the scores that are larger than γ̄, of which there are none where it is infinite; and for all of them."""
    return Request((math.nextafter(gamma, math.inf),) if gamma < math.inf else (), fingerprint_unit(gamma))


def _reused(certificate: AnyCertificate, answers: Mapping[Any, Tally]) -> bool:
    """Whether the fingerprints of the scores are those of the certificate."""
    if isinstance(certificate, GroupCertificate):
        parts = [(part, answers[label]) for label, part in certificate.groups.items() if label in answers]
    else:
        parts = [(single_of(certificate), sum_tallies(answers.values()))]
    return all(part.data_digest == seal(answer.n_samples, answer.total) for part, answer in parts)


def _verdict(level: float, found: Mapping[Any, tuple[int, int]], eps: float, *, reused: bool) -> Verdict:
    return Verdict(level, FrozenMap({label: Count.of(*counts, eps) for label, counts in found.items()}), reused)
