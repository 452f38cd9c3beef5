"""Errors of DuckDB while it reads files, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pacband.core.extras import require
from pacband.exceptions import InvalidInput
from pacband.tables.messages import explain

__all__ = ["reading"]

duckdb = require("duckdb", purpose="a table in a file")

# Whether a block of `reading` knows the files that are read.
_IN_FILES = ContextVar("_IN_FILES", default=False)


@contextmanager
def reading(
    path: str | None = None,
    *,
    locate: Callable[[str], str] = lambda message: "",
    names: dict[str, str] | None = None,
) -> Iterator[None]:
    """Raise an error of one sentence if DuckDB cannot read a file. `path` is the file if DuckDB does not name it.

    Without a path, a block inside of another one leaves errors to the outer one, which knows the files.
    """
    if path is None and _IN_FILES.get():
        yield
        return
    token = _IN_FILES.set(path is not None)
    try:
        yield
    except duckdb.Error as error:
        raise InvalidInput(explain(str(error), path, names or {}) + locate(str(error))) from None
    except RuntimeError as error:
        # DuckDB reports Ctrl-C in this way.
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from None
        raise
    finally:
        _IN_FILES.reset(token)
