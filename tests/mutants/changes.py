"""The mutants of a module: one small change to one function, such as `<` for `<=`, that a test should notice.

The changes are those of a slip: a comparison, an operator, a number, a word, a branch, an option or a statement. The
sentences that people read stay as they are: the tests of errors and promises match them.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Mod: ast.Mult,
    ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "fmax": "fmin",
    "or_": "and_", "and_": "or_", "any_of": "all_of", "all_of": "any_of",
}  # fmt: skip
# Where code runs once, when a function is made, or not at all.
NOT_IN_THE_BODY = ("decorator_list", "returns", "annotation")


@dataclass(slots=True)
class Mutant:
    """A change to one function of a module."""

    path: Path
    function: str
    lines: range
    before: str
    after: str
    _tree: ast.Module = field(repr=False)
    _place: tuple[ast.AST, str, int | None] = field(repr=False)
    _change: ast.AST = field(repr=False)

    @property
    def name(self) -> str:
        """The change in words, which do not depend on the line."""
        return f"{self.path.parent.name}/{self.path.name} {self.function}: {self.before} -> {self.after}"

    def __str__(self) -> str:
        return f"line {self.lines.start}: {self.name}"

    def code(self) -> CodeType:
        """Return the code of the whole module with the change."""
        node, name, index = self._place
        values = getattr(node, name)
        if index is None:
            setattr(node, name, self._change)
        else:
            setattr(node, name, [*values[:index], self._change, *values[index + 1 :]])
        try:
            return compile(ast.fix_missing_locations(self._tree), str(self.path), "exec", dont_inherit=True)
        finally:
            setattr(node, name, values)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of the functions and methods of a module."""
    tree = ast.parse(path.read_text("utf-8"))
    for function, name in _functions(tree, ""):
        for place, node, in_raise in _nodes(function, False):
            for change in _changes(node, in_raise):
                ast.copy_location(change, node)
                shown = node.test if isinstance(node, ast.If | ast.While) else node
                lines = range(shown.lineno, (shown.end_lineno or shown.lineno) + 1)
                yield Mutant(path, name, lines, _shown(node), _shown(change), tree, place, change)


def _functions(parent: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    for node in parent.body:
        if isinstance(node, ast.FunctionDef):
            yield node, prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _nodes(parent: ast.AST, in_raise: bool) -> Iterator[tuple[tuple[ast.AST, str, int | None], Any, bool]]:
    for name, value in ast.iter_fields(parent):
        if name in NOT_IN_THE_BODY:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            # Defaults are evaluated once as well; an f-string is a sentence.
            if (
                isinstance(node, ast.AST)
                and not isinstance(node, ast.arguments | ast.JoinedStr)
                and not _is_known(node)
            ):
                if hasattr(node, "lineno"):
                    yield (parent, name, index), node, in_raise
                # −1 is one number.
                if not isinstance(node, ast.UnaryOp) or not isinstance(node.operand, ast.Constant):
                    yield from _nodes(node, in_raise or isinstance(node, ast.Raise))


def _is_known(node: ast.AST) -> bool:
    """Whether this is the strict=True of zip: it states that lengths are equal, which they are."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _changes(node: Any, in_raise: bool) -> Iterator[ast.AST]:
    match node:
        case ast.Compare():
            for k, operator in enumerate(node.ops):
                yield _with(node, ops=[*node.ops[:k], SWAPPED[type(operator)](), *node.ops[k + 1 :]])
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            if type(node.op) in SWAPPED:
                yield _with(node, op=SWAPPED[type(node.op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield _with(node, value=not node.value)
        case ast.Constant(value=int()):
            yield _with(node, value=node.value + 1)
        case ast.Constant(value=float()):
            yield _with(node, value=node.value * 2 if node.value else 1.0)
        case ast.Constant(value=str()):
            if re.fullmatch(r"\w+", node.value) and not in_raise:
                yield _with(node, value=node.value + "X")
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.If():
            yield from (_with(node, test=ast.Constant(value)) for value in (True, False))
        case ast.Call():
            for k, keyword in enumerate(node.keywords):
                if not _is_known(keyword):
                    yield _with(node, keywords=[*node.keywords[:k], *node.keywords[k + 1 :]])
        case ast.Name() if node.id in NAMES:
            yield _with(node, id=NAMES[node.id])
        case ast.Attribute() if node.attr in NAMES:
            yield _with(node, attr=NAMES[node.attr])
        case ast.Break() | ast.Continue():
            yield SWAPPED[type(node)]()
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield ast.Pass()


def _with(node: Any, **values: Any) -> Any:
    changed = copy.copy(node)
    for name, value in values.items():
        setattr(changed, name, value)
    return changed


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) <= 100 else text[:97] + "..."
