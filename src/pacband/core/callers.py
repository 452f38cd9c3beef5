"""Where a warning belongs: at the line of the user's code, not inside of pacband."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

__all__ = ["caller_level"]

# With the separator: a directory may have a name that starts with that of pacband's.
_PACKAGE = str(Path(__file__).parents[1]) + os.sep


def caller_level() -> int:
    """Return the ``stacklevel`` of the first caller outside of pacband, for a warning of the calling function."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    # Level 1 is the function that warns, and this one is below it.
    return level
