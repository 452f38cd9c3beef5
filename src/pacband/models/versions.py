"""The versions of the packages on which a saved model depends."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping
from importlib.metadata import version

from pacband import __version__

__all__ = ["described", "versions", "warn_of_another"]

_VERSIONED = ("scikit-learn", "numpy", "scipy")


def versions() -> dict[str, str]:
    """Return the installed versions, on which a model that is saved now depends."""
    return {"pacband": __version__, "python": platform.python_version(), **{name: version(name) for name in _VERSIONED}}


def described(saved: Mapping[str, str]) -> str:
    """Return versions as one line of text."""
    return ", ".join(f"{name} {number}" for name, number in saved.items() if name in ("pacband", "python", *_VERSIONED))


def warn_of_another(saved: Mapping[str, str], source: str, *, stacklevel: int) -> None:
    """Warn if a model was saved with another release of scikit-learn."""
    if saved["scikit-learn"] != version("scikit-learn"):
        warnings.warn(
            f"{source} was saved with scikit-learn {saved['scikit-learn']}, and this is "
            f"{version('scikit-learn')}: its predictions may differ from those of the certified model. Calibrate it "
            "again, or use the version it was saved with.",
            stacklevel=stacklevel,
        )
