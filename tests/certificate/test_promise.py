"""What all certificates share: the words of the promise, and rows that must be given as at calibration."""

import json

import numpy as np
import pandas as pd
import pytest

from pacband import CertificateError, InvalidInput, InvalidScale, certify, certify_family
from pacband.certificate import Promise
from pacband.certificate.promise import assumptions_of
from pacband.draws import Units
from pacband.scores import SCALE_KINDS, ScoreRule, Share
from pacband.scores.columns import Columns
from support.certificates import ALL_KINDS, PROMISE, P, S, Y, changed, each_kind
from support.pages import Outline


@each_kind
def test_the_promise_is_in_the_words_and_in_the_html(cert):
    assert "95 %" not in cert.promise
    assert ("90 %" in cert.promise and "99 %" in cert.promise) or "No finite bound" in cert.promise
    assert "independent draws" in str(cert)
    assert getattr(cert, "headline", cert.promise).split(":")[0] in "".join(Outline(cert._repr_html_()).text)


@pytest.mark.parametrize(
    "change", [{"eps": 1.5}, {"delta": 3.0}, {"side": "x"}, {"min_scale": -3.0}, {"nonfinite": "drop"}]
)
def test_a_certificate_cannot_state_what_means_nothing(change):
    with pytest.raises(CertificateError, match="no certificate can state this"):
        changed(ALL_KINDS["constant"], **change)


def test_a_floor_of_the_scale_is_printed_as_declared_or_rounded_up():
    y, ones = np.random.default_rng(0).standard_normal(500), np.ones(500)
    for floor, text in [(0.05, "0.05"), (0.123456449, "0.123457"), (3, "3")]:
        cert = certify(y, 0 * y, ones, eps=0.1, delta=0.01, min_scale=floor)
        assert f"max(σ̂(x), {text})" in cert.promise


def test_a_certificate_remembers_how_many_outputs_it_bounds():
    with pytest.raises(InvalidInput, match=r"bounds 1 output\(s\), got y_pred with 2"):
        ALL_KINDS["constant"].interval(np.zeros((5, 2)))
    both = certify(np.c_[Y, P], np.zeros((400, 2)), **PROMISE)
    with pytest.raises(InvalidInput, match=r"bounds 2 output\(s\), got y with 1"):
        both.verify(Y, P)


def test_interval_needs_the_scale_it_was_calibrated_with():
    scaled, constant, pair = ALL_KINDS["scaled"], ALL_KINDS["constant"], ALL_KINDS["pair"]
    with pytest.raises(InvalidScale, match="was calibrated with a scale, one value per row, got no scale"):
        scaled.interval(P)
    with pytest.raises(InvalidScale, match="was calibrated with no scale, got a scale"):
        constant.interval(P, S)
    with pytest.raises(InvalidScale, match=r"was calibrated with a scale pair \(lower, upper\)"):
        pair.interval(P, S)
    for method in (scaled.bound, scaled.interval):
        with pytest.raises(InvalidScale):
            method(None)
    with pytest.raises(InvalidScale):
        scaled.verify(Y, P)


def test_the_words_are_complete():
    assert ALL_KINDS["scaled"].inequality.endswith("·max(σ̂(x), 0.001)")
    assert certify(np.c_[Y, P], np.zeros((400, 2)), **PROMISE).inequality.endswith("in every output k")
    assert certify(Y, P, side="lower", **PROMISE).inequality.startswith("T(x) − y ≤")
    assert certify_family(Y, {"only": P}, **PROMISE).promise.startswith("With confidence 99 %, at least 90 %")


def test_the_bound_in_words_is_rounded_up():
    cert = certify(Y * 1.23456789, P, **PROMISE)
    shown = float(cert.inequality.rsplit("≤", 1)[1])
    assert cert.gamma <= shown <= cert.gamma * (1 + 1e-5)


ROWS = {"y": [1.0, 2.0, 3.0], "y_pred": [0.0, 0.0, 0.0]}


