"""The monitor: its promises by exact enumeration, and that nothing depends on how a stream is cut."""

import copy
import itertools
import math
import pickle
import threading

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import pacband
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.monitoring.detector import Detector
from pacband.monitoring.eprocess import first_crossing, log_e_value, prior
from pacband.monitoring.ledger import StreamPosition
from pacband.monitoring.sequence import confidence_sequence
from pacband.monitoring.watch import Watch

EPS, ALPHA = 0.05, 0.01


def certificate(rng, **options):
    return pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=EPS, delta=1e-3, **options)


def stream(rates, rng):
    """A certificate, and predictions that violate it just where wanted."""
    cert = certificate(rng)
    violated = rng.random(len(rates)) < rates
    return cert, np.where(violated, 2 * cert.gamma, 0.5 * cert.gamma), np.zeros(len(rates)), violated


def positions(violated):
    return np.flatnonzero(violated).astype(np.int64)


def first_times(p, eps, alpha, steps):
    """P(the e-process first reaches 1/alpha at row n), exactly, by carrying the law of the count from row to row."""
    alive = np.zeros(int(steps * p + 12 * math.sqrt(steps * p) + 60))
    alive[0], times = 1.0, np.zeros(steps + 1)
    for n in range(1, steps + 1):
        alive[1:] = alive[1:] * (1 - p) + alive[:-1] * p
        alive[0] *= 1 - p
        above = np.arange(int(eps * n) + 1, min(len(alive), n + 1))
        above = above[alive[above] > 0]
        crossed = above[log_e_value(above, n, eps) >= -math.log(alpha)]
        times[n], alive[crossed] = alive[crossed].sum(), 0.0
    return times


@pytest.mark.parametrize(("violations", "rows", "eps"), [(0, 7, 0.05), (3, 9, 0.05), (12, 100, 0.01), (40, 50, 0.7)])
def test_e_value_is_the_mixture_of_likelihood_ratios(violations, rows, eps):
    mpmath.mp.dps = 30
    a, b = map(mpmath.mpf, prior(eps))
    others = rows - violations

    def ratio(p):
        return (p / eps) ** violations * ((1 - p) / (1 - mpmath.mpf(eps))) ** others

    def mixed(function):
        # Over u = (1 − p)^b, so that the prior has no pole at p = 1.
        return mpmath.quad(lambda u: (1 - u ** (1 / b)) ** (a - 1) * function(1 - u ** (1 / b)), [0, (1 - eps) ** b])

    expected = mixed(ratio) / mixed(lambda p: 1)
    assert math.exp(log_e_value(violations, rows, eps)) == pytest.approx(float(expected), rel=1e-8)


@pytest.mark.parametrize("n", range(16))
def test_e_value_has_mean_one_at_eps_and_less_below_by_enumeration(n):
    counts = np.arange(n + 1)
    values = np.exp(log_e_value(counts, n, EPS))
    assert binom.pmf(counts, n, EPS) @ values == pytest.approx(1.0, rel=1e-12)
    for p in (0.0, 0.01, 0.03, 0.049):
        assert binom.pmf(counts, n, p) @ values <= 1.0 + 1e-12


def test_e_value_is_a_martingale_given_every_past():
    for n, s in itertools.product(range(15), range(15)):
        if s <= n:
            now, hit, miss = np.exp(
                [log_e_value(s, n, EPS), log_e_value(s + 1, n + 1, EPS), log_e_value(s, n + 1, EPS)]
            )
            assert EPS * hit + (1 - EPS) * miss == pytest.approx(now, rel=1e-12)
            assert hit > now > miss


def test_delays_and_false_revocations_exactly():
    """Medians no later than 271 and 37 rows; crossing at the border of the promise with probability below alpha."""
    assert np.searchsorted(first_times(0.10, EPS, ALPHA, 400).cumsum(), 0.5) == 233
    assert np.searchsorted(first_times(0.20, EPS, ALPHA, 60).cumsum(), 0.5) == 37
    assert 0.003 < first_times(EPS, EPS, ALPHA, 3000).sum() <= ALPHA


