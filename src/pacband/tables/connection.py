"""Connections to DuckDB. All are made here; they load no extension and touch only the files that are open.

A column or a file may have any name, and a mistake in quoting a name must not reach other files. So a connection reads
and writes only the files that `allowing` names when the connection is made. Its settings are locked.
"""

from __future__ import annotations

import atexit
import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

from pacband.core.extras import require

__all__ = [
    "Draft",
    "allowing",
    "connect",
    "draft_of",
    "literal",
    "literals",
    "quoted",
    "shared_connection",
    "workspace",
]

duckdb = require("duckdb", purpose="a table like this")


@dataclass(frozen=True)
class Draft:
    """The file to write in place of an output, and how CSV is written to it."""

    path: str
    delimiter: str = ","
    decimal: str = "."


@dataclass(frozen=True)
class _Scope:
    """The files that connections may touch, and where connections are closed."""

    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    drafts: Mapping[str, Draft] = field(default_factory=dict)
    closing: ExitStack | None = None


_NOTHING = _Scope()
_SCOPE: ContextVar[_Scope] = ContextVar("pacband_scope", default=_NOTHING)


@contextmanager
def allowing(
    paths: Iterable[str] = (), *, folder: str | None = None, drafts: Mapping[str, Draft] | None = None
) -> Iterator[None]:
    """Let connections made inside also touch these files and this folder. Closes the connections at the end.

    Parameters
    ----------
    paths : iterable of str
        Files to read, as absolute paths.
    folder : str, optional
        A folder to read and write in. DuckDB also writes there what does not fit into memory.
    drafts : mapping of str to Draft, optional
        The file to write in place of each output, by its absolute path.
    """
    before = _SCOPE.get()
    drafts = drafts or {}
    with ExitStack() as closing:
        token = _SCOPE.set(
            _Scope(
                (*before.paths, *paths, *(name for draft in drafts.values() for name in _paths_written(draft.path))),
                before.folders if folder is None else (folder, *before.folders),
                {**before.drafts, **drafts},
                closing,
            )
        )
        try:
            yield
        finally:
            _SCOPE.reset(token)


@contextmanager
def workspace() -> Iterator[str]:
    """Yield a temporary folder that connections made inside may use. Removes the folder at the end."""
    with TemporaryDirectory(prefix="pacband-") as made:
        folder = os.path.realpath(made)
        with allowing(folder=folder):
            yield folder


def connect(*, threads: int | None = None, paths: Sequence[str] | None = None, **settings: str) -> Any:
    """Return a connection to a database in memory. It is closed at the end of the `allowing` block it was made in.

    Parameters
    ----------
    threads : int, optional
        The number of threads; by default one for each core.
    paths : sequence of str, optional
        The only files that it may touch; by default all that are allowed.
    **settings : str
        Further settings of DuckDB.
    """
    scope = _SCOPE.get()
    reached = scope.paths if paths is None else paths
    connection = duckdb.connect(
        config={
            "threads": threads or os.cpu_count() or 1,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            **settings,
        }
    )
    # DuckDB checks the pattern as well as the file that it finds by the pattern.
    for name, places in (("allowed_paths", reached), ("allowed_directories", scope.folders)):
        connection.execute(f"set {name} = {literals(dict.fromkeys([*places, *map(glob.escape, places)]))}")
    if scope.folders:
        connection.execute(f"set temp_directory = {literal(scope.folders[0])}")
    # DuckDB 2.0 reads and writes files in threads of their own. If a query that writes a file fails, it can wait for
    # these threads for ever: it holds a lock that they need. Without them it ends. Earlier versions have no such
    # setting.
    with suppress(duckdb.CatalogException):
        connection.execute("set async_threads = 0")
    # DuckDB prints its own progress bar to standard output, among the rows or the JSON, in queries of over two seconds.
    connection.execute("set enable_progress_bar = false")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    if scope.closing is not None:
        scope.closing.callback(connection.close)
    return connection


@cache
def shared_connection() -> Any:
    """Return the connection for tables in memory. It is closed when the program ends."""
    token = _SCOPE.set(_NOTHING)
    try:
        connection = connect()
    finally:
        _SCOPE.reset(token)
    atexit.register(connection.close)
    return connection


def draft_of(output: str) -> Draft:
    """Return the file to write in place of an output; for a file in our own folder, the file itself."""
    return _SCOPE.get().drafts.get(output, Draft(output))


def quoted(name: str) -> str:
    """Return the name of a column, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """Return a text, quoted for SQL."""
    return "'" + value.replace("'", "''") + "'"


def literals(values: Iterable[str]) -> str:
    """Return a list of texts for SQL."""
    return f"[{', '.join(map(literal, values))}]"


def _paths_written(draft: str) -> tuple[str, str]:
    # If the file exists, DuckDB writes a file beside it first.
    folder, name = os.path.split(draft)
    return draft, os.path.join(folder, f"tmp_{name}")
