"""Pairs of a centre T and a scale σ̂, and the mean width of the band that each would have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pacband.candidates.blend import Blend
from pacband.candidates.names import MIXED
from pacband.candidates.stack import Band, Evaluation, Signals, Stack, mix_signals, move_to_window
from pacband.core.arrays import Floats
from pacband.scale.shrinkage import Shrinkage
from pacband.scores import ScoreRule, scores_of

__all__ = ["Centre", "Goal", "Pair", "Recipe", "list_centres", "list_recipes", "rank_pairs"]

# The width is averaged over several levels near the one of the certificate: at one level alone it is noisy.
_LEVELS = np.array([0.7, 0.85, 1.0, 1.15, 1.3])
# A scale that varies must be narrower than a constant one by this over √n, which is about one standard error.
_PENALTY = 0.3
# Below this many rows the width is too noisy to choose the share of a signal; the likelihood chooses it.
_ROWS_TO_TUNE = 1000
_MOVES = {"blend": 0.0, "blend half to window": 0.5, "window": 1.0}


@dataclass(frozen=True, eq=False)
class Centre:
    """A prediction T: the weights of the predictors, the move to the window, and its value at every row."""

    name: str
    parts: Mapping[str, float]
    towards_window: float
    values: Floats


@dataclass(frozen=True, eq=False)
class Recipe:
    """What a scale σ̂ is made of: signals and their units, and the value of their mix at every row.

    Without signals the scale is constant, and `values` is None.
    """

    name: str
    signals: Signals = ()
    values: Floats | None = None


@dataclass(frozen=True, eq=False)
class Pair:
    """A pair (T, σ̂), the mean width of its band, and that width with a penalty for a scale that varies."""

    centre: Centre
    recipe: Recipe
    shrinkage: Shrinkage | None
    width: float
    penalised_width: float

    @property
    def name(self) -> str:
        """T and σ̂, as in "blend / trees"."""
        return f"{self.centre.name} / {self.recipe.name}"

    def make_band(self, stack: Stack) -> Band:
        """Return the pair as a predictor that uses a fitted stack."""
        return Band(
            stack,
            np.array([self.centre.parts.get(name, 0.0) for name in stack.models]),
            towards_window=self.centre.towards_window,
            signals=self.recipe.signals,
            shrinkage=self.shrinkage,
        )


@dataclass(frozen=True)
class Goal:
    """What the certificate will minimise: the mean width of the band that a share `level` of the scores exceeds."""

    level: float
    scoring: ScoreRule

    def mean_width(self, target: Floats, centre: Floats, scale: Floats) -> float:
        """Return the mean of γσ̂, with γ a quantile of the scores near the level."""
        scores = scores_of(self.scoring, target, centre, scale)
        gammas = np.quantile(scores, 1.0 - np.minimum(self.level * _LEVELS, 0.99), method="higher")
        width = float(gammas.mean() * scale.mean())
        if self.scoring.side != "both":
            # As in `certify_family`: with one side, the distance from y to T on that side is part of the width.
            width += float((centre - target).mean()) * (1.0 if self.scoring.side == "upper" else -1.0)
        return width


def list_centres(blend: Blend, window_middle: Floats | None) -> list[Centre]:
    """Return every predictor, and the blend, at its place and moved to the middle of the window.

    A blend of one predictor is that predictor. It is no centre of its own: a copy would take the place of another
    candidate, and a share of δ.
    """
    alone = [Centre(name, {name: 1.0}, 0.0, blend.predictions[:, k]) for k, name in enumerate(blend.names)]
    blended = len(blend.parts) > 1
    return alone + [
        Centre(name, blend.parts, share, move_to_window(blend.centre, window_middle, share))
        for name, share in _MOVES.items()
        if (blended if share == 0.0 else window_middle is not None)
    ]


def list_recipes(values: Mapping[str, Floats]) -> list[Recipe]:
    """Return the scales to try: constant, each signal that is not zero, and the mix of the learnt ones.

    Examples
    --------
    >>> recipes = list_recipes({"spread": np.array([1.0, 3.0]), "trees": np.array([0.0, 1.0])})
    >>> [(recipe.name, recipe.signals) for recipe in recipes]
    [('constant', ()), ('spread', (('spread', 2.0),)), ('trees', (('trees', 0.5),))]
    """
    units = {name: unit for name, signal in values.items() if (unit := float(signal.mean())) > 0.0}
    signals: dict[str, Signals] = {name: ((name, unit),) for name, unit in units.items()}
    mixed = tuple((name, units[name]) for name in MIXED if name in units)
    if len(mixed) > 1:
        signals["mixed"] = mixed
    return [Recipe("constant"), *(Recipe(name, made, mix_signals(values, made)) for name, made in signals.items())]


def rank_pairs(blend: Blend, evaluation: Evaluation, target: Floats, goal: Goal) -> list[Pair]:
    """Return every pair of a centre and a scale that differs from the constant one, the sharpest first.

    Parameters
    ----------
    blend, evaluation
        The out-of-fold predictions and signals.
    target : ndarray
        The standardised target.
    goal : Goal
        How the width is measured.
    """
    centres = list_centres(blend, evaluation.window_middle)
    recipes = list_recipes(evaluation.signals)
    pairs = [_judge(centre, recipe, target, goal) for recipe in recipes for centre in centres]
    # A signal without a share is the constant scale again: a copy would take the place of another candidate.
    distinct = [pair for pair in pairs if pair.shrinkage is None or pair.shrinkage.share > 0.0]
    return sorted(distinct, key=lambda pair: pair.penalised_width)


def _judge(centre: Centre, recipe: Recipe, target: Floats, goal: Goal) -> Pair:
    """Fit the scale of a pair to its out-of-fold errors, and measure the width of its band."""
    shrinkage, scale, penalty = None, np.ones(len(target)), 0.0
    if recipe.values is not None:
        eps = goal.level if len(target) >= _ROWS_TO_TUNE else None
        shrinkage = Shrinkage.fit(recipe.values, target - centre.values, floor=1e-9, eps=eps)
        scale = shrinkage(recipe.values)
        penalty = _PENALTY / np.sqrt(len(target))
    width = goal.mean_width(target, centre.values, scale)
    return Pair(centre, recipe, shrinkage, width, width * (1.0 + penalty))
