"""The table of extras on the first page is that of the package."""

import re
import tomllib
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_table_of_extras_is_that_of_the_package():
    extras = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    found = re.findall(r"^\| `(\w+)` \| .+ \| (.*)\|$", (DOCS / "start.md").read_text("utf-8"), re.MULTILINE)
    listed = {extra: [name for name in packages.strip().split(", ") if name] for extra, packages in found}
    wanted = {extra: [re.split(r"[\[>]", one)[0] for one in packages] for extra, packages in extras.items()}
    together = wanted.pop("all")
    assert together == ["pacband"]
    assert listed.pop("all") == []
    assert listed == wanted
    assert set(re.findall(r"\w+", extras["all"][0])) == {"pacband", *wanted}
    readme = (DOCS.parent / "README.md").read_text("utf-8").partition("## Install")[2].partition("## ")[0]
    assert [extra for extra in wanted if not re.search(rf"\b{extra}\b", readme)] == []
