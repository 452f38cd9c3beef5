"""Resolve a name to files: a file, the files below a directory, or the files that match a pattern."""

from __future__ import annotations

import os
from glob import escape, glob

from pacband.exceptions import InvalidInput

__all__ = ["files_named"]

# The endings of the files that a directory means, in any case. Parquet files come before texts.
_ENDINGS = (".parquet", ".pq"), (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def files_named(name: str) -> list[str]:
    """Return the files that a name means, each once, or an empty list if there are none.

    If a file or directory with this name exists, the name is no pattern, even if it contains ``*`` or ``[``. A
    directory, or a directory that matches a pattern, means the Parquet files below it; if there are none, the CSV
    and TSV files. Raises if two of these files differ only in their endings.
    """
    if os.path.isdir(name):
        return _files_below(name)
    if os.path.exists(name):
        return [name]
    matches = sorted(glob(name, recursive=True))
    found = [path for match in matches for path in (_files_below(match) if os.path.isdir(match) else [match])]
    # A pattern such as ** matches a directory and also the files in it.
    return list(dict.fromkeys(found))


def _files_below(folder: str) -> list[str]:
    below = sorted(glob(os.path.join(escape(folder), "**", "*"), recursive=True))
    for endings in _ENDINGS:
        if found := [path for path in below if path.lower().endswith(endings)]:
            _refuse_copies(found, endings)
            return found
    return []


def _refuse_copies(paths: list[str], endings: tuple[str, ...]) -> None:
    """Raise if two files differ only in their endings, such as a.csv and a.csv.gz: they may have the same rows."""
    known: dict[str, str] = {}
    for path in paths:
        ending = next(ending for ending in endings if path.lower().endswith(ending))
        first = known.setdefault(path[: -len(ending)], path)
        if first != path:
            raise InvalidInput(
                f"{first} and {path} differ only in their endings, so their rows may count twice: remove one of them, "
                "or name the files."
            )
