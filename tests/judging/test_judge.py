"""Which rows violate a certificate: against brute force, for every kind of certificate."""

import numpy as np
import pytest

from pacband import InvalidInput, certify, certify_family, certify_groups, check
from pacband.draws import Spaced, Units, Weighted
from pacband.judging.judge import Judge, deciding_rows
from pacband.selection import tally
from support.certificates import ALL_KINDS, PROMISE, P, S, Y

N = 200


@pytest.fixture
def fresh():
    rng = np.random.default_rng(1)
    return (
        1.5 * rng.normal(size=N),
        rng.normal(size=N),
        rng.uniform(0.5, 2.0, size=N),
        rng.choice(["north", "south"], N),
    )


def brute_force(y, p, s, gamma):
    """Return whether each row exceeds γ̄·σ̂, one row after the other."""
    return [abs(y[i] - p[i]) / s[i] > gamma for i in range(len(y))]


def counts(judged):
    return {label: (one.n_samples, one.at_least, one.total) for label, one in judged.tallies().items()}


def test_rows_without_groups_are_judged_by_one_bound(fresh):
    y, p, s, site = fresh
    cert = ALL_KINDS["scaled"]
    judged = Judge(cert).judge(y, p, s)
    expected = brute_force(y, p, s, cert.gamma)
    assert judged.violated.tolist() == expected
    assert 0 < sum(expected) < N
    assert counts(judged)[None][:2] == (N, (sum(expected),))
    # Groups only sort the rows: each is judged by the same bound.
    sorted_rows = Judge(cert).judge(y, p, s, site)
    assert sorted_rows.violated.tolist() == expected
    counted = {label: at_least[0] for label, (_, at_least, _) in counts(sorted_rows).items()}
    assert counted == {label: sum(np.array(expected)[site == label]) for label in ("north", "south")}


def test_rows_of_groups_are_judged_by_the_bound_of_their_own(fresh):
    y, p, s, site = fresh
    wide = np.where(np.arange(400) % 2 == 0, 1.0, 3.0)
    cert = certify_groups(wide * Y, P, np.where(wide == 1, "north", "south"), S, **PROMISE)
    judge = Judge(cert)
    assert judge.grouped
    assert judge.gamma("south") > judge.gamma("north")
    judged = judge.judge(y, p, s, site)
    expected = [brute_force(y[i : i + 1], p[i : i + 1], s[i : i + 1], cert.groups[site[i]].gamma)[0] for i in range(N)]
    assert judged.violated.tolist() == expected
    for label, violated in judged.by_part(judged.violated).items():
        assert violated.tolist() == [expected[i] for i in range(N) if site[i] == label]
        assert judged.tallies()[label].at_least == (violated.sum(),)
    # One bound for all rows would be another verdict.
    assert expected != brute_force(y, p, s, judge.gamma("north"))
    with pytest.raises(InvalidInput, match="promises within groups: pass the group of every row"):
        judge.judge(y, p, s)
    with pytest.raises(InvalidInput, match="labels without a certificate: 'west'"):
        judge.judge(y, p, s, ["west"] * N)
    with pytest.raises(InvalidInput, match="y and groups must have one length, got 200 and 1"):
        judge.judge(y, p, s, ["north"])


def test_a_row_on_the_bound_does_not_violate_it():
    cert = ALL_KINDS["constant"]
    judged = Judge(cert).judge([cert.gamma, np.nextafter(cert.gamma, np.inf)], [0.0, 0.0])
    assert judged.violated.tolist() == [False, True]


def test_rows_without_a_label_are_counted_and_not_scored(fresh):
    y, p, s, site = fresh
    missing = np.arange(N) % 3 == 0
    waiting = np.where(missing, np.nan, y)
    for cert, groups in ((ALL_KINDS["scaled"], None), (ALL_KINDS["groups"], site)):
        judge = Judge(cert)
        judged = judge.judge_rows(waiting, p, s, groups)
        kept = judge.judge(y[~missing], p[~missing], s[~missing], None if groups is None else groups[~missing])
        np.testing.assert_array_equal(judged.scores, kept.scores)
        assert counts(judged) == counts(kept)
        assert dict(zip(judged.labels, judged.unlabelled.tolist(), strict=True)) == {
            label: int(missing.sum() if label is None else (missing & (site == label)).sum()) for label in judged.labels
        }
        with pytest.raises(InvalidInput, match="y must be finite"):
            judge.judge(waiting, p, s, groups)


def test_a_lone_row_needs_no_bracket_where_labels_may_be_missing():
    judge = Judge(ALL_KINDS["constant"])
    assert judge.judge_rows(1e9, 0.0).violated.tolist() == [True]
    assert judge.judge_rows(np.nan, 0.0).unlabelled.tolist() == [1]


def test_a_family_is_judged_by_its_best_candidate(fresh):
    y, p, _, _ = fresh
    family = certify_family(Y, {"far": P + 9.0, "near": P}, **PROMISE)
    assert family.best == "near"
    judged = Judge(family).judge(y, p)
    assert judged.violated.tolist() == brute_force(y, p, np.ones(N), family.candidates["near"].gamma)
    assert judged.violated.sum() > Judge(family.candidates["far"]).judge(y, p).violated.sum()


