"""The plan of a search: the same bits on a machine of any speed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import pacband
from pacband import CertificateError, CertifiedFamily, InvalidInput, SearchPlan
from pacband.candidates import ledger as ledger_module
from pacband.candidates import screening, trials
from pacband.candidates.automatic import auto_candidates
from pacband.candidates.defaults import ScaleModel
from pacband.candidates.members import predict_members
from support.automatic import FAST, OPTIONS, draw

PLAN = SearchPlan(("linear", "boosting"), ("trees",), all_rows=True, rows=150, columns=3)


class SlowClock:
    """A clock on which every look takes the same time, whatever happens between two of them."""

    def __init__(self, seconds):
        self.now, self.seconds = 0.0, seconds

    def __call__(self):
        self.now += self.seconds
        return self.now


def use_clock(monkeypatch, seconds):
    """Let the search believe that the machine is as slow as this."""
    clock = SlowClock(seconds)
    for module in (ledger_module, trials):
        monkeypatch.setattr(module, "perf_counter", clock)


def numbers(family, X):
    return {name: np.array(columns).tobytes() for name, columns in predict_members(family.members, X).items()}


def known(plan):
    """The plan without the seed and the rows that it was recorded with."""
    return replace(plan, random_state=None, training=None)


def widths(family):
    return [(tried.name, tried.width) for tried in family.tried if tried.width is not None]


def test_a_plan_gives_the_same_bits_on_a_fast_and_on_a_slow_machine(rng, monkeypatch):
    scales = {"linear": ScaleModel(Ridge()), "neighbours": ScaleModel(KNeighborsRegressor(20))}
    monkeypatch.setattr(screening, "default_scales", lambda *options: scales)
    X, y = draw(rng, 150)
    new = draw(rng, 40)[0]

    def search(plan=None):
        return auto_candidates(X, y, predictors=FAST, random_state=1, time_budget=10.0, search_plan=plan, **OPTIONS)

    use_clock(monkeypatch, 1e-3)
    fast = search()
    use_clock(monkeypatch, 0.3)
    slow = search()
    # The clock alone decides: the slow machine leaves out what the fast one fits.
    assert len(slow.search_plan.predictors) + len(slow.search_plan.scales) < len(fast.search_plan.predictors) + len(
        fast.search_plan.scales
    )
    assert numbers(fast, new) != numbers(slow, new)
    for recorded in (fast, slow):
        for seconds in (1e-3, 0.3, 100.0):
            use_clock(monkeypatch, seconds)
            again = search(recorded.search_plan)
            assert again.search_plan == recorded.search_plan
            assert widths(again) == widths(recorded)
            assert numbers(again, new) == numbers(recorded, new)


def test_what_a_plan_leaves_out_is_recorded(rng):
    X, y = draw(rng, 150)
    family = auto_candidates(X, y, predictors=FAST, search_plan=PLAN, **OPTIONS)
    left_out = {tried.name for tried in family.tried if tried.status == "dropped: the plan leaves it out"}
    assert left_out == {"neighbours", "scale by neighbours", "scale by boosting", "scale by window"}
    assert known(family.search_plan) == PLAN


def test_a_plan_decides_whether_all_rows_are_used(rng, monkeypatch):
    X, y = draw(rng, 150)
    used = []
    right = screening.fit_stack
    monkeypatch.setattr(screening, "fit_stack", lambda *a, **k: used.append(k["use_all"]) or right(*a, **k))
    for all_rows in (True, False):
        plan = SearchPlan(("linear",), (), all_rows=all_rows, rows=150, columns=3)
        auto_candidates(X, y, predictors=FAST, search_plan=plan, **OPTIONS)
    assert used == [True, False]


def test_a_family_repeats_its_fit_and_its_file_keeps_the_plan(rng, tmp_path):
    X, y = draw(rng, 300)
    options = {"eps": 0.2, "delta": 0.1, "random_state": 0, "n_jobs": 2}
    plan = SearchPlan(("linear", "splines", "neighbours"), ("neighbours",), all_rows=True, rows=240, columns=3)
    first = CertifiedFamily("auto", search_plan=plan, **options).fit(X, y)
    assert known(first.search_plan_) == plan
    second = CertifiedFamily("auto", search_plan=first.search_plan_, time_budget=1e-3, **options).fit(X, y)
    assert second.best_name_ == first.best_name_
    assert {n: c.gamma for n, c in second.certificates_.items()} == {n: c.gamma for n, c in first.certificates_.items()}
    np.testing.assert_array_equal(first.predict_interval(X), second.predict_interval(X))
    loaded = pacband.load(first.save(tmp_path / "model.pacband"))
    assert loaded.search_plan == plan
    assert loaded.search_plan_ == loaded.auto_.search_plan == first.search_plan_
    assert loaded.save(tmp_path / "again.pacband").read_bytes() == (tmp_path / "model.pacband").read_bytes()


def test_a_plan_is_a_file(tmp_path):
    path = PLAN.save(tmp_path / "plan.json")
    assert SearchPlan.load(path) == PLAN
    text = path.read_text()
    path.write_text(text.replace('"boosting"', '"bosting"'))
    with pytest.raises(CertificateError, match="edited or damaged"):
        SearchPlan.load(path)
    path.write_text(json.dumps({"predictors": []}))
    with pytest.raises(CertificateError, match="is not a plan of a search of pacband"):
        SearchPlan.load(path)
    with pytest.raises(CertificateError, match=r"rows: 1\.5 is not of type 'integer'"):
        SearchPlan(("linear",), (), all_rows=True, rows=1.5, columns=1).save(tmp_path / "wrong.json")
    assert not (tmp_path / "wrong.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predictors": ("linear", "oracle")}, "the plan names the predictors 'oracle', which this search does not"),
        ({"scales": ("mirror",)}, "the plan names the scales 'mirror'"),
        ({"predictors": ()}, "must name at least one predictor"),
    ],
)
def test_a_plan_that_does_not_fit_the_search_is_refused(rng, change, message):
    X, y = draw(rng, 150)
    plan = SearchPlan.from_dict(PLAN.to_dict() | change)
    with pytest.raises(InvalidInput, match=message):
        auto_candidates(X, y, predictors=FAST, search_plan=plan, **OPTIONS)


def test_bad_plans(rng):
    X, y = draw(rng, 100)
    with pytest.raises(InvalidInput, match="search_plan must be a SearchPlan or None, got dict"):
        auto_candidates(X, y, predictors=FAST, search_plan=PLAN.to_dict(), **OPTIONS)
    with pytest.raises(InvalidInput, match="search_plan must be None without 'auto'"):
        CertifiedFamily({"linear": FAST["linear"]}, search_plan=PLAN).fit(X, y)
    with pytest.raises(InvalidInput, match="a plan must have predictors, scales, all_rows, rows, columns, got rows"):
        SearchPlan.from_dict({"rows": 1})
    with pytest.warns(UserWarning, match="recorded for 150 training rows of 3 columns, and these are 100 rows"):
        auto_candidates(X, y, predictors=FAST, search_plan=PLAN, **OPTIONS)


def test_a_constant_target_needs_no_plan():
    family = auto_candidates(np.zeros((20, 1)), np.ones(20), search_plan=PLAN, **OPTIONS)
    assert known(family.search_plan) == SearchPlan((), (), all_rows=True, rows=20, columns=0)


def test_another_seed_and_other_rows_get_a_warning(rng):
    X, y = draw(rng, 150)
    plan = auto_candidates(X, y, predictors=FAST, search_plan=PLAN, random_state=3, **OPTIONS).search_plan
    assert (plan.random_state, len(plan.training)) == (3, 64)
    assert SearchPlan.from_dict(plan.to_dict()) == plan

    def repeat(X, y, seed):
        return auto_candidates(X, y, predictors=FAST, search_plan=plan, random_state=seed, **OPTIONS)

    repeat(X, y, 3)
    with pytest.warns(UserWarning, match="recorded with random_state 3, and this is 4: the same models") as found:
        repeat(X, y, 4)
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match="recorded from other training rows, or in another order: the same models"):
        repeat(X[::-1], y[::-1], 3)
    with pytest.warns(UserWarning, match="with random_state 3, and this is None, and from other training rows"):
        repeat(X, y + 1e-3, None)
