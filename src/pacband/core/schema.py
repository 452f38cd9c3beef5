"""JSON Schemas as Python functions: a fast check that accepts valid values only.

`quick_check` compiles a schema into one function that is true only for valid values. It supports the keywords in
pacband's schemas, and raises for others. If it returns False, jsonschema decides and explains the answer. So a mistake
here costs time, and never accepts a wrong document. A file of 100,000 groups is checked in one or two seconds;
jsonschema takes almost a minute.
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
_NOT_CHECKED = ("$schema", "$defs", "title", "description")
# A keyword constrains values of these types only. Keywords that are not in this table constrain all values.
_CONSTRAINED_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("properties", "additionalProperties", "required"), (dict,)),
    **dict.fromkeys(("items", "minItems", "maxItems"), (list,)),
    **dict.fromkeys(("maxLength", "pattern"), (str,)),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (int, float)),
}


def quick_check(schema: Mapping[str, Any]) -> Check:
    """Return a function that is true only for values that a schema accepts.

    Examples
    --------
    >>> count = {"type": "integer", "minimum": 1}
    >>> check = quick_check({"type": "object", "properties": {"n": count}, "required": ["n"]})
    >>> check({"n": 3}), check({"n": 0}), check({"n": 3.0}), check({})
    (True, False, False, False)
    """
    return _compile(schema, schema.get("$defs", {}))


def _compile(schema: Any, defs: Mapping[str, Any]) -> Check:
    if isinstance(schema, bool):
        return lambda value: schema
    keywords = [keyword for keyword in schema if keyword not in _NOT_CHECKED]
    # The type comes first: if the schema names one type, the other checks may rely on it.
    keywords.sort(key=lambda keyword: keyword != "type")
    checks = [_KEYWORDS[keyword](schema[keyword], schema, defs) for keyword in keywords]
    if not isinstance(schema.get("type"), str):
        checks = [_skip_other_types(keyword, check) for keyword, check in zip(keywords, checks, strict=True)]
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> bool:
        for one in checks:  # noqa: SIM110 - a loop is twice as fast as all() of a generator
            if not one(value):
                return False
        return True

    return check


def _skip_other_types(keyword: str, check: Check) -> Check:
    kinds = _CONSTRAINED_TYPES.get(keyword)
    return check if kinds is None else lambda value: type(value) not in kinds or check(value)


def _check_type(names: Any, *_: Any) -> Check:
    checks = [_TYPES[name] for name in ([names] if isinstance(names, str) else names)]
    return checks[0] if len(checks) == 1 else lambda value: any(check(value) for check in checks)


def _check_one_of(options: list[Any], _: Any, defs: Mapping[str, Any]) -> Check:
    checks = [_compile(option, defs) for option in options]
    # If two options accept a value, the answer is False, and jsonschema decides: anyOf and oneOf differ there.
    return lambda value: sum(check(value) for check in checks) == 1


def _check_equal(options: list[Any]) -> Check:
    kinds = [(type(option), option) for option in options]
    return lambda value: any(type(value) is kind and value == option for kind, option in kinds)


def _check_properties(members: Mapping[str, Any], schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Check:
    known = {name: _compile(member, defs) for name, member in members.items()}
    others = _compile(schema.get("additionalProperties", True), defs)

    def check(value: dict[str, Any]) -> bool:
        for name, member in value.items():  # noqa: SIM110 - as above
            if not known.get(name, others)(member):
                return False
        return True

    return check


def _check_items(schema: Any, _: Any, defs: Mapping[str, Any]) -> Check:
    check = _compile(schema, defs)
    return lambda value: all(map(check, value))


def _check_pattern(pattern: str, *_: Any) -> Check:
    search = re.compile(pattern).search
    return lambda value: search(value) is not None


# Each function takes the argument of the keyword, the schema that contains the keyword, and the definitions.
_KEYWORDS: dict[str, Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Check]] = {
    "$ref": lambda name, _, defs: _compile(defs[name.removeprefix("#/$defs/")], defs),
    "type": _check_type,
    "const": lambda only, *_: _check_equal([only]),
    "enum": lambda options, *_: _check_equal(options),
    "anyOf": _check_one_of,
    "oneOf": _check_one_of,
    "properties": _check_properties,
    "additionalProperties": lambda others, schema, defs: (
        _check_properties({}, schema, defs) if "properties" not in schema else lambda value: True
    ),
    "required": lambda names, *_: set(names).issubset,
    "items": _check_items,
    "minItems": lambda least, *_: lambda value: len(value) >= least,
    "maxItems": lambda most, *_: lambda value: len(value) <= most,
    "maxLength": lambda most, *_: lambda value: len(value) <= most,
    "pattern": _check_pattern,
    "minimum": lambda least, *_: lambda value: value >= least,
    "maximum": lambda most, *_: lambda value: value <= most,
    "exclusiveMinimum": lambda end, *_: lambda value: value > end,
    "exclusiveMaximum": lambda end, *_: lambda value: value < end,
}
