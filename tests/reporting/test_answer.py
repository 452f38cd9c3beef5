"""The verdict on the rows, in words."""

import numpy as np
import pytest
from scipy.stats import binom

import pacband
from pacband import datasets
from pacband.core.wording import percent
from pacband.draws import Units


def test_the_verdict_on_fresh_rows_is_the_exact_test(paper):
    _, _, _, _, cert = paper
    for spread, state in ((1.0, "kept"), (1.6, "contradicted")):
        X, y = datasets.paper_sample(1000, random_state=9)
        predicted, scale = datasets.paper_predictor(X), datasets.paper_scale(X)
        y = predicted + spread * (y - predicted)
        found = pacband.report(cert, y, predicted, scale, X=X)
        outside = int(np.sum(np.abs(y - predicted) > cert.gamma * scale))
        assert found.to_dict()["rows"]["n_violations"] == outside
        assert (binom.sf(outside - 1, 1000, 0.05) <= 0.01) == (state == "contradicted")
        assert found.summary.answer.state == state
        assert found.summary.contradicted == (state == "contradicted")
        # Only calibration rows give the bounds of other promises.
        assert found.to_dict()["curve"] is None
        assert found.to_dict()["alternatives"] == []


def test_groups_share_the_level(rng):
    """A count that is too large for one promise at level 0.01 may not be too large for one of two."""
    calibration, labels = rng.standard_normal(4000), np.repeat(["a", "b"], 2000)
    cert = pacband.certify_groups(calibration, 0 * calibration, labels, eps=0.1, delta=0.01)
    fresh_labels = np.repeat(["a", "b"], 200)
    for n_outside in (28, 30, 31, 40):
        y = np.zeros(400)
        y[200 : 200 + n_outside] = 1e6
        page = pacband.report(cert, y, 0 * y, groups=fresh_labels)
        alone = binom.sf(n_outside - 1, 200, 0.1)
        assert page.summary.contradicted == (2 * alone <= 0.01)
        verdict = pacband.check(cert, y, 0 * y, groups=fresh_labels)
        assert page.summary.contradicted == bool(verdict.contradicted)
        assert page.summary.of_rows.verdict.counts["b"] == verdict.counts["b"]
        if page.summary.contradicted:
            assert f"a probability of at most {2 * alone:.2g}" in page.summary.answer.text


@pytest.mark.parametrize(
    ("within", "promised"),
    [
        (None, "at least 80 % of future errors stay within the bound."),
        ("all", "at least 80 % of future machines keep all their errors within the bound."),
        (0.9, "at least 80 % of future machines keep at least 90 % of their errors within the bound."),
        ("one", "at least 80 % of future errors, with all machines counted equally, stay within the bound."),
    ],
)
def test_the_verdict_states_the_promise_that_was_made(within, promised, rng):
    def units(first):
        return None if within is None else Units(np.repeat(np.arange(first, first + 300), 10), within, name="machine")

    calibration, fresh, zero = rng.standard_normal(3000), rng.standard_normal(3000), np.zeros(3000)
    cert = pacband.certify(calibration, zero, eps=0.2, delta=0.05, draws=units(0))
    answer = pacband.report(cert, fresh, zero, draws=units(300)).summary.answer
    assert answer.state == "kept"
    assert f"The promise: {promised} " in answer.text


def test_the_promise_of_groups_is_about_the_bound_of_each(rng):
    y, labels = rng.standard_normal(4000), np.repeat(["a", "b"], 2000)
    cert = pacband.certify_groups(y, 0 * y, labels, eps=0.1, delta=0.01)
    text = pacband.report(cert, rng.standard_normal(4000), 0 * y, groups=labels).summary.answer.text
    assert "The promise: at least 90 % of future errors stay within the bound of their group. " in text


def test_without_rows_nothing_was_tested(paper):
    summary = pacband.report(paper[-1]).summary
    assert (summary.answer.state, summary.contradicted, summary.of_rows) == ("untested", False, None)


def test_one_row_agrees_with_nothing(paper):
    _, _, _, _, cert = paper
    for y, state in ([1e9], "untested"), ([1e9, 1e9], "contradicted"), ([0.0, 0.0], "kept"):
        found = pacband.report(cert, np.array(y), np.zeros(len(y)), np.ones(len(y)))
        assert found.summary.answer.state == state
    assert "These rows cannot test the promise" in pacband.report(cert, [1e9], [0.0], [1.0]).html


def test_calibration_rows_of_a_weighted_certificate_are_not_denied(rng):
    y, w = rng.standard_normal(4000), rng.uniform(0.5, 1.5, 4000)
    cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.01, draws=pacband.draws.Weighted(w, at_most=2.0))
    found = pacband.report(cert, y, 0 * y)
    assert found.summary.answer.state == "kept"
    assert "not the calibration rows" not in found.summary.answer.text
    assert "only fresh rows do" in found.summary.answer.text
    assert "not those of the calibration" not in found.html
    # The twin: rows that were certified one by one are known by their scores.
    fresh = rng.standard_normal(4000)
    assert "These are not exactly the calibration rows" in (
        pacband.report(pacband.certify(y, 0 * y, eps=0.1, delta=0.01), fresh, 0 * fresh).summary.answer.text
    )


def test_the_interval_of_dependent_draws_is_the_wider_one_of_check(rng):
    y, fresh = rng.standard_normal(6000), rng.standard_normal(6000)
    shown = {}
    for mixing in (None, 0.15):
        draws = pacband.draws.Spaced(6, mixing)
        cert = pacband.certify(y, 0 * y, eps=0.1, delta=0.05, draws=draws)
        text = pacband.report(cert, fresh, 0 * fresh, draws=draws).summary.answer.text
        low, high = pacband.check(cert, fresh, 0 * fresh, draws=draws).counts[""].interval
        shown[mixing] = f"95 % interval of the true share is {percent(low)} to {percent(high)}."
        assert shown[mixing] in text
        assert ("The exact 95 %" in text) == (mixing is None)
    assert shown[None] != shown[0.15]
