"""What the members of a family have in common, computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from joblib import hash as hash_value

from pacband.core.arrays import Floats
from pacband.local.locality import Locality
from pacband.local.norms import resolve_norm

__all__ = ["Shared", "grouped"]

Item = TypeVar("Item")
Value = TypeVar("Value")


class Shared:
    """Parts of a fit that members of a family have in common, each made once.

    Parameters
    ----------
    alone : bool
        Whether there is one member only. Then nothing is looked up, and no key is hashed.
    """

    def __init__(self, *, alone: bool = False) -> None:
        self._alone = alone
        self._made: dict[Hashable, Any] = {}

    def get(self, make: Callable[[], Value], *key: Any) -> Value:
        """Return the value that was made before for an equal key, or make it."""
        if self._alone:
            return make()
        hashed = tuple(_hash(part) for part in key)
        if hashed not in self._made:
            self._made[hashed] = make()
        value: Value = self._made[hashed]
        return value

    def locality(self, norm: Any, X: Floats) -> Locality:
        """Return the samples as this norm sees them."""
        return self.get(lambda: Locality(resolve_norm(norm, X.shape[1]), X), "locality", norm)


def _hash(part: Any) -> Hashable:
    try:
        return str(hash_value(part))
    except Exception:  # a lambda or a closure cannot be pickled, but every clone has the same object
        return id(part)


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Return the items of equal key together, in order of first appearance.

    >>> grouped([1, 2, 3, 4], key=lambda n: n % 2)
    [[1, 3], [2, 4]]
    """
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())