def test_several_outputs_have_one_score(fresh):
    y, p, _, _ = fresh
    cert = certify(np.c_[Y, P], np.zeros((400, 2)), **PROMISE)
    judged = Judge(cert).judge(np.c_[y, p], np.zeros((N, 2)))
    assert judged.violated.tolist() == [max(abs(y[i]), abs(p[i])) > cert.gamma for i in range(N)]
    waiting = np.c_[np.where(np.arange(N) < 10, np.nan, y), p]
    assert Judge(cert).judge_rows(waiting, np.zeros((N, 2))).unlabelled.tolist() == [10]


def test_an_engine_counts_what_arrays_count(fresh):
    y, p, s, _ = fresh
    judge = Judge(ALL_KINDS["scaled"])
    counted = tally(np.abs(y - p) / s, judge.request(None))
    assert counts(judge.judge(y, p, s)) == {None: (N, counted.at_least, counted.total)}


def test_every_draw_has_the_row_whose_score_it_has(rng):
    labels, y = rng.permutation(np.repeat(np.arange(60), 5)), rng.standard_normal(300)
    for draws in (Units(labels), Units(labels, 0.6), Units(labels, "one", random_state=2), Spaced(7)):
        cert = certify(y, 0 * y, eps=0.3, delta=0.3, draws=draws)
        judged = Judge(cert).judge(y, 0 * y, draws=None if isinstance(draws, Spaced) else draws)
        np.testing.assert_array_equal(np.abs(y)[judged.rows], judged.scores)
        if not isinstance(draws, Spaced):
            assert labels[judged.rows].tolist() == list(range(60))
        assert judged.n_rows == 300
    assert Judge(certify(y, 0 * y, eps=0.3, delta=0.3)).judge(y, 0 * y).rows is None


def test_tied_scores_of_a_unit_have_a_row_of_that_unit():
    sample = Units([1, 1, 2, 2]).sample(4)
    assert deciding_rows(sample, np.ones(4), np.ones(2)).tolist() == [0, 2]


def test_fresh_rows_of_a_weighted_certificate_are_draws_unless_they_have_weights(rng):
    y, weights = rng.standard_normal(1000), rng.uniform(0, 2, 1000)
    draws = Weighted(weights, at_most=2.0, random_state=4)
    cert = certify(y, 0 * y, eps=0.2, delta=0.1, draws=draws)
    assert Judge(cert).judge(y, 0 * y).rows is None
    assert check(cert, y, 0 * y, draws=draws).reused
    assert not check(cert, y, 0 * y).reused


@pytest.mark.parametrize(
    ("made_with", "given", "message"),
    [
        (None, Units([1] * 100), "no promise about units"),
        (None, Weighted(np.ones(100), at_most=1.0), "no promise about"),
        (Spaced(2), Spaced(3), r"every 2-th row: draws must be Spaced\(2\)"),
        (Spaced(2), Units([1] * 100), r"draws must be Spaced\(2\)"),
        (Weighted(np.ones(100), at_most=1.0), Spaced(2), "no promise about"),
        (Units(np.arange(100)), None, "promise about units: pass draws"),
    ],
)
def test_other_draws_than_those_of_the_promise_are_refused(made_with, given, message, rng):
    y = rng.standard_normal(100)
    cert = certify(y, 0 * y, eps=0.3, delta=0.3, draws=made_with)
    with pytest.raises(InvalidInput, match=message):
        check(cert, y, 0 * y, draws=given)


def test_an_interval_of_importance_does_not_say_which_fresh_rows_are_draws(rng):
    y, low = rng.standard_normal(1000), rng.uniform(0, 1, 1000)
    draws = Weighted((low, low + 0.1), at_most=2.0)
    cert = certify(y, 0 * y, eps=0.3, delta=0.3, draws=draws)
    assert check(cert, y, 0 * y).counts[""].n_samples == 1000
    with pytest.raises(InvalidInput, match="does not say which rows are draws"):
        check(cert, y, 0 * y, draws=draws)
    assert check(cert, y, 0 * y, draws=Weighted(low, at_most=2.0)).counts[""].n_samples < 700


def test_draws_of_overlapping_groups_have_the_row_whose_score_they_have(rng):
    labels, y = rng.permutation(np.repeat(np.arange(80), 5)), rng.standard_normal(400)
    masks = {"all": np.full(400, True), "odd": labels % 2 == 1}
    for draws in (None, Units(labels)):
        cert = certify_groups(y, 0 * y, masks, eps=0.3, delta=0.3, draws=draws)
        judged = Judge(cert).judge(y, 0 * y, groups=masks, draws=draws)
        np.testing.assert_array_equal(np.abs(y)[judged.rows], judged.scores)
        assert masks["odd"][judged.rows[judged.codes == 1]].all()
        assert len(judged.rows) == (600 if draws is None else 120)


@pytest.mark.parametrize("masks", [False, True], ids=["labels", "masks"])
def test_units_on_average_are_never_judged_draw_by_draw(masks, rng):
    unit, y = np.repeat(np.arange(200), 4), rng.standard_normal(800)
    groups = {"all": np.full(800, True), "odd": unit % 2 == 1} if masks else unit % 2
    units = Units(unit, "average")
    cert = certify_groups(y, 0 * y, groups, eps=0.3, delta=0.3, draws=units)
    with pytest.raises(InvalidInput, match="not judged draw by draw: use check"):
        Judge(cert).judge(y, 0 * y, groups=groups, draws=units)
