"""What a user asks for, checked once: the promise (ε, δ), how the rank is chosen, and how a row is scored.

Every public function makes `Terms` once and passes them on. The ranks follow from the terms and from the numbers of
rows alone. They are chosen before looking at a score, whether the rows are in memory or in a database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from pacband.certificate import About, Promise
from pacband.certificate.about import as_about
from pacband.certificate.promise import assumptions_of
from pacband.core.checks import check_positive_integer
from pacband.core.labels import Label
from pacband.draws import ROWS, Draws, Rows
from pacband.draws.kinds import WeightedDraws
from pacband.exceptions import InvalidInput, NotEnoughSamples
from pacband.planning import DeltaShare, check_choice_of_rank, choose_rank, choose_samples
from pacband.planning.ranks import guess_rank
from pacband.scores import ScoreRule
from pacband.scores.columns import Columns

__all__ = ["Terms", "check_draws"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """The options of every `certify` function.

    Attributes
    ----------
    eps, delta : float
        ε and δ.
    rank : int or None
        The rank that the user chose; None leaves it to the rule.
    rule : {"exact", "paper", "maximum"}
        The rule of `plan` that chooses the rank.
    scoring : ScoreRule
        How a row is scored.
    share : DeltaShare
        The part of δ that a certificate may use: all of it, or the even part of n_F candidates.
    draws : Draws
        What one independent draw is.
    about : About
        Who issues the certificate, and which model and target it is about.
    """

    eps: float
    delta: float
    rank: int | None
    rule: str
    scoring: ScoreRule
    share: DeltaShare
    draws: Draws = Rows()  # noqa: RUF009 (it has no state)
    about: About = About()  # noqa: RUF009 (it cannot be changed)

    def __post_init__(self) -> None:
        if self.draws.kind.averages and (self.rank is not None or self.rule != "exact"):
            raise InvalidInput("rank and rule cannot be combined with within='average': such a promise has no rank.")

    @classmethod
    def create(
        cls,
        *,
        eps: Any,
        delta: Any,
        side: Any,
        min_scale: Any,
        nonfinite: Any,
        gauge: Any,
        clip: Any = None,
        rank: Any = None,
        rule: Any = "exact",
        n_candidates: Any = 1,
        draws: Any = None,
        about: Any = None,
    ) -> Self:
        """Check what a user passed, or raise."""
        eps, delta, rank = check_choice_of_rank(eps, delta, rank, rule)
        return cls(
            eps=eps,
            delta=delta,
            rank=rank,
            rule=rule,
            scoring=ScoreRule.create(side=side, gauge=gauge, min_scale=min_scale, nonfinite=nonfinite, clip=clip),
            share=DeltaShare(check_positive_integer("n_candidates", n_candidates)),
            draws=check_draws(draws),
            about=as_about(about),
        )

    def choose_rank(self, n_samples: int, share: DeltaShare | None = None) -> int:
        """Return the rank of N draws at a share of δ, or raise `NotEnoughSamples`.

        Units on average have no rank: the result is 1 if they suffice.
        """
        kind, share = self.draws.kind, share or self.share
        if isinstance(kind, WeightedDraws) and kind.slack(n_samples) >= share.budget(self.delta):
            raise InvalidInput(
                f"interval_delta={kind.interval_delta:g} uses up all of delta={self.delta:g}"
                f"{f', shared {share.n_candidates} ways' if share.n_candidates > 1 else ''}: it must be smaller."
            )
        try:
            if kind.averages:
                self._check_average(n_samples, share)
                return 1
            return choose_rank(
                n_samples,
                self.eps,
                self.delta,
                share,
                rank=self.rank,
                rule=self.rule,
                slack=self.slack(n_samples),
                slack_each=self.slack(n_samples + 1) - self.slack(n_samples),
            )
        except NotEnoughSamples as error:
            raise error if kind == ROWS else error.within(f"{kind.one_draw} is one draw") from None

    def slack(self, n_samples: int) -> Fraction:
        """Return how much of δ the dependence between N draws, and on the training rows, uses up."""
        return self.draws.kind.slack(n_samples)

    def _check_average(self, n_units: int, share: DeltaShare) -> None:
        from pacband.planning.averages import check_units

        check_units(n_units, self.eps, self.delta, share)

    def guess_rank(self, n_samples: int) -> int:
        """Return about the rank of N draws, without a decision: where to look for it first."""
        return guess_rank(n_samples, self.eps, self.delta, self.share, rank=self.rank, rule=self.rule)

    def choose_samples(self, share: DeltaShare | None = None) -> int:
        """Return the N that the rule asks for at a share of δ."""
        return choose_samples(self.eps, self.delta, share or self.share, rank=self.rank, rule=self.rule)

    def family_ranks(self, n_samples: int, shares: Mapping[str, DeltaShare]) -> dict[str, int]:
        """Return the rank of every candidate, each at its share of δ."""
        # If all of δ does not suffice, no share of it does, and this error is the clearer one.
        self.choose_rank(n_samples, DeltaShare())
        ranks = {}
        for name, share in shares.items():
            try:
                ranks[name] = self.choose_rank(n_samples, share)
            except NotEnoughSamples as error:
                weighted = f"candidate {name!r} with weight {share.weight:g}"
                raise error if share.weight is None else error.within(weighted) from None
        return ranks

    def group_ranks(self, counts: Mapping[Label, int]) -> dict[Label, int]:
        """Return the rank within every group, each at an even part of the share."""
        share, ranks = self.share.among(len(counts)), {}
        for label, n_samples in counts.items():
            try:
                ranks[label] = self.choose_rank(n_samples, share)
            except NotEnoughSamples as error:
                raise error.within(f"group {label!r}") from None
        return ranks

    def promise(
        self, *, n_outputs: int, scale_kind: str, n_steps: int | None = None, columns: Columns | None = None
    ) -> Promise:
        """Return what a certificate on these terms promises about such rows."""
        return Promise(
            eps=self.eps,
            delta=self.delta,
            scoring=self.scoring,
            scale_kind=scale_kind,
            n_outputs=n_outputs,
            n_steps=n_steps,
            columns=columns,
            draws=self.draws.kind,
            about=self.about,
            assumptions=assumptions_of(self.scoring, self.draws.kind, runs=n_steps is not None),
        )

    def promise_of(self, columns: Columns) -> Promise:
        """Return what a certificate on these terms promises about the columns of a table."""
        return self.promise(n_outputs=len(columns.target), scale_kind=columns.scale_kind, columns=columns)


def check_draws(draws: Any) -> Draws:
    """Return the draws that a user declared, or raise; None is every row."""
    if draws is None:
        return Rows()
    if not isinstance(draws, Draws):
        raise InvalidInput(f"draws must be Units, Spaced or Weighted of pacband.draws, got {type(draws).__name__}.")
    return draws
