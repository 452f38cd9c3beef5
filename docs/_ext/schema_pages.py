"""The JSON Schemas of the package: a table of the entries that they describe, and the whole file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def schema_text(name: str) -> str:
    """Return a schema as it is in the package."""
    return files("pacband.core.schemas").joinpath(f"{name}.json").read_text("utf-8")


def described(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and the description of every entry that has one, in the order of the schema."""
    if isinstance(schema, list):
        for part in schema:
            yield from described(part)
    elif isinstance(schema, dict):
        for name, part in schema.get("properties", {}).items():
            if "description" in part:
                yield name, part["description"]
        for part in schema.values():
            yield from described(part)


class SchemaPage(SphinxDirective):
    """The entries of a schema, and the schema itself, folded."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table and the file."""
        text = schema_text(self.arguments[0])
        rows = dict.fromkeys(described(json.loads(text)))
        lines = ["| entry | meaning |", "|---|---|"]
        lines += [f"| `{name}` | {meaning.replace('|', chr(92) + '|')} |" for name, meaning in rows]
        lines += ["", f":::{{dropdown}} {self.arguments[0]}.json", "```json", *text.splitlines(), "```", ":::"]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("schema-page", SchemaPage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
