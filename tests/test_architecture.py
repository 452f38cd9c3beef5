"""The rooms of `docs/architecture.md` are the folders of the package, and every import points up their list."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from pacband.cli import COMMANDS

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


class WithoutTypes(ast.NodeTransformer):
    """Leaves out what is imported for the type checker alone."""

    def visit_If(self, node):
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)


def imports_of(source, modules=MODULES, *, types=True):
    """Return the modules of pacband that a source imports, at its top or inside of functions."""
    found = set()
    tree = ast.parse(source)
    for node in ast.walk(tree if types else WithoutTypes().visit(tree)):
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


def test_there_is_no_cycle():
    edges = {
        module: imports_of(path.read_text("utf-8"), types=False) & MODULES.keys() for module, path in MODULES.items()
    }
    # A room's door re-exports its own modules, which may import each other: only edges between other modules count.
    graph = {
        module: {target for target in targets if target != module and MODULES[target].name != "__init__.py"}
        for module, targets in edges.items()
        if MODULES[module].name != "__init__.py"
    }
    TopologicalSorter(graph).prepare()


def test_commands_do_not_import_commands():
    commands = {f"pacband.cli.{name.replace('-', '_')}" for name in COMMANDS}
    assert commands <= MODULES.keys()
    wrong = {
        (module, target)
        for module in MODULES
        for target in imports_of(MODULES[module].read_text("utf-8")) & commands
        if room_of(module) in ROOMS
    }
    assert wrong == set()


# Names with an underscore that other libraries ask for: notebooks, scikit-learn, Dask.
FOREIGN = {"_repr_html_", "_get_param_names", "_validate_params", "_meta"}
# These modules state which attributes the fitted estimators of other libraries have, private ones included, or read the
# trees of scikit-learn.
ABOUT_OTHERS = ("pacband.models.declarations.", "pacband.candidates.joined_trees")


def test_no_module_reaches_for_the_underscore_attributes_of_others():
    """Attributes with an underscore are read from `self` and `cls`, or where the module itself defines them."""
    wrong = []
    for module, path in MODULES.items():
        if module.startswith(ABOUT_OTHERS):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        own = own_names(tree)
        wrong += [
            f"{module}:{node.lineno} {ast.unparse(node)}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and node.attr.startswith("_")
            and not node.attr.startswith("__")
            and not is_own(node.value)
            and node.attr not in own
            and node.attr not in FOREIGN
        ]
    assert wrong == []


def is_own(value):
    """Whether an attribute is read from the object itself, or from what it inherits."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def own_names(tree):
    """Return the underscore names that a module defines: functions, classes, annotated fields, assigned attributes."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {t.attr for t in targets if isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name)}
            names |= {t.id for t in targets if isinstance(t, ast.Name)}
    return names
