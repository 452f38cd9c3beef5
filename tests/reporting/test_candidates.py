"""How candidates are ranked, and what holds for the chosen one."""

import re

import numpy as np

import pacband
from support.pages import ten_candidates


def test_what_is_to_be_expected_of_a_chosen_candidate_is_left_out(rng):
    candidates = ten_candidates(rng)
    family = pacband.certify_family(np.zeros(300), candidates, eps=0.1, delta=0.5)
    declared = pacband.certify(np.zeros(300), candidates["m0"], eps=0.1, delta=0.5, n_candidates=10)
    for cert in (family, declared):
        page = pacband.report(cert, np.zeros(300), candidates[family.best if cert is family else "m0"])
        for text in (page.html, page.to_markdown()):
            assert "expected violation" not in text
            assert "Where the true violation lies" not in text
        assert "chosen beforehand" in page.html
        assert all(size["expected_violation"] is None for size in page.to_dict()["sample_sizes"])
    alone = pacband.certify(np.zeros(300), candidates["m0"], eps=0.1, delta=0.5)
    page = pacband.report(alone, np.zeros(300), candidates["m0"])
    assert page.html.count("expected violation") > 1
    assert "expected violation" in page.to_markdown()
    assert "Where the true violation lies" in page.html
    groups = pacband.certify_groups(np.zeros(300), candidates["m0"], np.arange(300) % 2, eps=0.1, delta=0.5)
    assert "expected violation" in pacband.report(groups).html
    chosen = pacband.certify_groups(
        np.zeros(300), candidates["m0"], np.arange(300) % 2, eps=0.1, delta=0.5, n_candidates=2
    )
    assert "expected violation" not in pacband.report(chosen).html


def one_sided_family(rng, n=400):
    """Candidates that overshoot: γ̄ falls with the overshoot, and the distance from y to the bound grows."""
    y = rng.standard_normal(n)
    candidates = {f"over {k}": y * 0.9 + 10.0 * k + rng.standard_normal(n) * (0.1 + k) for k in range(40)}
    return y, candidates, pacband.certify_family(y, candidates, eps=0.1, delta=0.1, side="upper")


def test_one_sided_families_are_ranked_by_what_the_best_minimises(rng):
    y, candidates, family = one_sided_family(rng)
    assert family.best == "over 0"
    assert min(family.mean_bound, key=family.mean_bound.__getitem__) == "over 39"
    page = pacband.report(family, y, candidates=candidates)
    body = page.html.split('id="candidates"')[1].split("</table>")[0]
    names = re.findall(r'<th scope="row">(over \d+)', body)
    assert names == sorted(candidates, key=family.sharpness.__getitem__)
    shown = [float(value) for value in re.findall(r"</th><td data-value=\"([^\"]*)\"", body)]
    assert shown == [family.sharpness[name] for name in names]
    assert "mean distance from y to the bound" in body
    assert "half-width" not in body
    text = page.to_markdown()
    assert re.findall(r"^\| (over \d+)", text, flags=re.MULTILINE) == names
    assert "| candidate | mean distance from y to the bound |" in text
    widths = [float(width) for width in re.findall(r'<span style="width:([\d.]+)%', body)]
    assert widths == sorted(widths)
    assert widths[-1] == 100.0
