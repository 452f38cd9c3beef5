"""Kernel central prediction: local models that return their own scale σ̂(x) (Section 5 and the appendix).

The estimators are `ridge` and `kernel_ridge`. A fitted estimator has one `model`, made of five parts:

- `norms` and `weights` define how much a sample counts at x; `locality` finds the nearest samples.
- `kernels`, `factor` and `design` define what the fit regresses on; `products` sums it up.
- `choice` chooses the solver.
- `solvers` cut the work at all points into batches; `engine` runs them.
- `fits` compute T(x) and σ̂(x) of a batch.

`parzen` is the weighted mean of given errors, a local model without features.
"""

from __future__ import annotations

from pacband.local.kernel_ridge import LocalKernelRidge
from pacband.local.ridge import LocalRidge

__all__ = ["LocalKernelRidge", "LocalRidge"]
