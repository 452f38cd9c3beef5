"""Model files on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pacband.cli.console import fail
from pacband.cli.pages import command_line

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["open_model_file"]


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
