"""The candidates are ranked."""

import pytest

import pacband
from pacband.exceptions import InvalidInput


def test_the_family_is_ranked(rng, axes):
    y = rng.standard_normal(500)
    candidates = {f"model {k}": y * k / 30 for k in range(30)}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.01)
    pacband.plot_family(family, ax=axes)
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == sorted(widths, reverse=True)
    assert len(widths) == 20
    assert axes.get_yticklabels()[-1].get_text() == family.best == "model 29"


def test_a_one_sided_family_is_ranked_by_the_distance_to_the_bound(rng, axes):
    y = rng.standard_normal(400)
    candidates = {f"over {k}": y * 0.9 + 10.0 * k + rng.standard_normal(400) * (0.1 + k) for k in range(30)}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.1, side="upper")
    pacband.plot_family(family, ax=axes)
    ranked = sorted(family.sharpness.values())
    assert [bar.get_width() for bar in axes.patches] == ranked[19::-1]
    assert axes.get_yticklabels()[-1].get_text() == family.best == "over 0"
    assert axes.get_xlabel().startswith("mean distance from y to the bound (10 ")


def test_a_certificate_of_one_model_is_refused(paper):
    with pytest.raises(InvalidInput, match="certificate must be a FamilyCertificate, got Certificate"):
        pacband.plot_family(paper[-1])
