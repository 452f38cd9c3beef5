"""How numbers are printed: the same on a terminal, in a notebook and in an error."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from html import escape

__all__ = ["bound", "card", "complement", "confidence", "figure", "percent", "plural", "round_up", "significant"]


def figure(value: float) -> str:
    """Return six significant digits without trailing zeros: 10.77, 1e-06, 0.0487329."""
    return f"{value:.6g}"


def significant(value: float, digits: int) -> str:
    """Return so many significant digits; a large number has zeros and no exponent: 1160, not 1.16e+03.

    Examples
    --------
    >>> [significant(value, 3) for value in (1163.0, 2.5, 0.012345, 1e-7, 2e12)]
    ['1160', '2.5', '0.0123', '1e-07', '2e+12']
    """
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e9 else text


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
    """Format a bound, rounded up: the bound holds as printed."""
    return f"{round_up(value, digits):g}"


def card(title: str, text: str, rows: list[tuple[str, str]]) -> str:
    """Return a small self-contained HTML card for notebooks. Escapes every text."""
    cells = "".join(
        f'<tr style="vertical-align:top">'
        f'<th scope="row" style="text-align:left;font-weight:normal;opacity:.7;padding:0 1.5em 0 0">'
        f'{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        '<div style="border:1px solid #8888;border-radius:6px;padding:.8em 1em;max-width:44em">'
        f'<strong>{escape(title)}</strong><p style="margin:.4em 0">{escape(text)}</p>'
        f'<table style="border-collapse:collapse;font-size:90%">{cells}</table></div>'
    )