def test_aligned_rows_are_arrays_of_one_shape():
    target, prediction, spread = Promise(eps=0.1, delta=0.01).align(**ROWS, scale=None)
    np.testing.assert_array_equal(target, ROWS["y"])
    assert (prediction.shape, spread.kind) == ((3,), "none")
    pair = Promise(eps=0.1, delta=0.01, scale_kind="asymmetric", scoring=ScoreRule(min_scale=0.5))
    *_, spread = pair.align(**ROWS, scale=([1.0] * 3, [2.0] * 3))
    assert (spread.kind, spread.floor) == ("asymmetric", 0.5)
    with pytest.raises(InvalidInput, match=r"y and y_pred must have the same shape, got \(3,\) and \(2,\)"):
        Promise(eps=0.1, delta=0.01).align(ROWS["y"], [0.0, 0.0], None)


def test_a_lone_row_may_come_without_its_bracket_only_where_it_is_allowed():
    one, two = (Promise(eps=0.1, delta=0.01, n_outputs=k) for k in (1, 2))
    assert one.align(1.0, 0.0, None, lone_row=True)[0].shape == (1,)
    assert two.align([1.0, 2.0], [0.0, 0.0], None, lone_row=True)[0].shape == (1, 2)
    assert one.align([1.0, 2.0], [0.0, 0.0], None, lone_row=True)[0].shape == (2,)
    with pytest.raises(
        InvalidInput,
        match=r"y must have shape \(n,\), \(n, k\) or \(n, H, k\), got \(\)\. Put a single number into a list",
    ):
        one.align(1.0, 0.0, None)
    with pytest.raises(InvalidInput, match=r"bounds 2 output\(s\), got y with 1"):
        two.align([1.0, 2.0], [0.0, 0.0], None)


@pytest.mark.parametrize("kind", SCALE_KINDS)
def test_a_scale_is_accepted_only_as_at_calibration(kind):
    scales = {"none": None, "symmetric": S, "asymmetric": (S, S)}
    promise = Promise(eps=0.1, delta=0.01, scale_kind=kind)
    for given, scale in scales.items():
        if given == kind:
            assert promise.scores(Y, P, scale).shape == (400,)
            assert promise.band(1.0, P, scale).shape == (400, 2)
        else:
            with pytest.raises(InvalidScale, match="this certificate was calibrated with"):
                promise.check_scale(scale)


INEQUALITIES = {
    "|y − T(x)| ≤ 2": {},
    "y − T(x) ≤ 2·σ̂(x)": {"scoring": ScoreRule(side="upper"), "scale_kind": "symmetric"},
    "T(x) − y ≤ 2·max(σ̂(x), 0.5)": {"scoring": ScoreRule(side="lower", min_scale=0.5), "scale_kind": "symmetric"},
    "−2·σ̂⁻(x) ≤ y − T(x) ≤ 2·σ̂⁺(x)": {"scale_kind": "asymmetric"},
    "|yₖ − Tₖ(x)| ≤ 2 in every output k": {"n_outputs": 3},
    "sqrt((y − T(x))ᵀ Σ⁻¹ (y − T(x))) ≤ 2": {"n_outputs": 2, "scoring": ScoreRule(gauge=((1.0, 0.0), (0.0, 1.0)))},
}


@pytest.mark.parametrize(("text", "options"), INEQUALITIES.items(), ids=INEQUALITIES)
def test_the_inequality_states_what_is_bounded(text, options):
    assert Promise(eps=0.1, delta=0.01, **options).inequality(2.0) == text


@pytest.mark.parametrize(
    "promise",
    [
        Promise(eps=0.1, delta=0.01),
        Promise(
            eps=0.05,
            delta=1e-6,
            scoring=ScoreRule(side="lower", min_scale=0.25, nonfinite="violate"),
            scale_kind="symmetric",
            columns=Columns(("y",), ("p",), (("s",),), "site"),
            assumptions=("rows are independent",),
        ),
        Promise(eps=0.5, delta=0.5, n_outputs=2, scoring=ScoreRule(gauge=((2.0, 0.5), (0.5, 1.0)))),
    ],
)
def test_a_promise_becomes_json_and_back(promise):
    assert Promise.from_dict(json.loads(json.dumps(promise.to_dict()))) == promise


