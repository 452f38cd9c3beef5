"""The documentation as a reader has it: every link leads somewhere, nothing comes from another host, no barriers."""

import re
from html import unescape
from importlib import import_module
from urllib.parse import unquote, urlsplit

import pytest

from pacband.cli import COMMANDS
from support.browsing import find_barriers, open_quietly
from support.site import Links, site_folder

pytestmark = pytest.mark.xdist_group("browser")

# One page of each kind.
PAGES = (
    "index",
    "start",
    "paper",
    "gallery/index",
    "gallery/start/sklearn_model",
    "reference/python",
    "reference/files",
    "reference/generated/pacband.Plan",
    # A list of references, a table with a first column of names, and tables of numbers.
    "reference/generated/pacband.certify_curve",
    "how_to/files",
    "benchmarks",
)
# Scripts of the theme print what they do.
SAID = ("log", "info", "debug")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    return site_folder(tmp_path_factory)


@pytest.fixture(scope="session")
def links(site):
    return {path: Links(path) for path in site.rglob("*.html") if "_static" not in path.parts}


def test_every_link_within_the_site_leads_somewhere(site, links):
    broken = []
    for page, found in links.items():
        for link in {*found.links, *found.loaded}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
            if not target.exists():
                broken.append(f"{page.relative_to(site)}: {link}")
            elif parts.fragment and target in links and unquote(parts.fragment) not in links[target].anchors:
                broken.append(f"{page.relative_to(site)}: {link} (no such anchor)")
    assert len(links) > 80
    assert broken == []


def test_no_page_loads_anything_from_another_host(site, links):
    foreign = {
        f"{page.relative_to(site)}: {address}"
        for page, found in links.items()
        for address in found.loaded
        if urlsplit(address).scheme not in ("", "data") or address.startswith("//")
    }
    assert foreign == set()
    styles = "".join(path.read_text("utf-8", errors="ignore") for path in site.rglob("*.css"))
    assert "url(http" not in styles
    assert "url(//" not in styles


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (360, "dark")])
def test_pages_in_a_browser(site, chromium, axe, width, scheme):
    """All requests are for files, no script complains, pages are no wider than the window, and axe finds nothing."""
    wrong = {}
    for name in PAGES:
        page = open_quietly(chromium, (site / f"{name}.html").as_uri(), width=width, scheme=scheme)
        foreign = [url for url in page.requests if not url.startswith(("file:", "data:"))]
        said = [message for message in page.messages if message[0] not in SAID]
        wide = page.evaluate("document.documentElement.scrollWidth") - width
        barriers = find_barriers(page, axe)
        if foreign or said or wide > 0 or barriers:
            wrong[name] = foreign, said, wide, barriers
        page.context.close()
    assert wrong == {}


def test_code_on_a_desk_needs_no_scrolling(site, chromium):
    """Between the two lists of a page, and on the pages of the gallery, which have one."""
    cut = {}
    for name in ("how_to/sklearn_model", "how_to/other_models", "which_promise", "gallery/paper/paper"):
        page = open_quietly(chromium, (site / f"{name}.html").as_uri(), width=1280)
        blocks = "article :is(.highlight-python, .highlight-Python, .highlight-sh) pre"
        cut[name] = page.eval_on_selector_all(
            blocks, "all => [all.length > 4, all.filter(one => one.scrollWidth > one.clientWidth + 1).length]"
        )
        page.context.close()
    assert cut == {name: [True, 0] for name in cut}


def test_examples_of_docstrings_and_lists_of_members_are_not_cut(site, chromium):
    page = open_quietly(chromium, (site / "reference/generated/pacband.CertifiedRegressor.html").as_uri(), width=1280)
    cut = "all => [all.length > 4, all.filter(one => one.scrollWidth > one.clientWidth + 1).length]"
    assert page.eval_on_selector_all("article dl.py pre", cut.replace("4", "2")) == [True, 0]
    assert page.eval_on_selector_all(".page-toc a", cut) == [True, 0]
    page.context.close()


def test_articles_on_a_phone_do_not_scroll_sideways(site, chromium):
    """Long names break, wide formulas and tables scroll on their own, and the index has one column."""
    generated = ("UnknownCategories", "certification.baselines.gaussian_bound", "mlflow.log_model")
    names = ("index", "paper", "genindex", "reference/python", "how_to/tables", "gallery/data/per_group")
    wide = {}
    for name in (*names, *(f"reference/generated/pacband.{one}" for one in generated)):
        page = open_quietly(chromium, (site / f"{name}.html").as_uri(), width=390)
        wide[name] = page.eval_on_selector("article", "one => one.scrollWidth - one.clientWidth")
        page.context.close()
    assert {name: much for name, much in wide.items() if much > 1} == {}