def test_first_crossing_is_that_of_a_look_at_every_row(rng):
    found = 0
    for _ in range(60):
        violated = rng.random(600) < rng.choice([0.05, 0.08, 0.15, 0.5])
        counts = np.cumsum(violated)
        looks = log_e_value(counts, np.arange(1, 601), EPS) >= math.log(20)
        at = positions(violated)
        index = first_crossing(counts[at], at + 1, EPS, math.log(20))
        assert (None if index is None else at[index]) == (np.argmax(looks) if looks.any() else None)
        found += index is not None
    assert 10 < found < 55


def detector_by_rows(detector, violated):
    """M of every alternative after each row, by its definition."""
    m, path = np.zeros(3), []
    for hit in violated:
        p = detector.alternatives
        m = m * p / EPS + 1 / EPS if hit else m * (1 - p) / (1 - EPS)
        path.append(m.mean())
    return np.array(path)


def test_detector_is_its_recursion(rng):
    fired = 0
    for rate in (0.01, 0.05, 0.1, 0.4) * 5:
        detector = Detector(EPS, 3000.0)
        violated = rng.random(700) < rate
        path = detector_by_rows(detector, violated)
        levels, alarm = detector.advance(detector.start(), 0, positions(violated))
        if alarm is None:
            assert path.max() < 3000.0
            quiet = 699 - positions(violated)[-1]
            assert np.mean(detector.decayed(levels, quiet)) == pytest.approx(path[-1], rel=1e-11)
        else:
            fired += 1
            assert positions(violated)[alarm] == np.argmax(path >= 3000.0)
    assert 5 <= fired <= 15


@pytest.mark.parametrize("p", [0.0, 0.02, EPS])
def test_detector_grows_by_at_most_one_a_row_by_enumeration(p):
    detector = Detector(EPS, 1e5)
    n = 11
    mean = np.zeros(n)
    for path in itertools.product([False, True], repeat=n):
        chance = p ** sum(path) * (1 - p) ** (n - sum(path))
        if chance:
            mean += chance * detector_by_rows(detector, path)
    if p == EPS:
        np.testing.assert_allclose(mean, np.arange(1, n + 1), rtol=1e-10)
    else:
        assert (mean <= np.arange(1, n + 1)).all()


def test_mean_time_to_a_false_warning(rng):
    """At the border of the promise, over 300 runs; the mean is 1.6 times the stated one, 7 standard errors above."""
    detector, times = Detector(EPS, 1e4), []
    for _ in range(300):
        at = np.cumsum(rng.geometric(EPS, 12000)) - 1
        _, alarm = detector.advance(detector.start(), 0, at)
        times.append(at[-1] if alarm is None else at[alarm])
    assert np.mean(times) >= 1e4


def test_a_late_rise_is_found_no_later_than_stated(rng):
    """From .05 to .10 at row 5000: a median of at most 320 rows; over 800 runs, whose medians scatter by 6."""
    detector, delays = Detector(EPS, 1e5), []
    while len(delays) < 800:
        calm, risen = rng.random(5000) < EPS, rng.random(4000) < 0.10
        violated = positions(np.concatenate([calm, risen]))
        _, alarm = detector.advance(detector.start(), 0, violated)
        if violated[alarm] >= 5000:
            delays.append(violated[alarm] - 4999)
    assert np.median(delays) <= 320


@pytest.mark.parametrize(("violations", "rows"), [(0, 40), (3, 40), (40, 40), (500, 10**4), (2, 10**6)])
@pytest.mark.parametrize("level", [0.9, 0.999])
def test_confidence_sequence_is_where_the_mixture_reaches_its_limit(violations, rows, level):
    mpmath.mp.dps = 40
    a, b = map(mpmath.mpf, prior(EPS))
    limit = mpmath.log(1 / (1 - mpmath.mpf(level)))

    def log_ratio(p):
        p = mpmath.mpf(p)
        grown = mpmath.log(mpmath.beta(a + violations, b + rows - violations) / mpmath.beta(a, b))
        return grown - violations * mpmath.log(p) - (rows - violations) * mpmath.log(1 - p)

    low, high = confidence_sequence(violations, rows, EPS, level)
    assert low <= violations / rows <= high
    assert low == 0.0 if violations == 0 else log_ratio(low) == pytest.approx(float(limit), abs=1e-5)
    assert high == 1.0 if violations == rows else log_ratio(high) == pytest.approx(float(limit), abs=1e-5)


