"""The report in a real browser: from a file, without the network, at three widths, in light and dark mode."""

import numpy as np
import pandas as pd
import pytest

import pacband
from support.browsing import find_barriers, open_quietly
from support.pages import EVIL

pytestmark = pytest.mark.xdist_group("browser")

WIDTHS = (360, 768, 1440)


@pytest.fixture(scope="session")
def page_file(tmp_path_factory):
    """A family with a feature whose name is a script, a long name, and groups: all sections of the page."""
    rng = np.random.default_rng(3)
    n = 1200
    X = pd.DataFrame({EVIL: rng.standard_normal(n), "a rather long name of a column, " * 3: rng.random(n)})
    X["site"] = np.where(rng.random(n) < 0.4, EVIL, "south")
    prediction, spread = 2 * X[EVIL].to_numpy(), 0.5 + np.abs(X[EVIL].to_numpy())
    y = prediction + spread * rng.standard_normal(n)
    candidates = {f"model {k}": (prediction + k / 5, spread * (1 + k * rng.random(n))) for k in range(4)}
    candidates[EVIL] = prediction
    family = pacband.certify_family(y, candidates, eps=0.1, delta=1e-3)
    report = pacband.report(family, y, candidates=candidates, X=X, groups=X["site"], title=EVIL, command="x" * 300)
    return report.save(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def opened(chromium, page_file):
    """Open the page, and keep its requests and its messages."""
    pages = []

    def open_page(width=1440, scheme="light", scripts=True):
        pages.append(open_quietly(chromium, page_file.as_uri(), width=width, scheme=scheme, scripts=scripts))
        return pages[-1]

    yield open_page
    for page in pages:
        page.context.close()


def test_the_page_is_small(page_file):
    assert page_file.stat().st_size < 1_000_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_loads_alone_and_fits(opened, page_file, width, scheme):
    page = opened(width, scheme)
    assert [url for url in page.requests if not url.startswith("data:")] == [page_file.as_uri()]
    assert page.messages == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Every figure is as wide as it is drawn, and none is empty.
    boxes = page.evaluate("[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().toJSON())")
    assert len(boxes) >= 8
    assert all(box["width"] > 0.6 * min(width - 60, 320) and box["right"] <= width for box in boxes)


def test_colours_follow_the_dark_mode(opened):
    backgrounds, lines = set(), set()
    for scheme in ("light", "dark"):
        page = opened(768, scheme)
        backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        lines.add(page.evaluate("getComputedStyle(document.querySelector('#figure-plan_map-figure_1 text')).fill"))
    assert len(backgrounds) == len(lines) == 2


def test_names_are_text_and_not_markup(opened):
    page = opened()
    assert page.title() == EVIL
    assert page.evaluate("document.scripts.length") == 1
    assert page.inner_text("h1") == EVIL
    assert EVIL in page.inner_text("#candidates")


def test_the_table_sorts_up_and_down_by_keyboard(opened):
    page = opened()
    column = "[...document.querySelectorAll('#candidates tbody tr')].map(r => Number(r.cells[1].dataset.value))"
    before = page.evaluate(column)
    assert before == sorted(before)
    button = page.locator("#candidates thead button", has_text="mean half-width")
    button.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(column) == sorted(before)
    assert page.get_attribute("#candidates thead th:nth-child(2)", "aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert page.evaluate(column) == sorted(before, reverse=True)
    assert page.get_attribute("#candidates thead th:nth-child(2)", "aria-sort") == "descending"
    page.locator("#candidates thead button", has_text="candidate").click()
    names = page.evaluate("[...document.querySelectorAll('#candidates tbody th')].map(c => c.textContent)")
    assert names[1:] == sorted(names[1:])
    assert page.messages == []


def test_values_under_the_pointer(opened):
    page = opened()
    figure = page.locator("figure:has(#figure-scores-title)")
    figure.scroll_into_view_if_needed()
    x, y, text = page.evaluate(
        "JSON.parse(document.querySelector('figure:has(#figure-scores-title)').dataset.hover)[8]"
    )
    box = figure.locator("svg").bounding_box()
    page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    assert page.inner_text("#tip") == text
    page.mouse.move(1, 1)
    assert not page.is_visible("#tip")


def test_without_scripts_everything_is_there(opened):
    page = opened(scripts=False)
    for heading in ("The promise", "Does it hold?", "The candidates", "Where is the model weak?", "To reproduce it"):
        assert page.locator("h2", has_text=heading).is_visible()
    assert page.locator("#candidates tbody tr").count() == 5
    assert page.locator("#candidates thead button").count() == 0
    page.locator("summary").click()
    assert page.locator("#slices").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light"), (1440, "dark")])
def test_no_serious_barriers(opened, axe, width, scheme):
    page = opened(width, scheme)
    page.locator("summary").click()
    assert [each for each in find_barriers(page, axe) if each[1] in ("serious", "critical")] == []


def test_it_prints_on_a4(opened):
    page = opened()
    page.emulate_media(media="print")
    # Who signs has read the conditions.
    above, sign = (page.locator(name).first.bounding_box() for name in (".caveats", ".sign"))
    assert above["y"] + above["height"] <= sign["y"]
    # What cannot be opened on paper is left out, and a page ends neither within a paragraph nor after a heading.
    assert not page.locator("summary").is_visible()
    inside, after = "one => getComputedStyle(one).breakInside", "one => getComputedStyle(one).breakAfter"
    assert page.eval_on_selector("section p.lead", inside) == page.eval_on_selector("section table", inside) == "avoid"
    assert page.eval_on_selector("section p.lead", after) == page.eval_on_selector("section h2", after) == "avoid"
    pdf = page.pdf(format="A4", prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    assert 2 <= pdf.count(b"/Type /Page\n") <= 12


def test_the_type_of_all_figures_has_one_size(opened):
    for width in WIDTHS:
        page = opened(width)
        scales = page.evaluate(
            "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().width / s.viewBox.baseVal.width)"
        )
        assert max(scales) <= 1.02 * min(scales), (width, scales)


def test_tables_show_that_they_scroll(opened):
    """On a phone some tables are wider than the page. A shadow at the right edge shows that they go on there."""
    page = opened(360)
    wide = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1)"
        ".map(s => getComputedStyle(s).backgroundAttachment)"
    )
    assert wide
    assert set(wide) == {"local, local, scroll, scroll"}


def test_no_number_breaks_across_lines(opened):
    page = opened(360)
    heights = page.evaluate("[...document.querySelectorAll('span[style*=nowrap]')].map(n => n.getClientRects().length)")
    assert len(heights) > 5
    assert set(heights) == {1}


def test_the_last_page_has_more_than_two_lines(opened):
    page = opened()
    page.emulate_media(media="print")
    assert not page.locator("footer").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('section:last-of-type')).breakInside") == "avoid"
