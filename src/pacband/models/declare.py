"""The language of declarations: the names, types and shapes of the attributes of a kind of object.

A declaration is a text of entries ``name=type|type``. An exclamation mark after the name means that every fitted object
has the attribute::

    coef_!=f[k,p]|f[p] intercept_!=num|f[k] n_iter_=int

``f i u b n t o``
    An array of floats, integers, unsigned integers, booleans, numbers of any of these types, texts, or plain values as
    objects; ``f8`` means 8 bytes a value. It must be a numpy.ndarray and no subclass. ``[k,p]`` is its shape: a name
    means the same size everywhere in one object, p is the number of features, and ``*`` is any size.
``num int nat float bool str none dtype any plain``
    A number, an integer, an integer that is not negative, and so on. ``plain`` is any value without objects, and
    ``any`` is any value.
``list(…) tuple(…) dict(…)``
    A container. All entries have this type.
``sparse matrix``
    A sparse matrix with p columns, or with any number of columns.
``model kernel splitter @Name``
    An object: an estimator, a kernel, a splitter, or an object of the class Name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pacband.models.declarations import kind_of
from pacband.models.values import Unsound

__all__ = ["check_attributes", "parse"]

Check = Callable[[Any, dict[str, int]], bool]


@cache
def parse(declaration: str) -> Mapping[str, tuple[bool, Check]]:
    """Return for every attribute whether it is required, and the check of its value."""
    found = {}
    for entry in declaration.split():
        name, _, types = entry.partition("=")
        found[name.rstrip("!")] = (name.endswith("!"), _parse_types(types))
    return found


def check_attributes(owner: str, declaration: str, values: Mapping[str, Any], sizes: dict[str, int]) -> None:
    """Raise `Unsound` unless the values match the declaration. Adds the named sizes to `sizes`.

    The error calls what has the values `owner`.
    """
    declared = parse(declaration)
    for name, value in values.items():
        if name not in declared:
            raise Unsound(f"a {owner} has an attribute that is not declared")
        if not declared[name][1](value, sizes):
            raise Unsound(f"{name} of a {owner} does not match its declaration")
    missing = [name for name, (needed, _) in declared.items() if needed and name not in values]
    if missing and values.keys() - {"_sklearn_output_config"}:
        raise Unsound(f"a {owner} has no {missing[0]}")


def _parse_types(types: str) -> Check:
    checks = [_parse_type(part) for part in _split_alternatives(types)]

    def check(value: Any, sizes: dict[str, int]) -> bool:
        for one in checks:
            trial = dict(sizes)
            if one(value, trial):
                sizes.update(trial)
                return True
        return False

    return check


def _split_alternatives(types: str) -> Iterator[str]:
    """Yield the alternatives. A ``|`` inside of brackets does not separate them."""
    depth, start = 0, 0
    for k, sign in enumerate(types):
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth:
            yield types[start:k]
            start = k + 1
    yield types[start:]


def _parse_type(text: str) -> Check:
    if text.startswith("@"):
        return lambda value, _: type(value).__name__ == text[1:] and kind_of(value) is not None
    if text in ("model", "kernel", "splitter"):
        return lambda value, _: (kind := kind_of(value)) is not None and kind.role == text
    if match := re.fullmatch(r"(list|tuple|dict)\((.*)\)", text):
        return _container_check({"list": list, "tuple": tuple, "dict": dict}[match[1]], _parse_types(match[2]))
    if match := re.fullmatch(r"([fiubnto])(\d?)(?:\[(.*)\])?", text):
        return _array_check(match[1], match[2], None if match[3] is None else match[3].split(","))
    check = _PLAIN[text]
    return lambda value, sizes: check(value, sizes)


def _container_check(kind: Any, item: Check) -> Check:
    def check(value: Any, sizes: dict[str, int]) -> bool:
        if type(value) is not kind:
            return False
        entries: Any = value.values() if kind is dict else value
        # Entries may have different sizes, except p.
        return all(item(entry, {k: v for k, v in sizes.items() if k == "p"}) for entry in entries)

    return check


_KINDS = {"f": "f", "i": "i", "u": "u", "b": "b", "n": "fiub", "t": "UO", "o": "O"}


def _array_check(letter: str, width: str, shape: list[str] | None) -> Check:
    def check(value: Any, sizes: dict[str, int]) -> bool:
        if type(value) is not np.ndarray or value.dtype.kind not in _KINDS[letter]:
            return False
        if width and value.dtype.itemsize != int(width):
            return False
        if letter == "t" and value.dtype.kind == "O" and not all(type(text) is str for text in value.flat):
            return False
        if shape is None:
            return True
        if value.ndim != len(shape):
            return False
        for name, size in zip(shape, value.shape, strict=True):
            expected = int(name) if name.isdigit() else size if name == "*" else sizes.setdefault(name, size)
            if size != expected:
                return False
        return True

    return check


def _is_number(value: Any, _: Any) -> bool:
    return type(value) in (int, float) or (isinstance(value, (np.integer, np.floating)))


def _is_integer(value: Any, _: Any) -> bool:
    return type(value) is int or isinstance(value, np.integer)


def _is_plain(value: Any, _: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(item, _) for item in value.values())
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item, _) for item in value)
    return kind_of(value) is None and not callable(value)


_PLAIN: dict[str, Check] = {
    "num": _is_number,
    "int": _is_integer,
    "nat": lambda value, _: _is_integer(value, _) and 0 <= value < 2**48,
    "float": lambda value, _: type(value) is float or isinstance(value, np.floating),
    "bool": lambda value, _: type(value) in (bool, np.bool_),
    "str": lambda value, _: type(value) is str,
    "none": lambda value, _: value is None,
    "dtype": lambda value, _: isinstance(value, np.dtype),
    "function": lambda value, _: callable(value) and kind_of(value) is None,
    "slice": lambda value, _: type(value) is slice,
    "plain": _is_plain,
    "any": lambda value, _: True,
    "matrix": lambda value, _: issparse(value),
    "sparse": lambda value, sizes: issparse(value) and value.shape[1] == sizes.setdefault("p", value.shape[1]),
}
