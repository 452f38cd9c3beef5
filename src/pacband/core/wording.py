"""How numbers are printed: the same on a terminal, in a notebook and in an error."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from html import escape

__all__ = [
    "assumed", "bound", "card", "compact", "complement", "confidence", "figure", "p_text", "percent", "plain", "plural",
    "round_up", "share_text", "significant", "unbroken", "with_exponents",
]  # fmt: skip

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NOT_SUPERSCRIPTS = {above: below for below, above in _SUPERSCRIPTS.items()}
_POWER = "(?: × 10⁻?[⁰¹²³⁴-⁹]+)"
# A number with the symbol before it, its power of ten, and the percent sign after it: "δ = 1e-06", "≤ 2.1937", "99 %".
# The error is one symbol, too: "|y − T(x)|".
_NUMBER = re.compile(
    r"(\|y\S{0,2} − T\S{0,2}\(x\)\|"
    rf"|(?:\w+ )?[=≤≥] [−-]?\d[\d.,e+-]*(?<=\d){_POWER}?(?: %)?"
    rf"|\d[\d.,]*(?:{_POWER}|e[+-]\d+| %))"
)


def figure(value: float) -> str:
    """Return six significant digits without trailing zeros: 10.77, 1e-06, 0.0487329. Powers are for small shares only.

    Examples
    --------
    >>> [figure(value) for value in (10.77, 1e-6, 0.0487329, 2e6)]
    ['10.77', '1e-06', '0.0487329', '2,000,000']
    """
    text = f"{value:.6g}"
    return plain(text) if "e+" in text else text


def plain(text: str) -> str:
    """Return a number that ``:g`` formatted without its exponent: people read powers of ten, not "e+06".

    Examples
    --------
    >>> [plain(text) for text in ("12.5", "1.2e+06", "2e+12", "1.2e-07")]
    ['12.5', '1,200,000', '2 × 10¹²', '1.2 × 10⁻⁷']
    """
    digits, _, power = text.partition("e")
    if not power:
        return text
    if 0 < int(power) < 9:
        number = Decimal(text)
        return f"{number:,f}" if abs(number) >= 1_000_000 else f"{number:f}"
    return f"{digits} × 10{str(int(power)).translate(_SUPERSCRIPTS)}"


def with_exponents(text: str) -> str:
    """Return a text with every number that `plain` wrote in the form that Python reads.

    Examples
    --------
    >>> with_exponents("≤ 1,234,570 or 2 × 10¹² or 1.2 × 10⁻⁷")
    '≤ 1234570 or 2e12 or 1.2e-7'
    """
    joined = re.sub(r"\d{1,3}(?:,\d{3})+(?!\d)", lambda found: found[0].replace(",", ""), text)
    return re.sub(r" × 10(⁻?[⁰¹²³⁴-⁹]+)", lambda found: f"e{found[1].translate(_NOT_SUPERSCRIPTS)}", joined)


def p_text(probability: float) -> str:
    """Return a p-value with its sign, in three digits. One that is not 1 is not printed as 1.

    Examples
    --------
    >>> [p_text(value) for value in (0.04213, 3.2e-7, 0.9991, 0.99991, 1.0)]
    ['p = 0.0421', 'p = 3.2e-07', 'p = 0.999', 'p > 0.999', 'p = 1']
    """
    return "p > 0.999" if 0.9995 <= probability < 1.0 else f"p = {probability:.3g}"


def significant(value: float, digits: int) -> str:
    """Return so many significant digits; a large number has zeros and no exponent: 1160, not 1.16e+03.

    Examples
    --------
    >>> [significant(value, 3) for value in (1163.0, 2.5, 0.012345, 1e-7, 2e12)]
    ['1160', '2.5', '0.0123', '1 × 10⁻⁷', '2 × 10¹²']
    """
    return plain(f"{value:.{digits}g}")


def compact(value: float, digits: int, *, size: float | None = None) -> str:
    """Return a number in few characters, for labels: millions are M, and thousands of millions are bn.

    `size` is the largest of the numbers beside it. All of them are counted in the same unit.

    Examples
    --------
    >>> [compact(value, 3) for value in (1163.0, 1234567.0, -2.5e9, 2e12)]
    ['1160', '1.23 M', '-2.5 bn', '2 × 10¹²']
    """
    for unit, suffix in ((1e9, " bn"), (1e6, " M")):
        if value != 0.0 and unit <= (abs(value) if size is None else size) < 1e12:
            return f"{significant(value / unit, digits)}{suffix}"
    return significant(value, digits)


def complement(value: float) -> str:
    """Return 1 − value as a percentage, without the rounding error of 1 − 0.05 in binary: '95 %'."""
    percent = (1 - Decimal(repr(value))) * 100
    text = f"{percent.normalize():f}"
    if len(text) > 10:
        # Rounded down, so that the printed share is never larger than the true one. A tiny share gets three digits.
        unit = Decimal(1).scaleb(min(-8, percent.adjusted() - 2))
        percent = percent.quantize(unit, ROUND_FLOOR).normalize()
        text = f"{percent:f}" if percent >= Decimal("1e-6") else f"{float(percent):g}"
    return f"{text} %"


def share_text(share: float) -> str:
    """Return a declared share as a percentage with all its digits, or rounded down: '99.96 %'.

    Examples
    --------
    >>> share_text(0.9), share_text(0.9996)
    ('90 %', '99.96 %')
    """
    return complement(float(1 - Decimal(repr(share))))


def percent(value: float) -> str:
    """Return a share as a percentage with three significant digits: '2.9 %'."""
    return f"{100 * value:.3g} %"


def plural(noun: str) -> str:
    """Return the plural of a noun that names a column: machines, batches, batteries, days. A plural stays as it is.

    Examples
    --------
    >>> [plural(noun) for noun in ("machine", "Batch", "battery", "day", "box", "runs")]
    ['machines', 'Batches', 'batteries', 'days', 'boxes', 'runs']
    """
    ending = noun.casefold()
    if ending.endswith("s"):
        return noun
    if ending.endswith(("ch", "sh", "x", "z")):
        return f"{noun}es"
    if ending.endswith("y") and len(noun) > 2 and ending[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def confidence(delta: float) -> str:
    """Return the confidence 1 − δ, never rounded up: '95 %', '99.9999 %', or '1 − 1e-12' if δ is below 1e-6."""
    return complement(delta) if delta >= 1e-6 else f"1 − {round_up(delta, 6):g}"


def round_up(value: float, digits: int) -> float:
    """Round towards +∞ to this number of significant digits, so that a printed upper bound is still a bound.

    A float that has a decimal text of so few digits is returned unchanged, such as 0.1 for one digit.
    """
    exact = Decimal(value)
    if value == 0.0 or not exact.is_finite() or float(f"{value:.{digits}g}") == value:
        return value
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(unit, ROUND_CEILING))


def bound(value: float, digits: int = 6) -> str:
    """Format a bound, rounded up: the bound holds as printed.

    Examples
    --------
    >>> [bound(value) for value in (2.08083026, 1234561.5, 3.00000001e-7)]
    ['2.08084', '1,234,570', '3.00001 × 10⁻⁷']
    """
    return plain(f"{round_up(value, digits):g}")


def assumed(value: float) -> str:
    """Format a bound that is assumed, rounded down: at least as much is stated as a proof needs.

    Examples
    --------
    >>> [assumed(value) for value in (2.471236, 2.5, 0.5**33)]
    ['2.47123', '2.5', '1.16415e-10']
    """
    return figure(-round_up(-value, 6))


def unbroken(text: str, *, unit: str | None = None) -> str:
    r"""Return HTML text in which no line ends inside a number, or between a number and its sign or unit.

    `text` is escaped already, and contains no tags.

    Examples
    --------
    >>> unbroken("at least 95 % within 2.5 mm", unit="mm")
    'at least <span style="white-space:nowrap">95 %</span> within 2.5\xa0mm'
    """
    kept = _NUMBER.sub(r'<span style="white-space:nowrap">\1</span>', text)
    if unit is None:
        return kept
    return re.sub(rf"(?<=[\d⁰¹²³⁴-⁹])(</span>)? (?={re.escape(escape(unit))}(?!\w))", "\\1\u00a0", kept)


def card(title: str, text: str, rows: list[tuple[str, str]], *, unit: str | None = None) -> str:
    """Return a small self-contained HTML card for notebooks. Escapes every text; `unit` stays beside its number."""
    cells = "".join(
        f'<tr style="vertical-align:top">'
        f'<th scope="row" style="text-align:left;font-weight:normal;opacity:.7;padding:0 1.5em 0 0">'
        f'{escape(name)}</th><td style="text-align:left">{unbroken(escape(value), unit=unit)}</td></tr>'
        for name, value in rows
    )
    return (
        '<div style="border:1px solid #8888;border-radius:6px;padding:.8em 1em;max-width:44em">'
        f'<strong>{escape(title)}</strong><p style="margin:.4em 0">{unbroken(escape(text), unit=unit)}</p>'
        f'<table style="border-collapse:collapse;font-size:90%">{cells}</table></div>'
    )
