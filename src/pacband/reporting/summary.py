"""All numbers of a report, computed once: of the certificate, and of the rows if there are any.

The page, the Markdown and the JSON are renderings of a `Summary`.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from pacband import __version__
from pacband.certificate import AnyCertificate, Certificate
from pacband.core.clock import time_of_creation
from pacband.diagnostics import Diagnosis
from pacband.draws.kinds import WeightedDraws
from pacband.exceptions import InvalidInput
from pacband.judging.verdicts import Verdict
from pacband.reporting.alternatives import Alternative, SampleSize, add_bounds, alternatives, rank_rule, sample_sizes
from pacband.reporting.answer import UNTESTED, Answer, word_verdict
from pacband.reporting.candidates import chosen_beforehand, expects_violation
from pacband.reporting.caveats import Caveat, caveats_of
from pacband.reporting.census import Census
from pacband.reporting.figures import report_figures
from pacband.reporting.figures.bins import finite_mean
from pacband.reporting.figures.figure import CertificateFigure, FigureInput, RowsFigure, json_value
from pacband.reporting.outlook import Outlook, outlook_of
from pacband.reporting.rows import MOST_FEATURES, Rows
from pacband.selection.ranked import Ranked
from pacband.tables.sample import SEED

__all__ = ["CertificateSummary", "RowsSummary", "Summary", "has_curve", "summarise_certificate", "summarise_rows"]


@dataclass(frozen=True, kw_only=True)
class CertificateSummary:
    """What is known from the certificate alone.

    Attributes
    ----------
    certificate : Certificate, FamilyCertificate or GroupCertificate
        The promise.
    caveats : tuple of Caveat
        What the promise assumes.
    sizes : tuple of SampleSize
        What other numbers of samples allow; empty for groups.
    rank_rule : str or None
        The rule of `plan` that gives the rank; None if the rank was chosen by hand, or follows from a given bound.
    outlook : Outlook or None
        How many of the next rows exceed the bound, at most.
    numbers : mapping of str to numbers
        The numbers of the figures that need no rows; None if there is nothing to draw.
    """

    certificate: AnyCertificate
    caveats: tuple[Caveat, ...]
    sizes: tuple[SampleSize, ...]
    rank_rule: str | None
    outlook: Outlook | None
    numbers: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class RowsSummary:
    """What is known from rows.

    Attributes
    ----------
    rows : Rows
        The rows: counts over all of them, and the drawn ones.
    verdict : Verdict
        Whether the rows contradict the promise.
    diagnosis : Diagnosis
        Whether the rows are independent and from one distribution.
    sizes : tuple of SampleSize
        Those of the certificate, with bounds if these are the calibration rows.
    alternatives : tuple of Alternative
        What other (ε, δ) would have certified; empty if these are not the calibration rows.
    rounded_up : bool
        Whether the bounds of curve and alternatives come from a summary of the scores. They are then larger than the
        scores of their ranks by less than 0.01 % of the range of the scores.
    numbers : mapping of str to numbers
        The numbers of the figures that need rows; None if there is nothing to draw.
    """

    rows: Rows
    verdict: Verdict
    diagnosis: Diagnosis
    sizes: tuple[SampleSize, ...]
    alternatives: tuple[Alternative, ...]
    rounded_up: bool
    numbers: Mapping[str, Any]

    @property
    def mean_half_width(self) -> float | None:
        """The mean half-width of the band over the drawn rows."""
        return finite_mean(self.rows.half_width)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON-ready values."""
        rows = self.rows
        return {
            "n_rows": rows.n_rows,
            "n_violations": rows.n_violations,
            "calibration": rows.calibration,
            "fingerprint_agrees": rows.exact,
            "n_drawn": rows.n_drawn,
            "seed": SEED if rows.sampled else None,
            "figures_show": rows.sample_words or None,
            "n_features": rows.n_features,
            "n_features_used": min(rows.n_features, MOST_FEATURES),
            "mean_half_width": json_value(self.mean_half_width),
        }


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The numbers of a report: `of_certificate`, and `of_rows` if rows were given; when and how it was made."""

    of_certificate: CertificateSummary
    of_rows: RowsSummary | None
    title: str
    command: str | None
    created: str
    environment: Mapping[str, str]

    @property
    def certificate(self) -> AnyCertificate:
        """The promise."""
        return self.of_certificate.certificate

    @property
    def single(self) -> Certificate | None:
        """The certificate of the one bound: itself or the best candidate's; None if every group has its own."""
        return self.certificate.single

    @property
    def beforehand(self) -> bool:
        """Whether nothing was chosen by the scores, so that r/(N + 1) is the expected violation."""
        return chosen_beforehand(self.certificate)

    @property
    def expects_violation(self) -> bool:
        """Whether r/(N + 1) is the expected violation."""
        return expects_violation(self.certificate)

    @property
    def rows(self) -> Rows | None:
        """The rows, if any were given."""
        return None if self.of_rows is None else self.of_rows.rows

    @property
    def answer(self) -> Answer:
        """Whether the promise holds, in words."""
        if self.of_rows is None:
            return UNTESTED
        basis = self.certificate.basis
        limit = "the bound" if self.certificate.single is not None else "the bound of their group"
        return word_verdict(
            self.of_rows.verdict,
            promised=basis.draws.sentence(basis.kept, limit, noun=basis.noun, verb="stay within"),
            fingerprint_agrees=self.of_rows.rows.exact,
            bound_given=basis.bound_given,
            weighted=isinstance(basis.draws, WeightedDraws),
        )

    @property
    def contradicted(self) -> bool:
        """Whether fresh rows contradict the promise."""
        return self.answer.state == "contradicted"

    @property
    def sizes(self) -> tuple[SampleSize, ...]:
        """What other numbers of samples allow."""
        return (self.of_rows or self.of_certificate).sizes

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers of every figure, by its name; None if there is nothing to draw."""
        of_rows = {} if self.of_rows is None else self.of_rows.numbers
        return {**dict.fromkeys(report_figures()), **self.of_certificate.numbers, **of_rows}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON-ready values."""
        rows, numbers = self.of_rows, self.numbers
        return {
            "title": self.title,
            "created": self.created,
            "promise": self.certificate.promise,
            "certificate": self.certificate.to_dict(),
            "verdict": asdict(self.answer),
            "caveats": [asdict(caveat) for caveat in self.of_certificate.caveats],
            "outlook": None if self.of_certificate.outlook is None else self.of_certificate.outlook.to_dict(),
            "rows": None if rows is None else rows.to_dict(),
            "diagnosis": None if rows is None else rows.diagnosis.to_dict(),
            "sample_sizes": [
                json_value({**asdict(s), "expected_violation": s.expected_violation if self.beforehand else None})
                for s in self.sizes
            ],
            **{name: each.to_dict(numbers[name]) for name, each in report_figures().items() if each.to_dict},
            "alternatives": [] if rows is None else [json_value(asdict(each)) for each in rows.alternatives],
            "bounds_rounded_up": rows is not None and rows.rounded_up,
            "environment": dict(self.environment),
            "command": self.command,
        }


