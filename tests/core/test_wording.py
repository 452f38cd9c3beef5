"""Printed numbers never say more than what holds."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacband.core.wording import card, complement, confidence, figure, percent, round_up, significant


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
    assert "e" not in text or abs(float(text)) >= 1e9
    assert float(text) == float(f"{value:.{digits}g}")
