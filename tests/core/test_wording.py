"""Printed numbers never say more than what holds."""

import math
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband.core.wording import (
    bound,
    card,
    compact,
    complement,
    confidence,
    figure,
    p_text,
    percent,
    round_up,
    significant,
    unbroken,
    with_exponents,
)  # fmt: skip


@pytest.mark.parametrize(("value", "text"), [(10.77, "10.77"), (1e-6, "1e-06"), (0.04873294, "0.0487329"), (2.0, "2")])
def test_figures_have_six_digits(value, text):
    assert figure(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.05, "95 %"), (1e-6, "99.9999 %"), (0.3, "70 %"), (0.001, "99.9 %")])
def test_complements_are_exact(value, text):
    assert complement(value) == text


@given(st.floats(1e-15, 1 - 1e-12))
def test_a_complement_is_never_rounded_up(value):
    shown = Decimal(complement(value).removesuffix(" %")) / 100
    assert shown <= 1 - Decimal(repr(value))


@pytest.mark.parametrize(("delta", "text"), [(0.05, "95 %"), (1e-6, "99.9999 %"), (1e-12, "1 − 1e-12")])
def test_confidences(delta, text):
    assert confidence(delta) == text


@given(st.floats(1e-300, 1e300), st.integers(1, 17))
def test_rounding_up_is_never_below(value, digits):
    assert round_up(value, digits) >= value
    assert round_up(value, digits) <= value * (1 + 10.0 ** (1 - digits)) * (1 + 1e-15)


def test_a_float_of_few_digits_is_itself():
    assert round_up(0.1, 1) == 0.1
    assert round_up(0.123, 2) == 0.13
    assert round_up(0.0, 3) == 0.0
    assert percent(0.0294) == "2.94 %"


def test_a_card_escapes_every_text():
    html = card("<a>", "<b>", [("<c>", "<d>")])
    assert not any(tag in html for tag in ("<a>", "<b>", "<c>", "<d>"))
    assert "&lt;d&gt;" in html


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (complement(1 - 1e-16), "1e-14 %"),
        (complement(math.nextafter(0.05, 0)), "95 %"),
        (complement(math.nextafter(0.05, 1)), "94.99999999 %"),
        (complement(0.05), "95 %"),
        (complement(1 / 3), "66.66666666 %"),
        (confidence(1.2345678e-7), "1 − 1.23457e-07"),
        (confidence(1.2345611e-7), "1 − 1.23457e-07"),
        (confidence(1e-12), "1 − 1e-12"),
        (confidence(5e-324), "1 − 4.94066e-324"),
    ],
)
def test_a_printed_probability_holds_as_printed(shown, text):
    assert shown == text


def test_plurals():
    from pacband.core.wording import plural

    nouns = {"machine": "machines", "Batch": "Batches", "battery": "batteries", "day": "days", "y": "ys", "BUS": "BUS"}
    assert {noun: plural(noun) for noun in nouns} == nouns


@given(
    st.floats(min_value=-1e9, max_value=1e9).filter(lambda value: abs(value) >= 1e-4 or value == 0), st.integers(2, 6)
)
def test_labels_have_no_exponent(value, digits):
    text = significant(value, digits)
    assert "e" not in text
    assert "× 10" not in text or abs(float(with_exponents(text))) >= 1e9
    assert float(with_exponents(text)) == float(f"{value:.{digits}g}")


@given(st.floats(allow_nan=False, allow_infinity=False).filter(bool))
def test_a_bound_has_no_exponent_and_holds_as_printed(value):
    text = bound(value)
    assert "e" not in text
    assert value <= float(with_exponents(text)) == round_up(value, 6)


@pytest.mark.parametrize(
    ("text", "unit", "kept"),
    [
        ("fails with probability δ = 1e-06", None, ["δ = 1e-06"]),
        ("within (ε = 0.1), 95.5 % of 3,000", None, ["ε = 0.1", "95.5 %"]),
        ("|y − T(x)| ≤ 2.1937·σ̂(x) or 1.5e-12.", None, ["|y − T(x)|", "≤ 2.1937", "1.5e-12"]),
        ("|y − T(x)| ≤ 1.2 × 10⁻⁷·σ̂(x), or 2 × 10¹² of 5", None, ["|y − T(x)|", "≤ 1.2 × 10⁻⁷", "2 × 10¹²"]),
        ("≤ 1,234,570 EUR, 24 EUR, 24 EURO", "EUR", ["≤ 1,234,570"]),
    ],
)
def test_no_line_ends_inside_a_number(text, unit, kept):
    found = unbroken(text, unit=unit)
    assert re.findall('<span style="white-space:nowrap">(.*?)</span>', found) == kept
    assert re.sub("<.*?>", "", found).replace("\u00a0", " ") == text
    assert found.count("\u00a0") == (2 if unit else 0)
    if unit:
        assert "1,234,570</span>\u00a0EUR, 24\u00a0EUR, 24 EURO" in found


def test_large_numbers_beside_each_other_have_one_unit():
    assert [compact(value, 6, size=2e6) for value in (0.0, 5e5, 2e6)] == ["0", "0.5 M", "2 M"]
    assert [compact(value, 3) for value in (999_600_000.0, 1e12)] == ["1000 M", "1 × 10¹²"]


@pytest.mark.parametrize(("value", "text"), [(0.99991, "p > 0.999"), (0.9994, "p = 0.999"), (1.0, "p = 1")])
def test_a_p_value_below_one_is_not_printed_as_one(value, text):
    assert p_text(value) == text
