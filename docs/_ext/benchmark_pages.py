"""The page of the benchmarks, written from the files that `make bench` leaves in `docs/benchmarks`.

A benchmark prints tables for a terminal: a line of names, a line of dashes, and the rows. The page has real tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_RULE = re.compile(r"-{2,}(?: {2}-+)*")
_DASHES = re.compile(r"-+")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|$~])")
# What a terminal leaves unnamed: the column of the contenders, and the one that says whether an aim is met.
_FIRST, _LAST = "case", "verdict"


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
        *printed_as_markdown(record["text"].splitlines()),
        "",
        f"*Measured on {record['date']} in {record['seconds']:g} s{size}: {place['processor']}, "
        f"{place['cores']} cores, {place['memory']}, {place['system']}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + ".*",
        "",
    ]


def printed_as_markdown(lines: list[str]) -> Iterator[str]:
    """Yield the tables as tables, the line before each one as its title, and every other line as a paragraph."""
    rules = [k for k, line in enumerate(lines) if _RULE.fullmatch(line.rstrip())]
    k = 0
    while k < len(lines):
        if k + 1 in rules:
            end = next((j for j in range(k + 2, len(lines)) if not lines[j].strip() or j + 1 in rules), len(lines))
            # A line with letters between the columns is a sentence, such as an aim.
            end = next((j for j in range(k + 2, end) if not _fits(lines[j], lines[k + 1])), end)
            yield from _table(lines[k], lines[k + 1], lines[k + 2 : end])
            k = end
            continue
        text = _escaped(lines[k].strip())
        ahead = next((j for j in range(k + 1, len(lines)) if lines[j].strip()), len(lines))
        yield from (f"**{text}**" if text and ahead + 1 in rules else text, "")
        k += 1


def _spans(rule: str) -> list[tuple[int, int]]:
    """Return where each column begins and ends."""
    return [dashes.span() for dashes in _DASHES.finditer(rule)]


def _fits(line: str, rule: str) -> bool:
    """Return whether a line has nothing between the columns."""
    spans = _spans(rule)
    gaps = [line[end:start] for (_, end), (start, _) in pairwise(spans)]
    return len(line.rstrip()) <= spans[-1][1] and not any(gap.strip() for gap in gaps)


def _table(names: str, rule: str, rows: list[str]) -> Iterator[str]:
    """Yield the lines of a table in Markdown. Columns of numbers are aligned at the right."""
    spans = _spans(rule)
    cells = [[row[start:end].strip() for start, end in spans] for row in rows]
    heads = [names[start:end].strip() for start, end in spans]
    heads = [head or (_LAST if k == len(heads) - 1 else _FIRST) for k, head in enumerate(heads)]
    sides = ["---:" if _holds_numbers([row[k] for row in cells]) else ":---" for k in range(len(spans))]
    yield ""
    for line in (heads, sides, *cells):
        yield "| " + " | ".join(line if line is sides else map(_escaped, line)) + " |"
    yield ""


def _holds_numbers(column: list[str]) -> bool:
    """Return whether most cells that are not empty start with a digit."""
    texts = [cell for cell in column if cell]
    return 2 * sum(cell[0].isdigit() for cell in texts) > len(texts)


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\1", text)


class BenchmarkPages(SphinxDirective):
    """One section for every file."""

    def run(self) -> list[nodes.Node]:
        """Return the sections, in the order of their names."""
        # A new file must show at the next build, and no file can depend on one that is not there yet.
        self.env.note_reread()
        lines = []
        for path in sorted(Path(self.env.srcdir, "benchmarks").glob("*.json")):
            lines += section(json.loads(path.read_text("utf-8")))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("benchmark-pages", BenchmarkPages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
