"""Bands at the same guarantee: those of the automatic family, and those of a rival's predictions."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

import pacband
from benchmarks._tables import Array, Split
from pacband.candidates.automatic import AutoFamily, auto_candidates
from pacband.candidates.entrants import entrants
from pacband.candidates.members import predict_members
from pacband.certification.arrays import certify_family_rows
from pacband.certification.terms import Terms

__all__ = ["DELTA", "EPS", "Outcome", "certified", "judge", "mean_width", "run_ours", "run_rival"]

EPS, DELTA = 0.1, 0.05


@dataclass(frozen=True)
class Outcome:
    """What a method made of a split: the mean width of its band, its violations, the seconds, and its version."""

    width: float
    violations: float
    seconds: float
    version: str = ""


def judge(split: Split, ends: Array, seconds: float, version: str = "") -> Outcome:
    """Return the mean width of a band at the test rows, and the share of them outside."""
    outside = (split.y_test < ends[:, 0]) | (split.y_test > ends[:, 1])
    return Outcome(float((ends[:, 1] - ends[:, 0]).mean()), float(outside.mean()), seconds, version)


def mean_width(outcomes: list[Outcome]) -> float:
    """Return the mean of the widths, over seeds."""
    return float(np.mean([outcome.width for outcome in outcomes]))


def certified(split: Split, **options: Any) -> tuple[AutoFamily, pacband.FamilyCertificate, Callable[[Any], Array]]:
    """Return the automatic family of the training rows, its certificate, and its band at any rows."""
    family = auto_candidates(split.X, split.y, eps=EPS, delta=DELTA, n_calibration=len(split.y_cal), **options)
    terms = Terms.create(eps=EPS, delta=DELTA, side="both", min_scale=None, nonfinite="raise", gauge="max")
    shares = entrants(terms, list(family.members), len(split.y_cal))
    members = {name: family.members[name] for name in shares}
    certificate = certify_family_rows(terms, split.y_cal, predict_members(members, split.X_cal), shares)
    best = members[certificate.best]
    return family, certificate, lambda X: certificate.interval(*best.predict_with_scale(X))


def run_ours(split: Split, seconds: float) -> Outcome:
    """Return the outcome of the automatic family with a time budget."""
    start = perf_counter()
    _, _, interval = certified(split, time_budget=seconds)
    took = perf_counter() - start
    return judge(split, np.asarray(interval(split.X_test)), took, pacband.__version__)


def run_rival(python: Path, name: str, split: Split, seconds: float, seed: int) -> Outcome | str:
    """Return the outcome of a rival, fitted by a process of its own environment; or the last line of its error.

    Its band is the one that our certificate of its score would promise: the r-th largest score of the calibration
    rows, with the r that `max_rank` allows for the whole δ.
    """
    with TemporaryDirectory(prefix="pacband-rival-") as made:
        folder = Path(made)
        split.X.assign(**{"target of the table": split.y}).to_parquet(folder / "train.parquet", index=False)
        pd.concat([split.X_cal, split.X_test]).to_parquet(folder / "unseen.parquet", index=False)
        program = [python, Path(__file__).with_name("_rivals.py"), name, folder, seconds, seed]
        done = subprocess.run(list(map(str, program)), capture_output=True, text=True, check=False)
        if done.returncode:
            return next(reversed(done.stderr.strip().splitlines()), "no error message")
        found = pd.read_parquet(folder / "predictions.parquet")
        printed = json.loads(done.stdout.strip().splitlines()[-1])
    ends = _band(found, split)
    return judge(split, ends, printed["seconds"], printed["version"])


def _band(found: pd.DataFrame, split: Split) -> Array:
    """Return the band at the test rows: the predictions are those of the calibration rows, then of the test rows."""
    n = len(split.y_cal)
    columns = {name: column.to_numpy(np.float64) for name, column in found.items()}
    if "low" in columns:
        low, high = columns["low"], columns["high"]
        scores, margins = np.maximum(low[:n] - split.y_cal, split.y_cal - high[:n]), np.ones(len(low) - n)
    else:
        low = high = columns["centre"]
        scale = columns.get("scale", np.ones(len(low)))
        scores, margins = np.abs(split.y_cal - low[:n]) / scale[:n], scale[n:]
    bound = np.sort(scores)[n - pacband.max_rank(n, EPS, DELTA)]
    low, high = low[n:] - bound * margins, high[n:] + bound * margins
    # Quantiles that cross and a negative bound would make an end pass the other: no point is then inside.
    return np.column_stack([low, np.maximum(low, high)])
