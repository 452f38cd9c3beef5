"""Several candidates in every group: each is certified, and the sharpest predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pacband.candidates.members import Member, predict_members
from pacband.certificate import GroupCertificate
from pacband.certificate.family import sharpest_first
from pacband.certification.arrays import certify_group_rows
from pacband.certification.terms import Terms
from pacband.core.arrays import Floats
from pacband.core.progress import Progress
from pacband.estimators.division import Calibration
from pacband.planning.shares import DeltaShare
from pacband.scores import ScoreRule, Spread, align, as_rows, mean_bound, mean_offset, mean_scale, unanswered

__all__ = ["certify_candidates_in_groups"]


def certify_candidates_in_groups(
    terms: Terms, members: Mapping[str, Member], rows: Calibration, progress: Progress | None
) -> dict[str, GroupCertificate]:
    """Return every candidate's certificate, each of n_F at its share of δ, the sharpest one first."""
    terms = replace(terms, share=DeltaShare(len(members)))
    found: dict[str, GroupCertificate] = {}
    bounds, offsets, without_band = {}, {}, {}
    target = as_rows(terms.scoring, "y", rows.y)
    for name, (prediction, scale) in predict_members(members, rows.X, progress).items():
        # One warning for all candidates: they are certified on the same rows.
        found[name] = certify_group_rows(
            terms, rows.y, prediction, rows.labels, scale, others=rows.others, screen=not found
        )
        aligned, spread = align(terms.scoring, target, prediction, scale)
        bounds[name] = _mean_bound(terms.scoring, found[name].gamma(rows.labels), spread)
        offsets[name] = mean_offset(terms.scoring, target, aligned)
        without_band[name] = unanswered(aligned)
    return {name: found[name] for name in sharpest_first(bounds, offsets, without_band)}


def _mean_bound(scoring: ScoreRule, gammas: Floats, spread: Spread) -> float:
    """Return the mean of γ̄·σ̂ over the rows, each with the γ̄ of its own group."""
    values, counts = np.unique(gammas, return_counts=True)
    parts = [mean_bound(scoring, float(gamma), mean_scale(scoring, spread.at(gammas == gamma))) for gamma in values]
    return float(np.average(parts, weights=counts))
