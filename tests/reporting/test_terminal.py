"""Certificates and plans on a terminal."""

import io
import re
from dataclasses import replace

import numpy as np
from rich.console import Console

import pacband
from pacband.core.wording import bound
from pacband.reporting.terminal import show


def on_a_terminal(value):
    terminal = Console(force_terminal=True, width=120, record=True, file=io.StringIO())
    show(value, console=terminal)
    return terminal.export_text()


def test_the_terminal_shows_every_kind_and_takes_names_literally(rng):
    y = rng.standard_normal(400)
    kinds = [
        pacband.plan(),
        pacband.certify(y, 0 * y, eps=0.1, delta=0.01),
        pacband.certify_family(
            y, {"[red]x[/red]": 0 * y, **{f"m{k}": y / (k + 2) for k in range(40)}}, eps=0.1, delta=0.01
        ),
        pacband.certify_groups(y, 0 * y, np.repeat(["[bold]a", "b"], 200), eps=0.1, delta=0.1),
    ]
    shown = []
    for value in kinds:
        terminal = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
        show(value, console=terminal)
        text = terminal.export_text()
        assert "╭" in text
        shown.append(text)
        pipe = Console(force_terminal=False, width=40, record=True, file=io.StringIO())
        show(value, console=pipe)
        assert str(value) in pipe.export_text()
    assert "[red]x[/red]" in str(kinds[2])
    assert "[bold]a" in shown[3]


def test_the_terminal_ranks_one_sided_families_by_the_distance_to_the_bound(rng):
    y = rng.standard_normal(400)
    candidates = {f"over {k:02}": y * 0.9 + 10.0 * k + rng.standard_normal(400) * (0.1 + k) for k in range(40)}
    family = pacband.certify_family(y, candidates, eps=0.1, delta=0.1, side="upper")
    text = on_a_terminal(family)
    assert "mean distance from y to the bound" in text
    assert re.findall(r"over \d\d", text.split("candidate")[-1])[:3] == ["over 00", "over 01", "over 02"]
    assert re.search(rf"over 00 \(best\) +{bound(family.sharpness['over 00'])} ", text)
    assert "and 10 more" in text


def test_the_terminal_never_cuts_off_the_best():
    """Ranked by name where all are alike; the best is the first of them that was given."""
    y = np.arange(400.0)
    names = [f"m{k:02}" for k in range(40)]
    family = pacband.certify_family(y, dict.fromkeys(reversed(names), 0 * y), eps=0.1, delta=0.1)
    family = replace(family, best="m00")
    assert "m00 (best)" in on_a_terminal(family)
    assert "and 10 more" in on_a_terminal(family)


def test_the_terminal_says_what_to_expect_only_of_what_was_chosen_beforehand(rng):
    y = rng.standard_normal(400)
    assert "expected violation" in on_a_terminal(pacband.certify(y, 0 * y, eps=0.1, delta=0.1))
    assert "expected violation" not in on_a_terminal(pacband.certify(y, 0 * y, eps=0.1, delta=0.1, n_candidates=4))
    assert "expected violation of each candidate" in on_a_terminal(pacband.plan(n_candidates=4))
    groups = {"eps": 0.1, "delta": 0.1}
    assert "expected violation" in on_a_terminal(pacband.certify_groups(y, 0 * y, y > 0, **groups))
    assert "expected violation" not in on_a_terminal(pacband.certify_groups(y, 0 * y, y > 0, n_candidates=2, **groups))


def test_the_terminal_shows_what_a_certificate_is_about(rng):
    y, about = rng.standard_normal(400), {"name": "[red]seal", "unit": "mm"}
    promise = {"eps": 0.1, "delta": 0.1, "about": about}
    for cert in (
        pacband.certify(y, 0 * y, **promise),
        pacband.certify_family(y, {"a": 0 * y, "b": y / 2}, **promise),
        pacband.certify_groups(y, 0 * y, np.repeat(["a", "b"], 200), **promise),
    ):
        assert re.search(r"name +\[red\]seal", on_a_terminal(cert))


def test_symbols_and_the_number_of_a_family_are_explained_on_the_terminal(rng):
    y = rng.standard_normal(400)
    about = {"target": "wear", "unit": "mm"}
    family = pacband.certify_family(y, {"a": 0 * y, "b": (0 * y, 1 + y**2)}, eps=0.1, delta=0.01, about=about)
    text = " ".join(on_a_terminal(family).replace("│", " ").split())
    assert f"≤ {bound(family.certificate.gamma)}" in text
    assert f"This is '{family.best}', the sharpest of 2 candidates." in text
    assert "y is wear, in mm, T(x) is its prediction" in text
