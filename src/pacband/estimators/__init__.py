"""The scikit-learn face: estimators that fit, calibrate and then predict with a certified band.

No mathematics lives here. `CertifiedRegressor` is `certify` (or, with groups, `certify_groups`) around one pair
(T, σ̂); `CertifiedFamily` is `certify_family` around several. Rows that fit a model and rows that calibrate it are
kept apart, and refused where they can be seen not to be.
"""

from __future__ import annotations

from pacband.estimators.family import CertifiedFamily
from pacband.estimators.regressor import CertifiedRegressor

__all__ = ["CertifiedFamily", "CertifiedRegressor"]
