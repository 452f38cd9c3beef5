"""Terms: options that are checked once, and ranks that follow from them and the numbers of rows alone."""

import dataclasses
import itertools

import duckdb
import numpy as np
import pandas as pd
import pytest

from pacband import (
    InvalidInput,
    NotEnoughSamples,
    certify,
    certify_chunks,
    certify_frame,
    certify_scores,
    max_rank,
    plan,
)
from pacband.certification.terms import Terms
from pacband.draws import Units
from pacband.planning import DeltaShare
from pacband.planning.binomial import tail_at_most
from pacband.scores import ScoreRule
from pacband.scores.columns import Columns
from support.twins import put_in_place

OPTIONS = {"eps": 0.1, "delta": 0.01, "side": "both", "min_scale": None, "nonfinite": "raise", "gauge": "max"}
SIZES = itertools.count(3001, 17)  # sizes that no other test has decided: what was decided is kept


def create(**options):
    return Terms.create(**{**OPTIONS, **options})


def test_terms_are_the_checked_options():
    terms = create(n_candidates=4, rank=np.int64(3), side="upper", eps=np.float32(0.25))
    assert (terms.eps, terms.delta, terms.rank, terms.rule, terms.share) == (0.25, 0.01, 3, "exact", DeltaShare(4))
    assert terms.scoring == ScoreRule(side="upper")
    assert type(terms.eps) is float
    with pytest.raises(dataclasses.FrozenInstanceError):
        terms.eps = 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eps": 2.0}, r"eps must be in \(0, 1\), got 2.0"),
        ({"delta": 0}, r"delta must be in \(0, 1\), got 0"),
        ({"rank": 0}, "rank must be at least 1, got 0"),
        ({"rule": "best"}, "rule must be one of"),
        ({"rule": "maximum", "rank": 2}, "rank must be 1, got 2"),
        ({"n_candidates": 0}, "n_candidates must be at least 1, got 0"),
        ({"side": "up"}, "side must be one of"),
        ({"min_scale": -1.0}, "min_scale must be a positive"),
        ({"nonfinite": "drop"}, "nonfinite must be one of"),
        ({"gauge": "min"}, "gauge must be one of"),
    ],
)
def test_every_option_is_checked_when_terms_are_made(options, message):
    with pytest.raises(InvalidInput, match=message):
        create(**options)


def test_ranks_are_those_of_the_plan_at_each_share():
    terms = create(n_candidates=3)
    assert terms.choose_rank(500) == max_rank(500, 0.1, 0.01, 3)
    assert terms.choose_rank(500, DeltaShare(7)) == max_rank(500, 0.1, 0.01, 7)
    assert terms.choose_samples() == plan(0.1, 0.01, n_candidates=3).n_samples
    assert create(rule="paper").choose_rank(2000) == plan(0.1, 0.01, n_samples=2000, rule="paper").rank
    assert create(rank=2).choose_rank(500) == 2
    # The groups of one of three candidates have δ/6 each.
    assert terms.group_ranks({"a": 500, "b": 300}) == {
        "a": max_rank(500, 0.1, 0.01, 6),
        "b": max_rank(300, 0.1, 0.01, 6),
    }
    shares = {"likely": DeltaShare(2, 0.75), "unlikely": DeltaShare(2, 0.25)}
    ranks = create().family_ranks(500, shares)
    assert ranks == {"likely": max_rank(500, 0.1, 0.0075), "unlikely": max_rank(500, 0.1, 0.0025)}


def test_too_few_rows_are_refused_by_the_name_of_their_part():
    with pytest.raises(NotEnoughSamples, match=r"^group 'b': .* shared 2 ways"):
        create().group_ranks({"a": 500, "b": 10})
    with pytest.raises(NotEnoughSamples, match=r"^candidate 'b' with weight 1e-09: "):
        create().family_ranks(100, {"a": DeltaShare(2, 0.5), "b": DeltaShare(2, 1e-9)})
    # If all of δ does not suffice, the error names no candidate.
    with pytest.raises(NotEnoughSamples, match=r"^eps=0.1 and delta=0.01 need at least 44 samples"):
        create().family_ranks(10, {"a": DeltaShare(2, 0.5), "b": DeltaShare(2, 0.5)})


def test_the_promise_of_columns_states_them():
    columns = Columns(target=("u", "v"), prediction=("p", "q"), scale=(("s",),), group="site")
    promise = create(side="lower").promise_of(columns)
    assert (promise.eps, promise.delta, promise.n_outputs, promise.scale_kind) == (0.1, 0.01, 2, "symmetric")
    assert promise.columns == columns
    assert promise.scoring.side == "lower"


def by_arrays(y, guess):
    return certify(y, guess)


def by_chunks(y, guess):
    return certify_chunks([(y, guess)])


def by_frame(y, guess):
    return certify_frame(pd.DataFrame({"y": y, "p": guess}), target="y", prediction="p")


def by_engine(y, guess):
    return certify_frame(duckdb.from_df(pd.DataFrame({"y": y, "p": guess})), target="y", prediction="p")


@pytest.mark.parametrize("call", [by_arrays, by_chunks, by_frame, by_engine])
def test_one_certificate_takes_few_decisions_of_the_binomial_tail(call, monkeypatch, rng, limit):
    if call is by_engine:
        limit(sample=1000)
    decided = []
    put_in_place(monkeypatch, tail_at_most, lambda *args: decided.append(args) or tail_at_most(*args))
    n_samples = next(SIZES)
    cert = call(rng.standard_normal(n_samples), np.zeros(n_samples))
    assert cert.n_samples == n_samples
    assert 2 <= len(decided) <= 6
    # The certificate decides by itself that its rank is valid.
    assert (n_samples, cert.rank, 0.05) in [args[:3] for args in decided]


@pytest.mark.parametrize("options", [{"rank": 3}, {"rule": "maximum"}])
def test_options_that_do_not_fit_the_draws_are_refused_before_any_label_is_read(options):
    class Never:
        def __array__(self, *args, **kwargs):
            raise AssertionError

    on_average = Units(Never(), "average")
    for make in (
        lambda: create(**options, draws=on_average),
        lambda: dataclasses.replace(create(**options), draws=on_average),
        lambda: certify([1.0], [0.0], **options, draws=on_average),
        lambda: certify_scores([1.0], **options, draws=on_average),
    ):
        with pytest.raises(InvalidInput, match="rank and rule cannot be combined with within='average'"):
            make()
