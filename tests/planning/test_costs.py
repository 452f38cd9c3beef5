"""What δ costs: ranks against the binomial law, widths against simulated Gaussian errors."""

import dataclasses
import json
import re
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacband import InvalidInput, PlanTable, max_rank, min_samples, plan, plan_table
from pacband.planning import DELTAS, costs, more_samples
from support.twins import put_in_place


def exact_tail(rank, n, eps):
    """B(r − 1; N, ε) in fractions."""
    eps = Fraction(eps)
    return sum(comb(n, k) * eps**k * (1 - eps) ** (n - k) for k in range(rank))


def holds(row, eps, n_candidates=1):
    """Whether the row has the largest rank that the binomial law allows, and none if there is none."""
    budget = Fraction(row.delta) / n_candidates
    rank = row.rank or 0
    return (rank == 0 or exact_tail(rank, row.n_samples, eps) <= budget) and exact_tail(
        rank + 1, row.n_samples, eps
    ) > budget


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 150),
    eps=st.floats(0.02, 0.9),
    delta=st.floats(1e-9, 0.9),
    n_candidates=st.integers(1, 20),
)
def test_every_rank_is_the_largest_that_is_valid(n, eps, delta, n_candidates):
    (row,) = plan_table(n, eps=eps, deltas=delta, n_candidates=n_candidates).rows
    assert holds(row, eps, n_candidates)
    assert row.needed == min_samples(eps, delta, n_candidates=n_candidates)
    assert (row.rank is None) == (n < row.needed)


def test_a_rank_off_by_one_is_noticed(monkeypatch):
    largest = costs.largest_rank
    put_in_place(monkeypatch, largest, lambda *numbers: largest(*numbers) + 1)
    assert not any(holds(row, 0.1) for row in plan_table(120, eps=0.1).rows)


def test_known_tables():
    rows = plan_table(120, eps=0.1).rows
    assert [row.rank for row in rows] == [8, 7, 5, 3, None, None]
    assert [row.delta for row in rows] == list(DELTAS)
    assert [row.needed for row in rows[-2:]] == [132, 197]
    assert rows[0].expected_violation == 8 / 121
    # The facts: N = 2065 and N = 2407 for ten candidates.
    assert plan_table(2065, deltas=1e-6).rows[0].rank == 60
    assert plan_table(2407, deltas=1e-6, n_candidates=10).rows[0].rank == 69
    several = plan_table([60, 2065], deltas=(0.05, 1e-6)).rows
    assert [(row.n_samples, row.delta) for row in several] == [(60, 0.05), (60, 1e-6), (2065, 0.05), (2065, 1e-6)]
    assert [row.rank for row in several] == [1, None, max_rank(2065, 0.05, 0.05), 60]


