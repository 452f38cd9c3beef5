"""JSON documents on disk that detect accidental changes.

A document is ``{"schema": …, "schema_version": …, "content": …, "sha256": …}``. The file is the one canonical
serialization of the document, byte for byte, and the digest covers all of it. So a damaged, truncated or hand-edited
file is refused. The digest is no signature: a person who edits a file on purpose can compute a new digest, and the file
loads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib import resources
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any, NoReturn

from pacband.core.atomic_files import replace_file
from pacband.core.schema import quick_check
from pacband.exceptions import CertificateError

__all__ = ["document_bytes", "document_digest", "parse_document", "read_document", "write_document"]

# What people call the documents, by their schemas. Wherever a certificate is read, a model file serves as well.
_CALLED = {
    "pacband/certificate": "a certificate or model",
    "pacband/model": "a model",
    "pacband/monitor": "a state of a monitor",
    "pacband/search-plan": "a plan of a search",
}
# How documents begin. Only a file that begins so can be damaged: others are something else.
_START = b'{\n  "schema": "'
# An error repeats at most this many characters of a schema's message.
_LONGEST = 300


def write_document(path: str | os.PathLike[str], schema: str, version: int, content: dict[str, Any]) -> Path:
    """Check the content against its schema, write it as a document, and return the path."""
    target = Path(path)
    replace_file(target, document_bytes(schema, version, content))
    return target


def document_bytes(
    schema: str, version: int, content: dict[str, Any], *, unchecked: dict[str, Any] | None = None
) -> bytes:
    """Check the content against its schema, and return the bytes of the document.

    `unchecked` is the part of the content that has to be checked: lists may leave out entries that were checked
    before. By default all content is checked.
    """
    document = {"schema": schema, "schema_version": version, "content": content}
    document["sha256"] = _digest(document)
    _check_schema({**document, "content": content if unchecked is None else unchecked}, schema)
    return _serialize(document)


def document_digest(schema: str, version: int, content: dict[str, Any]) -> str:
    """Return the SHA-256 in the document of this content."""
    return _digest({"schema": schema, "schema_version": version, "content": content})


def read_document(path: str | os.PathLike[str], schema: str, version: int) -> dict[str, Any]:
    """Return the content of a document, or raise `CertificateError` with the reason."""
    return parse_document(Path(path).read_bytes(), os.fspath(path), schema, version)


def parse_document(data: bytes, source: str, schema: str, version: int) -> dict[str, Any]:
    """Return the content of a document. Errors call it `source`."""
    try:
        return _check_document(_parse(data, source, schema), data, source, schema, version)
    except RecursionError:
        raise CertificateError(f"{source} is damaged: its entries are nested too deeply.") from None


def _check_document(document: Any, data: bytes, source: str, schema: str, version: int) -> dict[str, Any]:
    """Return the content of the document that was parsed from this data, or raise."""
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise _foreign(source, schema)
    found = document.get("schema_version")
    if isinstance(found, int) and found > version:
        raise CertificateError(
            f"{source} was written by a newer pacband: its schema_version is {found}, this version reads up to "
            f"{version}. Upgrade pacband to read it."
        )
    if document.get("sha256") != _digest({key: document[key] for key in document if key != "sha256"}):
        raise CertificateError(f"{source} was edited or damaged: its content does not match its digest.")
    if data != _serialize(document):
        raise CertificateError(f"{source} was edited or reformatted: it is not, byte for byte, what pacband wrote.")
    try:
        _check_schema(document, schema)
    except CertificateError as error:
        raise CertificateError(f"{source}: {error}") from None
    content: dict[str, Any] = document["content"]
    return content


def _foreign(source: str, schema: str) -> CertificateError:
    return CertificateError(f"{source} is not {_CALLED[schema]} of pacband.")


def _parse(data: bytes, source: str, schema: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    try:
        text = data.decode("utf-8")
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        if data[: len(_START)] != _START[: len(data)]:
            raise _foreign(source, schema) from None
        if not isinstance(error, json.JSONDecodeError):
            raise CertificateError(f"{source} is damaged: {error}.") from None
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise CertificateError(f"{source} is truncated: it ends in the middle of the document.") from None
        raise CertificateError(f"{source} is damaged: not JSON at line {error.lineno} ({error.msg}).") from None


def _serialize(document: dict[str, Any]) -> bytes:
    """Return the text of ``json.dumps(document, indent=2)``, three times as fast: json indents in Python code."""
    return (_to_json(document, "\n") + "\n").encode("ascii")


def _to_json(value: Any, line: str) -> str:
    """Return a value as JSON; `line` is a line break and the indent of the next line."""
    kind = type(value)
    if kind is str:
        return encode_basestring_ascii(value)
    if kind is dict and value:
        inner = f"{line}  "
        entries = [f"{encode_basestring_ascii(key)}: {_to_json(entry, inner)}" for key, entry in value.items()]
        return f"{{{inner}{f',{inner}'.join(entries)}{line}}}"
    if kind is list and value:
        inner = f"{line}  "
        return f"[{inner}{f',{inner}'.join([_to_json(entry, inner) for entry in value])}{line}]"
    return json.dumps(value)


def _digest(unsigned: dict[str, Any]) -> str:
    """Return the SHA-256 of a document without its digest, as JSON with sorted keys and without spaces."""
    return sha256(json.dumps(unsigned, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _schema(name: str) -> Any:
    return json.loads(
        resources.files("pacband.core.schemas").joinpath(f"{name.replace('/', '-')}.json").read_text("utf-8")
    )


@cache
def _quick_check(schema: str) -> Callable[[Any], bool]:
    return quick_check(_schema(schema))


@cache
def _validator(schema: str) -> Any:
    import jsonschema

    # JSON Schema accepts 1e30 as an integer. Here only an int is one.
    whole = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    return jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=whole)(_schema(schema))


def _check_schema(document: dict[str, Any], schema: str) -> None:
    if _quick_check(schema)(document):
        return
    from jsonschema.exceptions import best_match

    error = best_match(_validator(schema).iter_errors(document))
    if error is not None:
        place = "/".join(str(step) for step in error.absolute_path) or "the document"
        message = error.message if len(error.message) <= _LONGEST else f"{error.message[:_LONGEST]}…"
        raise CertificateError(f"the file does not follow its schema: {place}: {message}.")
