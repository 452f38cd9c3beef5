"""Warnings as a command says them: one line on stderr, without the place in the source."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pacband.cli._console import note

__all__ = ["plain_warnings"]


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Say every warning in one line."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        note(f"Warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
