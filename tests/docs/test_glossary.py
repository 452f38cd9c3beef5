"""The words of the pages: a sorted glossary with one entry for each, and one text about ε and δ."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_glossary_is_sorted_and_each_word_has_one_entry():
    page = (DOCS / "glossary.md").read_text("utf-8")
    # After " : " is the letter of the index under which a Greek letter is listed.
    symbols, words = (
        re.findall(r"^(\S.*?)(?: : [A-Z])?\n  \S", part.partition("{glossary}")[2], re.MULTILINE)
        for part in page.split("\n## ")[1:]
    )
    assert len(symbols) > 15
    assert len(words) > 50
    entries = [*symbols, *words]
    assert len(entries) == len(set(entries))
    assert words == sorted(words, key=lambda word: word.strip("`").casefold())
    # Latin letters, then Greek ones.
    assert symbols == sorted(symbols, key=lambda word: (not word[0].isascii(), word.casefold()))
    # The index of Sphinx would split it in two.
    assert [entry for entry in entries if ";" in entry] == []
    greek = re.findall(r"^([α-ω].*)\n  \S", page, re.MULTILINE)
    assert [entry for entry in greek if not re.search(r" : [A-Z]$", entry)] == []
    assert {"δ, `delta`", "ε, `eps`", "N, `n_samples`", "PAC", "marginal", "split conformal prediction"} <= set(entries)


def test_the_two_symbols_are_explained_in_one_text():
    """The pages include it. The README, which is read without Sphinx, has a copy."""
    text = " ".join((DOCS / "_symbols.md").read_text("utf-8").split())
    assert text in " ".join((DOCS.parent / "README.md").read_text("utf-8").split())
    pages = {path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text("utf-8") for path in DOCS.rglob("*.md")}
    included = {
        page for page, text in pages.items() if re.search(r"^```\{include\} \S*_symbols\.md$", text, re.MULTILINE)
    }
    assert included == {"index", "start", "which_promise", "marginal", "how_to/index"}
    # The promise fails with at most this probability, not with it.
    loose = r"(?<!attained )δ\W*(?:`delta`\W*)?,?(?: is)? the\s+probability"
    assert [page for page, text in pages.items() if re.search(loose, text)] == []
