"""JSON Schemas as Python functions: a yes at once, and jsonschema for every other answer.

`quick_check` turns a schema into one function that is true only for valid values. It knows the keywords that pacband's
schemas use, and raises for others. What it does not accept is decided, and explained, by
jsonschema, so that a slip here costs time and never lets a wrong document pass. A file of 100,000 groups is checked
in a second or two, where jsonschema takes the better part of a minute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["quick_check"]

Check = Callable[[Any], bool]

_TYPES: dict[str, Check] = {
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) is int or type(value) is float,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
}
_WORDS = ("$schema", "$defs", "title", "description")
# The types that a keyword is for; of others it says nothing. Keywords that are not here are for all.
_MEANT_FOR: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("properties", "additionalProperties", "required"), (dict,)),
    **dict.fromkeys(("items", "minItems", "maxItems"), (list,)),
    **dict.fromkeys(("maxLength", "pattern"), (str,)),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (int, float)),
}


def quick_check(schema: Mapping[str, Any]) -> Check:
    """Return a function that is true only for values that the schema accepts.

    Examples
    --------
    >>> count = {"type": "integer", "minimum": 1}
    >>> check = quick_check({"type": "object", "properties": {"n": count}, "required": ["n"]})
    >>> check({"n": 3}), check({"n": 0}), check({"n": 3.0}), check({})
    (True, False, False, False)
    """
    return _compiled(schema, schema.get("$defs", {}))


def _compiled(schema: Any, defs: Mapping[str, Any]) -> Check:
    if isinstance(schema, bool):
        return lambda value: schema
    keywords = [keyword for keyword in schema if keyword not in _WORDS]
    # The type first: where there is only one, the other keywords may count on it.
    keywords.sort(key=lambda keyword: keyword != "type")
    checks = [_KEYWORDS[keyword](schema[keyword], schema, defs) for keyword in keywords]
    if not isinstance(schema.get("type"), str):
        checks = [_where_meant(keyword, check) for keyword, check in zip(keywords, checks, strict=True)]
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> bool:
        for one in checks:  # noqa: SIM110 - a loop is twice as fast as all() of a generator
            if not one(value):
                return False
        return True

    return check


def _where_meant(keyword: str, check: Check) -> Check:
    kinds = _MEANT_FOR.get(keyword)
    return check if kinds is None else lambda value: type(value) not in kinds or check(value)


def _of_type(names: Any, *_: Any) -> Check:
    checks = [_TYPES[name] for name in ([names] if isinstance(names, str) else names)]
    return checks[0] if len(checks) == 1 else lambda value: any(check(value) for check in checks)


def _one_of(options: list[Any], _: Any, defs: Mapping[str, Any]) -> Check:
    checks = [_compiled(option, defs) for option in options]
    # Two at once are for jsonschema to see: it tells anyOf from oneOf.
    return lambda value: sum(check(value) for check in checks) == 1


def _equal_to(options: list[Any]) -> Check:
    kinds = [(type(option), option) for option in options]
    return lambda value: any(type(value) is kind and value == option for kind, option in kinds)


def _properties(members: Mapping[str, Any], schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Check:
    known = {name: _compiled(member, defs) for name, member in members.items()}
    others = _compiled(schema.get("additionalProperties", True), defs)

    def check(value: dict[str, Any]) -> bool:
        for name, member in value.items():  # noqa: SIM110 - as above
            if not known.get(name, others)(member):
                return False
        return True

    return check


def _items(schema: Any, _: Any, defs: Mapping[str, Any]) -> Check:
    check = _compiled(schema, defs)
    return lambda value: all(map(check, value))


def _matches(pattern: str, *_: Any) -> Check:
    search = re.compile(pattern).search
    return lambda value: search(value) is not None


# A function of the keyword's argument, the schema it stands in, and the definitions.
_KEYWORDS: dict[str, Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Check]] = {
    "$ref": lambda name, _, defs: _compiled(defs[name.removeprefix("#/$defs/")], defs),
    "type": _of_type,
    "const": lambda only, *_: _equal_to([only]),
    "enum": lambda options, *_: _equal_to(options),
    "anyOf": _one_of,
    "oneOf": _one_of,
    "properties": _properties,
    "additionalProperties": lambda others, schema, defs: (
        _properties({}, schema, defs) if "properties" not in schema else lambda value: True
    ),
    "required": lambda names, *_: set(names).issubset,
    "items": _items,
    "minItems": lambda least, *_: lambda value: len(value) >= least,
    "maxItems": lambda most, *_: lambda value: len(value) <= most,
    "maxLength": lambda most, *_: lambda value: len(value) <= most,
    "pattern": _matches,
    "minimum": lambda least, *_: lambda value: value >= least,
    "maximum": lambda most, *_: lambda value: value <= most,
    "exclusiveMinimum": lambda end, *_: lambda value: value > end,
    "exclusiveMaximum": lambda end, *_: lambda value: value < end,
}
