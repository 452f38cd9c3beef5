"""Model files on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pacband.cli.columns import warn_of_other_target, warn_of_other_unit
from pacband.cli.console import fail, print_message, progress_bar
from pacband.cli.pages import command_line
from pacband.tables.dialects import FIND, Dialect

if TYPE_CHECKING:
    from pacband.core.progress import Progress
    from pacband.estimators.base import Certified
    from pacband.tables.model_rows import ModelTable

__all__ = ["model_target", "open_model_file", "open_model_table", "refuse_option"]


def model_target(path: str, target: Sequence[str], **others: Any) -> tuple[str, ...]:
    """Return the target columns of a model: as named, else those of the file that `pacband fit` has read.

    Raises if neither names it, or if one of the `others`, options by their names, is given: only certificates need
    them. What a certificate states about its target is for people, and names no column.
    """
    from pacband.models import load_target

    for option, value in others.items():
        if value not in (None, (), False):
            refuse_option(option)
    known = load_target(path)
    found = tuple(target) or known
    if not found:
        raise click.UsageError(
            "name the --target column: the model was fitted in Python, and its file names no target column."
        )
    warn_of_other_target(known, found)
    return found


def refuse_option(option: str) -> NoReturn:
    """Raise because an option that only certificates need was given with a model."""
    raise click.UsageError(
        f"a model predicts by itself, and its certificate states the promise: --{option} cannot be given."
    )


@contextmanager
def open_model_table(
    path: str,
    files: Sequence[str],
    *,
    words: str,
    trust: tuple[str, ...] = (),
    max_bytes: int | None = None,
    dialect: Dialect = FIND,
    target: Sequence[str],
    importance: str | None = None,
    **named: str | None,
) -> Iterator[tuple[ModelTable, Progress]]:
    """Yield a model with the table of raw rows in files, and a progress bar that shows `words`.

    `target`, `group`, `unit` and `importance` name columns; see `ModelTable.of`.
    """
    from pacband.tables.files import open_files
    from pacband.tables.model_rows import ModelTable
    from pacband.tables.survey import number_columns

    with open_files(files, dialect, note=print_message) as found, found.reading(), progress_bar(words) as progress:
        model = open_model_file(path, trust, max_bytes)
        certificate: Any = model.certificate_
        warn_of_other_unit(certificate.basis, named.get("unit"))
        relation = found.relation([*target, *filter(None, [importance])], inputs=number_columns(model))
        yield ModelTable.of(model, relation, target=target, importance=importance, **named), progress


def open_model_file(path: str, trust: tuple[str, ...], max_bytes: int | None = None) -> Certified:
    """Return the model in a file, or end the command with a message that states which option or command helps."""
    from pacband.estimators.base import Certified
    from pacband.estimators.files import load
    from pacband.exceptions import UntrustedTypes

    try:
        model = load(path, trusted=trust, **({} if max_bytes is None else {"max_bytes": max_bytes}))
    except UntrustedTypes as error:
        needed = [part for name in error.types for part in ("--trust", name)]
        fail(
            f"{path} contains {len(error.types)} type(s) that pacband cannot check. If you trust the packages they "
            f"belong to, and the file, repeat the command with --trust: {command_line(*needed)}"
        )
    if not isinstance(model, Certified):
        fail(f"{path} is a certificate, not a model: `pacband apply` adds its band to predictions.")
    if not hasattr(model, "feature_names_in_"):
        fail(f"{path} was fitted without column names: fit it on a dataframe to use it on files.")
    return model
