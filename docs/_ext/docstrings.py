"""What the pages of names need: bars in docstrings stay bars, and members of other libraries are left out.

In a docstring, |…| is an absolute value. reStructuredText would read it as a substitution.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

# What is literal already: ``code``, `names`, and lines of examples.
_LITERAL = re.compile(r"(``.*?``|`[^`]*`)")


def escape_bars(line: str) -> str:
    """Return a line of a docstring with bars that stay bars, outside of literal text and examples."""
    if "|" not in line or line.lstrip().startswith((">>>", "...")):
        return line
    return "".join(part if k % 2 else part.replace("|", r"\|") for k, part in enumerate(_LITERAL.split(line)))


def _escape_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = map(escape_bars, lines)


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