@pytest.mark.parametrize(
    ("name", "value"),
    [("eps", 1.5), ("delta", 0.0), ("n_outputs", 0), ("scale_kind", "double"), ("side", "x"), ("gauge", [[-1.0]])],
)
def test_a_promise_that_means_nothing_is_refused(name, value):
    content = {**Promise(eps=0.1, delta=0.01).to_dict(), name: value}
    with pytest.raises(CertificateError, match=f"no certificate can state this: {name} must be"):
        Promise.from_dict(content)


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
    with pytest.raises(InvalidInput, match=r"y must have shape \(n,\), \(n, k\) or \(n, H, k\), got \(\)"):
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
        ({"n_outputs": 2, "scale_kind": "symmetric"}, "|yₖ − Tₖ(x)| ≤ 1.5·σ̂ₖ(x) in every output k"),
        ({"n_outputs": 2, "scale_kind": "asymmetric"}, "−1.5·σ̂ₖ⁻(x) ≤ yₖ − Tₖ(x) ≤ 1.5·σ̂ₖ⁺(x) in every output k"),
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


def test_a_promise_about_runs_states_their_steps():
    runs = Columns(("y",), ("p",), run="run", step="t", steps=(1.0, 2.0, 3.0))
    assert Promise(**PROMISE, n_steps=3, columns=runs).columns == runs
    with pytest.raises(CertificateError, match="a table of runs states its 4 steps, got 3"):
        Promise(**PROMISE, n_steps=4, columns=runs)
    with pytest.raises(CertificateError, match="a gauge over steps is for runs: n_steps must be given"):
        Promise(**PROMISE, scoring=ScoreRule(gauge=Share(0.5)))


def test_steps_are_rows_or_columns_of_a_table():
    by_rows = Columns(("y", "z"), ("p", "q"), run="run", step="t", steps=(1.0, 2.0, 3.0))
    by_columns = Columns(("a", "b", "c", "d", "e", "f"), ("g", "h", "i", "j", "k", "l"))
    assert TWO.n_columns == 2
    assert [
        Promise(**PROMISE, n_outputs=2, n_steps=3, columns=columns).n_columns for columns in (by_rows, by_columns, None)
    ] == [2, 6, 6]


def test_one_step_is_bounded_by_its_own_matrix_as_if_it_were_a_row():
    matrices = (((1.0, 0.0), (0.0, 1.0)), ((4.0, 0.0), (0.0, 9.0)))
    columns = Columns(("y", "z"), ("p", "q"), run="run", step="t", steps=(1.0, 2.0))
    runs = Promise(**PROMISE, n_outputs=2, n_steps=2, scoring=ScoreRule(gauge=matrices), columns=columns)
    assert runs.at_step(1) == Promise(**PROMISE, n_outputs=2, scoring=ScoreRule(gauge=matrices[1]))
    same = Promise(**PROMISE, n_outputs=2, n_steps=2, scoring=ScoreRule(gauge=Share(0.5, of=matrices[1])))
    assert same.at_step(0) == runs.at_step(1)
    largest = Promise(**PROMISE, n_steps=2, scoring=ScoreRule(gauge=Share(0.5)))
    assert largest.at_step(1) == ONE


def test_a_run_may_be_one_row_of_a_table():
    runs = Promise(**PROMISE, n_outputs=2, n_steps=3)
    y = np.arange(24.0).reshape(4, 3, 2)
    np.testing.assert_array_equal(runs.check_outputs("y", y.reshape(4, 6)), y)
    np.testing.assert_array_equal(runs.check_outputs("y", y), y)
    assert runs.check_outputs("y", []).shape == (0, 3, 2)
    with pytest.raises(
        InvalidInput, match=r"bounds runs of 3 steps and 2 output\(s\), got y of shape \(4, 5\)\. .*\(n, 3, 2\)\."
    ):
        runs.check_outputs("y", np.zeros((4, 5)))
    with pytest.raises(InvalidInput, match=r"bounds 2 output\(s\), got y with 4"):
        TWO.check_outputs("y", np.zeros((3, 4)))
    with pytest.raises(InvalidInput, match=r"bounds rows without steps, got y of shape \(1, 3, 2\)"):
        TWO.check_outputs("y", y[:1])


