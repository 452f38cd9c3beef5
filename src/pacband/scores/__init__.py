"""From rows to scores and back to bands: one rule, evaluated in numpy and as expressions of any engine.

`rule` holds the options, `arrays` evaluates them in numpy and `expressions` in a dataframe engine. The two evaluators
give the same bits.
"""

from pacband.scores.arrays import (
    align,
    as_prediction,
    band,
    bound,
    mean_bound,
    mean_offset,
    mean_scale,
    outwards,
    score_rows,
    scores_of,
    unanswered,
)
from pacband.scores.gauge import Gauge, Share
from pacband.scores.rule import SCALE_KINDS, ScoreRule, scale_kind
from pacband.scores.runs import RowShape, as_rows, row_shape
from pacband.scores.spread import Spread, spread_of

__all__ = [
    "SCALE_KINDS",
    "Gauge",
    "RowShape",
    "ScoreRule",
    "Share",
    "Spread",
    "align",
    "as_prediction",
    "as_rows",
    "band",
    "bound",
    "mean_bound",
    "mean_offset",
    "mean_scale",
    "outwards",
    "row_shape",
    "scale_kind",
    "score_rows",
    "scores_of",
    "spread_of",
    "unanswered",
]
