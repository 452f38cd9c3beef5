"""A headless Chromium that can reach nothing but files, and axe-core, which looks for barriers in a page."""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# In the environment of the Python that runs: `make test` has one for each.
AXE = Path(sys.prefix) / "browser" / "node_modules" / "axe-core" / "axe.min.js"
REQUIRED = os.environ.get("CI") == "true" or os.environ.get("PACBAND_REQUIRE_BROWSER") == "1"
# Quiet: no sandbox for root in a container, no call home.
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def missing(what):
    """Skip where the browser cannot be had; fail where it must be there."""
    message = f"{what} is not here: `make browser` installs it where apt-get and npm can."
    pytest.fail(message, pytrace=False) if REQUIRED else pytest.skip(message)


@pytest.fixture(scope="session")
def chromium():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        missing("Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    if not AXE.exists():
        missing("axe-core")
    return AXE.read_text("utf-8")