def test_confidence_sequence_holds_at_all_times_at_once(rng):
    """At level .9 over 2000 rows: exact by Ville; over 400 runs a failure of this test has probability 1e-6."""
    missed = 0
    for _ in range(400):
        counts = np.cumsum(rng.random(2000) < 0.03)
        looks = np.unique(np.geomspace(1, 2000, 60).astype(int))
        ends = [confidence_sequence(int(counts[n - 1]), int(n), EPS, 0.9) for n in looks]
        missed += any(not low <= 0.03 <= high for low, high in ends)
    assert 1 <= missed <= binom.ppf(1 - 1e-6, 400, 0.1)


@given(st.lists(st.integers(0, 3000), max_size=12), st.integers(0, 3))
def test_cuts_do_not_matter(cuts, case):
    rng = np.random.default_rng(case)
    rates = np.where(np.arange(3000) < 1500, 0.03, (0.03, 0.08, 0.2, 0.9)[case])
    cert, y, y_pred, _ = stream(rates, rng)
    y[rng.random(3000) < 0.1] = np.nan
    whole, cut = pacband.Monitor(cert), pacband.Monitor(cert)
    whole.update(y, y_pred)
    for start, stop in itertools.pairwise([0, *sorted(cuts), 3000]):
        cut.update(y[start:stop], y_pred[start:stop])
    assert cut.to_dict() == whole.to_dict()


def test_row_by_row_is_the_same(rng):
    cert, y, y_pred, _ = stream(np.full(1500, 0.12), rng)
    whole, single = pacband.Monitor(cert), pacband.Monitor(cert)
    whole.update(y, y_pred)
    for row in zip(y, y_pred, strict=True):
        single.update(*row)
    assert single.to_dict() == whole.to_dict()
    assert whole.state == "revoked"


def test_calibration_rows_violate_just_below_their_rank(rng):
    """By definition r − 1 of the calibration scores exceed the r-th largest."""
    y, y_pred, scale = rng.standard_normal(500), rng.standard_normal(500), rng.uniform(1, 2, 500)
    for options in ({}, {"side": "upper"}, {"side": "lower"}):
        for sigma in (None, scale):
            cert = pacband.certify(y, y_pred, sigma, eps=0.1, delta=0.01, **options)
            assert pacband.Monitor(cert).update(y, y_pred, sigma).violations == cert.rank - 1
    pair = pacband.certify(y, y_pred, (scale, 2 * scale), eps=0.1, delta=0.01)
    assert pacband.Monitor(pair).update(y, y_pred, (scale, 2 * scale)).violations == pair.rank - 1
    both = np.column_stack([y, y_pred])
    joint = pacband.certify(both, np.zeros((500, 2)), eps=0.1, delta=0.01, gauge=[[1, 0.2], [0.2, 1]])
    monitor = pacband.Monitor(joint)
    assert monitor.update(both, np.zeros((500, 2))).violations == joint.rank - 1
    assert monitor.update(both[0], [0.0, 0.0]).rows == 1
    family = pacband.certify_family(y, {"a": y_pred, "b": (0 * y, scale)}, eps=0.1, delta=0.01)
    assert family.best == "b"
    assert pacband.Monitor(family).update(y, 0 * y, scale).violations == family.certificate.rank - 1