def test_runs_of_one_step_may_be_a_column():
    runs = Promise(**PROMISE, n_steps=1)
    assert runs.check_outputs("y", [1.0, 2.0, 3.0]).shape == (3, 1, 1)


def test_a_lone_run_is_told_from_a_column_of_runs():
    one, two = (Promise(**PROMISE, n_outputs=k, n_steps=3) for k in (1, 2))
    assert one.check_outputs("y", [1.0, 2.0, 3.0], lone_row=True).shape == (1, 3, 1)
    assert one.check_outputs("y", [[1.0], [2.0], [3.0]], lone_row=True).shape == (1, 3, 1)
    assert two.check_outputs("y", np.zeros((3, 2)), lone_row=True).shape == (1, 3, 2)
    with pytest.raises(InvalidInput, match=r"bounds runs of 3 steps and 2 output\(s\), got y of shape \(3,\)"):
        two.check_outputs("y", [1.0, 2.0, 3.0], lone_row=True)


def test_the_scores_of_units_are_one_a_unit():
    units = Units(["a", "a", "b"])
    promise = Promise(**PROMISE, draws=units.kind)
    assert sorted(promise.scores([1.0, -3.0, 2.0], [0.0, 0.0, 0.0], draws=units)) == [2.0, 3.0]


def test_what_is_counted_and_promised_is_named():
    runs, units = {"n_steps": 3}, {"draws": Units(["a"], name="machine").kind}
    named = [Promise(**PROMISE, **options) for options in ({}, runs, units, {**runs, **units})]
    assert [promise.counted for promise in named] == ["samples", "runs", "machines", "machines"]
    assert [promise.noun for promise in named] == ["errors", "runs", "errors", "runs"]


OWN = ScoreRule.of_own_scores("raise")


def test_own_scores_are_promised_without_a_prediction():
    own = Promise(**PROMISE, scoring=OWN)
    assert own.inequality(2.0) == "score ≤ 2"
    assert own.claim(2.0) == "at least 90 % of future scores are at most 2"
    assert own.noun == "scores"
    assert own.scores([1.0, -2.0]).tolist() == [1.0, -2.0]
    with pytest.raises(InvalidInput, match="pass the scores alone, without predictions"):
        own.scores([1.0], [0.0])
    with pytest.raises(InvalidInput, match="y_pred must be given"):
        ONE.scores([1.0])
    with pytest.raises(InvalidInput, match="there is no band around a prediction"):
        own.band(2.0, [0.0])


@pytest.mark.parametrize("options", [{"scale_kind": "symmetric"}, {"n_outputs": 2}, {"n_steps": 2}])
def test_own_scores_have_no_scale_and_one_output(options):
    with pytest.raises(CertificateError, match="own scores have no scale and one output"):
        Promise(**PROMISE, scoring=OWN, **options)


def test_only_a_table_of_own_scores_has_no_prediction():
    assert Promise(**PROMISE, scoring=OWN, columns=Columns(("q",), ())).columns.target == ("q",)
    for options in ({"scoring": OWN, "columns": Columns(("q",), ("p",))}, {"columns": Columns(("y",), ())}):
        with pytest.raises(CertificateError, match="states prediction columns, except for own scores"):
            Promise(**PROMISE, **options)


def test_a_promise_about_runs_rests_on_runs():
    assert assumptions_of(ScoreRule(), ONE.draws, runs=True) == (
        "calibration runs and future runs are independent draws from one distribution",
        "predictor and scale were built without the calibration runs",
        "ε, δ, the candidates, the rank and all seeds were chosen before looking at the scores",
    )


@pytest.mark.parametrize("change", [{"gauge": [[1.0]]}, {"min_scale": 0.5}, {"clip": [0.0, None]}])
def test_a_file_of_own_scores_states_nothing_about_errors(change):
    content = Promise(**PROMISE, scoring=OWN).to_dict()
    assert Promise.from_dict(content).scoring == OWN
    with pytest.raises(CertificateError, match="own scores have no gauge, no min_scale and no clip"):
        Promise.from_dict({**content, **change})
