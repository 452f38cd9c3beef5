"""The test of a promise about units on average: whether the mean share of violating rows is above ε.

The evidence is that of `pacband.planning.averages`, for a mean above ε. If the promise holds, its p-value is at most
the `level` with a probability of at most `level`, in any order of the units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacband.core.arrays import Floats, check_same_rows
from pacband.core.frozen import FrozenMap
from pacband.core.labels import Label
from pacband.draws import Draws, Sample, Units
from pacband.draws.kinds import UnitDraws
from pacband.exceptions import InvalidInput
from pacband.judging.judge import Judge
from pacband.judging.verdicts import Count, Verdict
from pacband.scores import score_rows
from pacband.selection.fingerprint import fingerprint_total, fingerprint_unit, shows_reuse

__all__ = ["check_average"]


def check_average(
    judge: Judge, y: Any, y_pred: Any, scale: Any, groups: Any, *, draws: Draws | None, level: float
) -> Verdict:
    """Test a promise about units on average, on each group's promise or on the one about all units."""
    basis, kind = judge.basis, judge.basis.draws
    if not isinstance(draws, Units) or not draws.kind.averages or not isinstance(kind, UnitDraws):
        raise InvalidInput(
            f"this certificate makes a promise about {kind.counted}: pass draws=Units(labels, within='average')."
        )
    masks = tuple(groups.values()) if isinstance(groups, Mapping) else groups
    check_same_rows(y=y, y_pred=y_pred, scale=scale, groups=masks, draws=draws.row_values)
    target, prediction, spread = basis.align(y, y_pred, scale)
    sample = draws.sample(len(target))
    scores = sample.reduce(score_rows(judge.scoring, target, prediction, spread))
    parts: dict[Label | None, tuple[Sample, Floats]] = {}
    if groups is not None:
        members = judge.members(groups, len(target), sample)
        parts = {
            label: (sample.part(places), sample.scores_of_part(scores, places)) for label, places in members.items()
        }
    elif judge.grouped:
        raise InvalidInput("this certificate promises within groups: pass the group of every row.")
    judged = parts if judge.grouped else {None: (sample, scores)}
    counts = {label: _count(judge, label, *part) for label, part in judged.items()}
    reused = shows_reuse(
        (judge.parts[label].data_digest, len(own), fingerprint_total(own, fingerprint_unit(judge.gamma(label))))
        for label, (_, own) in judged.items()
    )
    out_of_range = judge.count_outside(target)
    if judge.grouped:
        return Verdict(level, FrozenMap(counts), reused, out_of_range=out_of_range)
    listed = {label: _count(judge, label, *part) for label, part in parts.items()}
    return Verdict(level, FrozenMap({"": counts[None]}), reused, FrozenMap(listed), out_of_range=out_of_range)


def _count(judge: Judge, label: Label | None, sample: Sample, scores: Floats) -> Count:
    evidence = sample.evidence_at(scores, judge.gamma(label))
    return Count.of_average(evidence, judge.basis.eps, judge.basis.draws.counted)
