"""From rows to scores and back to bands: one rule, evaluated in numpy and as expressions of any engine."""

from pacband.scores.rule import Matrix, ScoreRule, Spread, outwards

__all__ = ["Matrix", "ScoreRule", "Spread", "outwards"]
