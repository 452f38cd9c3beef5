"""The plan as a value."""

import dataclasses
import re

import pytest

from pacband import Plan, attained_delta, plan


class TestPlan:
    made = plan(0.05, 1e-6, n_samples=2407, n_candidates=10)

    def test_it_is_frozen(self):
        for field in dataclasses.fields(Plan):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(self.made, field.name, 1)

    def test_it_is_a_value(self):
        again = plan(0.05, 1e-6, n_samples=2407, n_candidates=10)
        assert self.made == again
        assert hash(self.made) == hash(again)
        assert self.made != plan(0.05, 1e-6, n_samples=2407)

    def test_what_it_holds(self):
        assert dataclasses.asdict(self.made) == {
            "eps": 0.05,
            "delta": 1e-6,
            "n_candidates": 10,
            "n_samples": 2407,
            "rank": 69,
            "rule": "exact",
        }
        assert self.made.attained_delta == attained_delta(2407, 69, 0.05, 10) <= 1e-6
        assert self.made.expected_violation == 69 / 2408

    def test_its_words(self):
        assert str(self.made) == (
            "Draw 2407 samples the model has not seen and take the score of rank 69 from the top: with confidence "
            "99.9999 %, at least 95 % of future errors stay within the bound for each of 10 candidates."
        )
        assert "candidates" not in str(plan(0.05, 1e-6))

    def test_its_card(self):
        card = self.made._repr_html_()
        assert card.startswith("<div")
        assert card.endswith("</div>")
        card = re.sub("</?span.*?>", "", card)
        for text in (str(self.made), "2407", "69", "1e-06", "exact", "0.0286545"):
            assert text in card
        assert "<script" not in card
        assert "http" not in card

    def test_the_defaults_are_the_papers_promise(self):
        assert plan() == plan(0.05, 1e-6)

    def test_with_both_given_the_pair_is_only_checked(self):
        assert plan(0.05, 1e-6, n_samples=2065, rank=3).rank == 3

    def test_as_json(self):
        content = self.made.to_dict()
        assert content["attained_delta"] == self.made.attained_delta
        assert content["expected_violation"] == self.made.expected_violation
        assert list(content)[:6] == ["eps", "delta", "n_candidates", "n_samples", "rank", "rule"]

    def test_two_candidates_are_named(self):
        assert str(plan(0.05, 1e-6, n_candidates=2)).endswith("within the bound for each of 2 candidates.")

    @pytest.mark.parametrize("name", ["samples N", "rank r", ">ε<", ">candidates<", ">rule<"])
    def test_the_rows_of_its_card(self, name):
        assert name in self.made._repr_html_()
