"""What rows make a draw: reductions against brute force, the figures of the literature, and what is refused."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pacband import InvalidInput, NotEnoughSamples, certify, certify_family, certify_groups, check, load, max_rank
from pacband.draws import Rows, Spaced, Units, Weighted
from pacband.draws.declaring import declare


@given(
    st.lists(st.tuples(st.integers(0, 6), st.floats(-5, 5)), min_size=1, max_size=60),
    st.sampled_from([0.5, 0.9, 0.34, 0.99]),
)
def test_the_score_of_a_unit_is_that_of_its_definition(rows, share):
    labels, scores = np.array([label for label, _ in rows]), np.array([score for _, score in rows])
    names = sorted(set(labels.tolist()))
    everything = Units(labels).sample(len(rows)).reduce(scores)
    part = Units(labels, share).sample(len(rows)).reduce(scores)
    for name, largest, among in zip(names, everything, part, strict=True):
        own = np.sort(scores[labels == name])
        assert largest == own[-1]
        # At least the share of the rows lie at or below, and with one row fewer it would be less.
        assert among == own[math.ceil(Fraction(repr(share)) * len(own)) - 1]


def test_one_row_of_every_unit_is_drawn_without_looking_at_scores(rng):
    labels = rng.permutation(np.repeat(np.arange(50), 7))
    one = Units(labels, "one", random_state=3)
    scores = np.arange(350.0)
    drawn = one.sample(350).reduce(scores).astype(int)
    assert labels[drawn].tolist() == list(range(50))
    np.testing.assert_array_equal(one.sample(350).reduce(-scores), -drawn)
    assert (Units(labels, "one", random_state=4).sample(350).reduce(scores) != drawn).any()


def test_rows_of_a_series_are_the_last_of_every_gap():
    np.testing.assert_array_equal(Spaced(4).sample(11).reduce(np.arange(11.0)), [3.0, 7.0])


@pytest.mark.parametrize(("rate", "gap", "n_draws", "rank"), [(0.5, 33, 3030, 97), (0.9, 216, 462, 5)])
def test_the_best_gap_follows_from_the_mixing_alone(rate, gap, n_draws, rank):
    """Against all gaps, with the largest r for which B(r − 1; m, ε) + mβ(a) ≤ δ by scipy's binomial."""
    n_rows, eps, delta = 100_000, 0.05, 1e-6
    sharpest = (0.0, 0, 0)
    for each in range(1, 500):
        m = n_rows // each
        tails = binom.cdf(np.arange(200), m, eps) + m * rate**each
        r = int(np.count_nonzero(tails <= delta))
        sharpest = max(sharpest, (r / (m + 1), -each, r))
    assert sharpest[1:] == (-gap, rank)
    best = Spaced.best(n_rows, eps=eps, delta=delta, mixing=rate)
    assert best.kind.gap == gap
    assert best.sample(n_rows).n_draws == n_draws
    cert = certify(np.arange(float(n_rows)), np.zeros(n_rows), eps=eps, delta=delta, draws=best)
    assert (cert.n_samples, cert.rank) == (n_draws, rank)
    exact = binom.cdf(rank - 1, n_draws, eps) + n_draws * rate**gap
    assert cert.attained_delta == pytest.approx(exact, rel=1e-9)
    # The twin that does not count the mixing has a larger rank.
    assert max_rank(n_draws, eps, delta) > rank or rate == 0.9


def mixing_up_to(reach):
    """Rows that are `reach` apart are independent, closer ones are the same."""
    return lambda gap: 1.0 if gap < reach else 0.0


@cache
def tails(m, eps):
    return binom.cdf(np.arange(m), m, eps)


@pytest.mark.parametrize(
    "mixing", [mixing_up_to(1), mixing_up_to(4), mixing_up_to(7), 0.3, lambda a: min(1.0, a**-5.0)]
)
@pytest.mark.parametrize(("eps", "delta"), [(0.1, 0.05), (0.3, 0.2), (0.4, 0.7), (0.03, 0.01)])
def test_no_other_gap_is_sharper_than_the_best(eps, delta, mixing):
    """r/(m + 1) is a sawtooth: after a gap that is less sharp, a larger one may win. Against all gaps, by scipy."""
    for n_rows in (*range(287, 297), 30, 77, 1000):
        sharpest = (Fraction(0), 0)
        for gap in range(1, n_rows + 1):
            m = n_rows // gap
            beta = mixing(gap) if callable(mixing) else mixing**gap
            rank = int(np.count_nonzero(tails(m, eps) + m * beta <= delta))
            sharpest = max(sharpest, (Fraction(rank, m + 1), -gap))
        if not sharpest[0]:
            with pytest.raises(InvalidInput, match="no gap makes the promise"):
                Spaced.best(n_rows, eps=eps, delta=delta, mixing=mixing)
        else:
            assert Spaced.best(n_rows, eps=eps, delta=delta, mixing=mixing).kind.gap == -sharpest[1]


