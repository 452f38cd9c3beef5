"""The words in the names of automatic candidates."""

import pacband
from pacband.candidates.names import explain_names
from support.pages import Outline


def test_only_words_that_need_it_are_explained():
    lines = explain_names(["blend / spread", "linear / mixed", "trees / trees", "mine"])
    assert lines[1:] == [
        "prediction blend: a weighted mean of the predictors",
        "σ̂ spread: how far the predictors differ at x",
        "σ̂ mixed: the geometric mean of boosting, trees and window, the length of the shortest interval that contains "
        "most of y at x; without those not fitted",
    ]
    # Names of others, even with a stroke, mean what their makers say.
    assert explain_names(["km / h", "a / b / constant", "mine"]) == []


def test_the_report_explains_the_names_of_its_candidates(rng):
    y = rng.standard_normal(300)
    candidates = {"blend / constant": 0.1 * y, "mine": 0 * y}
    page = pacband.report(pacband.certify_family(y, candidates, eps=0.1, delta=0.1), y, candidates=candidates)
    for text in (" ".join(Outline(page.html).text), page.to_markdown()):
        assert "A name is that of the prediction" in text
        assert "prediction blend: a weighted mean of the predictors" in text
        assert "constant: the same everywhere" in text
    others = pacband.certify_family(y, {"mine": 0 * y, "half": y / 2}, eps=0.1, delta=0.1)
    assert "A name is that" not in pacband.report(others, y, candidates={"mine": 0 * y, "half": y / 2}).html
