import io
import os
import signal
import sys
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

from support.browsing import axe, chromium  # noqa: F401 (fixtures of all tests in a browser)
from support.shell import Done

settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")


@pytest.fixture
def rng():
    return np.random.default_rng(20240501)


@pytest.fixture(autouse=True)
def one_time_of_creation(monkeypatch):
    """Let all that a test creates be created in the same second, so that the same numbers make equal certificates."""
    from pacband.core import clock

    now = clock.datetime.now(clock.UTC)
    monkeypatch.setattr(clock, "datetime", SimpleNamespace(now=lambda zone: now.astimezone(zone)))


@pytest.fixture
def set_handler():
    """Set the handlers of signals until the end of the test. A program in the background may ignore Ctrl-C."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield signal.signal
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def limit():
    """Change how much is in memory at a time, until the end of the test: no result depends on it."""
    from pacband.selection import use_limits

    with ExitStack() as changes:
        yield lambda **sizes: changes.enter_context(use_limits(**sizes))


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    """Run a command in this process and in a folder of its own; `stdin` is what it reads there, in bytes."""
    from pacband.cli import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments, stdin=None):
        monkeypatch.setattr(sys, "argv", ["pacband", *map(str, arguments)])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code or 0
        return Done(code, *capfd.readouterr())

    return call


def pytest_unconfigure(config):
    """Silence a worker that ends: DuckDB then lists objects that are alive, which is none of the reader's business."""
    if hasattr(config, "workerinput"):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