def test_groups_are_watched_each_by_its_own_bound(rng):
    site = np.repeat(["north", "south"], 1000)
    y = np.where(site == "north", 1.0, 3.0) * rng.standard_normal(2000)
    cert = pacband.certify_groups(y, np.zeros(2000), site, eps=0.1, delta=0.01)
    monitor = pacband.Monitor(cert, alpha=0.02)
    shuffled = rng.permutation(2000)
    monitor.update(y[shuffled], np.zeros(2000), groups=site[shuffled])
    assert {label: watch.n_violations for label, watch in monitor.groups.items()} == {
        label: part.rank - 1 for label, part in cert.groups.items()
    }
    assert {watch.alpha for watch in monitor.groups.values()} == {0.01}
    assert monitor.state == "ok"
    assert "any of 2 groups" in monitor.reason
    monitor.update(np.r_[np.full(300, 9.0), np.nan], np.zeros(301), groups=["north"] * 301)
    assert monitor.groups["north"].state == monitor.state == "revoked"
    assert monitor.groups["south"].state == "ok"
    assert monitor.groups["north"].n_unlabelled == monitor.n_unlabelled == 1
    assert monitor.reason.startswith("Group 'north': The promise does not hold")
    with pytest.raises(InvalidInput, match="labels without a certificate: 'east'"):
        monitor.update(1.0, 0.0, groups="east")
    with pytest.raises(InvalidInput, match="promises within groups: pass the group of every row"):
        monitor.update(1.0, 0.0)


def test_a_group_is_watched_as_if_it_were_alone(rng):
    groups = rng.choice(["a", "b", "c"], 3000)
    y = rng.standard_normal(3000)
    cert = pacband.certify_groups(y, np.zeros(3000), groups, eps=0.1, delta=0.01)
    fresh, labels = 1.4 * rng.standard_normal(2000), rng.choice(["a", "b", "c"], 2000)
    fresh[rng.random(2000) < 0.2] = np.nan
    together = pacband.Monitor(cert, alpha=0.03)
    together.update(fresh[:900], np.zeros(900), groups=labels[:900])
    together.update(fresh[900:], np.zeros(1100), groups=labels[900:])
    for label, part in cert.groups.items():
        alone = pacband.Monitor(part, alpha=0.01)
        rows = fresh[labels == label]
        alone.update(rows, np.zeros(len(rows)))
        assert alone.watches[None].to_dict() == together.groups[label].to_dict()
        assert alone.state != "ok"


def test_the_rows_of_revocation_and_warning_are_the_first_that_reach_their_limits(rng):
    for rate in (0.09, 0.2, 0.6):
        cert, y, y_pred, violated = stream(np.full(2000, rate), rng)
        watch = pacband.Monitor(cert, alpha=ALPHA, false_alarm_interval=1e4)
        watch.update(y[:30], y_pred[:30])
        watch.update(y[30:], y_pred[30:])
        evidence = log_e_value(np.cumsum(violated), np.arange(1, 2001), EPS)
        assert watch.watches[None].revoked_at == 1 + np.argmax(evidence >= -math.log(ALPHA))
        with np.errstate(over="ignore"):
            path = detector_by_rows(Detector(EPS, 1e4), violated)
        assert watch.watches[None].warned_at == 1 + np.argmax(path >= 1e4)


def test_states_and_reasons(rng):
    cert, y, y_pred, _ = stream(np.where(np.arange(9000) < 6000, 0.03, 0.09), rng)
    monitor = pacband.Monitor(cert)
    assert math.isnan(monitor.violation_rate)
    assert monitor.update(y[:6000], y_pred[:6000]).state == "ok"
    assert "Nothing speaks against" in monitor.reason
    assert monitor.update(y[6000:7500], y_pred[6000:7500]).state == "warning"
    warned_at = monitor.watches[None].warned_at
    assert 6000 < warned_at <= 7500
    assert f"fired at row {warned_at}" in monitor.reason
    monitor.update(y[6100:6110] * 0, y_pred[6100:6110])
    assert monitor.state == "warning"
    monitor.acknowledge()
    assert monitor.state == "ok"
    assert monitor.detector_value == 0.0
    monitor.update(np.full(400, 9 * cert.gamma), np.zeros(400))
    assert monitor.state == "revoked"
    monitor.update(np.zeros(10**5), np.zeros(10**5))
    monitor.acknowledge()
    assert monitor.state == "revoked"
    assert "at row" in monitor.reason
    assert monitor.e_value < 1.0
    low, high = monitor.violation_interval(0.95)
    assert low < monitor.violation_rate < high
    assert monitor.watches[None].n_warnings == 2
    assert str(monitor).startswith("revoked: The promise does not hold")
    assert "pacband monitor: revoked" in monitor._repr_html_()


