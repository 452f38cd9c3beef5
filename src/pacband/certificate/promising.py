"""What every kind of certificate states about its promise, read from the `Promise` that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pacband.certificate.about import About
from pacband.certificate.portable import Portable
from pacband.certificate.promise import Promise
from pacband.scores import Gauge
from pacband.scores.clip import Clip
from pacband.scores.columns import Columns

__all__ = ["Promising"]


class Promising(Portable):
    """A certificate: a value that can be saved, with one promise, its `basis`."""

    if TYPE_CHECKING:

        @property
        def basis(self) -> Promise:
            """What is promised, and how a row is scored: a field of some kinds, computed by others."""

        @property
        def promise(self) -> str:
            """The promise in one sentence."""

    @property
    def headline(self) -> str:
        """The first sentence of a page: the promise; for a family, that of its best candidate, with its number."""
        return self.promise

    @property
    def eps(self) -> float:
        """The violation ε."""
        return self.basis.eps

    @property
    def delta(self) -> float:
        """The probability δ that the promise fails; of several candidates, that any of them does."""
        return self.basis.delta

    @property
    def n_outputs(self) -> int:
        """The number of outputs that one score combines."""
        return self.basis.n_outputs

    @property
    def n_steps(self) -> int | None:
        """The number of steps of a run; None if rows have no steps."""
        return self.basis.n_steps

    @property
    def side(self) -> str:
        """Which errors are bounded: "both", "upper" or "lower"; "own" if the user computes the scores."""
        return self.basis.scoring.side

    @property
    def bound_given(self) -> bool:
        """Whether the user gave the bound, and the share was found."""
        return self.basis.bound_given

    @property
    def gauge(self) -> Gauge:
        """How the errors of a row make one score: "max", a matrix as tuples, one for each step, or a Share."""
        return self.basis.scoring.gauge

    @property
    def min_scale(self) -> float | None:
        """The declared floor of σ̂."""
        return self.basis.scoring.min_scale

    @property
    def clip(self) -> Clip | None:
        """The range (low, high) of y to which the ends of the band are clipped; None is no limit."""
        return self.basis.scoring.clip

    @property
    def nonfinite(self) -> str:
        """The policy for NaN and infinite predictions: "raise" refuses them, "violate" counts infinite errors."""
        return self.basis.scoring.nonfinite

    @property
    def scale_kind(self) -> str:
        """The scale that rows were scored with, and that `interval` needs: "none", "symmetric" or "asymmetric"."""
        return self.basis.scale_kind

    @property
    def columns(self) -> Columns | None:
        """The columns of the table it was made from, if it was made from one."""
        return self.basis.columns

    @property
    def about(self) -> About:
        """Who issued the certificate, and which model and target it is about."""
        return self.basis.about

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promise rests on."""
        return self.basis.assumptions
