"""A summary as one HTML page, and as Markdown."""

from __future__ import annotations

import math
import re
from itertools import groupby
from typing import Any

from pacband.candidates.names import explain_names
from pacband.certificate import FamilyCertificate, GroupCertificate, Promise
from pacband.certificate.draw_words import draw_words
from pacband.certificate.family import sharpness_name
from pacband.certificate.inequality import symbols
from pacband.core.extras import require
from pacband.core.wording import bound, complement, confidence, figure, percent, significant, unbroken
from pacband.draws.kinds import UnitDraws, WeightedDraws
from pacband.reporting.candidates import rank_candidates
from pacband.reporting.rows import MOST_FEATURES
from pacband.reporting.summary import Summary
from pacband.tables.sample import SEED

__all__ = ["render_html", "render_markdown"]

# The most candidates or groups that a table lists.
MOST_LINES = 400
# What a browser does not show as lines of text, and every other tag.
_TAGS = re.compile(r"(<(style|script|svg|pre|title)\b.*?</\2>|<[^>]*>)", re.DOTALL)


def render_html(summary: Summary) -> str:
    """Return the page."""
    from pacband.reporting.page.svg import draw_figures

    page = _render("report.html", summary, autoescape=True, figures=draw_figures(summary.numbers))
    return _keep_numbers_whole(page, summary.certificate.about.unit)


def render_markdown(summary: Summary) -> str:
    """Return the report as Markdown, without figures."""
    return _render("report.md", summary, autoescape=False)


def _render(template: str, summary: Summary, *, autoescape: bool, **more: Any) -> str:
    jinja2 = require("jinja2", purpose="a report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pacband.reporting.page"),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        bound=_format_bound,
        cell=_escape_markdown,
        complement=complement,
        confidence=confidence,
        count=lambda value: f"{value:,}",
        number=figure,
        percent=percent,
        sentence=_as_sentence,
        short=_four_digits,
    )
    certificate, rows = summary.certificate, summary.of_rows
    family = certificate if isinstance(certificate, FamilyCertificate) else None
    groups = certificate.groups if isinstance(certificate, GroupCertificate) else None
    ranked = [] if family is None else rank_candidates(family, MOST_LINES)
    text: str = environment.get_template(template).render(
        summary=summary,
        numbers=summary.numbers,
        answer=summary.answer,
        caveats=summary.of_certificate.caveats,
        outlook=summary.of_certificate.outlook,
        single=summary.single,
        basis=certificate.basis,
        about=certificate.about,
        # All parts of a certificate are made at once.
        made=next(iter(certificate.parts.values())),
        rows=summary.rows,
        diagnosis=None if rows is None else rows.diagnosis,
        rounded_up=rows is not None and rows.rounded_up,
        family=family,
        groups=None if groups is None else list(groups.items())[:MOST_LINES],
        n_groups=0 if groups is None else len(groups),
        symbols=symbols(certificate.basis),
        tiles=_tiles(summary),
        what_if=[] if rows is None else [(eps, list(row)) for eps, row in groupby(rows.alternatives, lambda a: a.eps)],
        readings=_readings(summary),
        ranked=ranked,
        names_explained=explain_names(ranked),
        sharpness_name=sharpness_name(certificate.basis.scoring.side),
        widest=1.0 if family is None else _widest(family),
        expected="expected violation" if summary.beforehand else "r/(N + 1), if chosen beforehand",
        most_features=MOST_FEATURES,
        seed=SEED,
        draws=draw_words(summary.certificate.basis).tested,
        future=_future(summary.certificate.basis),
        weighted=isinstance(summary.certificate.basis.draws, WeightedDraws),
        zip=zip,
        by_hand=summary.of_certificate.rank_rule is None,
        **more,
    )
    return text


def _widest(family: FamilyCertificate) -> float:
    """Return the sharpness whose bar fills the table."""
    return max([size for size in family.sharpness.values() if 0.0 < size < math.inf], default=1.0)


