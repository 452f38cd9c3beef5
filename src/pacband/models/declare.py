"""The language of declarations: which attributes a kind of object has, of which type, shape and range.

A declaration is a text of entries ``name=type|type``, with ``!`` after the name where a fitted object must have it::

    coef_!=f[k,p]|f[p] intercept_!=num|f[k] n_iter_=int

``f i u b n t o``
    An array: floats, integers, unsigned integers, truth values, numbers of any of these, texts, or plain values as
    objects; ``f8`` is of 8 bytes each. It is a numpy.ndarray itself, with memory of its own. ``[k,p]`` is its shape: a
    name stands for one size all over the object, p for the number of features, ``*`` for any size.
``num int nat float bool str none dtype any plain``
    A number, an integer, one that is not negative, and so on; ``plain`` is any value without objects, ``any`` any.
``list(…) tuple(…) dict(…)``
    All of whose entries are of this type.
``sparse matrix``
    A sparse matrix of p columns, or of any.
``model kernel splitter @Name``
    An object: an estimator, a kernel, a splitter, or one of the kind Name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pacband.models.values import Unsound

__all__ = ["Kind", "check_attributes", "parse"]

Check = Callable[[Any, dict[str, int]], bool]


@dataclass(frozen=True, eq=False)
class Kind:
    """How objects of one class are taken apart and made again.

    Attributes
    ----------
    name : str
        As the file calls it; it stays when modules move.
    module, class_name : str
        Where the class is imported from.
    role : {"model", "kernel", "splitter", "part"}
        What it may stand for.
    declaration : str
        Its attributes beside the parameters of its constructor.
    left : str
        Attributes that are not saved, for nothing of what is promised needs them.
    take : function of the object
        Further state as plain values, for attributes that are not plain.
    give : function of (object, state)
        Makes these attributes again: it changes the state into the attributes of the object.
    check : function of the object
        Raises `Unsound` unless its attributes fit each other, where compiled code would believe it.
    parameters : function of the object
        What its constructor needs, for those without `get_params`.
    declared_parameters : str
        The declaration of these; by default any plain value, and estimators where they are expected.
    make : function of the parameters
        Makes the object; by default the class.
    always : bool
        Whether `check` is for objects that are not fitted as well.
    trusted : bool
        Whether it is made only with the user's word, for its own reader cannot be relied on.
    """

    name: str
    module: str
    class_name: str
    role: str = "model"
    declaration: str = ""
    left: str = ""
    take: Callable[[Any], dict[str, Any]] | None = None
    give: Callable[[Any, dict[str, Any]], None] | None = None
    check: Callable[[Any], None] | None = None
    parameters: Callable[[Any], Mapping[str, Any]] | None = None
    declared_parameters: str = ""
    make: Callable[..., Any] | None = None
    always: bool = False
    trusted: bool = False

    def load(self) -> Any:
        """Return the class; AttributeError or ImportError where the installed version has none."""
        return getattr(import_module(self.module), self.class_name)

    def new(self, parameters: Mapping[str, Any]) -> Any:
        """Return an object that is not fitted."""
        return (self.make or self.load())(**parameters)


@cache
def parse(declaration: str) -> Mapping[str, tuple[bool, Check]]:
    """Return whether each attribute must be there, and the check of its value."""
    found = {}
    for entry in declaration.split():
        name, _, types = entry.partition("=")
        found[name.rstrip("!")] = (name.endswith("!"), _any_of(types))
    return found


def check_attributes(kind: Kind, declaration: str, values: Mapping[str, Any], sizes: dict[str, int]) -> None:
    """Raise `Unsound` unless the values are what is declared."""
    declared = parse(declaration)
    for name, value in values.items():
        if name not in declared:
            raise Unsound(f"a {kind.name} has an attribute that is not declared")
        if not declared[name][1](value, sizes):
            raise Unsound(f"{name} of a {kind.name} is not what is declared")
    missing = [name for name, (needed, _) in declared.items() if needed and name not in values]
    if missing and values.keys() - {"_sklearn_output_config"}:
        raise Unsound(f"a {kind.name} has no {missing[0]}")


def _any_of(types: str) -> Check:
    checks = [_one(part) for part in _split(types)]

    def check(value: Any, sizes: dict[str, int]) -> bool:
        for one in checks:
            trial = dict(sizes)
            if one(value, trial):
                sizes.update(trial)
                return True
        return False

    return check


def _split(types: str) -> Iterator[str]:
    """Yield the alternatives, not looking into brackets."""
    depth, start = 0, 0
    for k, sign in enumerate(types):
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth:
            yield types[start:k]
            start = k + 1
    yield types[start:]


def _one(text: str) -> Check:
    if text.startswith("@"):
        return lambda value, _: type(value).__name__ == text[1:] and _declared(value) is not None
    if text in ("model", "kernel", "splitter"):
        return lambda value, _: (kind := _declared(value)) is not None and kind.role == text
    if match := re.fullmatch(r"(list|tuple|dict)\((.*)\)", text):
        return _container({"list": list, "tuple": tuple, "dict": dict}[match[1]], _any_of(match[2]))
    if match := re.fullmatch(r"([fiubnto])(\d?)(?:\[(.*)\])?", text):
        return _array(match[1], match[2], None if match[3] is None else match[3].split(","))
    check = _PLAIN[text]
    return lambda value, sizes: check(value, sizes)


def _declared(value: Any) -> Kind | None:
    from pacband.models.declarations import kind_of

    return kind_of(value)


def _container(kind: type, item: Check) -> Check:
    def check(value: Any, sizes: dict[str, int]) -> bool:
        # The sizes of one entry say nothing of the next, but for p.
        return type(value) is kind and all(
            item(entry, {k: v for k, v in sizes.items() if k == "p"})
            for entry in (value.values() if kind is dict else value)
        )

    return check


_KINDS = {"f": "f", "i": "i", "u": "u", "b": "b", "n": "fiub", "t": "UO", "o": "O"}


def _array(letter: str, width: str, shape: list[str] | None) -> Check:
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
    return _declared(value) is None and not callable(value)


_PLAIN: dict[str, Check] = {
    "num": _is_number,
    "int": _is_integer,
    "nat": lambda value, _: _is_integer(value, _) and 0 <= value < 2**48,
    "float": lambda value, _: type(value) is float or isinstance(value, np.floating),
    "bool": lambda value, _: type(value) in (bool, np.bool_),
    "str": lambda value, _: type(value) is str,
    "none": lambda value, _: value is None,
    "dtype": lambda value, _: isinstance(value, np.dtype),
    "function": lambda value, _: callable(value) and _declared(value) is None,
    "slice": lambda value, _: type(value) is slice,
    "plain": _is_plain,
    "any": lambda value, _: True,
    "matrix": lambda value, _: issparse(value),
    "sparse": lambda value, sizes: issparse(value) and value.shape[1] == sizes.setdefault("p", value.shape[1]),
}
