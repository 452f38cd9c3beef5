"""The sample certificate of the documentation, in a real browser: it prints on one sheet of A4, and fits a phone."""

import re
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("browser")

SHEET = Path(__file__).parents[2] / "docs" / "computed" / "sample_certificate.py"


def test_the_sample_certificate_is_one_sheet(chromium, tmp_path):
    path = tmp_path / "sheet.html"
    path.write_text(runpy.run_path(str(SHEET))["page"](), encoding="utf-8")
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.close()