def _tiles(summary: Summary) -> list[tuple[str, str, str]]:
    """Return what is under the promise: a number, its name, and a few words more."""
    certificate, single = summary.certificate, summary.single
    basis, side = certificate.basis, certificate.basis.scoring.side
    plain = basis.bound_in_unit
    tiles = [
        (
            basis.kept.removeprefix("at least "),
            f"of future {basis.subject}, at least",
            f"stay within the bound (ε = {figure(basis.eps)})",
        ),
        (confidence(basis.delta), "confidence", f"fails with a probability of at most δ = {figure(basis.delta)}"),
    ]
    if single is None:
        tiles.append((f"{len(certificate.parts)}", "groups", "each with its own bound"))
    else:
        of = {"both": "on |error|", "upper": "on y − T(x)", "lower": "on T(x) − y", "own": "on the score"}[side]
        name = "the given bound γ̄" if single.bound_given else "the bound γ̄"
        of = of if basis.scale_kind == "none" else "times σ̂(x)"
        tiles.append((_format_bound(single.gamma), name, basis.about.in_unit(of) if plain else of))
    width = None if summary.of_rows is None else summary.of_rows.mean_half_width
    if width is not None and (basis.scale_kind != "none" or single is None):
        name = "half-width" if side == "both" else "bound"
        over = "the rows drawn" if summary.rows is not None and summary.rows.sampled else "these rows"
        tiles.append((_format_bound(width), f"mean {name}", basis.about.in_unit(f"of the band over {over}")))
    tiles.append(
        (f"{certificate.n_samples:,}", f"calibration {draw_words(basis).tested}", "that the model must not have seen")
    )
    if single is not None and single.bound_given:
        tiles.append((f"{single.n_beyond:,}", "beyond the bound", f"of the calibration {draw_words(basis).tested}"))
    if single is not None and summary.expects_violation:
        tiles.append((percent(single.expected_violation), "expected violation", f"rank {single.rank:,} from the top"))
    return tiles


def _future(basis: Promise) -> str:
    """Return what a promise is about, all of them together: rows, runs or units."""
    kind = basis.draws
    if isinstance(kind, UnitDraws) and kind.within != "one":
        return kind.plural
    return "rows" if basis.n_steps is None else "runs"


def _readings(summary: Summary) -> list[tuple[str, str, str]]:
    """Return ε, the bound that holds for all ε at once, and the bound if this ε had been chosen beforehand."""
    if summary.of_rows is None or summary.of_rows.numbers["curve"] is None:
        return []
    curve, delta = summary.of_rows.numbers["curve"].curve, summary.certificate.delta
    return [
        (
            figure(each.eps),
            _format_bound(curve.gamma(each.eps)),
            "–" if each.gamma is None else _format_bound(each.gamma),
        )
        for each in summary.of_rows.alternatives
        if each.delta == delta and each.eps >= curve.smallest_eps
    ]


def _four_digits(value: float | None) -> str:
    """Return a number in four digits."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞"
    return f"{value:#.4g}".rstrip(".") if 1e-3 <= abs(value) < 1e4 else significant(value, 4)


def _format_bound(value: float) -> str:
    """Return a bound in the digits of the promise, rounded up: the printed bound holds."""
    return "∞" if math.isinf(value) else bound(value)


def _keep_numbers_whole(page: str, unit: str | None) -> str:
    """Return the page with every number on one line with its sign and its unit, wherever it is in the text."""
    # The pattern has two groups: of three parts, the first is text, and the second is a tag.
    parts = _TAGS.split(page)
    texts = [unbroken(text, unit=unit) for text in parts[::3]]
    return "".join(text + tag for text, tag in zip(texts, [*parts[1::3], ""], strict=True))


def _as_sentence(text: str) -> str:
    """Add a capital letter and a full stop; a formula at the start stays as it is."""
    return f"{text[:1].upper() if text[:1].isascii() else text[:1]}{text[1:]}."


def _escape_markdown(text: Any) -> str:
    """Return text that Markdown takes literally, on one line and in one cell of a table."""
    escaped = "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~$" else c for c in str(text))
    return " ".join(escaped.split())
