"""Packages that pacband does not need for everything, and the extras that install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pacband.exceptions import MissingExtra

__all__ = ["missing_extra", "require"]

# The extra that installs a package; `cli` installs all others.
_EXTRAS = {"dask": "dask", "distributed": "dask", "pyspark": "spark", "py4j": "spark", "polars": "polars"}


def require(module: str, *, extra: str | None = None, purpose: str = "this") -> Any:
    """Import an optional module, or raise `MissingExtra` with the command that installs it.

    Parameters
    ----------
    module : str
        The full name of the module.
    extra : str, optional
        The extra of pacband that installs it; by default the one known for its package.
    purpose : str
        What needs it: the subject of the message.

    Examples
    --------
    >>> require("math").sqrt(4.0)
    2.0
    >>> require("no_such_package", extra="cli", purpose="a figure")
    Traceback (most recent call last):
    pacband.exceptions.MissingExtra: a figure needs the package 'no_such_package': pip install 'pacband[cli]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_extra(error.name or module, extra=extra, purpose=purpose) from None


def missing_extra(module: str, *, extra: str | None = None, purpose: str = "this") -> MissingExtra:
    """Return the error for a module that is not installed."""
    package = module.split(".")[0]
    return MissingExtra(
        f"{purpose} needs the package {package!r}: pip install 'pacband[{extra or _EXTRAS.get(package, 'cli')}]'"
    )
