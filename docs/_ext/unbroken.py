"""A number and its sign, and a short formula, stay on one line: 95 %, 1 − δ, w(x) = 2x. Code is not changed.

The package has a function of its own, `pacband.core.wording.unbroken`. It puts HTML into the sentences of a report, and
these have a few known forms. A page has any formula, in nodes of text that contain no HTML and are narrow on a phone.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

NO_BREAK = "\u00a0"
# How tightly a sign binds. A formula that is too long for one line breaks before its loosest sign.
_PRODUCT = 3
_SIGNS = {**dict.fromkeys("=≤≥<>≈∈→", 1), **dict.fromkeys("−+±", 2), **dict.fromkeys("×·/", _PRODUCT)}
# Signs within brackets bind more tightly than those around them; nothing divides a number and its unit.
_BRACKET, _TIGHT = 3, 99
# A line of a phone has about 40 letters.
LONGEST_FORMULA = 26
_WORD = re.compile(r"[(\"“]*(?:[A-Za-z][A-Za-z’'-]+|[aAI])[)\"”]*[.,;:]*")
_NUMBER = re.compile(r".*\d")
_UNIT = re.compile(r"(?:%|k?ms?|m²|s|min|h|[kMG]B|px|bar|°C)[.,;:?)”\"]*")
_SPACE = re.compile(r"([ \n])")
# A short pair, such as (ε, δ).
_PAIR = re.compile(r"[(\[]\S{1,5},"), re.compile(r"\S{1,5}[)\]]\S?")
# What belongs to a formula before it or after it.
_OPENING, _CLOSING = re.compile(r"[(\[]+$"), re.compile(r"[.,;:)\]]+")


class Unbroken(SphinxPostTransform):
    """Replace spaces by spaces that no line break divides, and keep formulas beside their brackets and full stops."""

    default_priority = 800
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Do so in every text that is no code."""
        for formula in list(self.document.findall(nodes.math)):
            _keep_marks(formula)
        for text in list(self.document.findall(nodes.Text)):
            parent = text.parent
            if isinstance(parent, nodes.literal | nodes.math | nodes.raw) or _in_code(text):
                continue
            unbroken = unbreak(text.astext())
            if unbroken != text.astext():
                parent.replace(text, nodes.Text(unbroken))


def _in_code(text: nodes.Text) -> bool:
    """Return whether a text is part of a block of code. Python refuses no-break spaces in what a reader copies."""
    parent = text.parent
    # The gallery makes blocks of its own, with links.
    while parent is not None and not (isinstance(parent, nodes.FixedTextElement) or "code_links" in parent.tagname):
        parent = parent.parent
    return parent is not None


def unbreak(text: str) -> str:
    """Return the text with no-break spaces."""
    pieces = _SPACE.split(text)
    terms, spaces = pieces[::2], pieces[1::2]
    bonds = _bonds(terms)
    ends = [k + 1 for k, bond in enumerate(bonds) if not bond]
    for start, end in pairwise([0, *ends, len(terms)]):
        _loosen(terms, bonds, start, end)
    joined = [NO_BREAK if bond else space for bond, space in zip(bonds, spaces, strict=True)]
    return "".join(term + space for term, space in zip(terms, [*joined, ""], strict=True))


def _bonds(terms: list[str]) -> list[int]:
    """Return how tightly each term is bound to the next one; 0 where a line may break."""
    bonds = [0] * (len(terms) - 1)
    for k, (term, following) in enumerate(pairwise(terms)):
        unit = _NUMBER.fullmatch(term) and _UNIT.fullmatch(following)
        # After the last sign of a text there is code, or another formula.
        operand = following[:1].isdigit() or (not following and k == len(bonds) - 1)
        pair = _PAIR[0].fullmatch(term) and _PAIR[1].fullmatch(following)
        bonds[k] = _TIGHT if unit or pair or (term in _SIGNS and operand) else 0
    depth = 0
    for k in range(1, len(terms) - 1):
        before, sign, after = terms[k - 1 : k + 2]
        depth = max(depth + sum(map(before.count, "([{")) - sum(map(before.count, ")]}")), 0)
        if sign in _SIGNS and _in_formula(before, sign, after):
            bonds[k - 1], bonds[k] = _SIGNS[sign] + _BRACKET * depth, _TIGHT
    return bonds


def _in_formula(before: str, sign: str, after: str) -> bool:
    """Return whether a sign is one of a formula. Between two words it is not: a promise = draws + scores."""
    if before.endswith((".", ",", ";", ":")) or (_SIGNS[sign] == _PRODUCT and _is_word(before)):
        return False
    return not (_is_word(before) and _is_word(after))


def _is_word(term: str) -> bool:
    """Return whether a term is a word of a sentence, or the place of code or of a formula."""
    return not term or _WORD.fullmatch(term) is not None


def _loosen(terms: list[str], bonds: list[int], start: int, end: int) -> None:
    """Divide the formula of these terms, before its loosest sign near the middle, until each part fits in a line."""
    signs = [k for k in range(start, end - 1) if bonds[k] < _TIGHT]
    if not signs or len(" ".join(terms[start:end])) <= LONGEST_FORMULA:
        return
    at = min(signs, key=lambda k: (bonds[k], abs(2 * k + 2 - start - end)))
    bonds[at] = 0
    _loosen(terms, bonds, start, at + 1)
    _loosen(terms, bonds, at + 1, end)


def _keep_marks(formula: nodes.math) -> None:
    """Put a formula, the bracket before it and the full stop after it into one span that does not break."""
    parent = formula.parent
    place = parent.index(formula)
    span = nodes.inline("", "", classes=["unbroken"])
    before = parent[place - 1] if place else None
    if isinstance(before, nodes.Text) and (opening := _OPENING.search(before)):
        span += nodes.Text(opening[0])
        parent[place - 1] = nodes.Text(before[: opening.start()])
    span += formula.deepcopy()
    after = parent[place + 1] if place + 1 < len(parent) else None
    if isinstance(after, nodes.Text) and (closing := _CLOSING.match(after)):
        span += nodes.Text(closing[0])
        parent[place + 1] = nodes.Text(after[closing.end() :])
    if len(span) > 1:
        parent[place] = span


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_post_transform(Unbroken)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
