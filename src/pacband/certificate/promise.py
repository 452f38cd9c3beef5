"""What all kinds of certificates share: what is promised, and how a row is scored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from pacband.certificate.about import About, as_about
from pacband.certificate.inequality import inequality, limit_of
from pacband.certificate.portable import decode_gauge, encode_gauge
from pacband.core.arrays import Floats, Numbers, as_numbers, check_same_rows
from pacband.core.checks import check_choice, check_positive_integer, check_probability
from pacband.core.wording import complement, confidence, round_up
from pacband.draws import ROWS, DrawKind, Draws, Rows, Sample, draw_kind
from pacband.exceptions import CertificateError, InvalidInput, InvalidScale
from pacband.planning import check_eps
from pacband.scores import (
    SCALE_KINDS,
    ScoreRule,
    Spread,
    as_prediction,
    as_rows,
    band,
    scale_kind,
    score_rows,
    spread_of,
)
from pacband.scores.clip import range_assumption
from pacband.scores.columns import Columns
from pacband.scores.rule import OWN

__all__ = ["ANY_EPS", "ASSUMPTIONS", "GIVEN_BOUND", "OWN_SCORES", "RUNS", "Promise", "assumptions_of"]

ASSUMPTIONS = (
    ROWS.assumption,
    "predictor and scale were built without the calibration rows",
    "ε, δ, the candidates, the rank and all seeds were chosen before looking at the scores",
)
# Two assumptions in place of the first two for scores that the user computes, and one in place of the third for a bound
# that was given.
OWN_SCORES = (
    "calibration scores and future scores are independent draws from one distribution",
    "what computes the scores was built without the calibration rows",
)
# The first assumption if a row is a run of several steps.
RUNS = "calibration runs and future runs are independent draws from one distribution"
GIVEN_BOUND = "δ, the candidates, the tolerance and all seeds were chosen before looking at the scores"
# The third assumption of a point of a curve.
_FREE_EPS = "ε need not be"
ANY_EPS = f"δ and all seeds were chosen before looking at the scores; {_FREE_EPS}"
_SCALES = {
    "none": "no scale",
    "symmetric": "a scale, one value per row",
    "asymmetric": "a scale pair (lower, upper)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Promise:
    """With confidence 1 − δ, at least 1 − ε of future rows have a score of at most γ̄.

    Every certificate has one. It states how rows are scored, so that later rows are scored by the same rule. A scale
    that was used at calibration is required later.

    Attributes
    ----------
    eps, delta : float
        ε and δ.
    scoring : ScoreRule
        How a row is scored.
    scale_kind : {"none", "symmetric", "asymmetric"}
        Whether rows are scored with a scale, and with which.
    n_outputs : int
        The number of outputs that one score combines; for runs, the outputs of each step.
    n_steps : int or None
        The number of steps of a run; None if rows have no steps.
    columns : Columns or None
        The columns of the table that was certified, if it was a table.
    assumptions : tuple of str
        What the promise rests on.
    bound_given : bool
        Whether the user gave the bound γ̄, and ε was found.
    draws : DrawKind
        What one independent draw is.
    about : About
        Who issued the certificate, and which model and target it is about.
    """

    eps: float
    delta: float
    scoring: ScoreRule = ScoreRule()  # noqa: RUF009 (it cannot be changed)
    scale_kind: str = "none"
    n_outputs: int = 1
    n_steps: int | None = None
    columns: Columns | None = None
    assumptions: tuple[str, ...] = ASSUMPTIONS
    bound_given: bool = False
    draws: DrawKind = ROWS
    about: About = About()  # noqa: RUF009 (it cannot be changed)

    def __post_init__(self) -> None:
        try:
            check_eps(self.eps)
            check_probability("delta", self.delta)
            check_positive_integer("n_outputs", self.n_outputs)
            if self.n_steps is not None:
                check_positive_integer("n_steps", self.n_steps)
            check_choice("scale_kind", self.scale_kind, SCALE_KINDS)
        except InvalidInput as error:
            raise CertificateError(f"no certificate can state this: {error}") from None
        if self.scoring.own and (self.scale_kind, self.n_outputs, self.n_steps) != ("none", 1, None):
            raise CertificateError(
                f"own scores have no scale and one output, got scale_kind {self.scale_kind!r} and n_outputs "
                f"{self.n_outputs}."
            )
        if self.columns is not None and self.columns.run is not None and len(self.columns.steps) != self.n_steps:
            raise CertificateError(f"a table of runs states its {self.n_steps} steps, got {len(self.columns.steps)}.")
        matrices = self.scoring.matrices
        if self.n_steps is None and self.scoring.over_steps:
            raise CertificateError("a gauge over steps is for runs: n_steps must be given.")
        if self.scoring.per_step and len(matrices) != self.n_steps:
            raise CertificateError(f"a gauge of {len(matrices)} steps is for as many, got n_steps {self.n_steps}.")
        if self.columns is not None and bool(self.columns.prediction) == self.scoring.own:
            raise CertificateError("a certificate made from a table states prediction columns, except for own scores.")

    def align(self, y: Any, y_pred: Any, scale: Any, *, lone_row: bool = False) -> tuple[Numbers, Numbers, Spread]:
        """Return y, T(x) and σ̂(x) as arrays of one shape, or raise unless they are what was calibrated.

        Own scores stand in place of y, and T(x) is zero. With `lone_row`, a single row may be a number, or a vector of
        its outputs.
        """
        target = self.check_outputs("scores" if self.scoring.own else "y", y, lone_row=lone_row)
        if self.scoring.own or y_pred is None:
            prediction = as_prediction(self.scoring, y_pred, target.shape)
        else:
            prediction = self.check_outputs("y_pred", y_pred, lone_row=lone_row)
        if target.shape != prediction.shape:
            raise InvalidInput(f"y and y_pred must have the same shape, got {target.shape} and {prediction.shape}.")
        self.check_scale(scale)
        return target, prediction, spread_of(self.scoring, scale, target.shape)

    def drawn(
        self, y: Any, y_pred: Any = None, scale: Any = None, *, draws: Draws | None = None
    ) -> tuple[Sample, Floats]:
        """Return the draws and their scores: every row, or as `draws` makes draws of the rows."""
        found = Rows() if draws is None else draws
        if not self.draws.makes_the_draws_of(found.kind):
            raise InvalidInput(
                f"this certificate was made with other draws: {self.draws.description}; got: {found.kind.description}."
            )
        check_same_rows(y=y, y_pred=y_pred, scale=scale)
        target, prediction, spread = self.align(y, y_pred, scale)
        sample = found.sample(len(target))
        return sample, sample.reduce(score_rows(self.scoring, target, prediction, spread))

    def scores(self, y: Any, y_pred: Any = None, scale: Any = None, *, draws: Draws | None = None) -> Floats:
        """Return the scores of the draws; see `drawn`."""
        return self.drawn(y, y_pred, scale, draws=draws)[1]

    def band(self, gamma: float | Floats, y_pred: Any, scale: Any = None) -> Floats:
        """Return the band of every row whose scores are at most γ: one γ, or one for each row.

        Its shape is (n, 2) or (n, k, 2); of runs (n, H, 2) or (n, H, k, 2).
        """
        if self.scoring.own:
            raise InvalidInput("this certificate bounds a score: there is no band around a prediction.")
        self.check_scale(scale)
        ends = band(self.scoring, gamma, self.check_outputs("y_pred", y_pred), scale)
        return ends[:, :, 0] if self.n_steps is not None and self.n_outputs == 1 else ends

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The shape of one row: () for a number, (k,) for several outputs, (H, k) for a run."""
        if self.n_steps is not None:
            return self.n_steps, self.n_outputs
        return (self.n_outputs,) if self.n_outputs > 1 else ()

    @property
    def n_columns(self) -> int:
        """How many columns of a table hold the outputs of one of its rows. The steps of a run are rows, or columns.

        If they are columns, all outputs of the first step come first, then those of the second, and so on.
        """
        by_rows = self.columns is not None and self.columns.run is not None
        return self.n_outputs if by_rows or self.n_steps is None else self.n_steps * self.n_outputs

    def at_step(self, step: int) -> Promise:
        """Return how one step of a run is bounded, as if it were a row."""
        rule = self.scoring
        gauge = rule.matrices[step] if rule.per_step else rule.point_gauge
        return replace(self, n_steps=None, columns=None, scoring=replace(rule, gauge=gauge))

    def check_outputs(self, name: str, column: Any, *, lone_row: bool = False) -> Numbers:
        """Return the column as an array with as many outputs and steps as were calibrated, or raise.

        A run may be a row of a table, with its outputs in the order of `n_columns`.
        """
        array = as_numbers(name, column, scalar=lone_row, empty=True, runs=True)
        given = array.shape
        # A column of numbers, which most promises are about, needs no other check.
        if array.ndim == 1 and self.n_outputs == 1 and self.n_steps is None:
            return array
        if lone_row and (array.ndim == 0 or array.shape in self._lone_shapes):
            array = array[None]
        if array.ndim == 2 and self.n_steps is not None and array.shape[1] == math.prod(self.row_shape):
            array = array.reshape(len(array), *self.row_shape)
        array = as_rows(self.scoring, name, array, steps=self.n_steps, empty=True)
        if self.n_steps is not None:
            if not len(array):
                return array.reshape(0, *self.row_shape)
            if array.shape[1:] != self.row_shape:
                raise InvalidInput(
                    f"this certificate bounds runs of {self.n_steps} steps and {self.n_outputs} output(s), got {name} "
                    f"of shape {given}. Runs have the shape (n, {', '.join(map(str, self.row_shape))})."
                )
            return array
        if array.ndim == 3:
            raise InvalidInput(f"this certificate bounds rows without steps, got {name} of shape {array.shape}.")
        outputs = array.shape[1] if array.ndim == 2 else 1
        if len(array) and outputs != self.n_outputs:
            raise InvalidInput(f"this certificate bounds {self.n_outputs} output(s), got {name} with {outputs}.")
        return array

    @property
    def _lone_shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of arrays that are a single row, and not a column of rows."""
        shape = self.row_shape
        return (shape, shape[:1]) if self.n_steps is not None and self.n_outputs == 1 else (shape,)

    def check_scale(self, scale: Any) -> None:
        """Raise unless the scale has the kind that was used at calibration: none, one, or a pair."""
        given = scale_kind(scale)
        if given != self.scale_kind:
            raise InvalidScale(
                f"this certificate was calibrated with {_SCALES[self.scale_kind]}, got {_SCALES[given]}."
            )

    @property
    def eps_was_chosen(self) -> bool:
        """Whether ε had to be chosen before looking at the scores; for a point of a curve it had not."""
        return not any(text.endswith(_FREE_EPS) for text in self.assumptions)

    @property
    def bound_in_unit(self) -> bool:
        """Whether γ̄ is in the unit of y. With a scale or a matrix it is a factor."""
        return self.scale_kind == "none" and not self.scoring.matrices

    def inequality(self, gamma: float) -> str:
        """Return what is bounded, in symbols."""
        return inequality(self, gamma)

    def claim(self, gamma: float) -> str:
        """Return what is promised, in words: "at least 95 % of future errors satisfy …"."""
        if self.scoring.own:
            return self.draws.sentence(self.kept, limit_of(self, gamma), noun=self.noun, verb="are at most")
        return self.draws.sentence(self.kept, self.inequality(gamma), noun=self.noun)

    @property
    def noun(self) -> str:
        """What a score belongs to, in the plural: "errors", "runs", or "scores" that the user computes."""
        if self.scoring.own:
            return "scores"
        return "errors" if self.n_steps is None else "runs"

    @property
    def subject(self) -> str:
        """What is promised something about, in the plural: "errors", "runs", "machines"."""
        return self.draws.subject(self.noun)

    @property
    def counted(self) -> str:
        """What N counts, in the plural: "samples", "runs", "machines"."""
        counted = self.draws.counted
        return "runs" if self.n_steps is not None and counted == "samples" else counted

    @property
    def confidence(self) -> str:
        """The confidence 1 − δ in words."""
        return f"With confidence {confidence(self.delta)}"

    @property
    def kept(self) -> str:
        """The share 1 − ε in words. A share that was found has many digits: it is rounded down."""
        return f"at least {complement(round_up(self.eps, 5) if self.bound_given else self.eps)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the promise as JSON-ready values."""
        rule = self.scoring
        return {
            "eps": self.eps,
            "delta": self.delta,
            "n_outputs": self.n_outputs,
            "side": rule.side,
            "scale_kind": self.scale_kind,
            "min_scale": rule.min_scale,
            "gauge": encode_gauge(rule.gauge),
            "nonfinite": rule.nonfinite,
            "columns": None if self.columns is None else self.columns.to_dict(),
            "assumptions": list(self.assumptions),
            # Written only where they apply: files of other certificates keep their bytes.
            **({} if self.n_steps is None else {"n_steps": self.n_steps}),
            **({"bound": "given"} if self.bound_given else {}),
            **({} if rule.clip is None else {"clip": list(rule.clip)}),
            # If the draws are rows, the file states nothing about draws, as it did before there were others.
            **({} if self.draws == ROWS else {"draws": self.draws.to_dict()}),
            **({"about": self.about.to_dict()} if self.about else {}),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild a promise from `to_dict`."""
        columns = content["columns"]
        try:
            scoring = _scoring(content)
            draws = draw_kind(content.get("draws"))
            about = as_about(content.get("about"))
        except InvalidInput as error:
            raise CertificateError(f"no certificate can state this: {error}") from None
        return cls(
            eps=content["eps"],
            delta=content["delta"],
            scoring=scoring,
            scale_kind=content["scale_kind"],
            n_outputs=content["n_outputs"],
            n_steps=content.get("n_steps"),
            columns=None if columns is None else Columns.from_dict(columns),
            assumptions=tuple(content["assumptions"]),
            bound_given=content.get("bound") == "given",
            draws=draws,
            about=about,
        )


def assumptions_of(
    scoring: ScoreRule, draws: DrawKind, *, bound_given: bool = False, runs: bool = False
) -> tuple[str, ...]:
    """Return what a promise about such scores and draws rests on; `runs` where a row is a run of several steps."""
    independent, built, chosen = ASSUMPTIONS
    if runs:
        independent, built = RUNS, built.replace("rows", "runs")
    if scoring.own:
        independent, built = OWN_SCORES
    built = built.replace(ROWS.unseen, draws.unseen)
    if not draws.rank_is_chosen:
        chosen = chosen.replace(", the rank", "")
    found = independent if draws == ROWS else draws.assumption, built, GIVEN_BOUND if bound_given else chosen
    return found if scoring.clip is None else (*found, range_assumption(scoring.clip))


def _scoring(content: Mapping[str, Any]) -> ScoreRule:
    """Rebuild the rule by which rows are scored, or raise."""
    gauge, min_scale = decode_gauge(content["gauge"]), content["min_scale"]
    if content["side"] != OWN:
        return ScoreRule.create(
            side=content["side"],
            gauge=gauge,
            min_scale=min_scale,
            nonfinite=content["nonfinite"],
            clip=content.get("clip"),
        )
    if gauge != "max" or min_scale is not None or "clip" in content:
        raise InvalidInput(f"own scores have no gauge, no min_scale and no clip, got {gauge!r} and {min_scale!r}.")
    return ScoreRule.of_own_scores(content["nonfinite"])
