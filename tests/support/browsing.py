"""A headless Chromium that reads files only, and axe-core, which looks for barriers in a page."""

import os
import shutil
import sys
from pathlib import Path

import pytest

__all__ = ["axe", "chromium", "find_barriers", "open_quietly"]

# In the environment of the Python that runs: `make test` has one for each version.
AXE = Path(sys.prefix) / "browser" / "node_modules" / "axe-core" / "axe.min.js"
REQUIRED = os.environ.get("CI") == "true" or os.environ.get("PACBAND_REQUIRE_BROWSER") == "1"
# No sandbox, for root in a container; no request to the network.
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def missing(what):
    """Skip if the browser is not installed; fail if it is required."""
    message = f"{what} is not installed: `make browser` installs it with apt-get and npm."
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


def open_quietly(browser, address, *, width=1440, scheme="light", scripts=True):
    """Open a page without a network; its `requests` and its `messages` are kept."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts, offline=True
    )
    page = context.new_page()
    page.requests, page.messages = [], []
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("console", lambda message: page.messages.append((message.type, message.text)))
    page.on("pageerror", lambda error: page.messages.append(("error", str(error))))
    page.on("dialog", lambda dialog: page.messages.append(("dialog", dialog.message)))
    page.goto(address)
    return page


def find_barriers(page, axe):
    """Return what axe-core finds: the rule, its impact, and the elements."""
    page.evaluate(axe)
    return page.evaluate(
        "axe.run({preload: false}).then(r => r.violations.map(v => [v.id, v.impact, v.nodes.map(n => n.html)]))"
    )
