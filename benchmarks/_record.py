"""What a benchmark printed, with the machine, the versions and the date, as a file that the documentation shows."""

from __future__ import annotations

import io
import json
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

__all__ = ["machine", "print_and_keep", "save_record", "versions"]

# pacband, what it computes with, and the peers.
PACKAGES = (
    "pacband", "numpy", "scipy", "scikit-learn", "duckdb", "polars", "dask", "pyspark", "MAPIE", "crepes", "openturns",
    "river",
)  # fmt: skip


class _Both(io.TextIOBase):
    """A stream that prints what it keeps."""

    def __init__(self) -> None:
        self.kept = io.StringIO()

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        return self.kept.write(text)

    def flush(self) -> None:
        sys.__stdout__.flush()


@contextmanager
def print_and_keep() -> Iterator[io.StringIO]:
    """Print as before, and yield what keeps a copy."""
    both = _Both()
    with redirect_stdout(both):
        yield both.kept


def machine() -> dict[str, str | int]:
    """Return the processor, its number of cores, the memory and the system."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()} ({platform.machine()})",
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def save_record(folder: Path, name: str, *, about: str, text: str, seconds: float, quick: bool) -> Path:
    """Write one benchmark into the folder, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "benchmark": name,
        "about": about.strip(),
        "date": datetime.now(UTC).date().isoformat(),
        "quick": quick,
        "seconds": round(seconds, 1),
        "machine": machine(),
        "versions": versions(),
        "text": text.strip("\n"),
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
