"""The curve of a chosen candidate holds with the confidence of the family."""

import re

import numpy as np
import pytest
from scipy.stats import binom, norm

import pacband
from pacband.reporting.figures.curve import candidate_curve, draw_curve
from support.pages import Outline, ten_candidates


@pytest.mark.parametrize("weights", [None, [0.91, *[0.01] * 9]])
def test_the_curve_of_a_chosen_candidate_holds_with_the_confidence_of_the_family(rng, weights):
    candidates = ten_candidates(rng)
    family = pacband.certify_family(np.zeros(300), candidates, eps=0.1, delta=0.3, weights=weights)
    page = pacband.report(family, np.zeros(300), candidates=candidates)
    curve = page.to_dict()["curve"]
    assert curve["delta"] == 0.3
    assert curve["local_delta"] < 0.3 * float(family.certificate.share.fraction)
    assert curve["promise"].startswith("With confidence 70 %, ")
    assert page.summary.numbers["curve"].curve.certificate(0.1).delta == 0.3
    for text in ("".join(Outline(page.html).text), page.to_markdown()):
        (sentence,) = re.findall(r"bounds (?:in this section )?hold for every ε[^.:]*", text)
        assert re.findall(r"confidence ([\d.]+ %)", sentence) == ["70 %"]
    # Declared beforehand: the promise is about all candidates as well.
    declared = pacband.certify(np.zeros(300), candidates["m0"], eps=0.1, delta=0.3, n_candidates=10)
    assert pacband.report(declared, np.zeros(300), candidates["m0"]).to_dict()["curve"]["delta"] == 0.3


def test_the_curve_of_the_best_of_ten_fails_no_more_often_than_stated(rng):
    """Over 300 calibrations; more failures than the quantile have a probability below 1e-6. At δ/10 it would fail."""
    failures, stated = 0, set()
    for _ in range(300):
        candidates = ten_candidates(rng)
        family = pacband.certify_family(np.zeros(300), candidates, eps=0.1, delta=0.5)
        curve = candidate_curve(family.certificate, np.abs(candidates[family.best]))
        stated.add(curve.delta)
        failures += bool((2 * norm.sf(curve.gammas) > curve.levels).any())
    (delta,) = stated
    assert failures <= binom.ppf(1 - 1e-6, 300, delta)
    assert failures > binom.ppf(1 - 1e-6, 300, delta / 10)


@pytest.mark.parametrize(
    ("scaled", "about", "name"),
    [
        (False, {}, "bound γ̄(ε)"),
        (False, {"target": "wear", "unit": "mm"}, "bound γ̄(ε) for wear, in mm"),
        # A factor has no unit.
        (True, {"target": "wear", "unit": "mm"}, "bound γ̄(ε) for wear"),
    ],
)
def test_the_axis_names_the_target_and_its_unit(rng, scaled, about, name):
    y, scale = rng.standard_normal(300), np.ones(300) if scaled else None
    page = pacband.report(pacband.certify(y, 0 * y, scale, eps=0.1, delta=0.1, about=about), y, 0 * y, scale)
    assert draw_curve(page.summary.numbers["curve"]).get_ylabel() == name
