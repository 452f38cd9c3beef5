"""What the pages of names need: bars in docstrings stay bars, and members of other libraries are left out.

In a docstring, |…| is an absolute value. reStructuredText would read it as a substitution.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

# A bar that is not escaped yet, and what is literal within a line: ``code`` and `names`.
_BAR = re.compile(r"(?<!\\)\|")
_LITERAL = re.compile(r"(``.*?``|`[^`]*`)")


def escape_bars(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with bars that stay bars. Examples and literal blocks are as they were."""
    escaped = []
    in_example, literal_indent = False, -1
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if literal_indent >= 0 and line.strip() and indent <= literal_indent:
            literal_indent = -1
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if in_example or literal_indent >= 0:
            escaped.append(line)
        else:
            parts = _LITERAL.split(line)
            escaped.append("".join(part if k % 2 else _BAR.sub(r"\\|", part) for k, part in enumerate(parts)))
            literal_indent = indent if line.rstrip().endswith("::") else -1
    return escaped


def _escape_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = escape_bars(lines)


def _is_foreign(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what is inherited from scikit-learn or Python; None lets Sphinx decide."""
    obj = getattr(obj, "fget", obj)
    home = getattr(obj, "__module__", None) or getattr(getattr(obj, "__objclass__", None), "__module__", None)
    return True if home is not None and not home.startswith("pacband") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Escape bars after numpydoc has read the docstring."""
    app.connect("autodoc-skip-member", _is_foreign)
    app.connect("autodoc-process-docstring", _escape_docstring, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
