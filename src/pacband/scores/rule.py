"""How a row becomes a score: one rule, the same at calibration and at prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pacband.core.checks import check_choice, check_positive
from pacband.exceptions import InvalidInput, InvalidScale
from pacband.scores.clip import Clip, check_clip
from pacband.scores.gauge import Gauge, Matrix, PointGauge, Share, as_gauge

__all__ = ["SCALE_KINDS", "ScoreRule", "scale_kind"]

SIDES = ("both", "upper", "lower")
# The side of a rule for own scores: the row is its score, and no error is computed.
OWN = "own"
POLICIES = ("raise", "violate")
# How rows are scored, by the number of parts that the scale has: none, σ̂, or the pair (σ̂⁻, σ̂⁺).
SCALE_KINDS = ("none", "symmetric", "asymmetric")


def scale_kind(scale: Any) -> str:
    """Return the kind of a scale that a user passed: None, one, or a tuple (lower, upper)."""
    return SCALE_KINDS[0 if scale is None else 2 if isinstance(scale, tuple) else 1]


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """The options that decide the score of a row.

    `pacband.scores.arrays` evaluates the rule in numpy, `pacband.scores.expressions` in any dataframe engine, to the
    same bits.

    Attributes
    ----------
    side : {"both", "upper", "lower", "own"}
        Which errors count; "own" if the user computes the scores.
    gauge : "max", tuple of tuples of float, tuple of such matrices, or Share
        For several outputs: the largest scaled error, or the norm of a positive definite matrix. For runs also one
        matrix for each step, or a share of the steps.
    min_scale : float or None
        The declared floor of σ̂, used where σ̂ is below it or NaN.
    nonfinite : {"raise", "violate"}
        Whether a NaN or infinite prediction is refused, or counted as an infinite error.
    clip : pair of float or None, or None
        The range of y, to which the ends of a band are clipped; see `pacband.scores.clip`.
    outside : {"raise", "violate"}
        Whether a y outside of this range is refused, as at calibration, or counted as an infinite error, as in every
        judgement of fresh rows.
    """

    side: str = "both"
    gauge: Gauge = "max"
    min_scale: float | None = None
    nonfinite: str = "raise"
    clip: Clip | None = None
    outside: str = "raise"

    @classmethod
    def create(cls, *, side: Any, gauge: Any, min_scale: Any, nonfinite: Any, clip: Any = None) -> ScoreRule:
        """Build the rule from what a user passed, or raise."""
        check_choice("side", side, SIDES)
        check_choice("nonfinite", nonfinite, POLICIES)
        gauge = as_gauge(gauge)
        if min_scale is not None:
            min_scale = check_positive("min_scale", min_scale, error=InvalidScale)
        rule = cls(side=side, gauge=gauge, min_scale=min_scale, nonfinite=nonfinite, clip=check_clip(clip))
        if rule.matrices and side != "both":
            raise InvalidInput(f"a matrix gauge has no sides: side must be 'both', got {side!r}.")
        return rule

    @classmethod
    def of_own_scores(cls, nonfinite: Any) -> ScoreRule:
        """Build the rule for scores that the user computes, or raise."""
        check_choice("nonfinite", nonfinite, POLICIES)
        return cls(side=OWN, nonfinite=nonfinite)

    @property
    def judging(self) -> ScoreRule:
        """The rule by which fresh rows are judged: a y outside of its declared range is a violation."""
        return self if self.clip is None else replace(self, outside="violate")

    @property
    def own(self) -> bool:
        """Whether the user computes the scores."""
        return self.side == OWN

    @property
    def share(self) -> Share | None:
        """The share of the steps that must be inside, or None where all must be."""
        return self.gauge if isinstance(self.gauge, Share) else None

    @property
    def point_gauge(self) -> PointGauge:
        """The gauge of one step; without steps, that of the row."""
        return self.gauge.of if isinstance(self.gauge, Share) else self.gauge

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """The matrices of the gauge: none, one, or one for each step."""
        gauge: Any = self.point_gauge
        if isinstance(gauge, str):
            return ()
        return gauge if self.per_step else (gauge,)

    @property
    def per_step(self) -> bool:
        """Whether every step has a matrix of its own."""
        gauge: Any = self.point_gauge
        return not isinstance(gauge, str) and not isinstance(gauge[0][0], float)

    @property
    def over_steps(self) -> bool:
        """Whether the gauge is about steps: rows of shape (n, H) are then runs of H steps."""
        return self.share is not None or self.per_step
