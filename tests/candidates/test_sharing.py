"""Which members of a family share work."""

import pytest
from sklearn.linear_model import Ridge

from pacband import LocalKernelRidge, LocalRidge
from pacband.candidates.sharing import groups_that_share


class OwnPredict(LocalRidge):
    """A subclass that changes its predictions."""

    def predict(self, X, return_std=False):
        return super().predict(X, return_std)


class OwnFit(LocalRidge):
    """A subclass that changes its fit."""

    def fit(self, X, y):
        return super().fit(X, y)


class Plain(LocalRidge):
    """A subclass that changes neither."""


def grouped(predictors, method):
    return [list(group.positions) for group in groups_that_share(predictors, method)]


@pytest.mark.parametrize("method", ["fit_grid", "predict_grid"])
def test_models_of_one_class_share_and_others_do_not(method):
    predictors = {
        "a": LocalRidge(decay=1),
        "b": Ridge(),
        "c": LocalKernelRidge(),
        "d": LocalRidge(decay=2),
        "e": Ridge(),
        "f": Plain(),
        "g": Plain(decay=3),
    }
    assert grouped(predictors, method) == [["a", "d"], ["b"], ["c"], ["e"], ["f", "g"]]


@pytest.mark.parametrize(("kind", "own"), [(OwnFit, "fit_grid"), (OwnPredict, "predict_grid")])
def test_a_subclass_with_code_of_its_own_does_not_share_it(kind, own):
    predictors = {"a": kind(decay=1), "b": kind(decay=2)}
    for method in ("fit_grid", "predict_grid"):
        assert grouped(predictors, method) == ([["a"], ["b"]] if method == own else [["a", "b"]])


@pytest.mark.parametrize("model", [LocalRidge(), Ridge(), abs], ids=["shares", "alone", "function"])
def test_a_predictor_of_several_members_is_one_model(model):
    (group,) = groups_that_share({"a": model, "b": model}, "predict_grid")
    assert group.models == [model]
    assert group.positions == {"a": 0, "b": 0}