def has_curve(certificate: AnyCertificate, census: Census) -> bool:
    """Whether bounds for other ε can be read off these rows: the calibration rows, under one bound.

    They cannot if draws depend on each other: other ranks would need other parts of δ.
    """
    return census.calibration and certificate.single is not None and certificate.basis.draws.independent


def summarise_certificate(
    certificate: AnyCertificate, *, title: str, command: str | None, outlook: int | None = None
) -> Summary:
    """Compute what a report without rows shows."""
    return _join(_of_certificate(certificate, outlook), None, title, command)


def summarise_rows(
    certificate: AnyCertificate,
    rows: Rows,
    diagnosis: Diagnosis,
    ranked: Ranked | None,
    *,
    title: str,
    command: str | None,
    outlook: int | None = None,
) -> Summary:
    """Compute what a report with rows shows; `ranked` are the scores in order if `has_curve`."""
    known = _of_certificate(certificate, outlook)
    return _join(known, _of_rows(known, rows, diagnosis, ranked), title, command)


def _of_certificate(certificate: AnyCertificate, outlook: int | None) -> CertificateSummary:
    if not certificate.basis.draws.rank_is_chosen:
        raise InvalidInput(
            "a report shows the law of the violation, and units on average and an interval of importance have none: "
            "print the certificate in place of it."
        )
    single, figures = certificate.single, report_figures().items()
    planned = single is not None and not single.bound_given and certificate.basis.draws.independent
    rule = rank_rule(single) if planned and single is not None else None
    return CertificateSummary(
        certificate=certificate,
        caveats=caveats_of(certificate.basis),
        sizes=sample_sizes(single, rule) if planned and single is not None else (),
        rank_rule=rule,
        outlook=outlook_of(certificate, outlook),
        numbers={name: each.numbers(certificate) for name, each in figures if isinstance(each, CertificateFigure)},
    )


def _of_rows(known: CertificateSummary, rows: Rows, diagnosis: Diagnosis, ranked: Ranked | None) -> RowsSummary:
    basis, figures = FigureInput(known.certificate, rows, ranked), report_figures().items()
    single = known.certificate.single
    numbers = {name: each.numbers(basis) for name, each in figures if isinstance(each, RowsFigure)}
    # Too few scores for a curve are too few for other promises as well.
    ranked = None if numbers["curve"] is None else ranked
    return RowsSummary(
        rows=rows,
        verdict=rows.census.verdict,
        diagnosis=diagnosis,
        sizes=known.sizes if ranked is None else add_bounds(known.sizes, ranked),
        alternatives=() if ranked is None or single is None else alternatives(single, ranked),
        rounded_up=ranked is not None and ranked.above is not None,
        numbers=numbers,
    )


def _join(of_certificate: CertificateSummary, of_rows: RowsSummary | None, title: str, command: str | None) -> Summary:
    return Summary(
        of_certificate=of_certificate,
        of_rows=of_rows,
        title=title,
        command=command,
        created=time_of_creation(),
        environment={
            "pacband": __version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        },
    )
