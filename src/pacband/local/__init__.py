"""Kernel central prediction: local models that come with their own scale σ̂(x) (Section 5 and the appendix).

`norms` and `weights` say how much a sample counts, `kernels`, `factor` and `design` what is regressed on, `solvers`
how; `ridge` and `kernel_ridge` are the two estimators.
"""

from __future__ import annotations

from pacband.local.kernel_ridge import LocalKernelRidge
from pacband.local.ridge import LocalRidge

__all__ = ["LocalKernelRidge", "LocalRidge"]
