"""Change the rooms that decide the promise in many small ways, one at a time, and see that a test fails each time.

    python tests/mutants [--every 10] [--jobs 2] [planning scores selection certificate]

The tests are collected once, and run once to see which lines each of them runs. Every mutant is then a process of its
own, a copy of this one, in which one function has other code. Its tests are those that run the changed line: those of
its room first, and the quickest first. The first test that fails kills it; so does taking too long. `equivalent.txt`
lists the changes that break no promise, with the reason of each. Of the others, at most `ALLOWED` may survive.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from changes import Mutant, mutants_of

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src"
ROOMS = ("planning", "scores", "selection", "certificate")
TESTED_BY = (*ROOMS, "draws", "certification", "judging")
ALLOWED = 0.05
# The tests of a mutant are those that take so many seconds in all; the mutant itself may take twice as long, and more.
SECONDS = 10.0
PATIENCE = 5.0
# A change that lets a number explode ends with a MemoryError.
BYTES = 4 << 30
OUTCOMES = ("killed", "survived", "too slow", "no test")


class Mutation:
    """The pytest plugin that runs mutants where pytest would run the tests."""

    def __init__(self, mutants: Sequence[Mutant], jobs: int) -> None:
        self.mutants, self.jobs = mutants, jobs
        self.outcomes: list[str] = [""] * len(mutants)
        self.failed = False
        self.functions: dict[tuple[str, str], list[FunctionType]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed."""
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Learn which tests run which lines, then run every mutant against its tests."""
        self.write_line = session.config.pluginmanager.get_plugin("terminalreporter").write_line
        paths = {str(mutant.path) for mutant in self.mutants}
        for path in sorted(paths):
            name = ".".join(Path(path).relative_to(SOURCE).with_suffix("").parts)
            assert importlib.import_module(name).__file__ == path
        for value in gc.get_objects():
            if isinstance(value, FunctionType) and value.__code__.co_filename in paths:
                self.functions[value.__code__.co_filename, value.__code__.co_qualname].append(value)
            elif isinstance(value, functools._lru_cache_wrapper):
                # What was computed while the tests were collected is forgotten.
                value.cache_clear()
        # A process that does not touch what it shares with this one starts at once.
        gc.freeze()
        reached, seconds = self.learn(session.items, paths)
        self.write_line(f"{len(session.items)} tests in {sum(seconds):.0f} s, {len(self.mutants)} mutants")
        running: dict[int, int] = {}
        for k, mutant in enumerate(self.mutants):
            tests = sorted({test for line in mutant.lines for test in reached.get(f"{mutant.path}:{line}", ())})
            if not tests:
                self.end(k, "no test")
                continue
            if len(running) == self.jobs:
                self.wait(running)
            running[self.start(mutant, self.chosen(mutant, tests, session.items, seconds), seconds, session)] = k
        while running:
            self.wait(running)
        return True

    def learn(self, items: Sequence[pytest.Item], paths: set[str]) -> tuple[dict[str, list[int]], list[float]]:
        """Run the tests in a process of their own; return those that run each line, and the seconds of each."""
        with tempfile.TemporaryFile("w+") as file:
            pid = os.fork()
            if not pid:
                json.dump(self.traced(items, paths), file)
                file.flush()
                os._exit(self.failed)
            if os.waitpid(pid, 0)[1]:
                raise pytest.UsageError("the tests must pass before there are mutants: run pytest on them.")
            file.seek(0)
            reached, seconds = json.load(file)
            return reached, seconds

    def traced(self, items: Sequence[pytest.Item], paths: set[str]) -> tuple[dict[str, list[int]], list[float]]:
        """Run the tests, and note the lines that each runs."""
        reached, seconds = defaultdict(list), []
        for k, item in enumerate(items):
            lines: set[tuple[str, int]] = set()

            def trace(frame: FrameType, event: str, argument: Any, lines: Any = lines) -> Any:
                if frame.f_code.co_filename not in paths:
                    return None
                lines.add((frame.f_code.co_filename, frame.f_lineno))
                return trace

            began = time.process_time()
            sys.settrace(trace)
            run_test(item)
            sys.settrace(None)
            seconds.append(time.process_time() - began)
            for path, line in lines:
                reached[f"{path}:{line}"].append(k)
        return reached, seconds

    def chosen(
        self, mutant: Mutant, tests: Sequence[int], items: Sequence[pytest.Item], seconds: Sequence[float]
    ) -> list[int]:
        """Return the tests that a mutant has to pass."""
        room = mutant.path.parent.name
        ordered = sorted(tests, key=lambda test: (room not in items[test].path.parts, seconds[test]))
        total, chosen = 0.0, []
        for test in ordered:
            total += seconds[test]
            if chosen and total > SECONDS:
                break
            chosen.append(test)
        return chosen

    def start(self, mutant: Mutant, tests: list[int], seconds: Sequence[float], session: pytest.Session) -> int:
        """Start the process of a mutant; it exits with 1 if a test fails."""
        pid = os.fork()
        if pid:
            return pid
        # Processor time, so that a busy machine kills nothing; the alarm is for those that wait for ever.
        limit = PATIENCE + 2.0 * sum(seconds[test] for test in tests)
        signal.setitimer(signal.ITIMER_PROF, limit)
        signal.alarm(60 + int(10 * limit))
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        session.config.pluginmanager.unregister(name="terminalreporter")
        try:
            apply(mutant, self.functions[str(mutant.path), mutant.function])
            for test in tests:
                run_test(session.items[test])
                if self.failed:
                    break
        except BaseException:
            os._exit(1)
        os._exit(self.failed)

    def wait(self, running: dict[int, int]) -> None:
        """Wait for one mutant to end."""
        pid, status = os.wait()
        outcome = "too slow" if os.WIFSIGNALED(status) else "killed" if os.WEXITSTATUS(status) else "survived"
        self.end(running.pop(pid), outcome)

    def end(self, k: int, outcome: str) -> None:
        """Keep the outcome of a mutant, and print it unless a test failed."""
        self.outcomes[k] = outcome
        if outcome != "killed":
            self.write_line(f"{k}/{len(self.mutants)} {outcome}: {self.mutants[k]}")


def run_test(item: pytest.Item) -> None:
    """Run a test, its fixtures included."""
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


def apply(mutant: Mutant, functions: Sequence[FunctionType]) -> None:
    """Give the function its other code."""
    (code,) = (code for code in _codes(mutant.code()) if code.co_qualname == mutant.function)
    for function in functions:
        function.__code__ = code


def _codes(code: CodeType) -> Iterator[CodeType]:
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield value
            yield from _codes(value)


def equivalents(path: Path) -> list[re.Pattern[str]]:
    """Read the patterns of `equivalent.txt`: a mutant as it is printed, where * stands for anything."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return [re.compile(".*".join(map(re.escape, line.split("*")))) for line in lines]


