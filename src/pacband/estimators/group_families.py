"""Several candidates in every group: each is certified, and the sharpest predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pacband.candidates.members import Member, predict_members
from pacband.certificate import GroupCertificate
from pacband.certification.arrays import certify_group_rows
from pacband.certification.terms import Terms
from pacband.core.arrays import Floats
from pacband.core.progress import Progress
from pacband.estimators.division import Calibration
from pacband.planning.shares import DeltaShare

__all__ = ["certify_candidates_in_groups"]


def certify_candidates_in_groups(
    terms: Terms, members: Mapping[str, Member], rows: Calibration, progress: Progress | None
) -> dict[str, GroupCertificate]:
    """Return every candidate's certificate, each of n_F at its share of δ, the sharpest one first."""
    terms = replace(terms, share=DeltaShare(len(members)))
    found: dict[str, GroupCertificate] = {}
    mean_width = {}
    for name, (prediction, scale) in predict_members(members, rows.X, progress).items():
        # One warning for all candidates: they are certified on the same rows.
        found[name] = certify_group_rows(
            terms, rows.y, prediction, rows.labels, scale, others=rows.others, screen=not found
        )
        mean_width[name] = _mean_width(terms.scoring.side, found[name].interval(prediction, rows.labels, scale))
    return {name: found[name] for name in sorted(mean_width, key=mean_width.__getitem__)}


def _mean_width(side: str, ends: Floats) -> float:
    """Return the mean width of a band, or the mean of its one end: what a family minimises, up to a constant."""
    lower, upper = float(np.mean(ends[..., 0])), float(np.mean(ends[..., 1]))
    return {"both": upper - lower, "upper": upper, "lower": -lower}[side]
