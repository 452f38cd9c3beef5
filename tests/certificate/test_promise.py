"""What every kind of certificate shares: which rows fit it, and how it is worded."""

import numpy as np
import pandas as pd
import pytest

from pacband.certificate.promise import Promise
from pacband.exceptions import CertificateError, InvalidInput, InvalidScale
from pacband.scores import ScoreRule
from pacband.scores.columns import Columns

ONE = Promise(eps=0.1, delta=0.01)
TWO = Promise(eps=0.1, delta=0.01, n_outputs=2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"eps": 0.0}, "eps must be"),
        ({"delta": 1.0}, r"delta must be in \(0, 1\), got 1.0"),
        ({"n_outputs": 0}, "n_outputs must be"),
        ({"scale_kind": "both"}, "scale_kind must be"),
    ],
)
def test_a_promise_states_only_what_means_something(values, message):
    with pytest.raises(CertificateError, match=f"no certificate can state this: {message}"):
        Promise(**{"eps": 0.1, "delta": 0.01, **values})


def test_targets_and_predictions_have_one_shape():
    with pytest.raises(InvalidInput, match=r"y and y_pred must have the same shape, got \(3,\) and \(2,\)\."):
        ONE.align([1.0, 2.0, 3.0], [1.0, 2.0], None)


@pytest.mark.parametrize(
    ("name", "y", "y_pred"), [("y", np.zeros((3, 2)), np.zeros(3)), ("y_pred", np.zeros(3), np.zeros((3, 2)))]
)
def test_the_column_with_other_outputs_is_named(name, y, y_pred):
    with pytest.raises(InvalidInput, match=rf"this certificate bounds 1 output\(s\), got {name} with 2\."):
        ONE.align(y, y_pred, None)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_rows_are_not_matched_by_position_where_their_labels_differ(which):
    columns = [pd.Series([1.0, 2.0], index=[0, 1]) for _ in range(3)]
    scaled = Promise(eps=0.1, delta=0.01, scale_kind="symmetric")
    assert scaled.scores(*columns).tolist() == [0.0, 0.0]
    columns[which].index = [1, 0]
    with pytest.raises(InvalidInput, match="must have the same index"):
        scaled.scores(*columns)


def test_a_lone_row_may_come_without_its_bracket():
    target, prediction, _ = ONE.align(1.0, 2.0, None, lone_row=True)
    assert (target.shape, prediction.shape) == ((1,), (1,))
    target, prediction, _ = TWO.align([1.0, 2.0], [3.0, 4.0], None, lone_row=True)
    assert (target.shape, prediction.shape) == ((1, 2), (1, 2))
    # One output: a list of two is two rows, and a frame of two columns is rows of two outputs.
    assert ONE.check_outputs("y", [1.0, 2.0], lone_row=True).shape == (2,)
    assert TWO.check_outputs("y", np.zeros((2, 2)), lone_row=True).shape == (2, 2)
    assert TWO.check_outputs("y", np.zeros((1, 2)), lone_row=True).shape == (1, 2)
    assert ONE.check_outputs("y", [1.0], lone_row=True).shape == (1,)


def test_where_rows_are_asked_for_a_lone_row_needs_its_bracket():
    with pytest.raises(InvalidInput, match=r"y must have shape \(n,\) or \(n, k\), got \(\)"):
        ONE.align(1.0, 2.0, None)
    with pytest.raises(InvalidInput, match=r"bounds 2 output\(s\), got y with 1"):
        TWO.align([1.0, 2.0], [3.0, 4.0], None)
    with pytest.raises(InvalidInput, match=r"bounds 2 output\(s\), got y with 1"):
        TWO.check_outputs("y", [1.0, 2.0, 3.0], lone_row=True)


def test_no_rows_fit_any_number_of_outputs():
    assert TWO.check_outputs("y", []).shape == (0,)


def test_a_band_needs_the_scale_of_the_calibration():
    with pytest.raises(InvalidScale, match="was calibrated with no scale, got a scale, one value per row"):
        ONE.band(1.0, [0.0], [1.0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "|y − T(x)| ≤ 1.5"),
        ({"scoring": ScoreRule(side="upper")}, "y − T(x) ≤ 1.5"),
        ({"scoring": ScoreRule(side="lower")}, "T(x) − y ≤ 1.5"),
        ({"scale_kind": "symmetric"}, "|y − T(x)| ≤ 1.5·σ̂(x)"),
        ({"scale_kind": "symmetric", "scoring": ScoreRule(min_scale=0.25)}, "|y − T(x)| ≤ 1.5·max(σ̂(x), 0.25)"),
        ({"scale_kind": "asymmetric"}, "−1.5·σ̂⁻(x) ≤ y − T(x) ≤ 1.5·σ̂⁺(x)"),
        ({"n_outputs": 2}, "|yₖ − Tₖ(x)| ≤ 1.5 in every output k"),
        ({"n_outputs": 2, "scoring": ScoreRule(side="lower")}, "Tₖ(x) − yₖ ≤ 1.5 in every output k"),
        ({"n_outputs": 2, "scale_kind": "asymmetric"}, "−1.5·σ̂⁻(x) ≤ yₖ − Tₖ(x) ≤ 1.5·σ̂⁺(x) in every output k"),
        (
            {"scoring": ScoreRule(gauge=((1.0,),)), "scale_kind": "symmetric"},
            "sqrt((y − T(x))ᵀ Σ⁻¹ (y − T(x))) ≤ 1.5·σ̂(x)",
        ),
    ],
)
def test_the_inequality_in_symbols(options, words):
    assert Promise(eps=0.1, delta=0.01, **options).inequality(1.5) == words


@pytest.mark.parametrize(
    ("gamma", "words"), [(0.12345649, "0.123457"), (0.1234564, "0.123457"), (123456.4, "123457"), (0.5, "0.5")]
)
def test_a_bound_is_rounded_up_to_six_digits(gamma, words):
    assert ONE.inequality(gamma) == f"|y − T(x)| ≤ {words}"


def test_a_floor_is_rounded_up_to_six_digits():
    floored = Promise(eps=0.1, delta=0.01, scale_kind="symmetric", scoring=ScoreRule(min_scale=0.1234561))
    assert floored.inequality(1.0) == "|y − T(x)| ≤ 1·max(σ̂(x), 0.123457)"


def test_every_part_survives_json():
    whole = Promise(
        eps=0.1,
        delta=0.01,
        scoring=ScoreRule(side="upper", min_scale=0.5, nonfinite="violate"),
        scale_kind="symmetric",
        n_outputs=2,
        columns=Columns(target=("y", "z"), prediction=("p", "q"), scale=(("s",),)),
        assumptions=("the rows are independent",),
    )
    assert Promise.from_dict(whole.to_dict()) == whole
    assert Promise.from_dict(ONE.to_dict()) == ONE