def test_a_gap_after_a_less_sharp_one_is_found():
    # r/(m + 1) is 3/74 at the gap 4, 2/59 at 5 and 2/49 at 6.
    found = Spaced.best(292, eps=0.1, delta=0.05, mixing=mixing_up_to(4))
    assert found.kind.gap == 6


@pytest.mark.parametrize(("rate", "gap", "n_draws", "rank"), [(0.5, 33, 3030, 96), (0.9, 197, 507, 5)])
def test_the_figures_of_the_literature_halve_delta_and_the_best_gap_is_sharper(rate, gap, n_draws, rank):
    """FACTS.md: N = 1e5, ε = .05, δ = 1e-6. Its figures are those of δ/2 for the mixing and δ/2 for the binomial tail.

    The rows are the last of every a rows, m = ⌊N/a⌋: with the row before the first whole gap, m = ⌈N/a⌉ = 3031 and 508.
    """
    n_rows, eps, delta = 100_000, 0.05, 1e-6
    smallest = next(a for a in range(1, 500) if (n_rows // a - 1) * rate**a <= delta / 2)
    assert (smallest, n_rows // smallest, max_rank(n_rows // smallest, eps, delta / 2)) == (gap, n_draws, rank)
    assert math.ceil(n_rows / gap) == n_draws + 1
    best = Spaced.best(n_rows, eps=eps, delta=delta, mixing=rate)
    cert = certify(np.zeros(n_rows), np.zeros(n_rows), eps=eps, delta=delta, draws=best)
    assert cert.rank / (cert.n_samples + 1) > rank / (n_draws + 1)


def test_best_says_what_would_help_if_no_gap_works():
    rule = (
        r"no gap makes the promise eps=0\.1, delta=0\.05 with 480 rows.* Take more rows, a larger eps or a larger delta"
    )
    with pytest.raises(InvalidInput, match=rule):
        Spaced.best(480, eps=0.1, delta=0.05, mixing=0.8)


def test_accepted_rows_have_the_weighted_distribution(rng):
    """The mean of x among accepted rows is Σwx/Σw, within 6 standard errors (false alarm 1e-8)."""
    x = rng.random(200_000)
    sample = Weighted(2 * x, at_most=2.0, random_state=0).sample(len(x))
    accepted = sample.reduce(x)
    assert abs(accepted.mean() - 2 / 3) < 6 * math.sqrt(1 / 18 / len(accepted))
    assert sample.n_draws == len(accepted)


def test_rows_simulated_with_the_same_seed_do_not_decide_which_are_drawn():
    """The twin that accepts by the numbers of the seed itself accepts no row here: u = x."""
    x = np.random.default_rng(0).random(20_000)
    accepted = Weighted(2 * x, at_most=2.0, random_state=0).sample(len(x)).n_draws
    assert abs(accepted - 10_000) < 6 * math.sqrt(20_000 / 4)
    assert not np.any(np.random.default_rng(0).random(20_000) < x)


@pytest.fixture
def rows(rng):
    machine = np.repeat(np.arange(300), 10)
    error = rng.standard_normal(300)[machine] + 0.3 * rng.standard_normal(3000)
    return machine, error


def test_a_family_says_what_a_draw_is(rows):
    machine, error = rows
    for within, words in (
        ("all", "of future machines keep all their errors within its own bound"),
        ("average", "of future machines, on average over machines, are within its own bound"),
    ):
        family = certify_family(
            error, {"a": 0 * error, "b": error / 9}, eps=0.1, delta=0.01, draws=Units(machine, within, name="machine")
        )
        assert words in family.promise


@pytest.mark.parametrize("within", ["all", 0.9, "one"])
def test_the_promise_says_what_a_draw_is_and_survives_its_file(within, rows, tmp_path):
    machine, error = rows
    units = Units(machine, within, name="machine_id")
    cert = certify(error, 0 * error, eps=0.1, delta=0.01, draws=units)
    assert cert.n_samples == 300
    assert cert.rank == max_rank(300, 0.1, 0.01)
    words = {
        "all": "at least 90 % of future machines keep all their errors within",
        0.9: "at least 90 % of future machines keep at least 90 % of their errors within",
        "one": "at least 90 % of future errors, with all machines counted equally, satisfy",
    }
    assert words[within] in cert.promise
    assert cert.assumptions[0] == "calibration machines and future machines are independent draws from one distribution"
    assert "among 300 calibration machines" in str(cert)
    assert load(cert.save(tmp_path / "cert.json")) == cert
    assert cert.verify(error, 0 * error, draws=units)
    with pytest.raises(InvalidInput, match="was made with other draws: each machine_id is one draw"):
        cert.verify(error, 0 * error)


def test_a_certificate_of_rows_states_nothing_about_draws(rng):
    assert "draws" not in certify(rng.standard_normal(300), np.zeros(300), eps=0.1, delta=0.01).to_dict()


def test_units_are_checked_as_units(rows, rng):
    machine, error = rows
    cert = certify(error, 0 * error, eps=0.1, delta=0.01, draws=Units(machine, name="machine"))
    verdict = check(cert, error, 0 * error, draws=Units(machine, name="machine"))
    assert (verdict.counts[""].n_samples, verdict.reused) == (300, True)
    assert verdict.counts[""].violations == cert.rank - 1
    fresh = 3 * rng.standard_normal(300)[machine]
    assert not check(cert, fresh, 0 * fresh, draws=Units(machine)).holds
    with pytest.raises(InvalidInput, match=r"makes a promise about machines: pass draws=Units\(labels, within='all'\)"):
        check(cert, error, 0 * error)


def test_families_and_groups_of_units(rows):
    machine, error = rows
    units = Units(machine)
    family = certify_family(error, {"a": 0 * error, "b": 0.1 + 0 * error}, eps=0.1, delta=0.01, draws=units)
    assert family.n_samples == 300
    site = np.where(machine % 2, "north", "south")
    groups = certify_groups(error, 0 * error, site, eps=0.1, delta=0.01, draws=units)
    assert {label: part.n_samples for label, part in groups.groups.items()} == {"north": 150, "south": 150}
    assert "in each of the 2 groups at least 90 % of future units keep all their errors" in groups.promise
    with pytest.raises(
        InvalidInput, match="every unit must be in one group, for its rows are one draw: unit 0 has rows in several"
    ):
        certify_groups(error, 0 * error, np.arange(3000) % 2, eps=0.1, delta=0.01, draws=units)
    with pytest.raises(InvalidInput, match="Spaced draws cannot be combined with groups"):
        certify_groups(error, 0 * error, site, eps=0.1, delta=0.01, draws=Spaced(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Units([1, 2], within=1.5), r"within must be in \(0, 1\), got 1.5"),
        (lambda: Units([1, 2], within="some"), "within must be one of 'all', 'one', 'average', got 'some'"),
        (lambda: Units([1, 2], "one", random_state=1.5), "random_state must be an integer"),
        (lambda: Units([1, 2], random_state=0), "random_state is for within='one', which draws rows: leave it out"),
        (lambda: Units("m", "average", random_state=7), "got within='average' and random_state=7"),
        (lambda: Weighted([1, 2], at_most=2.0, random_state=-1), "random_state must be an integer of at least 0"),
        (lambda: Units([1, 2]).sample(3), "must have one length, got 3 and 2"),
        (lambda: Units([1.0, math.nan]).sample(2), "units must have a label in every row: it is missing in 1 row, row 1"),
        (lambda: Units(["a", None], name="machine").sample(2), "machines must have a label in every row"),
        (lambda: Units(np.array(["2020-01-01"], "M8[D]")).sample(1), "labels of units must be strings, finite"),
        (lambda: Spaced(0), "gap must be at least 1, got 0"),
        (lambda: Spaced(11).sample(10), "gap must not exceed the number of rows, 10, got 11"),
        (lambda: Spaced(5, mixing=1.5), "mixing must be a rate in"),
        (lambda: Spaced(5, mixing=lambda a: a / 100), "must be in .0, 1. and not increase"),
        (lambda: Spaced(5, mixing=lambda a: 2.0 / a**0.1), "must be in .0, 1. and not increase"),
        (lambda: Weighted([1.0, -1.0, 3.0, math.nan], at_most=2.0).sample(4), "3 rows, the first 1, 2, 3"),
        (lambda: Weighted([1.0], at_most=0.0), "at_most must be a positive finite number, got 0.0"),
        (lambda: Weighted([1.0, 1.0], at_most=2.0).sample(3), r"one value per row, 3, got shape \(2,\)"),
        (lambda: certify([1.0], [1.0], draws="machine"), "draws must be Units, Spaced or Weighted"),
    ],
)  # fmt: skip
def test_what_is_declared_wrongly_is_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_too_few_units_are_named(rng):
    y, machine = rng.standard_normal(1000), np.repeat(np.arange(20), 50)
    with pytest.raises(NotEnoughSamples, match=r"each machine is one draw.*got n_samples=20") as caught:
        certify(y, 0 * y, eps=0.05, delta=0.05, draws=Units(machine, name="machine"))
    assert caught.value.needed == 59


def test_a_mixing_that_uses_up_delta_is_refused(rng):
    y = rng.standard_normal(1000)
    with pytest.raises(InvalidInput, match="take a larger gap or a larger delta"):
        certify(y, 0 * y, eps=0.1, delta=1e-6, draws=Spaced(2, mixing=0.9))


def test_some_of_the_rows_keep_their_labels_and_weights():
    rows = np.array([3, 0])
    assert Units(["a", "b", "c", "d"], 0.9, name="machine").take(rows).labels.tolist() == ["d", "a"]
    assert Units(["a", "b", "c", "d"], 0.9, name="machine").take(rows).kind == Units(["a"], 0.9, name="machine").kind
    assert Weighted([0.1, 0.2, 0.3, 0.4], at_most=1.0, random_state=7).take(rows).importance.tolist() == [0.4, 0.1]
    assert Spaced(3).take(rows).kind == Spaced(3).kind


def test_clusters_are_what_depends_on_each_other():
    assert Units(["b", "a", "b"]).clusters(3).tolist() == [1, 0, 1]
    assert Spaced(2).clusters(5).tolist() == [0, 0, 1, 1, 2]
    assert Weighted([1.0], at_most=1.0).clusters(1) is None


@pytest.mark.parametrize(
    "draws",
    [Units("m", 0.9), Units("m", "one", random_state=5), Spaced(5), Spaced(5, 0.1), Weighted("w", at_most=2.0, random_state=3), Rows()],
)  # fmt: skip
def test_draws_are_declared_again_from_what_a_certificate_states(draws):
    again = declare(draws.kind, *draws.columns)
    assert (again.kind, again.column) == (draws.kind, draws.column)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (Rows(), "<Rows: each row is one draw>"),
        (Units("machine"), "<Units: each machine is one draw; all its rows>"),
        (Units(["a"], 0.9), "<Units: each unit is one draw; at least 90 % of its rows>"),
        (Units("machine", "average"), "<Units: each machine is one draw; its rows on average>"),
        (Units("machine", "one"), "<Units: each machine is one draw; one of its rows>"),
        (Spaced(24), "<Spaced: one row in 24 is one draw>"),
        # 0.9 to the power of 24 is 0.07976644…: what is assumed is rounded down.
        (Spaced(24, mixing=0.9), "<Spaced: one row in 24 is one draw; β(24) ≤ 0.0797664>"),
        (Weighted([1.0], at_most=2.471236), "<Weighted: each accepted row is one draw; w(x) ≤ 2.47123>"),
        (
            Weighted(([0.5], [1.0]), at_most=2, interval_delta=0.01),
            "<Weighted: each accepted row is one draw; w(x) in an interval, ≤ 2; that with confidence 99 %>",
        ),
    ],
    ids=str,
)
def test_draws_print_what_was_declared(declared, words):
    assert repr(declared) == words


