"""JSON documents on disk that are whole or not there, and whose accidental changes are detected.

A document is ``{"schema": …, "schema_version": …, "content": …, "sha256": …}``. The file holds one canonical
serialization of it, byte for byte, and the digest covers all of it: a damaged, truncated or hand-edited file is
refused. The digest is no signature. Whoever edits a file on purpose can compute a new digest, and the file loads.
Files are replaced atomically: a crash leaves the old file or the new one.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib import resources
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any, NoReturn

from pacband.core.schema import quick_check
from pacband.exceptions import CertificateError

__all__ = [
    "check_directory",
    "document_bytes",
    "document_digest",
    "drafted",
    "parse_document",
    "read_document",
    "replace_file",
    "write_document",
]


# Characters of a schema's message that an error repeats.
_LONGEST = 300


def write_document(path: str | os.PathLike[str], schema: str, version: int, content: dict[str, Any]) -> Path:
    """Write the content as a checked document; return the path."""
    target = Path(path)
    replace_file(target, document_bytes(schema, version, content))
    return target


def document_bytes(
    schema: str, version: int, content: dict[str, Any], *, unchecked: dict[str, Any] | None = None
) -> bytes:
    """Return the content as a checked document, as its file holds it.

    `unchecked` is the content without the entries of lists that were checked before; by default all is checked.
    """
    document = {"schema": schema, "schema_version": version, "content": content}
    document["sha256"] = _digest(document)
    _check_schema({**document, "content": content if unchecked is None else unchecked}, schema)
    return _serialize(document)


def document_digest(schema: str, version: int, content: dict[str, Any]) -> str:
    """Return the SHA-256 that the document of this content carries."""
    return _digest({"schema": schema, "schema_version": version, "content": content})


def read_document(path: str | os.PathLike[str], schema: str, version: int) -> dict[str, Any]:
    """Return the content of a document, or raise `CertificateError` saying what is wrong with the file."""
    return parse_document(Path(path).read_bytes(), os.fspath(path), schema, version)


def parse_document(data: bytes, source: str, schema: str, version: int) -> dict[str, Any]:
    """Return the content of a document; `source` is what errors call it."""
    try:
        return _checked(_parse(data, source), data, source, schema, version)
    except RecursionError:
        raise CertificateError(f"{source} is damaged: its entries are nested too deeply.") from None


def _checked(document: Any, data: bytes, source: str, schema: str, version: int) -> dict[str, Any]:
    """Return the content of a document that was parsed from this data."""
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise CertificateError(f"{source} is not a {schema} file.")
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


def _parse(data: bytes, source: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    try:
        text = data.decode("utf-8")
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise CertificateError(f"{source} is truncated: it ends in the middle of the document.") from None
        raise CertificateError(f"{source} is damaged: not JSON at line {error.lineno} ({error.msg}).") from None
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"{source} is damaged: {error}.") from None


def _serialize(document: dict[str, Any]) -> bytes:
    """Return what ``json.dumps(document, indent=2)`` does, three times as fast: with an indent it runs in Python."""
    return (_indented(document, "\n") + "\n").encode("ascii")


def _indented(value: Any, line: str) -> str:
    """Return a value as JSON; `line` is the end of a line and the indent of the one after it."""
    kind = type(value)
    if kind is str:
        return encode_basestring_ascii(value)
    if kind is dict and value:
        inner = f"{line}  "
        entries = [f"{encode_basestring_ascii(key)}: {_indented(entry, inner)}" for key, entry in value.items()]
        return f"{{{inner}{f',{inner}'.join(entries)}{line}}}"
    if kind is list and value:
        inner = f"{line}  "
        return f"[{inner}{f',{inner}'.join([_indented(entry, inner) for entry in value])}{line}]"
    return json.dumps(value)


def _digest(unsigned: dict[str, Any]) -> str:
    """SHA-256 of the document without its digest, as JSON with sorted keys and without spaces."""
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

    # To JSON Schema 1e30 is an integer; to us, what is no int is none.
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


def replace_file(target: Path, data: bytes) -> None:
    """Put the data into a file, atomically and durably: a crash leaves the old file or the new one."""
    with drafted(target) as draft:
        draft.write_bytes(data)


def check_directory(target: Path) -> None:
    """Raise where the directory that a file is to be in is not there."""
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no directory {folder}", str(target))


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """Yield where to write; when that went well, the draft takes the target's name, at once and durably.

    The draft is there already, empty: write to this very file. A file that is replaced keeps its permissions and, as
    far as this process may, its owner; nobody else can read the draft. A new file gets the mode of the umask.
    """
    # A link keeps pointing where it did: the file behind it is replaced.
    final = Path(os.path.realpath(target))
    if final.exists() and not final.is_file():
        raise CertificateError(f"{target} is not a regular file: nothing can be saved there.")
    check_directory(target)
    draft = final.with_name(f".{final.name}.{secrets.token_hex(8)}.tmp")
    try:
        before = final.stat() if final.exists() else None
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if before is None else 0o600))
        yield draft
        with open(draft, "rb+") as file:
            if before is not None:
                _make_like(file.fileno(), before)
            os.fsync(file.fileno())
        os.replace(draft, final)
    except BaseException as error:
        # On a disk that can no longer be written to this fails as well: the first error is raised.
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and str(error.filename or draft) == str(draft):
            # The user knows the file by the name it was to have. A full disk names no file at all.
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise
    _sync_directory(final.parent)


def _make_like(descriptor: int, before: os.stat_result) -> None:
    """Give an open file the owner, as far as this process may, and the permissions of the file it is to replace."""
    if os.name == "posix":
        here = os.fstat(descriptor)
        if (here.st_uid, here.st_gid) != (before.st_uid, before.st_gid):
            with suppress(PermissionError):
                os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _sync_directory(directory: Path) -> None:
    """Make the new name durable, where the system lets a directory be synchronized."""
    if os.name == "posix":
        with suppress(PermissionError):
            descriptor = os.open(directory, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
