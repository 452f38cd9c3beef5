"""Joined trees predict what scikit-learn predicts, to the last bit."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacband
from pacband.candidates import joined_trees
from pacband.candidates.joined_trees import join_trees
from pacband.candidates.windows import ShortestWindow
from support.twins import put_in_place, use_number

FILES = Path(__file__).parents[1] / "files"


def rows(rng, n, *, gaps=True):
    """Two columns of numbers, one of them with gaps, and one of categories."""
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 6, n)])
    if gaps:
        X[rng.uniform(size=n) < 0.2, 1] = np.nan
    return X


MODELS = {
    "boosting": HistGradientBoostingRegressor(max_iter=37, random_state=0),
    "one tree": HistGradientBoostingRegressor(max_iter=1, random_state=0),
    "categories": HistGradientBoostingRegressor(max_iter=20, categorical_features=[2], random_state=0),
    "log link": HistGradientBoostingRegressor(loss="poisson", max_iter=5, random_state=0),
    "forest": RandomForestRegressor(13, random_state=0),
    "one-tree forest": RandomForestRegressor(1, random_state=0),
    "extra trees": ExtraTreesRegressor(8, min_samples_leaf=3, random_state=0),
    "in a pipeline": make_pipeline("passthrough", ExtraTreesRegressor(5, random_state=0)),
    "transformed": TransformedTargetRegressor(
        HistGradientBoostingRegressor(max_iter=9, random_state=0), func=np.log1p, inverse_func=np.expm1
    ),
    "window": ShortestWindow(ExtraTreesRegressor(7, min_samples_leaf=5, random_state=0), 0.8),
}


def differs(model, X, *, views=None):
    """Return whether a model and its twin predict different numbers, one row at a time and together."""
    twin = join_trees(model, views)
    assert twin is not model
    return any((model.predict(part) != twin.predict(part)).any() for part in (X[:1], X[1:2], X[:40], X))


@pytest.mark.parametrize("name", MODELS)
def test_the_joined_trees_predict_the_same_bits(rng, name):
    X = rows(rng, 300)
    y = np.exp(X[:, 0]) + X[:, 2] + 0.1 * rng.exponential(size=300)
    fitted = MODELS[name].fit(X, y)
    new = rows(rng, 60)
    # A category that the fit has not seen.
    new[::9, 2] = 7.0
    assert not differs(fitted, new)


def test_the_neighbours_of_few_rows_are_found_without_threads(rng):
    X = rows(rng, 200, gaps=False)
    model = KNeighborsRegressor(5, n_jobs=2, weights="distance").fit(X, X[:, 0])
    assert not differs(model, rows(rng, 60, gaps=False))
    assert join_trees(model).n_jobs is None
    assert model.n_jobs == 2


def test_a_router_that_misses_by_one_tree_is_noticed(rng, monkeypatch):
    """The wrong twin: every router sends the number of a tree to the next tree."""
    right = joined_trees._route

    def wrong(n_trees):
        children, splits = right(n_trees)
        return children, splits - 1.0

    X = rows(rng, 200)
    model = RandomForestRegressor(9, random_state=0).fit(X, X[:, 0])
    put_in_place(monkeypatch, right, wrong)
    assert differs(model, X[:50])


def test_equal_transformers_transform_a_table_once(rng, monkeypatch):
    X = rows(rng, 50, gaps=False)
    first, second = (make_pipeline(StandardScaler(), Ridge(alpha)).fit(X, X[:, 0]) for alpha in (1.0, 2.0))
    other = make_pipeline(StandardScaler(), Ridge()).fit(2 * X, X[:, 0])
    views, calls = {}, []
    twins = [join_trees(model, views) for model in (first, second, other)]
    assert len(views) == 2
    right = StandardScaler.transform
    monkeypatch.setattr(StandardScaler, "transform", lambda self, X: calls.append(len(X)) or right(self, X))
    found = [twin.predict(X) for twin in twins]
    assert calls == [50, 50]
    for model, prediction in zip((first, second, other), found, strict=True):
        np.testing.assert_array_equal(model.predict(X), prediction)
    # The next table is another one, even if it has the same size.
    np.testing.assert_array_equal(twins[0].predict(X[::-1].copy()), first.predict(X[::-1].copy()))


def test_what_has_no_trees_or_too_many_nodes_stays_as_it_is(rng, monkeypatch):
    X = rows(rng, 50, gaps=False)
    ridge, forest = Ridge().fit(X, X[:, 0]), RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    several = RandomForestRegressor(3, random_state=0).fit(X, X)
    assert [join_trees(model) for model in (ridge, several)] == [ridge, several]
    use_number(monkeypatch, joined_trees, "_MOST_NODES", 10)
    assert join_trees(forest) is forest


def _fails(*args):
    raise AttributeError("no such part in this scikit-learn")


def _other_bits(self, X):
    return 1.0 + self._model.predict(X)


@pytest.mark.filterwarnings("ignore:.* was saved with scikit-learn")
@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setattr(joined_trees._JoinedForest, "__init__", _fails),
        lambda patch: patch.setattr(joined_trees._JoinedForest, "_leaves", _fails),
        lambda patch: patch.setattr(joined_trees._JoinedForest, "predict", _other_bits),
        lambda patch: patch.setitem(sys.modules, "sklearn.tree._tree", None),
    ],
    ids=["other class", "other method", "other meaning", "no module"],
)
def test_another_scikit_learn_changes_no_prediction(monkeypatch, change):
    """Whatever happens to the inner parts of scikit-learn: the models as they were fitted predict."""
    X = np.array(json.loads((FILES / "models.json").read_text("utf-8"))["model_auto"]["X"])
    model = pacband.load(FILES / "model_auto.pacband")
    expected = model.predict_interval(X)
    change(monkeypatch)
    for _ in range(3):
        np.testing.assert_array_equal(model.predict_interval(X), expected)
    stack = model.members_[model.best_name_].predictor.stack
    assert stack._joined[0] is stack.models


@pytest.mark.filterwarnings("ignore:.* was saved with scikit-learn")
def test_a_saved_family_predicts_as_one_call_for_each_tree_does(monkeypatch):
    """The file was written before trees were joined. Every candidate has the same bits either way."""
    answer = json.loads((FILES / "models.json").read_text("utf-8"))["model_auto"]
    X = np.array(answer["X"])
    joined = pacband.load(FILES / "model_auto.pacband")
    stack = joined.members_[joined.best_name_].predictor.stack
    joined.predict(X)
    assert stack._joined is None
    joined.predict(X)
    assert stack._joined is not None
    several = {name: joined.predict_interval(X, candidate=name) for name in joined.certificates_}
    use_number(monkeypatch, joined_trees, "MOST_ROWS", 0)
    single = pacband.load(FILES / "model_auto.pacband")
    for name, ends in several.items():
        np.testing.assert_array_equal(ends, single.predict_interval(X, candidate=name))
        np.testing.assert_allclose(ends, answer["candidates"][name], rtol=1e-12)
