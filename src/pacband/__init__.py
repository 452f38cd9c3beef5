"""Say how wrong a prediction model can be, and keep your word.

Bring any predictor and data it has not seen; get a certificate that, with confidence 1−δ, at least 1−ε of
future errors satisfy |y − T(x)| ≤ γ̄·σ̂(x).

>>> import pacband
>>> plan = pacband.plan(eps=0.05, delta=1e-6)
>>> plan.n_samples, plan.rank
(1310, 32)

Importing pacband loads nothing else; each name arrives with its first use.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in typing, whose import would be most of ours
if TYPE_CHECKING:
    from typing import Any

    from pacband import baselines, datasets, scale
    from pacband.certificate import Certificate, FamilyCertificate, GroupCertificate
    from pacband.certification import certify, certify_family, certify_groups
    from pacband.checking import Verdict, check, check_frame
    from pacband.curve import certify_curve
    from pacband.diagnostics import diagnose
    from pacband.estimators import CertifiedFamily, CertifiedRegressor
    from pacband.exceptions import (
        CertificateError,
        InvalidInput,
        InvalidScale,
        NotEnoughSamples,
        PacbandError,
        ReusedData,
        UnknownCategories,
    )
    from pacband.frames import apply_frame, certify_chunks, certify_frame
    from pacband.local import LocalKernelRidge, LocalRidge
    from pacband.models import load
    from pacband.monitoring import Monitor
    from pacband.planning import Plan, attained_delta, attained_eps, max_rank, min_samples, plan
    from pacband.reporting import plot_band, plot_family, plot_plan, plot_scores, plot_slices, report
    from pacband.scale import ParzenScale
    from pacband.succession import recalibrate

__version__ = "0.1.0"

_HOMES = {
    "baselines": (),
    "certificate": ("Certificate", "FamilyCertificate", "GroupCertificate"),
    "certification": ("certify", "certify_family", "certify_groups"),
    "checking": ("Verdict", "check", "check_frame"),
    "curve": ("certify_curve",),
    "datasets": (),
    "diagnostics": ("diagnose",),
    "estimators": ("CertifiedFamily", "CertifiedRegressor"),
    "exceptions": (
        "CertificateError",
        "InvalidInput",
        "InvalidScale",
        "NotEnoughSamples",
        "PacbandError",
        "ReusedData",
        "UnknownCategories",
    ),
    "frames": ("apply_frame", "certify_chunks", "certify_frame"),
    "local": ("LocalKernelRidge", "LocalRidge"),
    "models": ("load",),
    "monitoring": ("Monitor",),
    "planning": ("Plan", "attained_delta", "attained_eps", "max_rank", "min_samples", "plan"),
    "reporting": ("plot_band", "plot_family", "plot_plan", "plot_scores", "plot_slices", "report"),
    "scale": ("ParzenScale",),
    "succession": ("recalibrate",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Certificate",
    "CertificateError",
    "CertifiedFamily",
    "CertifiedRegressor",
    "FamilyCertificate",
    "GroupCertificate",
    "InvalidInput",
    "InvalidScale",
    "LocalKernelRidge",
    "LocalRidge",
    "Monitor",
    "NotEnoughSamples",
    "PacbandError",
    "ParzenScale",
    "Plan",
    "ReusedData",
    "UnknownCategories",
    "Verdict",
    "apply_frame",
    "attained_delta",
    "attained_eps",
    "baselines",
    "certify",
    "certify_chunks",
    "certify_curve",
    "certify_family",
    "certify_frame",
    "certify_groups",
    "check",
    "check_frame",
    "datasets",
    "diagnose",
    "load",
    "max_rank",
    "min_samples",
    "plan",
    "plot_band",
    "plot_family",
    "plot_plan",
    "plot_scores",
    "plot_slices",
    "recalibrate",
    "report",
    "scale",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(f"pacband.{_MODULE_OF[name]}"), name)
    elif name in _HOMES:
        value = import_module(f"pacband.{name}")
    else:
        raise AttributeError(f"module 'pacband' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
