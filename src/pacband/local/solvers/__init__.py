"""Four ways to solve the same local problems. All agree; they differ in time and memory.

============= ============================================ ========================= ==================================
solver        use it for                                   prepared at fit           work and memory of one point
============= ============================================ ========================= ==================================
`line`        exponential weights on one feature           sums over sorted samples  ⅔√M samples, one p × p system
`lowrank`     a smooth kernel, or features φ, any weight   products of the features  M samples, one p × p system
`neighbors`   many samples, `n_neighbors` = L of them      an index of the samples   L samples, one L × L (p × p) system
`dense`       a rough kernel and at most some 1,000 rows   the Gram matrix           M samples, one M × M system
============= ============================================ ========================= ==================================

M is the number of samples and p the number of features of the basis. `solver` states the contract, and
`pacband.local.choice` chooses a solver.
"""

from __future__ import annotations

from collections.abc import Mapping

from pacband.local.solvers.dense import Dense
from pacband.local.solvers.line import Line
from pacband.local.solvers.lowrank import LowRank
from pacband.local.solvers.neighbors import Neighbors
from pacband.local.solvers.solver import Solver

__all__ = ["SOLVERS"]

SOLVERS: Mapping[str, Solver] = {"dense": Dense(), "line": Line(), "lowrank": LowRank(), "neighbors": Neighbors()}
