"""The page of the benchmarks, written from the files that `make bench` leaves in `docs/benchmarks`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def section(record: dict[str, Any]) -> list[str]:
    """Return one benchmark as lines of Markdown: what it compares, what it printed, and where that was."""
    about, _, details = record["about"].partition("\n")
    place, versions = record["machine"], record["versions"]
    size = " with `--quick`: smaller sizes and fewer repeats, a smoke test and not a result" if record["quick"] else ""
    return [
        f"## {record['benchmark'].replace('_', ' ').capitalize()}",
        "",
        about,
        details,
        "",
        "```text",
        *record["text"].splitlines(),
        "```",
        "",
        f"Measured on {record['date']} in {record['seconds']:g} s{size}: {place['processor']}, {place['cores']} cores, "
        f"{place['memory']}, {place['system']}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + ".",
        "",
    ]


class BenchmarkPages(SphinxDirective):
    """One section for every file."""

    def run(self) -> list[nodes.Node]:
        """Return the sections, in the order of their names."""
        lines = []
        for path in sorted(Path(self.env.srcdir, "benchmarks").glob("*.json")):
            self.env.note_dependency(str(path))
            lines += section(json.loads(path.read_text("utf-8")))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("benchmark-pages", BenchmarkPages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
