"""The boundary of a curve: designs of levels, and the largest η that uses no more than δ."""

import numpy as np
import pytest

from pacband.certification.boundary import largest_eta
from pacband.certification.crossing import crossing_probability
from pacband.certification.curve import curve_of_scores
from pacband.scores import ScoreRule
from support.crossing import enumerated_crossing
from support.twins import put_in_place


@pytest.mark.parametrize("n_samples", [2, 3, 5, 8])
@pytest.mark.parametrize("delta", [0.2, 0.05, 1e-6, 1e-12])
def test_a_curve_uses_delta_and_no_more(n_samples, delta):
    scores = np.arange(float(n_samples))
    for max_eps in (0.5, 0.99):
        curve = curve_of_scores(
            scores, delta=delta, max_eps=max_eps, scoring=ScoreRule(), n_outputs=1, scale_kind="none"
        )
        used = enumerated_crossing(n_samples, curve.levels, curve.ranks)
        assert delta * (1 - 3e-6) <= used <= delta


@pytest.mark.parametrize("delta", [0.5, 0.01, 1e-6, 1e-9])
@pytest.mark.parametrize(("n_samples", "max_eps"), [(20, 0.5), (1000, 0.1), (1000, 0.9), (5000, 0.5)])
def test_few_crossing_probabilities_are_computed_and_the_last_is_next_to_delta(monkeypatch, n_samples, max_eps, delta):
    found = []

    def recording(*arguments, **options):
        found.append(crossing_probability(*arguments, **options))
        return found[-1]

    put_in_place(monkeypatch, crossing_probability, recording)
    largest_eta.cache_clear()
    curve_of_scores(
        np.arange(float(n_samples)), delta=delta, max_eps=max_eps, scoring=ScoreRule(), n_outputs=1, scale_kind="none"
    )
    assert len(found) <= 6
    assert delta * (1 - 1e-6) <= found[-1] <= delta
