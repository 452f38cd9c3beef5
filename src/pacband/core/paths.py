"""Resolve a name to files: a file, the files below a directory, or the files that match a pattern."""

from __future__ import annotations

import os
from glob import escape, glob

__all__ = ["files_named"]


def files_named(name: str) -> list[str]:
    """Return the files that a name means, each once, or an empty list if there are none.

    If a file or directory with this name exists, the name is no pattern, even if it contains ``*`` or ``[``. A
    directory, or a directory that matches a pattern, means the Parquet files below it; if there are none, the CSV
    files.
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
    for endings in ((".parquet",), (".csv", ".csv.gz", ".tsv")):
        patterns = [os.path.join(escape(folder), "**", f"*{ending}") for ending in endings]
        if found := [path for pattern in patterns for path in glob(pattern, recursive=True)]:
            return sorted(found)
    return []
