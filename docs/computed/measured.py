"""Results of scripts that are too slow for every build: JSON files that state machine, versions and date."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def save(name: str, rows: list[dict[str, Any]], *, seconds: float, packages: tuple[str, ...]) -> None:
    """Write the rows of a table, with what they were measured on."""
    content = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "versions": {package: _version(package) for package in packages},
        "seconds": round(seconds, 1),
        "rows": rows,
    }
    (HERE / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(name: str) -> dict[str, Any]:
    """Return what `save` wrote."""
    content: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text("utf-8"))
    return content


def origin(name: str) -> str:
    """Return the line under a table: how to compute it again, and what it was measured on."""
    content = read(name)
    versions = ", ".join(f"{package} {number}" for package, number in content["versions"].items())
    return f"*Measured by `docs/computed/{name}.py` on {content['date']}: {content['machine']}; {versions}.*"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
