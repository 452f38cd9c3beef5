"""How long work reports its progress: a function of (done, total), called after every step."""

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress"]

Progress: TypeAlias = Callable[[int, int], None]
