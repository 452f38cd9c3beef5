"""What certificates state about draws, given bounds, shares and future draws; and what they refuse to state."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import pacband
from pacband import InvalidInput, certify, certify_groups, certify_scores, certify_tolerance
from pacband.certificate.files import _same_numbers
from pacband.certificate.portable import decode, encode
from pacband.certificate.promise import ASSUMPTIONS, GIVEN_BOUND, OWN_SCORES, Promise
from pacband.draws import Spaced, Units, Weighted

N = 2000


@pytest.fixture(scope="module")
def errors():
    return np.random.default_rng(0).standard_normal(N)


def test_a_file_states_what_a_draw_is(errors, tmp_path):
    units = Units(np.repeat(np.arange(500), 4), within=0.5, name="machine")
    made = certify(errors, 0 * errors, eps=0.1, delta=0.01, draws=units)
    assert Promise.from_dict(made.to_dict()) == made.basis
    assert pacband.load(made.save(tmp_path / "cert.json")).basis.draws == units.kind
    assert "draws" not in certify(errors, 0 * errors).to_dict()


def test_the_draws_must_be_those_of_the_certificate(errors):
    made = certify(errors, 0 * errors, eps=0.1, delta=0.01, draws=Spaced(2))
    assert made.verify(errors, 0 * errors, draws=Spaced(2))
    with pytest.raises(InvalidInput, match="made with other draws: one row in 2 is one draw; got: "):
        made.verify(errors, 0 * errors)
    with pytest.raises(InvalidInput, match="made with other draws: one row in 2 is one draw; got: "):
        made.verify(errors, 0 * errors, draws=Spaced(3))


def test_what_promises_rest_on(errors):
    assert certify(errors, 0 * errors).assumptions == ASSUMPTIONS
    assert certify_scores(errors).assumptions == (*OWN_SCORES, ASSUMPTIONS[2])
    assert certify_tolerance(errors, 0 * errors, 3.0, delta=0.1).assumptions == (*ASSUMPTIONS[:2], GIVEN_BOUND)
    spaced = certify(errors, 0 * errors, eps=0.1, delta=0.01, draws=Spaced(2))
    near = "predictor and scale were built without rows of the series from 2 rows before the first calibration draw on"
    assert spaced.assumptions == (Spaced(2).kind.assumption, near, ASSUMPTIONS[2])


def test_other_rows_of_a_unit_count_as_seen(errors):
    """A model that knows other rows of the calibration machines is too good on them."""
    units = Units(np.repeat(np.arange(500), 4), name="machine")
    made = certify(errors, 0 * errors, eps=0.1, delta=0.01, draws=units)
    assert made.assumptions[1] == "predictor and scale were built without any row of the calibration machines"
    own = certify_scores(errors, eps=0.1, delta=0.01, draws=units)
    assert own.assumptions[1] == "what computes the scores was built without any row of the calibration machines"


def test_a_shift_leaves_y_given_x_alone(errors):
    shifted = certify(errors, 0 * errors, eps=0.1, delta=0.01, draws=Weighted(np.ones(N), at_most=1.0))
    assert "given the inputs, y has the same distribution in both" in shifted.assumptions[0]


@pytest.mark.parametrize(
    "draws", [Units(np.repeat(np.arange(500), 4), "average"), Weighted((np.ones(N), np.ones(N)), at_most=1.0)]
)
def test_a_rank_that_is_not_chosen_is_not_stated(errors, draws):
    made = certify(errors, 0 * errors, eps=0.2, delta=0.1, draws=draws)
    assert made.assumptions[2] == "ε, δ, the candidates and all seeds were chosen before looking at the scores"


def test_dependent_draws_have_no_law(errors, tmp_path):
    made = certify(errors, 0 * errors, eps=0.2, delta=0.1, draws=Spaced(4, mixing=lambda gap: 1e-5))
    assert "expected violation" not in str(made)
    assert made.to_dict()["expected_violation"] is None
    assert pacband.load(made.save(tmp_path / "cert.json")) == made
    for ask in (lambda: made.expected_violation, made.violation_interval):
        with pytest.raises(InvalidInput, match="the draws depend on each other"):
            ask()
    # The rows that the predictor was fitted on are one more part of the series.
    assert made.attained_delta == pytest.approx(binom.cdf(made.rank - 1, 500, 0.2) + 500e-5, rel=1e-9)


def test_a_sentence_is_made_of_its_own_words(errors):
    units = Units(np.repeat(np.arange(500), 4), name="errors_run")
    own = certify_scores(errors, eps=0.1, delta=0.01, draws=units)
    assert "of future errors_runs keep all their scores within " in own.promise
    groups = certify_groups(errors, 0 * errors, np.repeat(["a", "b"], N // 2), eps=0.1, delta=0.01)
    assert "of future errors in each of the 2 groups" in groups.promise


def test_scores_are_named_in_errors(errors):
    with pytest.raises(InvalidInput, match=r"^scores\b"):
        certify_scores(errors).verify(["a"] * N)


class TestGivenBound:
    def test_scores_on_the_bound_are_within_it(self):
        scores = np.repeat([1.0, 2.0, 3.0], [90, 5, 5])
        made = certify_tolerance(scores, 0 * scores, 2.0, delta=0.1)
        assert made.rank == 6
        assert made.verify(scores, 0 * scores)

    def test_the_card_says_so(self, errors):
        assert "bound γ̄, given" in certify_tolerance(errors, 0 * errors, 3.0, delta=0.1)._repr_html_()
        assert "given" not in certify(errors, 0 * errors)._repr_html_()


def test_another_count_beyond_a_chosen_bound_is_no_match():
    # All scores are equal: the r-th largest is the bound, and none is beyond it.
    scores = np.ones(300)
    assert certify(scores, 0 * scores, eps=0.1, delta=0.01).verify(scores, 0 * scores)


class TestGroups:
    labels = np.repeat(["a", "bbbb"], N // 2)

    def made(self, errors):
        return certify_groups(errors, 0 * errors, self.labels, eps=0.1, delta=0.01)

    def test_rows_of_other_tables_are_refused(self, errors):
        here, other = pd.RangeIndex(N), pd.RangeIndex(1, N + 1)
        made = certify_groups(errors, 0 * errors, self.labels, np.ones(N), eps=0.1, delta=0.01)
        columns = {"y": errors, "y_pred": 0 * errors, "groups": self.labels, "scale": np.ones(N)}
        rows = {name: pd.Series(column, index=here) for name, column in columns.items()}
        assert made.verify(**rows)
        made.interval(rows["y_pred"], rows["groups"], rows["scale"])
        for name in columns:
            moved = {**rows, name: rows[name].set_axis(other)}
            with pytest.raises(InvalidInput, match=r"index|rows"):
                made.verify(**moved)
            if name != "y":
                with pytest.raises(InvalidInput, match=r"index|rows"):
                    made.interval(moved["y_pred"], moved["groups"], moved["scale"])

    def test_every_group_must_match(self, errors):
        changed = errors.copy()
        changed[0] += 1e-3
        assert not self.made(errors).verify(changed, 0 * errors, self.labels)

    def test_the_labels_are_in_one_column(self, errors):
        lines = str(self.made(errors)).splitlines()[1:3]
        assert len({line.index("|y") for line in lines}) == 1

    def test_predictions_are_named(self, errors):
        with pytest.raises(InvalidInput, match=r"y_pred"):
            self.made(errors).interval(np.zeros((3, 2)), ["a", "a", "a"])


@pytest.mark.parametrize("value", [np.inf, -np.inf, 0.5, (1.0, -np.inf), (0.0, (2.0, np.inf))])
def test_infinite_numbers_survive_json(value):
    assert decode(encode(value)) == value


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("at least 95 % within 2.0811", "within 95 % or 2.08200", True),
        ("at least 95 % within 2.0811", "at least 95 % within 2.0845", False),
        ("at least 95 % within 2", "at least 95.05 % within 2", False),
        ("at least 95 % within 2", "at least 95 within 2", False),
        ("95 % of 3", "95 %", False),
    ],
)
def test_which_sentences_state_the_same_numbers(one, other, same):
    assert _same_numbers(one, other) is same


def test_the_number_of_candidates_is_named(errors):
    from support.certificates import changed

    with pytest.raises(pacband.CertificateError, match="n_candidates must be at least 1"):
        changed(certify(errors, 0 * errors), n_candidates=0)


def test_runs_need_a_step():
    with pytest.raises(pacband.CertificateError, match="n_steps must be at least 1"):
        Promise(eps=0.1, delta=0.1, n_steps=0)


def test_groups_of_units_stay_within_their_bound(errors):
    units = Units(np.repeat(np.arange(500), 4), within="one", name="machine")
    made = certify_groups(errors, 0 * errors, np.repeat(["a", "b"], N // 2), eps=0.1, delta=0.01, draws=units)
    assert "counted equally, are within the bound of that group" in made.promise


def test_masks_do_not_verify_labels(errors):
    labels = np.repeat(["a", "b"], N // 2)
    made = certify_groups(errors, 0 * errors, labels, eps=0.1, delta=0.01)
    assert made.verify(errors, 0 * errors, labels)
    assert not made.verify(errors, 0 * errors, {"a": labels == "a", "b": labels == "b"})
