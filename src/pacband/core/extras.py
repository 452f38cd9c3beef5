"""Packages that pacband does not need for everything, and the extras that install them."""

from __future__ import annotations

import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

from pacband.exceptions import MissingExtra

__all__ = ["install_command", "missing_extra", "require"]

# The extra in pyproject.toml that installs a package.
_EXTRAS = {
    **dict.fromkeys(("click", "rich", "duckdb", "jinja2", "matplotlib", "skops"), "cli"),
    **dict.fromkeys(("dask", "distributed"), "dask"),
    **dict.fromkeys(("pyspark", "py4j"), "spark"),
    **dict.fromkeys(("mlflow", "mlflow-skinny", "sqlalchemy", "alembic"), "mlflow"),
    "cryptography": "sign",
    "pandas": "pandas",
    **dict.fromkeys(("python_calamine", "python-calamine"), "excel"),
    "polars": "polars",
}
_CHECKOUT = Path(__file__).parents[3]


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
    """Return the error for a module that is not installed, in one line.

    A package that no extra installs, such as LightGBM, is installed under its own name.
    """
    package = module.split(".")[0]
    extra = extra or _EXTRAS.get(package)
    command = install_command(extra) if extra else f"pip install {package}"
    return MissingExtra(f"{purpose} needs the package {package!r}: {command}")


def install_command(extra: str) -> str:
    """Return the pip command that installs an extra of this pacband.

    Where pacband is installed, pip keeps it and adds what the extra needs, whether pacband came from an index or from a
    checkout. A checkout that is only on the path of Python is not known to pip, and must be named.
    """
    from importlib import metadata  # half of the time of `pacband --version`

    try:
        metadata.distribution("pacband")
    except metadata.PackageNotFoundError:
        if (_CHECKOUT / "pyproject.toml").is_file():
            return f"pip install --editable {shlex.quote(f'{_CHECKOUT}[{extra}]')}"
    return f"pip install 'pacband[{extra}]'"
