"""From the paper to the code: every place that the page names is there, and every number is computed again."""

import ast
import re

import pytest

import pacband
from support.site import ROOT

PAGE = (ROOT / "docs" / "paper.md").read_text("utf-8")
PLACES = sorted(set(re.findall(r"`([\w/.]+\.py)::([\w.]+)`", PAGE)))


def defined(tree, names):
    """Return whether a module defines names[0], which defines names[1], and so on; or a test class defines it."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for name in names:
        found = [node for node in found if node.name == name]
        if not found:
            return False
        found = [node for outer in found for node in outer.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return True


@pytest.mark.parametrize(("path", "name"), PLACES, ids=lambda value: str(value))
def test_the_place_is_there(path, name):
    file = ROOT / path if path.startswith("tests/") else ROOT / "src" / "pacband" / path
    assert defined(ast.parse(file.read_text("utf-8")), name.split(".")), f"{path} has no {name}"


def test_every_part_of_the_paper_has_a_place():
    assert len(PLACES) > 30
    parts = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    for title in ("Property 1", "Lemma 1", "Algorithm 1", "Algorithm 2", "Theorem 1", "Section 5", "The appendix"):
        (part,) = [part for part in parts if part.startswith(title)]
        assert "::" in part, title
        assert "$" in part, title
    assert "Errata" in PAGE


def test_a_place_that_is_not_there_is_found():
    tree = ast.parse("class A:\n    def f(self): pass\n")
    assert defined(tree, ["A", "f"])
    assert not defined(tree, ["A", "g"])
    assert not defined(tree, ["B"])


def test_the_numbers_of_lemma_1():
    rows = re.findall(r"^\| 0\.05, 1e-6(, ten candidates)? \| (\d+), (\d+) \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
    assert len(rows) == 2
    for ten, n_samples, rank, exact_rank, exact_samples in rows:
        n_candidates = 10 if ten else 1
        assert pacband.max_rank(int(n_samples), 0.05, 1e-6, n_candidates) == int(exact_rank)
        assert pacband.min_samples(0.05, 1e-6, int(rank), n_candidates) == int(exact_samples)
    plan = pacband.plan(0.05, 1e-6, rule="paper")
    assert (plan.n_samples, plan.rank) == (2065, 51)
    assert pacband.plan(0.05, 1e-6, n_candidates=10, rule="paper").n_samples == 2409
    assert "With 7.47 it would be 2409" in PAGE
