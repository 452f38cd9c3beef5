"""How numbers are said: the same words on a terminal, in a notebook and in an error."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from html import escape

__all__ = ["card", "complement", "confidence", "figure", "percent", "round_up"]


def figure(value: float) -> str:
    """Six significant digits, with no trailing zeros: 10.77, 1e-06, 0.0487329."""
    return f"{value:.6g}"


def complement(value: float) -> str:
    """1 − value as a percentage, without the rounding that 1 − 0.05 has in binary: '95 %'."""
    percent = (1 - Decimal(repr(value))) * 100
    text = f"{percent.normalize():f}"
    if len(text) > 10:
        # Rounded down: what is promised must hold as it is said. Of next to nothing, three digits.
        unit = Decimal(1).scaleb(min(-8, percent.adjusted() - 2))
        percent = percent.quantize(unit, ROUND_FLOOR).normalize()
        text = f"{percent:f}" if percent >= Decimal("1e-6") else f"{float(percent):g}"
    return f"{text} %"


def percent(value: float) -> str:
    """Return a share as a percentage of three significant digits: '2.9 %'."""
    return f"{100 * value:.3g} %"


def confidence(delta: float) -> str:
    """The confidence 1 − δ: '95 %', '99.9999 %', and '1 − 1e-12' where the nines would not fit; never rounded up."""
    return complement(delta) if delta >= 1e-6 else f"1 − {round_up(delta, 6):g}"


def round_up(value: float, digits: int) -> float:
    """Round towards +∞ to so many significant digits: a bound that is said must hold as it is said.

    A float that these digits name, as 0.1 is named by one, is that float.
    """
    exact = Decimal(value)
    if value == 0.0 or not exact.is_finite() or float(f"{value:.{digits}g}") == value:
        return value
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(unit, ROUND_CEILING))


def card(title: str, promise: str, rows: list[tuple[str, str]]) -> str:
    """Return a small self-contained HTML card for notebooks; every text is escaped."""
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal;opacity:.7;padding:0 1.5em 0 0">'
        f'{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        '<div style="border:1px solid #8888;border-radius:6px;padding:.8em 1em;max-width:44em">'
        f'<strong>{escape(title)}</strong><p style="margin:.4em 0">{escape(promise)}</p>'
        f'<table style="border-collapse:collapse;font-size:90%">{cells}</table></div>'
    )
