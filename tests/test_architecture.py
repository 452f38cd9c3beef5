"""The rooms of `docs/architecture.md` are the folders of the package, and every import points up their list."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pacband"
ROOMS = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.MULTILINE)
# The door: it names the homes of all public names and loads none of them by itself.
DOOR = {"__init__", "__main__"}


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(module):
    return module.split(".")[1] if "." in module else "__init__"


def imports_of(source, modules=MODULES):
    """Return the modules of pacband that a source imports, at its top or inside of functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "pacband"}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pacband":
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else node.module for name in names}
    return found


def pointing_down(module, source):
    """Return the imports that come from rooms below that of the module, or from the door, which only `cli` may use."""
    here = ROOMS.index(room_of(module))
    return [
        target
        for target in sorted(imports_of(source))
        if (room_of(target) not in ROOMS and not reads_version_only(source) and ROOMS[here] != "cli")
        or (room_of(target) in ROOMS and ROOMS.index(room_of(target)) > here)
    ]


def reads_version_only(source):
    names = [
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module == "pacband"
        for alias in node.names
    ]
    return names == ["__version__"]


def test_the_page_lists_the_rooms():
    entries = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert entries - DOOR == set(ROOMS)
    assert len(ROOMS) == len(set(ROOMS))


def test_no_file_hides_behind_an_underscore():
    hidden = [path.name for path in PACKAGE.rglob("_*.py") if path.stem not in DOOR]
    assert hidden == []


@pytest.mark.parametrize("module", [name for name in MODULES if room_of(name) not in DOOR])
def test_imports_point_up(module):
    assert pointing_down(module, MODULES[module].read_text("utf-8")) == []


def test_an_import_that_points_down_is_found():
    assert pointing_down("pacband.core.arrays", "def f():\n    from pacband.planning import plan\n") == [
        "pacband.planning"
    ]
    assert pointing_down("pacband.scores.rule", "import pacband.tables.scan\n") == ["pacband.tables.scan"]
    assert pointing_down("pacband.core.arrays", "from pacband import certify\n") == ["pacband"]
    assert pointing_down("pacband.tables.scan", "from pacband.scores import ScoreRule\n") == []
