"""Where the lines of a page do not break: within a number or a short formula."""

import pytest

from support.site import extension

SPACE = "\u00a0"


@pytest.mark.parametrize(
    "text",
    [
        "at least 95_% with ε_=_0.05, a “90_%” interval",
        "N_=_1,000 and ×_1.15",
        "confidence 1_−_δ of Beta(r, N_−_r_+_1)",
        "at 1_−_δ/(k(k_−_1)), a weight w(x)_=_2x",
        "a tolerance of 2_bar, of 100 bars",
        "an (ε,_δ) promise, decay_→_0, in 3_s or 40_ms.",
        # A long formula breaks before its loosest sign, and not within its brackets.
        "εN ≥_r_−_1 +_ln(n/δ)_+_sqrt(2(r_−_1)",
        "σ̂²(x) =_s²(1_+_c·(h(x)_−_1/n)), where",
        # Signs between words are punctuation.
        "a row is one draw = independent",
        "a draw − a row – and a sentence",
        "However many rows it has. → see",
        # Code or a formula stands before a text, or after it.
        "_=_0.05 and",
        "is independent. →_",
    ],
)
def test_numbers_and_short_formulas_are_not_divided(text):
    unbreak = extension("unbroken").unbreak
    assert unbreak(text.replace("_", " ")) == text.replace("_", SPACE)
    # A line break of the source is a space of the page.
    assert unbreak("1 −\nδ, and\nso on") == f"1{SPACE}−{SPACE}δ, and\nso on"


def test_no_unbroken_formula_is_longer_than_a_line_of_a_phone():
    module = extension("unbroken")
    text = " ".join(f"a{k} {sign} b{k} · c" for k, sign in enumerate("+−=≤+−+≥" * 5))
    assert max(map(len, module.unbreak(text).split(" "))) <= module.LONGEST_FORMULA


def test_a_formula_keeps_its_brackets_and_its_full_stop():
    module = extension("unbroken")
    nodes = module.nodes
    formula = nodes.math("", "x^2")
    line = nodes.paragraph("", "", nodes.Text("a square ("), formula, nodes.Text("). Then"))
    module._keep_marks(formula)
    assert [child.astext() for child in line] == ["a square ", "(x^2).", " Then"]
    assert line[1]["classes"] == ["unbroken"]