@pytest.mark.parametrize(("share", "printed"), [(0.9, "90 %"), (0.9996, "99.96 %"), (0.99999, "99.999 %")])
def test_no_share_is_printed_larger_than_it_was_declared(rng, share, printed):
    labels = np.repeat(np.arange(200), 3)
    units = Units(labels, within=share, name="machine")
    assert f"at least {printed} of its rows" in repr(units)
    cert = certify(rng.standard_normal(600), np.zeros(600), eps=0.1, delta=0.05, draws=units)
    assert f"keep at least {printed} of their errors" in cert.promise


def test_one_row_of_every_unit_is_the_same_whether_labels_are_numbers_or_texts(rng):
    numbers = np.repeat(np.arange(95, 205), 4)
    rows = [
        Units(labels, "one", random_state=3).sample(len(numbers)).rows
        for labels in (numbers, numbers.astype(str), numbers.astype(float), numbers.astype(object))
    ]
    for found in rows:
        np.testing.assert_array_equal(np.sort(found), np.sort(rows[0]))
        assert len(set(numbers[found])) == 110


def test_units_of_another_name_are_the_same_draws(rows):
    machine, error = rows
    cert = certify(error, 0 * error, eps=0.1, delta=0.01, draws=Units(machine, name="machine"))
    assert cert.verify(error, 0 * error, draws=Units(machine))
    with pytest.raises(InvalidInput, match="one draw; all its rows; got: each unit is one draw; one of its rows"):
        cert.verify(error, 0 * error, draws=Units(machine, "one"))
