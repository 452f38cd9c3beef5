"""Which files a name stands for: the one of that name, those below a directory, or those that match a pattern."""

from __future__ import annotations

import os
from glob import escape, glob

__all__ = ["files_named"]


def files_named(name: str) -> list[str]:
    """Return the files that a name stands for, each once; none where there is no such file.

    What exists is meant by its name, whatever characters that has. A directory, or one that a pattern matches, stands
    for the Parquet files below it.
    """
    if os.path.isdir(name):
        return _below(name)
    if os.path.exists(name):
        return [name]
    matches = sorted(glob(name, recursive=True))
    found = [path for match in matches for path in (_below(match) if os.path.isdir(match) else [match])]
    # A pattern such as ** finds a directory, and then the files in it once more.
    return list(dict.fromkeys(found))


def _below(folder: str) -> list[str]:
    return sorted(glob(os.path.join(escape(folder), "**", "*.parquet"), recursive=True))
