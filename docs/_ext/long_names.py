"""A long name of code may break after a dot, a slash, a bracket or an underscore; a short one stays on one line."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

# On a phone, a line has about 36 letters of code, and fewer in a list.
LONGEST_NAME = 22
_WORD = re.compile(r"\S+|\s+")
_PLACE = re.compile(r"(?<=[/._(,:])(?=\w)")


class LongNames(SphinxPostTransform):
    """Put `<wbr>` into long names: a reader who copies the name copies no space."""

    default_priority = 810
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Divide every long name of the page."""
        for literal in list(self.document.findall(nodes.literal)):
            for text in [child for child in literal.children if isinstance(child, nodes.Text)]:
                parts = [nodes.Text(part) for part in parts_of(text.astext())]
                if len(parts) > 1:
                    breaks = [[nodes.raw("", "<wbr>", format="html"), part] for part in parts[1:]]
                    literal.replace(text, [parts[0], *(node for pair in breaks for node in pair)])


def parts_of(code: str) -> list[str]:
    """Return the parts of a code between which a line may break; spaces are within a part."""
    parts = [""]
    for word in _WORD.findall(code):
        first, *others = _PLACE.split(word) if len(word) > LONGEST_NAME else [word]
        parts[-1] += first
        parts += others
    return parts


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_post_transform(LongNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
