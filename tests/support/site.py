"""The documentation as a site: built once for all tests, or the one that `make docs` has built (`PACBAND_SITE`)."""

import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_COPIED = shutil.ignore_patterns("_build", "gallery", "generated", "out", "__pycache__")


def require_sphinx():
    """Skip without Sphinx; fail in a run that must have it."""
    if find_spec("sphinx_gallery") is not None:
        return
    message = "Sphinx is not installed: `make docs` installs it."
    pytest.fail(message, pytrace=False) if os.environ.get("PACBAND_REQUIRE_DOCS") == "1" else pytest.skip(message)


def extension(name):
    """Import an extension of the site by its name; skip without Sphinx."""
    require_sphinx()
    folder = str(ROOT / "docs" / "_ext")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)


def build_site(folder):
    """Build the site from a copy of the sources, without running the examples; any warning is an error."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=NOT_COPIED)
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=NOT_COPIED)
    for page in ROOT.glob("*.md"):
        shutil.copy(page, folder)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    options = ["-D", "sphinx_gallery_conf.plot_gallery=0", "-b", "html"]
    done = subprocess.run([*command, *options, "docs", "html"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def site_folder(factory):
    """Return the folder of the site."""
    built = os.environ.get("PACBAND_SITE")
    if built:
        return Path(ROOT, built).resolve()
    require_sphinx()
    return build_site(factory.mktemp("site"))


class Links(HTMLParser):
    """The anchors of a page, its links, and what a browser loads with it."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("link", "script", "img", "iframe", "source"):
            self.loaded += [found[name] for name in ("href", "src") if found.get(name)]