def test_split_conformal_prediction_takes_the_rank_of_its_definition():
    """The ⌈(N + 1)(1 − ε)⌉-th smallest of N scores, in fractions of the decimal ε."""
    for n in (9, 19, 60, 99, 120, 199, 1000):
        for eps in ("0.05", "0.1", "0.29", "0.01"):
            smallest = -((n + 1) * (Fraction(eps) - 1) // 1)
            assert costs.split_conformal_rank(n, float(eps)) == n + 1 - smallest
    assert costs.split_conformal_rank(18, 0.05) == 0
    # Without a band to compare with, there is no relative width.
    assert plan_table(18, eps=0.05, deltas=0.5).rows[0].relative_width is None


@pytest.mark.parametrize(("n", "delta"), [(120, 0.05), (1000, 1e-6)])
def test_the_width_is_that_of_gaussian_errors(n, delta):
    """The mean ratio of two order statistics of N Gaussian errors, within 1.5 %: its bias and six standard errors."""
    (row,) = plan_table(n, eps=0.1, deltas=delta).rows
    rng = np.random.default_rng(0)
    scores = np.sort(np.abs(rng.standard_normal((480_000 // n, n))), axis=1)
    conformal = costs.split_conformal_rank(n, 0.1)
    simulated = scores[:, n - row.rank].mean() / scores[:, n - conformal].mean()
    assert row.relative_width == pytest.approx(simulated, rel=0.015)
    # The wrong twin: the one-sided quantile.
    one_sided = costs._half_width(2 * row.expected_violation) / costs._half_width(2 * conformal / (n + 1))
    assert one_sided != pytest.approx(simulated, rel=0.015)


def test_it_is_a_value_with_words():
    table = plan_table(120, eps=0.1, deltas=(0.05, 1e-6), n_candidates=2)
    assert isinstance(table, PlanTable)
    assert table == plan_table([120], eps=0.1, deltas=[0.05, 1e-6], n_candidates=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.eps = 0.2
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.rows[0].rank = 9
    assert json.loads(json.dumps(table.to_dict())) == {
        "eps": 0.1,
        "n_candidates": 2,
        "rows": [dataclasses.asdict(row) for row in table.rows],
    }
    page = re.sub("</?span.*?>", "", table._repr_html_())
    for words in (
        "N = 120, δ = 0.05",
        ">rank 6, expected violation 4.96 %, width × 1.19, over split conformal × 1.19<",
        ">needs 138 samples<",
    ):
        assert words in page


def test_the_table_as_text():
    assert "shared by 2 candidates" in plan_table(120, n_candidates=2).explanation
    *lines, explanation = str(plan_table((18, 1200), deltas=(0.5, 1e-6))).splitlines()
    assert explanation.startswith(
        "At most 5 % of future errors may exceed the bound (ε = 0.05); this fails with probability at most δ. The score"
    )
    assert lines == [
        "samples N      δ             rank r  expected violation   width  over split",
        "       18    0.5                  1              5.26 %  × 0.99           –",
        "       18  1e-06  needs 270 samples                   –       –           –",
        "    1,200    0.5                 60                 5 %  × 1.00      × 1.00",
        "    1,200  1e-06                 28              2.33 %  × 1.16      × 1.16",
    ]


def test_the_half_width_of_a_gaussian_band():
    assert costs._half_width(0.05) == pytest.approx(1.959964, abs=1e-6)


def test_the_widths_of_different_numbers_of_samples_can_be_compared():
    """Their ratio is that of the bands: the expected violations alone decide it. The ratio to split conformal does not."""
    first, *more = more_samples(plan(0.1, 0.05)).rows
    for row in more:
        expected = costs._half_width(row.expected_violation) / costs._half_width(first.expected_violation)
        assert row.width / first.width == pytest.approx(expected, rel=1e-12)
    assert [round(row.width / first.width, 3) for row in more] == [0.997, 0.878, 0.845, 0.794]
    assert round(more[0].relative_width / first.relative_width, 2) == 0.95


def test_what_more_samples_buy():
    bought = more_samples(plan(0.1, 0.05))
    assert [row.n_samples for row in bought.rows] == [29, 58, 145, 290, 2900]
    assert all(holds(row, 0.1) for row in bought.rows[:4])
    shared = more_samples(plan(0.1, 0.05, n_candidates=10))
    assert shared.n_candidates == 10
    assert all(holds(row, 0.1, 10) for row in shared.rows[:3])
    # At the largest numbers the table ends early.
    assert len(more_samples(plan(1e-8, 1e-6)).rows) == 1


@pytest.mark.parametrize(
    ("n_samples", "options", "message"),
    [
        (0, {}, r"n_samples must be at least 1, got 0\."),
        (12.0, {}, r"n_samples must be an integer, got 12\.0\."),
        ([], {}, r"n_samples must have at least one value, got none\."),
        ([10, 10**13], {}, r"n_samples must be at most 1e\+12"),
        ("120", {}, r"n_samples must be an integer, got '120'\."),
        (120, {"deltas": ()}, r"deltas must have at least one value, got none\."),
        (120, {"deltas": (0.1, 5)}, r"delta must be in \(0, 1\), got 5\. For 5 % write 0\.05\."),
        (120, {"deltas": "0.1"}, r"delta must be in \(0, 1\), got '0\.1'\."),
        (120, {"eps": 1.0}, r"eps must be in \(0, 1\)"),
        (120, {"n_candidates": 0}, r"n_candidates must be at least 1, got 0\."),
    ],
)
def test_bad_input(n_samples, options, message):
    with pytest.raises(InvalidInput, match=message):
        plan_table(n_samples, **options)
