"""The search by counting finds the very float that sorting finds, whatever the data and however they are cut."""

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pacband.exceptions import InvalidInput
from pacband.selection import Limits, Measured, Tally, begin_search, measure, select, sum_tallies, tally
from pacband.selection.fingerprint import fingerprint
from pacband.selection.search import Counting, Fetching, Guessing, Sealing, same_share

FLOATS = st.floats(allow_nan=False, allow_infinity=True, width=64)

# Few different values: many ties.
COARSE = st.integers(-3, 3).map(float)


def search_through(parts, search):
    """Return what a search finds over parts, and in how many passes."""
    passes = 0
    while not isinstance(search, Measured):
        search = search.step(sum_tallies(tally(part, search.request) for part in parts))
        passes += 1
        assert passes <= 16, "the bound that the module states"
    return search, passes


# With these limits even small data take the long way.
FEW = Limits(few=2)


@given(
    hnp.arrays(np.float64, st.integers(1, 60), elements=st.one_of(FLOATS, COARSE)),
    st.data(),
)
def test_search_finds_the_float_that_sorting_finds(scores, data):
    rank = data.draw(st.integers(1, len(scores)))
    sample = scores[: data.draw(st.integers(0, len(scores)))]
    cut = data.draw(st.integers(0, len(scores)))
    parts = [part for part in (scores[:cut], scores[cut:]) if len(part)]
    expected = float(np.sort(scores)[-rank])
    limits = Limits(few=data.draw(st.sampled_from([0, 2, 1000])))
    measured, _ = search_through(parts, begin_search(sample, lambda n: rank, limits=limits))
    assert measured.gamma == expected
    assert measured == measure(scores.copy(), rank)


@pytest.mark.parametrize("rank", [1, 2, 57, 500, 999, 1000])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.exponential(size=1000),
        lambda rng: np.sort(rng.exponential(size=1000)),
        lambda rng: np.sort(rng.exponential(size=1000))[::-1],
        lambda rng: np.full(1000, 0.1),
        lambda rng: np.zeros(1000),
        lambda rng: rng.integers(0, 3, 1000).astype(float),
        lambda rng: 10.0 ** rng.uniform(-320, 308, 1000),
        lambda rng: rng.standard_normal(1000),
        lambda rng: np.where(rng.random(1000) < 0.3, np.inf, rng.random(1000)),
        lambda rng: np.nextafter(1.0, 2.0) * np.ones(1000) - 2.0**-52 * rng.integers(0, 2, 1000),
    ],
    ids=["smooth", "rising", "falling", "constant", "zero", "coarse", "all magnitudes", "signed", "infinite", "neighbours"],
)  # fmt: skip
def test_a_misleading_sample_costs_passes_and_nothing_else(draw, rank, rng):
    scores = draw(rng)
    for sample in (scores[:100], np.array([1e300]), np.array([-1.0]), np.empty(0)):
        measured, _ = search_through([scores[:300], scores[300:]], begin_search(sample, lambda n: rank, limits=FEW))
        assert measured.gamma == np.sort(scores)[-rank]
        assert measured.digest == fingerprint(scores, measured.gamma)


