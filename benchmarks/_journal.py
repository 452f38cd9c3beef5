"""The journal of a long benchmark: what was measured is written at once, so that a run that is ended can go on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar, cast

from benchmarks._bands import Outcome
from benchmarks._record import machine, versions

__all__ = ["Journal"]

Measured = TypeVar("Measured", bound=Outcome | str)

FOLDER = Path("out/benchmarks")
_ROOT = Path(__file__).parents[1]


class Journal:
    """The outcomes of a run, in a file with a line for each.

    Parameters
    ----------
    name : str
        The benchmark. Outcomes of the same code, machine and versions are used again; else the file is written anew.
    quick : bool
        Whether it is a smoke test, which has a file of its own.
    """

    def __init__(self, name: str, *, quick: bool) -> None:
        self.path = path = FOLDER / f"{name}{'-quick' if quick else ''}.jsonl"
        self._found: dict[str, Outcome | str] = {}
        conditions = json.dumps({"code": _digest(), "machine": machine(), "versions": versions()}, sort_keys=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if lines[:1] == [conditions]:
            for line in lines[1:]:
                key, outcome = json.loads(line)
                self._found[key] = outcome if isinstance(outcome, str) else Outcome(**outcome)
            print(f"{len(self._found)} outcomes are of an earlier part of this run: {path}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(conditions + "\n", encoding="utf-8")

    def get(self, key: str, measure: Callable[[], Measured]) -> Measured:
        """Return the outcome of this name, or the error of a rival: the one in the file, or else measure it now."""
        if key not in self._found:
            self._found[key] = outcome = measure()
            content = outcome if isinstance(outcome, str) else asdict(outcome)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, content]) + "\n")
        return cast(Measured, self._found[key])

    def finish(self) -> None:
        """Remove the file: the next run is a new one."""
        self.path.unlink()


def _digest() -> str:
    """Return a digest of the code that an outcome depends on: the package, and what measures it."""
    content = hashlib.sha256()
    for path in sorted([*(_ROOT / "src/pacband").rglob("*.py"), *(_ROOT / "benchmarks").glob("_*.py")]):
        content.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return content.hexdigest()
