"""The reference names what there is: every public name, every finding, every command, every schema."""

import ast
import contextlib
import inspect
import os
import re
import subprocess
import sys
from importlib import import_module

import pytest

import pacband
from pacband import draws, exceptions
from pacband.checks.finding import Finding, Kind
from pacband.cli import ending
from support.site import ROOT, extension

REFERENCE = ROOT / "docs" / "reference"
MODULES = ("baselines", "datasets", "draws", "mlflow", "scale")


def named_in_python_page():
    """Return the names in the lists of the page."""
    page = (REFERENCE / "python.rst").read_text("utf-8")
    lists = re.findall(r"\.\. autosummary::\n(?:   :.*\n)+\n((?:   \S+\n)+)", page)
    return [line.strip() for names in lists for line in names.splitlines()]


def resolve(name):
    """Return what a name stands for."""
    value, rest = pacband, name.split(".")
    for k, part in enumerate(rest):
        value = getattr(value, part, None) or import_module(".".join(["pacband", *rest[: k + 1]]))
    return value


def test_every_public_name_is_listed_once():
    named = named_in_python_page()
    assert len(named) == len(set(named))
    assert set(pacband.__all__) - set(MODULES) == {name for name in named if "." not in name}


def test_every_name_of_the_public_modules_is_listed():
    named = {id(resolve(name)) for name in named_in_python_page()}
    for module in (pacband.scale, pacband.datasets, pacband.baselines, pacband.mlflow):
        assert {name for name in module.__all__ if id(getattr(module, name)) not in named} == set()
    declared = [one for one in vars(draws).values() if isinstance(one, type) and issubclass(one, draws.Draws)]
    assert {one.__name__ for one in declared if id(one) not in named} == {"Draws", "Rows"}


def documented():
    """Return the docstrings of the public names and of their members: where they are, and their text."""
    for name in named_in_python_page():
        value = resolve(name)
        yield name, inspect.getdoc(value) or ""
        if isinstance(value, type):
            public = {member: one for member, one in vars(value).items() if not member.startswith("_")}
            yield from ((f"{name}.{member}", getattr(one, "__doc__", None) or "") for member, one in public.items())


def words_for_users():
    """Return the public names, those of their parameters, and the public members of public classes."""
    words = {name.split(".")[-1] for name in (*pacband.__all__, *named_in_python_page())}
    for value in map(resolve, named_in_python_page()):
        members = {}
        if isinstance(value, type):
            members = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
            fields = {name for base in value.__mro__ for name in getattr(base, "__annotations__", {})}
            words |= {*members, *(name for name in fields if not name.startswith("_"))}
        for part in filter(callable, [value, *members.values()]):
            with contextlib.suppress(TypeError, ValueError):
                words |= set(inspect.signature(part).parameters)
    # The attributes of a fitted model are in its docstring alone.
    listed = re.findall(r"^([\w, ]+?) : ", "\n".join(text for _, text in documented()), re.MULTILINE)
    return words | {word for names in listed for word in names.split(", ")}


def test_docstrings_name_nothing_that_users_cannot_find():
    """A name of ours in backticks is public, or a parameter, or a member of a public class; no module is private."""
    own = set()
    for path in (ROOT / "src" / "pacband").rglob("*.py"):
        body = ast.parse(path.read_text("utf-8")).body
        own |= {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    known, wrong = words_for_users(), []
    assert "sharpest_first" in own - known  # a name inside of pacband
    assert [word for word in known if word.startswith("_")] == []
    for where, text in documented():
        for word in re.findall(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(.*?\))?`(?!`)", text):
            first, *rest = word.removeprefix("pacband.").split(".")
            if first in known and (not rest or rest[-1] in known):
                continue
            if word.startswith("pacband.") or first in own or (rest and rest[-1] in own):
                wrong.append(f"{where}: {word}")
    assert wrong == []


