"""Units in a monitor: pieces are the whole, a restart changes nothing, and no unit is counted in parts."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pacband
from pacband.draws import Units
from pacband.exceptions import CertificateError, InvalidInput
from support.rewriting import redigested
from support.units import machines, unit_certificate

CERTIFICATES = {within: unit_certificate(within) for within in ("all", 0.6, "one")}


def update(monitor, error, labels, **options):
    within = monitor.certificate.basis.draws.within
    return monitor.update(error, 0 * np.asarray(error), draws=Units(labels, within), **options)


@settings(max_examples=60, deadline=None)
@given(
    within=st.sampled_from(["all", 0.6, "one"]),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=12),
    cuts=st.lists(st.integers(0, 80), max_size=12),
    seed=st.integers(0, 9),
)
def test_any_cut_of_a_stream_gives_the_same_state(within, sizes, cuts, seed):
    cert, rng = CERTIFICATES[within], np.random.default_rng(seed)
    labels = np.repeat([f"m{k}" for k in range(len(sizes))], sizes)
    error = cert.gamma * rng.uniform(0, 1.3, len(labels))
    error[rng.random(len(error)) < 0.1] = np.nan
    whole, pieces = pacband.Monitor(cert), pacband.Monitor(cert)
    update(whole, error, labels)
    for rows in np.split(np.arange(len(error)), sorted(min(cut, len(error)) for cut in cuts)):
        # Restarted before every piece, from what a state file would hold.
        pieces = pacband.Monitor.from_dict(json.loads(json.dumps(pieces.to_dict())), cert)
        update(pieces, error[rows], labels[rows])
    assert pieces.to_dict() == whole.to_dict()
    assert whole.open_units == (labels[-1],)
    whole.finish(), pieces.finish()
    assert pieces.to_dict() == whole.to_dict()
    labelled = pd.Series(error).groupby(labels).count()
    assert whole.n_rows == int((labelled > 0).sum())
    assert whole.n_unlabelled == int(np.isnan(error).sum())


@pytest.mark.parametrize("within", ["all", 0.6])
def test_a_monitor_counts_the_violations_that_check_counts(within, rng):
    cert = CERTIFICATES[within]
    error, labels = machines(rng, 200, 5, 0.5)
    order = rng.permutation(1000)
    verdict = pacband.check(cert, error[order], np.zeros(1000), draws=Units(labels[order], within))
    monitor = pacband.Monitor(cert)
    # Whole units, whose rows come in any order.
    batch = update(monitor, error[order], labels[order], complete=labels)
    assert (batch.rows, batch.violations) == (200, verdict.counts[""].violations)
    assert monitor.open_units == ()
    assert verdict.counts[""].violations > 5


def test_one_row_of_a_unit_is_each_row_equally_often():
    """The drawn row is uniform over 4 rows: chi-squared at p = 1e-6 for 3 degrees of freedom is 30.7."""
    cert = CERTIFICATES["one"]
    labels = np.repeat(np.arange(2000), 4)
    hits = []
    for place in range(4):
        error = np.where(np.arange(8000) % 4 == place, 9 * cert.gamma, 0.0)
        monitor = pacband.Monitor(cert)
        update(monitor, error, labels, complete=labels)
        hits.append(monitor.n_violations)
    assert sum(hits) == 2000
    assert sum((hit - 500) ** 2 / 500 for hit in hits) < 30.7


def test_units_that_come_in_turns_are_held_until_they_are_declared_complete():
    cert = CERTIFICATES["all"]
    monitor, high = pacband.Monitor(cert), 9 * cert.gamma
    assert update(monitor, [0.0, 0.0, 0.0], ["a", "b", "a"], complete=[]).rows == 0
    assert monitor.open_units == ("a", "b")
    batch = update(monitor, [high, 0.0], ["b", "a"], complete=["b"])
    assert (batch.rows, batch.violations, monitor.open_units) == (1, 1, ("a",))
    with pytest.raises(InvalidInput, match="there are no rows of 'c'"):
        update(monitor, [0.0], ["a"], complete=["c"])
    assert (monitor.finish().rows, monitor.open_units, monitor.n_violations) == (1, (), 1)


def test_rows_of_a_unit_that_was_counted_are_refused_and_nothing_is_counted(tmp_path):
    monitor = pacband.Monitor(CERTIFICATES["all"])
    update(monitor, [0.0, 0.0], ["a", "b"])
    before = monitor.to_dict()
    with pytest.raises(InvalidInput, match="machine 'a' was already counted, and more rows of it came"):
        update(monitor, [0.0, 0.0], ["c", "a"])
    assert monitor.to_dict() == before
    monitor.save(tmp_path / "state.json")
    again = pacband.Monitor.load(tmp_path / "state.json", monitor.certificate)
    with pytest.raises(InvalidInput, match="already counted"):
        update(again, [0.0], ["a"])
    # Within one batch the rows of a unit must follow each other, too.
    with pytest.raises(InvalidInput, match="machine 'c' was already counted"):
        update(again, [0.0, 0.0, 0.0], ["c", "d", "c"])


def test_groups_of_units_have_their_own_watches():
    cert = unit_certificate(groups=True)
    monitor, high = pacband.Monitor(cert), 9 * max(part.gamma for part in cert.groups.values())
    error, labels = [0.0, high, 0.0, 0.0, np.nan], ["a", "a", "b", "b", "c"]
    sites = ["north", "north", "south", "south", "south"]
    monitor.update(error, np.zeros(5), groups=sites, draws=Units(labels), complete=labels)
    assert [(watch.n_rows, watch.n_violations) for watch in monitor.groups.values()] == [(1, 1), (1, 0)]
    with pytest.raises(InvalidInput, match="every machine must be in one group"):
        monitor.update([0.0, 0.0], [0.0, 0.0], groups=["north", "south"], draws=Units(["d", "d"]))
    monitor.update([0.0], [0.0], groups=["north"], draws=Units(["d"]))
    with pytest.raises(InvalidInput, match="every machine must be in one group"):
        monitor.update([0.0], [0.0], groups=["south"], draws=Units(["d"]))


def test_shards_of_units_are_merged_with_what_they_hold():
    cert = CERTIFICATES["all"]
    one, two, same = (pacband.Monitor(cert) for _ in range(3))
    update(one, [0.0, 0.0], ["a", "b"])
    update(two, [9 * cert.gamma, 0.0], ["c", "d"])
    update(same, [0.0], ["a"])
    merged = one.merge(two)
    assert (merged.n_rows, merged.n_violations, merged.open_units) == (2, 1, ("b", "d"))
    with pytest.raises(InvalidInput, match="different machines; several of them have rows of 'a'"):
        one.merge(same)


def test_a_unit_whose_label_is_written_in_two_ways_is_not_two_units_of_merged_shards():
    shards = [pacband.Monitor(CERTIFICATES["all"]) for _ in range(2)]
    update(shards[0], [0.0, 0.0], [7, 8])
    update(shards[1], [0.0, 0.0], ["7", "9"])
    with pytest.raises(InvalidInput, match="machines must be written in one way each: 7 and '7' would count as two"):
        shards[0].merge(shards[1])


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        (None, r"promise about machines: pass draws=Units\(labels, within='all'\)"),
        (Units(["a", "b"], 0.6), r"pass draws=Units\(labels, within='all'\)"),
        (Units(["a"]), "one length, got 2 and 1"),
        (Units(["a", None]), "s must have a label in every row"),
        (Units("machine"), "one label per row, got the column 'machine'"),
    ],
)
def test_labels_that_do_not_fit_are_refused(draws, message):
    monitor = pacband.Monitor(CERTIFICATES["all"])
    with pytest.raises(InvalidInput, match=message):
        monitor.update([0.0, 0.0], [0.0, 0.0], draws=draws)
    assert monitor.to_dict() == pacband.Monitor(CERTIFICATES["all"]).to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda held: held["open"][0].update(above=9), "no stream can lead to machine 'b'"),
        (lambda held: held["open"][0].update(group="north"), "in a group that its certificate does not have"),
        (lambda held: held["counted"].append("b"), "no stream can lead to machine 'b'"),
        (lambda held: held.pop("counted"), "which machines are open and which were counted"),
        (lambda held: held["open"][0].update(label=None), "schema|valid|label"),
    ],
)
def test_a_state_that_no_stream_leads_to_is_refused(change, message, tmp_path):
    monitor = pacband.Monitor(CERTIFICATES["all"])
    update(monitor, [0.0, 0.0], ["a", "b"])
    path = monitor.save(tmp_path / "state.json")
    redigested(path, lambda content: change(content["held"]))
    with pytest.raises(CertificateError, match=message):
        pacband.Monitor.load(path, monitor.certificate)


def test_the_labels_of_units_are_remembered_in_little_room():
    monitor, long = pacband.Monitor(CERTIFICATES["all"]), "x" * 1000
    update(monitor, np.zeros(3000), [f"{long}{k}" for k in range(3000)])
    assert len(json.dumps(monitor.to_dict())) < 200_000
    assert monitor.n_rows == 2999
    with pytest.raises(InvalidInput, match="already counted"):
        update(monitor, [0.0], [f"{long}2998"])
    assert update(monitor, 0.0, [7]).rows == 1


def test_the_words_are_about_units():
    cert = CERTIFICATES["all"]
    monitor = pacband.Monitor(cert)
    update(monitor, np.full(60, 9 * cert.gamma), np.repeat(np.arange(30), 2), complete=np.arange(30))
    assert "the evidence against it reached" in monitor.reason
    assert "at machine " in monitor.reason
    assert "30 violations in 30 machines" in monitor.reason
    update(monitor, [0.0], [99])
    assert "machines with a label" in monitor._repr_html_()
    assert "1 machines" in monitor._repr_html_()
    assert monitor.plot().get_xlabel() == "machines with a label"


def test_units_on_average_are_watched_by_one_row_of_each():
    """A row drawn of every unit is a violation with the mean share of violating rows: at most ε, as promised."""
    error, labels = machines(np.random.default_rng(5), 300, 5, 0.5)
    draws = Units(labels, "average", name="machine")
    cert = pacband.certify(error, 0 * error, eps=0.2, delta=0.05, draws=draws)
    monitor, high = pacband.Monitor(cert), 9 * cert.gamma
    # Of every unit one of five rows is beyond the bound: a share of 0.2. All rows of a unit would be 0, any row 1.
    fresh = np.where(np.arange(10_000) % 5 == 0, high, 0.0)
    update(monitor, fresh, np.repeat(np.arange(2000), 5), complete=np.arange(2000))
    assert monitor.n_rows == 2000
    # Five standard deviations of a binomial count.
    assert abs(monitor.n_violations - 400) < 90
    assert pacband.Monitor.from_dict(monitor.to_dict(), cert).to_dict() == monitor.to_dict()


def test_units_that_came_in_turns_are_not_ended_by_the_next_row():
    cert = CERTIFICATES["all"]
    monitor = pacband.Monitor(cert)
    update(monitor, [0.0, 0.0], ["a", "b"], complete=[])
    with pytest.raises(InvalidInput, match=r"or be \[\] if none is, because 2 .* are held: 'a', 'b'"):
        update(monitor, [0.0], ["c"])
    assert (monitor.open_units, monitor.n_rows) == (("a", "b"), 0)