def main() -> int:
    """Run the mutants of the rooms; return 1 if too many survive."""
    parser = argparse.ArgumentParser(prog="python tests/mutants")
    parser.add_argument(
        "rooms", nargs="*", metavar="room", help="planning, scores, selection, certificate: all by default"
    )
    parser.add_argument("--every", type=int, default=1, help="take every n-th mutant alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    options = parser.parse_args()
    sys.path[:0] = [str(SOURCE), str(HERE.parent)]
    rooms = options.rooms or ROOMS
    began = time.monotonic()
    mutants = [
        mutant
        for room in rooms
        for path in sorted((SOURCE / "pacband" / room).glob("*.py"))
        for mutant in mutants_of(path)
    ]
    rules = equivalents(HERE / "equivalent.txt")
    excluded = [any(rule.fullmatch(mutant.name) for rule in rules) for mutant in mutants]
    mutation = Mutation(
        [mutant for mutant, out in zip(mutants, excluded, strict=True) if not out][:: options.every], options.jobs
    )
    code = pytest.main(
        [
            "-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib --doctest-modules -m 'not verify'",
            *(str(HERE.parent / room) for room in TESTED_BY), *(str(SOURCE / "pacband" / room) for room in ROOMS),
        ],
        plugins=[mutation],
    )  # fmt: skip
    if not all(mutation.outcomes):
        return int(code) or 1
    for room in rooms:
        counts = Counter(
            o for m, o in zip(mutation.mutants, mutation.outcomes, strict=True) if m.path.parent.name == room
        )
        print(f"{room:<12}{counts.total():>6} mutants", *(f"{counts[name]:>6} {name}" for name in OUTCOMES))
    survived = sum(outcome in ("survived", "no test") for outcome in mutation.outcomes)
    share = survived / max(1, len(mutation.outcomes))
    print(f"{sum(excluded)} changes are equivalent; {survived} mutants survive, {share:.1%} (at most {ALLOWED:.0%})")
    print(f"{(time.monotonic() - began) / 60:.1f} minutes")
    if unused := [
        rule.pattern for rule in rules if not options.rooms and not any(rule.fullmatch(m.name) for m in mutants)
    ]:
        print("equivalent.txt names no mutant with", *unused, sep="\n")
    return int(share > ALLOWED or bool(unused))


if __name__ == "__main__":
    sys.exit(main())
