"""The search by counting finds the very float that sorting finds, whatever the data and however they are cut."""

import math
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pacband.core.floats import float_at, ordinal
from pacband.selection import Request, Search, Tally, measure, rth_largest, select, sum_tallies, tally
from pacband.selection import search as selection
from pacband.selection.fingerprint import fingerprint

FLOATS = st.floats(allow_nan=False, allow_infinity=True, width=64)
# Few different values: many ties.
COARSE = st.integers(-3, 3).map(float)


def search_through(parts, search):
    """Return what a search finds over parts, and in how many passes."""
    passes = 0
    while search.request is not None:
        search = search.step(sum_tallies(tally(part, search.request) for part in parts))
        passes += 1
        assert passes <= 16, "the bound that the module states"
    return search.measured, passes


@pytest.fixture
def few(monkeypatch):
    """Make even small data take the long way."""
    monkeypatch.setattr(selection, "FEW", 2)


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "FEW", data.draw(st.sampled_from([0, 2, 1000])))
        measured, _ = search_through(parts, Search.begin(sample, lambda n: rank))
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
def test_a_misleading_sample_costs_passes_and_nothing_else(draw, rank, few, rng):
    scores = draw(rng)
    for sample in (scores[:100], np.array([1e300]), np.array([-1.0]), np.empty(0)):
        measured, _ = search_through([scores[:300], scores[300:]], Search.begin(sample, lambda n: rank))
        assert measured.gamma == np.sort(scores)[-rank]
        assert measured.digest == fingerprint(scores, measured.gamma)


def test_a_good_sample_takes_two_passes(rng):
    scores = rng.exponential(size=400_000)
    measured, passes = search_through(np.split(scores, 4), Search.begin(scores[:20_000], lambda n: n // 20))
    assert passes == 2
    assert measured.gamma == np.sort(scores)[-20_000]


def test_the_next_larger_rank_would_be_another_score(rng):
    # A wrong twin: the rank is counted from the top, from one.
    scores = rng.exponential(size=5000)
    found = {
        rank: search_through([scores], Search.begin(scores[:50], lambda n, r=rank: r))[0].gamma for rank in (9, 10, 11)
    }
    assert found[9] > found[10] > found[11]
    assert found[10] == np.sort(scores)[-10]


def _answer(seed, request):
    """The pass of another process over its own part."""
    return tally(np.random.default_rng(seed).exponential(size=20_000), request)


def test_processes_that_only_exchange_tallies_agree_with_one(few):
    seeds = range(3)
    whole = np.concatenate([np.random.default_rng(seed).exponential(size=20_000) for seed in seeds])
    with ProcessPoolExecutor(2) as pool:
        search = Search.begin(whole[:500], lambda n: n // 30)
        while search.request is not None:
            search = search.step(sum_tallies(pool.map(_answer, seeds, [search.request] * 3)))
    assert search.measured == measure(whole, 2000)


def test_several_searches_share_their_passes(rng):
    columns = {"a": rng.exponential(size=3000), "b": rng.standard_normal(3000) ** 2}
    passes = []

    def scan(requests):
        passes.append(set(requests))
        return {key: tally(columns[key], request) for key, request in requests.items()}

    found = select(scan, {key: Search.begin(scores[:100], lambda n: 100) for key, scores in columns.items()})
    assert found == {key: measure(scores.copy(), 100) for key, scores in columns.items()}
    assert passes[0] == {"a", "b"}
    assert len(passes) <= 3


@given(FLOATS, FLOATS)
def test_places_are_ordered_as_the_floats_are(a, b):
    assert (ordinal(a) < ordinal(b)) == (a < b)
    assert (ordinal(a) == ordinal(b)) == (a == b)
    assert float_at(ordinal(a)) == a
    if math.isfinite(a):
        assert ordinal(math.nextafter(a, math.inf)) == ordinal(a) + 1


def test_tallies_add_up(rng):
    scores, request = rng.standard_normal(100), Request(edges=(-1.0, 0.0, 1.0), unit=4.0, keep=(0.0, 0.5))
    whole, parts = tally(scores, request), sum_tallies(tally(part, request) for part in np.split(scores, 4))
    assert (whole.n_samples, whole.at_least, whole.total) == (parts.n_samples, parts.at_least, parts.total)
    assert whole.kept.tolist() == parts.kept.tolist()
    assert whole.at_least == tuple(int((scores >= edge).sum()) for edge in request.edges)
    assert isinstance(whole + parts, Tally)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_bound_of_zero_is_the_positive_zero(zero):
    assert math.copysign(1.0, rth_largest(np.array([zero, -1.0, zero]), 1)) == 1.0
