"""The numbers of a fitted model that a registry lists beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.certificate import FamilyCertificate, GroupCertificate

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["describe", "measure"]


def measure(model: Certified, X: Any = None) -> dict[str, float]:
    """Return γ̄, ε, δ and, with rows, the mean width of the band over them; infinite numbers are left out.

    γ̄ is that of the candidate that predicts; with groups, the largest of all groups, which bounds every row. A registry
    may store the largest float for an infinite number, and no number is better than a wrong one. If only one side is
    bounded and y has no known range, the band has no width. Then `mean_distance` stands in its place: the mean distance
    from the prediction to the end that is bounded.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pacband import CertifiedRegressor, datasets
    >>> X, y = datasets.paper_sample(5000, random_state=0)
    >>> model = CertifiedRegressor(LinearRegression(), eps=0.1, delta=0.01, random_state=0).fit(X, y)
    >>> {name: round(value, 3) for name, value in measure(model, X).items()}
    {'gamma': 13.087, 'eps': 0.1, 'delta': 0.01, 'mean_width': 26.174}
    """
    certificate: Any = model.certificate_
    numbers = {"gamma": _gamma(certificate), "eps": certificate.eps, "delta": certificate.delta}
    if X is not None:
        ends = model.predict_interval(X)
        width = float(np.mean(ends[..., 1] - ends[..., 0]))
        if math.isinf(width) and certificate.side != "both":
            prediction = model.predict(X)
            distance = prediction - ends[..., 0] if certificate.side == "lower" else ends[..., 1] - prediction
            numbers["mean_distance"] = float(np.mean(distance))
        else:
            numbers["mean_width"] = width
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


def _gamma(certificate: Any) -> float:
    if isinstance(certificate, GroupCertificate):
        return max(part.gamma for part in certificate.groups.values())
    if isinstance(certificate, FamilyCertificate):
        certificate = certificate.candidates[certificate.best]
    return float(certificate.gamma)


def describe(model: Certified) -> dict[str, str | int]:
    """Return what else a reader of the numbers must know: the kind of model, which errors are bounded, and by what."""
    certificate: Any = model.certificate_
    found: dict[str, str | int] = {
        "kind": type(model).__name__,
        "side": certificate.side,
        "scale": certificate.scale_kind,
        "draws": certificate.basis.draws.kind,
        "n_samples": certificate.n_samples,
    }
    if hasattr(model, "best_name_"):
        found["candidate"] = model.best_name_
    if isinstance(certificate, GroupCertificate):
        found["n_groups"] = len(certificate.groups)
    return found