def test_every_finding_has_its_entry_and_every_entry_its_finding():
    page = (REFERENCE / "findings.md").read_text("utf-8")
    numbers = [kind.value for kind in Kind]
    assert numbers == [f"PB{k:03d}" for k in range(1, len(Kind) + 1)]
    assert re.findall(r"^## (PB\d{3}): ", page, re.MULTILINE) == numbers
    assert re.findall(r"^\((pb\d{3})\)=", page, re.MULTILINE) == [number.lower() for number in numbers]
    assert re.findall(r"^\| \[(PB\d{3})\]", page, re.MULTILINE) == numbers
    for entry in re.split(r"^## PB", page, flags=re.MULTILINE)[1:]:
        assert re.findall(r"^\*\*(.+?)\.\*\*", entry, re.MULTILINE) == [
            "How it is detected",
            "Why it matters",
            "What to do",
        ]


def test_the_code_makes_every_kind_of_finding_once_and_no_other():
    """A kind without a check is an entry about nothing; two checks of one kind need one entry that fits both."""
    made = []
    for path in (ROOT / "src" / "pacband").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "Finding":
                (code,) = [word.value for word in node.keywords if word.arg == "code"]
                made.append(Kind[code.attr])
    assert sorted(made) == sorted(Kind)


def test_notes_and_findings_are_those_of_the_code():
    page = (REFERENCE / "findings.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| \[(PB\d{3})\].*\| (finding|note) \|", page, re.MULTILINE))
    source = "".join(path.read_text("utf-8") for path in (ROOT / "src" / "pacband").rglob("*.py"))
    notes = {Kind[name].value for name in re.findall(r"code=Kind\.(\w+),\s+check=.+,\s+harmful=False", source)}
    assert {number for number, kind in listed.items() if kind == "note"} == notes


def test_a_finding_prints_its_number():
    finding = Finding(code=Kind.TIES, check="ties", seen="seen", p_value=0.0, effect="Effect.", advice="Advice.")
    assert finding.sentences == "PB010 seen. Effect. Advice."
    assert str(finding).startswith("PB010 ties: seen")


@pytest.mark.parametrize("command", [[], ["plan"], ["certify"]], ids=str)
def test_the_page_of_the_command_line_is_the_help(command):
    line = [sys.executable, "-m", "pacband", *command, "--help"]
    printed = subprocess.run(line, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "100"})
    assert extension("command_pages").help_text(*command) == printed.stdout


def test_the_tree_of_errors_has_every_error():
    tree = exceptions.__doc__
    for name in exceptions.__all__:
        assert re.search(rf"\b{name}\b", tree), name
        for base in getattr(exceptions, name).__bases__:
            if base.__name__ in exceptions.__all__:
                assert tree.index(base.__name__) < tree.index(name)


def test_exit_codes_are_those_of_the_help():
    shown = subprocess.run([sys.executable, "-m", "pacband", "--help"], capture_output=True, text=True, check=True)
    codes = re.findall(r"^ +((?:\d+, )*\d+)  ", shown.stdout.partition("Exit codes:")[2], re.MULTILINE)
    listed = re.findall(r"^(\d+) ", ending.__doc__, re.MULTILINE)
    assert [code for group in codes for code in group.split(", ")] == listed


def test_the_page_of_files_shows_every_schema():
    page = (REFERENCE / "files.md").read_text("utf-8")
    schemas = {path.stem for path in (ROOT / "src/pacband/core/schemas").glob("*.json")}
    assert set(re.findall(r"^```\{schema-page\} (\S+)", page, re.MULTILINE)) == schemas


def test_the_entries_of_a_schema_are_those_with_a_description():
    described = extension("schema_pages").described
    schema = {"properties": {"a": {"description": "first"}, "b": {"type": "null"}}, "$defs": {"c": {"properties": {"d": {"description": "last"}}}}}  # fmt: skip
    assert list(described(schema)) == [("a", "first"), ("d", "last")]


def test_bars_of_absolute_values_are_no_substitutions():
    """Outside of examples, of literal blocks and of literal words."""
    lines = [
        "Bound |e| by ``|e|``.",
        "",
        ">>> a | b",
        "|e| ≤ 1",
        "",
        "|e|:",
        "",
        "So::",
        "",
        "    |e|",
        "",
        "|e|",
        r"\|e\|",
    ]
    escaped = extension("docstrings").escape_bars(lines)
    assert [k for k, line in enumerate(lines) if escaped[k] != line] == [0, 5, 11]
    assert escaped[0] == r"Bound \|e\| by ``|e|``."
