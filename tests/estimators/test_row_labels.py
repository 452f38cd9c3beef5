"""Rows match by position: estimators and draws refuse pandas rows whose index says that they do not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import pacband
from pacband import CertifiedFamily, CertifiedRegressor, InvalidInput
from pacband.draws import Units, Weighted

X = pd.DataFrame({"a": np.linspace(0.0, 1.0, 400)})
Y = pd.Series(np.random.default_rng(0).standard_normal(400))
MIXED = Y.sort_values()
LABELS = pd.Series(np.repeat(np.arange(100), 4))
SAME = "must have the same index"


def line(table):
    return np.asarray(table["a"])


def frozen():
    return CertifiedRegressor(line, eps=0.1, delta=0.05)


@pytest.mark.parametrize(
    "act",
    [
        lambda: frozen().fit(X, MIXED),
        lambda: frozen().calibrate(X, MIXED),
        lambda: CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05).fit(X, MIXED),
        lambda: CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.05).fit(X, Y, calibration=(X + 2.0, MIXED)),
        lambda: CertifiedFamily({"a": line}, eps=0.1, delta=0.05).fit(X, MIXED),
        lambda: frozen().fit(X, Y).recalibrate(X, MIXED),
        lambda: pacband.check(frozen().fit(X, Y), X, MIXED),
        lambda: frozen().fit(X, Y, draws=Units(LABELS[::-1])),
        lambda: frozen().calibrate(X, Y, draws=Units(LABELS[::-1])),
    ],
)
def test_estimators_refuse_a_target_and_draws_of_other_rows(act):
    with pytest.raises(InvalidInput, match=SAME):
        act()


@pytest.mark.parametrize("within", ["all", "one", "average", 0.5])
@pytest.mark.parametrize("labels", [LABELS[::-1], LABELS.sample(frac=1.0, random_state=0)])
def test_labels_of_units_must_be_those_of_the_rows(within, labels):
    zeros = np.zeros(400)
    sound, mixed = Units(LABELS, within), Units(labels, within)
    certificate = pacband.certify(Y, zeros, eps=0.1, delta=0.05, draws=sound)
    for act in (
        lambda: pacband.certify(Y, zeros, eps=0.1, delta=0.05, draws=mixed),
        lambda: pacband.certify_family(Y, {"a": zeros}, eps=0.1, delta=0.05, draws=mixed),
        lambda: pacband.certify_groups(Y, zeros, LABELS < 50, eps=0.1, delta=0.05, draws=mixed),
        lambda: pacband.check(certificate, Y + 1.0, zeros, draws=mixed),
        lambda: pacband.recalibrate(certificate, Y + 1.0, zeros, draws=mixed),
        lambda: pacband.diagnose(Y, zeros, eps=0.1, delta=0.05, draws=mixed),
    ):
        with pytest.raises(InvalidInput, match=SAME):
            act()
    if within != "average":
        with pytest.raises(InvalidInput, match=SAME):
            pacband.Monitor(certificate).update(Y, zeros, draws=mixed)


@pytest.mark.parametrize("parts", [1, 2])
def test_weights_must_be_those_of_the_rows(parts):
    weights = pd.Series(np.linspace(0.1, 1.0, 400))
    one, other = (weights, weights[::-1]) if parts == 1 else ((weights, weights), (weights, weights[::-1]))
    zeros = np.zeros(400)
    pacband.certify(Y, zeros, eps=0.1, delta=0.05, draws=Weighted(one, at_most=1.0))
    with pytest.raises(InvalidInput, match=SAME):
        pacband.certify(Y, zeros, eps=0.1, delta=0.05, draws=Weighted(other, at_most=1.0))
    with pytest.raises(InvalidInput, match=SAME):
        pacband.certify_tolerance(Y, zeros, tolerance=3.0, delta=0.05, draws=Weighted(other, at_most=1.0))


def test_rows_with_the_same_labels_or_none_are_taken_by_position():
    named = pd.DataFrame({"a": X["a"].to_numpy()}, index=[f"row {k}" for k in range(400)])
    expected = frozen().fit(X, Y).certificate_.gamma
    for table, target in [(named, Y.to_numpy()), (named, Y.set_axis(named.index)), (X, Y), (X, list(Y))]:
        assert frozen().fit(table, target).certificate_.gamma == expected
