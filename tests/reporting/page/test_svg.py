"""Figures inside of the page."""

import re

import pacband
from support.pages import Outline


def test_every_url_reference_in_the_figures_is_to_an_id_of_the_page(paper):
    X, y, predicted, scale, cert = paper
    page = pacband.report(cert, y, predicted, scale, X=X).html
    ids = set(Outline(page).ids)
    references = set(re.findall(r'url\(#([^)]*)\)|xlink:href="#([^"]*)"', page))
    assert references
    assert {first or second for first, second in references} <= ids