def test_tables_on_a_phone(site, chromium):
    """A first column of short words is narrow, so that a table of text fits; one that scrolls shows where it goes on."""
    measure = (
        "box => [box.scrollWidth > box.clientWidth, getComputedStyle(box).backgroundImage.split('gradient').length]"
    )
    found = {}
    for name in ("start", "reference/findings", "how_to/production", "choosing"):
        page = open_quietly(chromium, (site / f"{name}.html").as_uri(), width=390)
        found[name] = page.eval_on_selector("article .pst-scrollable-table-container", measure)
        page.context.close()
    # Two shadows and what covers each of them at the ends of the table.
    assert found == {name: [name == "choosing", 5] for name in found}


@pytest.mark.parametrize(("name", "block"), [("start", ".highlight pre"), ("paper", ".formula")])
def test_what_scrolls_on_a_phone_shows_it(site, chromium, name, block):
    """The same shadows as those of tables, on the colour that the block has without them."""
    page = open_quietly(chromium, (site / f"{name}.html").as_uri(), width=390)
    shown = page.eval_on_selector_all(
        f"article {block}",
        "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => getComputedStyle(one))"
        ".map(style => [style.backgroundImage.split('gradient').length, style.backgroundColor])",
    )
    page.set_viewport_size({"width": 1440, "height": 900})
    wide = page.eval_on_selector(f"article {block}", "one => getComputedStyle(one).backgroundColor")
    page_colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.context.close()
    colour = page_colour if wide == "rgba(0, 0, 0, 0)" else wide
    assert shown
    assert all(one == [5, colour] for one in shown)


def test_the_letters_of_a_figure_on_a_phone_can_be_read(site, chromium):
    page = open_quietly(chromium, (site / "index.html").as_uri(), width=390)
    sizes = page.eval_on_selector_all(".drawn svg text", "all => all.map(one => one.getBoundingClientRect().height)")
    page.context.close()
    assert min(sizes) > 8.5


def test_names_below_thumbnails_begin_at_one_edge(site, chromium):
    page = open_quietly(chromium, (site / "gallery/index.html").as_uri())
    edges = page.eval_on_selector_all(
        ".sphx-glr-thumbcontainer",
        "all => all.map(one => { const range = document.createRange();"
        " range.selectNodeContents(one.querySelector('.sphx-glr-thumbnail-title'));"
        " return Math.round(range.getBoundingClientRect().left - one.getBoundingClientRect().left); })",
    )
    page.context.close()
    assert len(edges) > 10
    assert len(set(edges)) == 1


def test_the_search_works_without_a_network(site, chromium):
    page = open_quietly(chromium, (site / "search.html").as_uri() + "?q=tolerance")
    page.wait_for_selector("ul.search li a", timeout=20_000)
    found = page.eval_on_selector_all("ul.search li a", "links => links.map(link => link.getAttribute('href'))")
    assert any("certify_tolerance" in link for link in found)
    page.context.close()


def test_the_page_of_the_command_line_has_every_option(site):
    page = unescape(re.sub(r"<[^>]+>", "", (site / "reference" / "command_line.html").read_text("utf-8")))
    for name in COMMANDS:
        assert f"Usage: pacband {name} " in page
        module = import_module(f"pacband.cli.{name.replace('-', '_')}")
        options = [option for one in module.command.params for option in one.opts]
        assert [option for option in options if option.startswith("--") and option not in page] == []


def test_the_page_of_a_name_lists_the_examples_that_use_it(site):
    page = (site / "reference" / "generated" / "pacband.certify.html").read_text("utf-8")
    assert "Examples that use it" in page
    assert "gallery/start/predictions_from_csv.html" in page


def test_code_can_be_copied(links):
    """No block has a no-break space: Python refuses it. Examples of docstrings have colours, and so a copy button."""
    blocks = {page: re.findall(r"<pre.*?</pre>", page.read_text("utf-8"), re.DOTALL) for page in links}
    assert [
        page.name for page, found in blocks.items() if any(re.search("\u00a0|&nbsp;|&#160;", one) for one in found)
    ] == []
    assert [page.name for page, found in blocks.items() if any("doctest literal-block" in one for one in found)] == []


def test_no_escape_is_left_in_a_docstring(site):
    pages = (site / "reference" / "generated").glob("*.html")
    assert [page.name for page in pages if r"\|" in page.read_text("utf-8")] == []


def test_formulas_are_drawn_by_the_browser(site, links):
    paper = (site / "paper.html").read_text("utf-8")
    assert paper.count("<math") > 80
    assert not any("mathjax" in address.lower() for address in links[site / "paper.html"].loaded)
