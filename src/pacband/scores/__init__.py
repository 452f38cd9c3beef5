"""From rows to scores and back to bands: one rule, evaluated in numpy and as expressions of any engine.

`rule` holds the options, `arrays` evaluates them in numpy and `expressions` in a dataframe engine. The two evaluators
give the same bits.
"""

from pacband.scores.arrays import (
    as_prediction,
    band,
    bound,
    mean_bound,
    mean_offset,
    outwards,
    score_rows,
    scores_of,
    unanswered,
)
from pacband.scores.rule import SCALE_KINDS, Matrix, ScoreRule, scale_kind
from pacband.scores.spread import Spread, spread_of

__all__ = [
    "SCALE_KINDS",
    "Matrix",
    "ScoreRule",
    "Spread",
    "as_prediction",
    "band",
    "bound",
    "mean_bound",
    "mean_offset",
    "outwards",
    "scale_kind",
    "score_rows",
    "scores_of",
    "spread_of",
    "unanswered",
]