def test_missing_labels_count_as_missing_and_bad_input_changes_nothing(rng):
    cert = certificate(rng)
    monitor = pacband.Monitor(cert)
    batch = monitor.update([0.0, np.nan, None, 99.0], [0.0, np.nan, 0.0, 0.0])
    assert (batch.rows, batch.violations, batch.unlabelled) == (2, 1, 2)
    before = monitor.to_dict()
    for arguments, message in [
        (([0.0, math.inf], [0.0, 0.0]), "y must be finite"),
        (([0.0, 0.0], [0.0, math.nan]), "y_pred must be finite"),
        (([0.0, 0.0], [0.0]), "same shape"),
        (([[0.0, 0.0]], [[0.0, 0.0]]), "bounds 1 output"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            monitor.update(*arguments)
    with pytest.raises(InvalidScale, match="calibrated with no scale"):
        monitor.update([0.0], [0.0], [1.0])
    with pytest.raises(InvalidInput, match="the certificate has none"):
        monitor.update([0.0], [0.0], groups=["a"])
    assert monitor.update([], []).rows == 0
    assert monitor.to_dict() == before
    lenient = pacband.Monitor(certificate(rng, nonfinite="violate"))
    assert lenient.update([0.0, 0.0], [math.nan, math.inf]).violations == 2


def test_same_batch_twice_is_skipped_with_a_notice(rng):
    monitor = pacband.Monitor(certificate(rng))
    monitor.update([0.0], [0.0], batch_id="monday")
    with pytest.warns(UserWarning, match="batch 'monday' was taken in before: it is skipped"):
        assert monitor.update([9.0], [0.0], batch_id="monday").repeated
    assert monitor.n_rows == 1
    for i in range(1024):
        monitor.update([0.0], [0.0], batch_id=i)
    assert not monitor.update([0.0], [0.0], batch_id="monday").repeated
    assert len(monitor.to_dict()["batches"]) == 1024


def test_memory_does_not_grow(rng):
    monitor = pacband.Monitor(certificate(rng))
    sizes = []
    for _ in range(40):
        monitor.update(rng.standard_normal(5000), np.zeros(5000))
        sizes.append(len(monitor.watches[None].trace))
    assert max(sizes) <= 256
    assert sizes[-1] >= 128


def test_trace_is_the_running_count(rng):
    cert, y, y_pred, violated = stream(np.full(3000, 0.04), rng)
    monitor = pacband.Monitor(cert)
    for start in range(0, 3000, 70):
        monitor.update(y[start : start + 70], y_pred[start : start + 70])
    counts = np.cumsum(violated)
    assert all(counts[n - 1] == s for n, s in monitor.watches[None].trace)


def test_merged_shards_are_the_whole(rng):
    cert, y, y_pred, _ = stream(np.full(4000, 0.055), rng)
    shards = [pacband.Monitor(cert) for _ in range(4)]
    whole = pacband.Monitor(cert)
    whole.update(y, y_pred)
    for i, shard in enumerate(shards):
        shard.update(y[i::4], y_pred[i::4], batch_id=i)
    merged = shards[0].merge(*shards[1:])
    assert (merged.n_rows, merged.n_violations) == (whole.n_rows, whole.n_violations)
    assert merged.e_value == whole.e_value
    assert merged.detector_value == pytest.approx(sum(shard.detector_value for shard in shards))
    assert merged.violation_interval() == whole.violation_interval()
    assert merged.state == "ok"
    with pytest.warns(UserWarning, match="'3' was taken in before"):
        merged.update([0.0], [0.0], batch_id=3)
    shards[2].update(np.full(99, 9 * cert.gamma), np.zeros(99))
    assert shards[0].merge(shards[2]).state == "revoked"
    with pytest.raises(InvalidInput, match="one of them twice"):
        shards[0].merge(shards[1], shards[0])
    with pytest.raises(InvalidInput, match="must have one certificate, alpha"):
        shards[0].merge(pacband.Monitor(cert, alpha=0.05))


def test_shards_that_took_in_the_same_batch_are_not_merged(rng):
    cert = certificate(rng)
    shards = [pacband.Monitor(cert) for _ in range(3)]
    for k, shard in enumerate(shards):
        shard.update([0.0] * 5, [0.0] * 5, batch_id=f"batch {k}")
    shards[0].update([0.0] * 5, [0.0] * 5, batch_id="monday")
    shards[2].update([0.0] * 5, [0.0] * 5, batch_id="monday")
    with pytest.raises(InvalidInput, match=r"must have watched different rows; .* taken in batch 'monday'"):
        shards[0].merge(*shards[1:])
    assert shards[0].merge(shards[1]).n_rows == 15
    merged = shards[0].merge(shards[1])
    with pytest.raises(InvalidInput, match="taken in batch 'batch 1'"):
        merged.merge(shards[1])
    # Shards may have seen the same number of rows, and the same rows by chance.
    twins = [pacband.Monitor(cert) for _ in range(2)]
    for twin in twins:
        twin.update([0.0] * 5, [0.0] * 5)
    assert twins[0].merge(twins[1]).n_rows == 10


def test_a_monitor_is_not_merged_with_its_own_saved_state(rng, tmp_path):
    cert = certificate(rng)
    monitor = pacband.Monitor(cert)
    monitor.save(tmp_path / "empty.json")
    shard = pacband.Monitor.load(tmp_path / "empty.json", cert)
    monitor.update([0.0] * 5, [0.0] * 5)
    shard.update([0.0] * 3, [0.0] * 3)
    # A state without rows may be the start of many shards.
    assert monitor.merge(shard).n_rows == 8
    monitor.save(tmp_path / "state.json")
    copy = pacband.Monitor.load(tmp_path / "state.json", cert)
    again = pacband.Monitor.load(tmp_path / "state.json", cert)
    for one, other in ((monitor, copy), (copy, again), (monitor.merge(shard), copy)):
        with pytest.raises(InvalidInput, match="a state that one of them saved and another read"):
            one.merge(other)
    copy.update([0.0], [0.0])
    monitor.update([0.0], [0.0])
    monitor.save(tmp_path / "state.json")
    with pytest.raises(InvalidInput, match="a state that one of them saved"):
        monitor.merge(copy)


def test_streams_read_equally_far_by_two_monitors_are_not_merged(rng):
    cert = certificate(rng)
    shards = [pacband.Monitor(cert) for _ in range(2)]
    for shard in shards:
        shard.update([0.0] * 5, [0.0] * 5)
        shard.ledger.note_stream(StreamPosition(100, 5, "a" * 64), None)
    with pytest.raises(InvalidInput, match="a stream of 5 rows"):
        shards[0].merge(shards[1])


def test_long_batch_ids_keep_the_state_small(rng, tmp_path):
    cert = certificate(rng)
    monitor = pacband.Monitor(cert)
    names = [f"{k}{'x' * 10_000}" for k in range(20)]
    for name in names:
        monitor.update([0.0], [0.0], batch_id=name)
    assert monitor.save(tmp_path / "state.json").stat().st_size < 5000
    for known in (monitor, pacband.Monitor.load(tmp_path / "state.json", cert)):
        for name in names:
            with pytest.warns(UserWarning, match="was taken in before") as caught:
                assert known.update([0.0], [0.0], batch_id=name).repeated
            assert len(str(caught[0].message)) < 200
    # What is kept of a long id is no other batch's own.
    kept = monitor.ledger.to_dict()["batches"][0]
    assert not monitor.update([0.0], [0.0], batch_id=kept).repeated


def in_threads(n_threads, work):
    """Run a function of the thread's number in all threads at once; return what each returned."""
    barrier, found = threading.Barrier(n_threads), [None] * n_threads

    def run(k):
        barrier.wait()
        found[k] = work(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.filterwarnings("ignore:batch 'one' was taken in before")
def test_threads_that_bring_one_batch_count_it_once(rng):
    cert = certificate(rng)
    y, y_pred = rng.standard_normal(2000), np.zeros(2000)
    for _ in range(200):
        monitor = pacband.Monitor(cert)
        batches = in_threads(4, lambda k, m=monitor: m.update(y, y_pred, batch_id="one"))
        assert sorted(batch.repeated for batch in batches) == [False, True, True, True]
        assert monitor.n_rows == 2000


def test_threads_with_batches_of_their_own_leave_the_counts_and_the_trace_of_one(rng, tmp_path):
    cert = certificate(rng)
    y, y_pred = rng.standard_normal((8, 10, 300)), np.zeros(300)
    monitor = pacband.Monitor(cert)

    def work(k):
        for part in y[k]:
            monitor.update(part, y_pred)
            monitor.save(tmp_path / "state.json")
            assert monitor.n_violations <= monitor.n_rows
        return True

    assert in_threads(8, work) == [True] * 8
    assert (monitor.n_rows, monitor.n_violations) == (y.size, int((np.abs(y) > cert.gamma).sum()))
    rows = [n for n, _ in monitor.watches[None].trace]
    assert rows == sorted(set(rows))
    assert pacband.Monitor.load(tmp_path / "state.json", cert).to_dict() == monitor.to_dict()


def test_a_monitor_can_be_copied_and_pickled(rng):
    monitor = pacband.Monitor(certificate(rng))
    monitor.update([0.0] * 9, [0.0] * 9, batch_id="a")
    for twin in (copy.deepcopy(monitor), pickle.loads(pickle.dumps(monitor))):
        assert twin.to_dict() == monitor.to_dict()
        twin.update([0.0], [0.0])
        assert (twin.n_rows, monitor.n_rows) == (10, 9)


def test_only_the_groups_that_have_rows_are_touched(rng, tmp_path, monkeypatch):
    # What a row costs must not grow with the number of groups: counted, not timed.
    labels = np.repeat(np.arange(300), 20)
    cert = pacband.certify_groups(rng.standard_normal(6000), np.zeros(6000), labels, eps=0.5, delta=0.9)
    monitor = pacband.Monitor(cert)
    touched, computed = [], []
    update, attained = Watch.update, type(cert.groups[0]).attained_delta.fget
    monkeypatch.setattr(Watch, "update", lambda watch, *rows: (touched.append(watch), update(watch, *rows)))
    monkeypatch.setattr(
        type(cert.groups[0]), "attained_delta", property(lambda one: (computed.append(one), attained(one))[1])
    )
    batch = monitor.update([0.0, 9.0, np.nan, 0.0], np.zeros(4), groups=[7, 299, 5, 7])
    assert (batch.rows, batch.violations, batch.unlabelled) == (3, 1, 1)
    assert touched == [monitor.groups[label] for label in (5, 7, 299)]
    counts = {
        label: (w.n_rows, w.n_violations, w.n_unlabelled) for label, w in monitor.groups.items() if label in (5, 7)
    }
    assert counts == {5: (0, 0, 1), 7: (2, 0, 0)}
    for _ in range(3):
        monitor.save(tmp_path / "state.json")
    assert not computed


def test_a_late_group_can_warn_and_be_acknowledged_by_the_state_of_all(rng):
    cert = pacband.certify_groups(rng.standard_normal(2000), np.zeros(2000), np.arange(2000) % 2, eps=0.1, delta=0.01)
    monitor = pacband.Monitor(cert)
    monitor.update(np.zeros(3000), np.zeros(3000), groups=np.zeros(3000, int))
    risen = np.where(np.arange(700) % 4 == 0, 9.0, 0.0)
    assert monitor.update(np.r_[np.zeros(3000), risen], np.zeros(3700), groups=np.ones(3700, int)).state == "warning"
    assert monitor.update([0.0], [0.0], groups=0).state == "warning"
    monitor.acknowledge()
    assert monitor.state == monitor.update([0.0], [0.0], groups=0).state == "ok"


def test_evidence_that_no_shard_has_alone(rng):
    cert = certificate(rng)
    shards = [pacband.Monitor(cert) for _ in range(6)]
    for shard in shards:
        shard.update(np.where(np.arange(100) % 10 == 9, 9.0, 0.0), np.zeros(100))
    assert {shard.state for shard in shards} == {"ok"}
    assert shards[0].merge(*shards[1:]).state == "revoked"


def test_arguments_are_checked(rng):
    cert = certificate(rng)
    with pytest.raises(InvalidInput, match=r"alpha must be in \(0, 1\), got 2"):
        pacband.Monitor(cert, alpha=2)
    with pytest.raises(InvalidInput, match="finite number of rows, at least 1, got 0"):
        pacband.Monitor(cert, false_alarm_interval=0)
    with pytest.raises(InvalidInput, match="must be a number of rows, got 'often'"):
        pacband.Monitor(cert, false_alarm_interval="often")
    with pytest.raises(InvalidInput, match="certificate must be one that pacband made, got float"):
        pacband.Monitor(1.5)
    assert pacband.Monitor(cert, false_alarm_interval=1).false_alarm_interval == pytest.approx(200.0)


def test_plot(rng):
    cert, y, y_pred, _ = stream(np.full(900, 0.2), rng)
    monitor = pacband.Monitor(cert)
    monitor.plot()
    monitor.update(y, y_pred)
    ax = monitor.plot()
    assert ax.get_title() == "pacband monitor: revoked"
    rows, rate = ax.lines[0].get_data()
    assert (rows[-1], rate[-1]) == (900, monitor.violation_rate)


@pytest.mark.verify
def test_false_revocations_over_a_long_stream(rng):
    """20,000 rows at the border of the promise: exactly, and over 2,000 streams; peeking at a test is no match."""
    exact = first_times(EPS, EPS, ALPHA, 20000).sum()
    assert 0.006 < exact < 0.008
    revoked = peeked = 0
    n = np.arange(1, 20001)
    critical = binom.isf(ALPHA, n, EPS)
    for _ in range(2000):
        violated = rng.random(20000) < EPS
        counts = np.cumsum(violated)
        at = positions(violated)
        revoked += first_crossing(counts[at], at + 1, EPS, -math.log(ALPHA)) is not None
        peeked += bool((counts > critical).any())
    assert revoked <= binom.ppf(1 - 1e-6, 2000, ALPHA)
    assert peeked / 2000 > 0.10


@pytest.mark.verify
def test_mean_time_to_a_false_warning_at_the_default(rng):
    detector, times = Detector(EPS, 1e5), []
    for _ in range(400):
        at = np.cumsum(rng.geometric(EPS, 10**5)) - 1
        _, alarm = detector.advance(detector.start(), 0, at)
        times.append(at[-1] if alarm is None else at[alarm])
    assert np.mean(times) >= 1e5


@pytest.mark.verify
def test_late_rise_over_many_runs(rng):
    detector, monitor_delays, detector_delays = Detector(EPS, 1e5), [], []
    while len(detector_delays) < 4000:
        at = positions(np.concatenate([rng.random(5000) < EPS, rng.random(8000) < 0.10]))
        _, alarm = detector.advance(detector.start(), 0, at)
        if at[alarm] < 5000:
            continue
        detector_delays.append(at[alarm] - 4999)
        index = first_crossing(np.arange(1, len(at) + 1), at + 1, EPS, -math.log(ALPHA))
        monitor_delays.append(at[index] - 4999 if index is not None else 8000)
    assert np.median(detector_delays) <= 312
    assert np.median(monitor_delays) > 3 * np.median(detector_delays)
