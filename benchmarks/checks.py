"""What the checks of rows add to `certify`: the same call with and without them, in one run.

The checks look at a few thousand rows, so that their share falls with N. The aim is at most 20 % at a million rows. At
ten thousand rows they cost about as much as the certificate itself; crepes, which checks nothing, is timed beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from crepes import ConformalRegressor

from benchmarks._timing import best_of, print_table, ratio, verdict
from pacband.certification.arrays import certify_rows
from pacband.certification.terms import Terms

SIZES = {10**4: 40, 10**5: 40, 10**6: 20, 10**7: 5}
AIM = 1.2


def main(quick: bool = False) -> None:
    rows = []
    for n_rows, repeats in SIZES.items():
        if quick and n_rows > 10**6:
            continue
        times = best_of(_contenders(n_rows), repeats=3 if quick else repeats)
        whole, bare = times["with checks"], times["without"]
        found = "" if n_rows < 10**6 else verdict(whole <= AIM * bare)
        rows.append([f"{n_rows:,}", *(f"{1e3 * times[name]:.3f}" for name in times), ratio(whole, bare), found])
    print_table(["N", "with checks, ms", "without, ms", "crepes, ms", "ratio", f"aim {AIM}× at 1e6"], rows)


def _contenders(n_rows: int) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    y_pred, scale = rng.standard_normal(n_rows), rng.uniform(0.5, 2.0, n_rows)
    y = y_pred + scale * rng.standard_normal(n_rows)
    terms = Terms.create(eps=0.05, delta=1e-6, side="both", min_scale=None, nonfinite="raise", gauge="max")
    return {
        "with checks": lambda: certify_rows(terms, y, y_pred, scale),
        "without": lambda: certify_rows(terms, y, y_pred, scale, screen=False),
        "crepes": lambda: ConformalRegressor().fit(y - y_pred, sigmas=scale).predict_int(y_pred, sigmas=scale),
    }
