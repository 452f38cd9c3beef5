"""A number and its sign stay on one line: 95 %, ε = 0.05. Code is not changed."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

# Before a percent sign; around the equals sign or the sign of comparison of a symbol; after a times sign; around the
# minus or the plus of short terms: 1 − δ, N − r + 1.
_SPACES = re.compile(
    r"(?<=\d) (?=%)|(?<=\b[A-Zα-ωr]) (?=[=≤≥<>] ?\d)|(?<=\w\)) (?=[=≤≥] ?\d)|(?<=[=≤≥<>×]) (?=\d)"
    r"|(?<=\b\w) (?=[−+] \w)|(?<=\b\w [−+]) (?=\w)|(?<=\b\w\u00a0[−+]) (?=\w)"
)


class Unbroken(SphinxPostTransform):
    """Replace the spaces within such texts by spaces that no line break divides."""

    default_priority = 800
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Replace them in every text that is no code."""
        for text in list(self.document.findall(nodes.Text)):
            parent = text.parent
            if isinstance(parent, nodes.literal | nodes.literal_block | nodes.math | nodes.raw):
                continue
            if isinstance(parent.parent, nodes.literal_block):
                continue
            unbroken = unbreak(text.astext())
            if unbroken != text.astext():
                parent.replace(text, nodes.Text(unbroken))


def unbreak(text: str) -> str:
    """Return the text with no-break spaces."""
    # Twice: the second term of N − r is the first of r + 1.
    return _SPACES.sub("\u00a0", _SPACES.sub("\u00a0", text))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_post_transform(Unbroken)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