def test_a_good_sample_takes_two_passes(rng):
    scores = rng.exponential(size=400_000)
    measured, passes = search_through(np.split(scores, 4), begin_search(scores[:20_000], lambda n: n // 20))
    assert passes == 2
    assert measured.gamma == np.sort(scores)[-20_000]


def test_the_next_larger_rank_would_be_another_score(rng):
    # A wrong twin: the rank is counted from the top, from one.
    scores = rng.exponential(size=5000)
    found = {
        rank: search_through([scores], begin_search(scores[:50], lambda n, r=rank: r))[0].gamma for rank in (9, 10, 11)
    }
    assert found[9] > found[10] > found[11]
    assert found[10] == np.sort(scores)[-10]


def _answer(seed, request):
    """The pass of another process over its own part."""
    return tally(np.random.default_rng(seed).exponential(size=20_000), request)


def test_processes_that_only_exchange_tallies_agree_with_one():
    seeds = range(3)
    whole = np.concatenate([np.random.default_rng(seed).exponential(size=20_000) for seed in seeds])
    with ProcessPoolExecutor(2) as pool:
        search = begin_search(whole[:500], lambda n: n // 30, limits=FEW)
        while not isinstance(search, Measured):
            search = search.step(sum_tallies(pool.map(_answer, seeds, [search.request] * 3)))
    assert search == measure(whole, 2000)


def test_several_searches_share_their_passes(rng):
    columns = {"a": rng.exponential(size=3000), "b": rng.standard_normal(3000) ** 2}
    passes = []

    def scan(requests):
        passes.append(set(requests))
        return {key: tally(columns[key], request) for key, request in requests.items()}

    found = select(scan, {key: begin_search(scores[:100], lambda n: 100) for key, scores in columns.items()})
    assert found == {key: measure(scores.copy(), 100) for key, scores in columns.items()}
    assert passes[0] == {"a", "b"}
    assert len(passes) <= 3


def test_a_search_goes_through_its_states_in_order(rng):
    scores = rng.exponential(size=5000)
    search, states = begin_search(np.array([1e9]), lambda n: 40, limits=Limits(few=50)), []
    while not isinstance(search, Measured):
        states.append(type(search))
        search = search.step(tally(scores, search.request))
    # The sample lies far from all scores: the unit of the fingerprint that it suggests is wrong.
    assert states[0] is Guessing
    assert states[1] is Counting
    assert states[-2:] == [Fetching, Sealing]
    assert set(states[1:-2]) == {Counting}
    assert search == measure(scores, 40)


@pytest.mark.parametrize("state", [Counting, Fetching, Sealing])
@pytest.mark.parametrize("change", [lambda scores: scores[:-1], lambda scores: np.append(scores, 0.1)])
def test_every_state_sees_that_rows_changed(state, change, rng):
    scores = rng.exponential(size=5000)
    search = begin_search(np.array([1e9]), lambda n: 40, limits=Limits(few=50))
    while not isinstance(search, state):
        search = search.step(tally(scores, search.request))
    with pytest.raises(InvalidInput, match="rows changed between two readings"):
        search.step(tally(change(scores), search.request))


def test_a_search_fetches_its_share_of_what_all_searches_may_fetch(rng):
    scores, limits = rng.exponential(size=3000), Limits(few=300, few_in_all=1000)
    for share, few in ((1, 300), (4, 250), (40, 25)):
        search = begin_search(scores[:50], lambda n: 40, share=share, limits=limits)
        assert search.few == few
        while not isinstance(search, Measured):
            found = tally(scores, search.request)
            assert len(found.kept) <= few
            search = search.step(found)
        assert search == measure(scores.copy(), 40)


def search_until(state, scores, limits):
    # The sample lies above all scores, and has about their size.
    search = begin_search(np.array([20.0]), lambda n: 40, limits=limits)
    while not isinstance(search, state):
        search = search.step(tally(scores, search.request))
    return search


@pytest.mark.parametrize("state", [Counting, Fetching])
def test_another_value_in_as_many_rows_is_a_change(state, rng):
    scores = rng.exponential(size=5000)
    search = search_until(state, scores, Limits(few=50))
    changed = scores.copy()
    changed[np.argmin(scores)] += 0.01
    with pytest.raises(InvalidInput, match="as the sum of the fingerprint"):
        search.step(tally(changed, search.request))


def test_an_engine_may_fetch_scores_without_counting_all(rng):
    scores = rng.exponential(size=5000)
    search = search_until(Fetching, scores, Limits(few=50))
    found = tally(scores, search.request)
    uncounted = Tally(0, (), 0, found.kept)
    assert search.step(uncounted) == search.step(found)
    with pytest.raises(InvalidInput, match=r"the first found \d+ scores near the bound, a later one \d+"):
        search.step(Tally(0, (), 0, found.kept[:-1]))


@pytest.mark.parametrize(("few", "state"), [(3, Fetching), (2, Counting)])
def test_as_many_scores_are_fetched_as_may_be(few, state):
    # No edge of the first pass lies between these.
    scores = np.array([2.0, 2.5, 3.0])
    search = begin_search(np.empty(0), lambda n: 1, limits=Limits(few=few))
    assert isinstance(search.step(tally(scores, search.request)), state)


def test_a_group_that_is_lost_between_two_readings_is_a_change(rng):
    scores = rng.exponential(size=300)

    def scan(requests):
        return {key: tally(scores, request) for key, request in requests.items() if key == "a"}

    with pytest.raises(InvalidInput, match="the first found 2 groups, a later one 1"):
        select(scan, {key: begin_search(scores[:10], lambda n: 10) for key in "ab"})


@pytest.mark.parametrize(("n", "rank"), [(1000, 33), (500, 16), (2000, 66), (100, 3), (10, 1)])
def test_the_same_share_of_other_numbers_of_scores(n, rank):
    assert same_share(33, 1000)(n) == rank
    # Of the scores themselves the rank is exact, whatever the floats of the share are.
    assert same_share(2**53 - 1, 2**53)(2**53) == 2**53 - 1
