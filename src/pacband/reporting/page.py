"""The numbers of a report as one HTML page, and as Markdown."""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

from pacband.certificate import FamilyCertificate, GroupCertificate
from pacband.core.extras import require
from pacband.core.wording import complement, confidence, figure, percent, round_up
from pacband.reporting.alternatives import rank_rule
from pacband.reporting.candidates import rank_candidates, sharpness_name
from pacband.reporting.rows import MOST_FEATURES
from pacband.reporting.summary import Summary
from pacband.tables.sample import SEED

__all__ = ["render_html", "render_markdown"]

# Of candidates or groups in a table: a page stays a page.
MOST_LINES = 400


def render_html(summary: Summary) -> str:
    """Return the page."""
    from pacband.reporting.pictures import pictures_of

    return _render("report.html", summary, autoescape=True, pictures=pictures_of(summary))


def render_markdown(summary: Summary) -> str:
    """Return the report as Markdown."""
    return _render("report.md", summary, autoescape=False)


def _render(template: str, summary: Summary, *, autoescape: bool, **more: Any) -> str:
    jinja2 = require("jinja2", purpose="a report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pacband.reporting"),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        bound=_bound,
        cell=_markdown_text,
        complement=complement,
        confidence=confidence,
        count=lambda value: f"{value:,}",
        figure=figure,
        percent=percent,
        say=_say,
        sentence=_sentence,
    )
    certificate = summary.certificate
    family = certificate if isinstance(certificate, FamilyCertificate) else None
    text: str = environment.get_template(template).render(
        summary=summary,
        single=summary.single,
        family=family,
        groups=list(certificate.groups.items())[:MOST_LINES] if isinstance(certificate, GroupCertificate) else None,
        n_groups=len(certificate.groups) if isinstance(certificate, GroupCertificate) else 0,
        tiles=_tiles(summary),
        what_if=[(eps, list(row)) for eps, row in groupby(summary.alternatives, key=lambda each: each.eps)],
        readings=_readings(summary),
        ranked=[] if family is None else rank_candidates(family, MOST_LINES),
        sharpness_name="" if family is None else sharpness_name(family),
        widest=1.0 if family is None else _widest(family),
        expected="violation to expect" if summary.beforehand else "r/(N + 1), the violation if chosen beforehand",
        most_features=MOST_FEATURES,
        seed=SEED,
        by_hand=bool(summary.sizes) and rank_rule(summary.single) is None,
        bins=[] if summary.scale is None else list(zip(summary.scale.scale, summary.scale.error, strict=True)),
        **more,
    )
    return text


def _widest(family: FamilyCertificate) -> float:
    """Return the sharpness whose bar fills the table."""
    return max([size for size in family.sharpness.values() if 0.0 < size < math.inf], default=1.0)


def _tiles(summary: Summary) -> list[tuple[str, str, str]]:
    """What stands under the promise: a number, what it is, and a word more."""
    single, width = summary.single, summary.mean_half_width
    grouped = isinstance(summary.certificate, GroupCertificate)
    tiles = [
        (complement(single.eps), "of future errors, at least", f"stay within the bound (ε = {figure(single.eps)})"),
        (confidence(single.delta), "confidence", f"fails with probability δ = {figure(single.delta)}"),
    ]
    if grouped:
        tiles.append((f"{len(summary.certificate.groups)}", "groups", "each with a bound of its own"))  # type: ignore[union-attr]
    else:
        of = {"both": "on |error|", "upper": "on y − T(x)", "lower": "on T(x) − y"}[single.side]
        tiles.append((_bound(single.gamma), "the bound γ̄", of if single.scale_kind == "none" else "times σ̂(x)"))
    if width is not None and (single.scale_kind != "none" or grouped):
        name = "half-width" if single.side == "both" else "bound"
        over = "the rows drawn" if summary.rows is not None and summary.rows.sampled else "these rows"
        tiles.append((_say(width), f"mean {name}", f"of the band over {over}"))
    tiles.append((f"{summary.certificate.n_samples:,}", "calibration rows", "that the model had not seen"))
    if not grouped and summary.beforehand:
        tiles.append((percent(single.expected_violation), "violation to expect", f"rank {single.rank:,} from the top"))
    return tiles


def _readings(summary: Summary) -> list[tuple[str, str, str]]:
    """ε, the bound that holds for all ε at once, and the bound had this ε been settled first."""
    if summary.curve is None:
        return []
    curve, delta = summary.curve, summary.single.delta
    return [
        (figure(each.eps), _bound(curve.gamma(each.eps)), "–" if each.gamma is None else _bound(each.gamma))
        for each in summary.alternatives
        if each.delta == delta and each.eps >= curve.smallest_eps
    ]


def _say(value: float | None) -> str:
    """Four digits."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞"
    return f"{value:#.4g}".rstrip(".") if 1e-3 <= abs(value) < 1e4 else f"{value:.4g}"


def _bound(value: float) -> str:
    """A bound in four digits, rounded up: it holds as it is said."""
    return _say(round_up(value, 4))


def _sentence(text: str) -> str:
    """A capital letter and a full stop; a formula at the start stays what it is."""
    return f"{text[:1].upper() if text[:1].isascii() else text[:1]}{text[1:]}."


def _markdown_text(text: Any) -> str:
    """Text that Markdown takes literally, on one line and in one cell of a table."""
    escaped = "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~$" else c for c in str(text))
    return " ".join(escaped.split())
