"""Certify how wrong a prediction model can be.

pacband takes any predictor and data that the predictor has not seen, and returns a certificate: with confidence 1−δ, at
least 1−ε of future errors satisfy |y − T(x)| ≤ γ̄·σ̂(x).

>>> import pacband
>>> plan = pacband.plan(eps=0.05, delta=1e-6)
>>> plan.n_samples, plan.rank
(1310, 32)

Importing pacband loads no other library. The first use of a name loads its module.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing.TYPE_CHECKING, without the time that importing typing takes
if TYPE_CHECKING:
    from typing import Any

    from pacband import datasets, draws, mlflow, scale
    from pacband.candidates.search_plan import SearchPlan
    from pacband.certificate import About, AboutModel, Certificate, FamilyCertificate, GroupCertificate
    from pacband.certification import (
        baselines,
        certify,
        certify_family,
        certify_groups,
        certify_scores,
        certify_tolerance,
    )
    from pacband.certification.curve import certify_curve
    from pacband.certification.succession import recalibrate
    from pacband.core.signatures import generate_keys
    from pacband.diagnostics import diagnose
    from pacband.estimators.family import CertifiedFamily
    from pacband.estimators.files import load
    from pacband.estimators.regressor import CertifiedRegressor
    from pacband.exceptions import (
        CertificateError,
        InvalidInput,
        InvalidScale,
        MissingExtra,
        NotEnoughSamples,
        OutOfRange,
        PacbandError,
        PromiseWarning,
        ReusedData,
        UnknownCategories,
        UnlikelyPromise,
        UntrustedTypes,
    )
    from pacband.judging import Verdict, check
    from pacband.local import LocalKernelRidge, LocalRidge
    from pacband.models.digest import model_digest
    from pacband.models.signing import sign, verify_signature
    from pacband.monitoring import Monitor
    from pacband.planning import (
        AcceptancePlan,
        Plan,
        PlanTable,
        attained_delta,
        attained_eps,
        max_rank,
        min_samples,
        plan,
        plan_acceptance,
        plan_table,
    )
    from pacband.reporting.document import report
    from pacband.reporting.figures.acceptance import plot_acceptance
    from pacband.reporting.figures.band import plot_band
    from pacband.reporting.figures.family import plot_family
    from pacband.reporting.figures.plan_map import plot_plan
    from pacband.reporting.figures.scores import plot_scores
    from pacband.reporting.figures.slices import plot_slices
    from pacband.reporting.figures.tube import plot_tube
    from pacband.scale import ParzenScale
    from pacband.scores import Share
    from pacband.tables.applying import apply_frame
    from pacband.tables.certifying import certify_frame
    from pacband.tables.checking import check_frame
    from pacband.tables.chunks import certify_chunks

__version__ = "0.1.0"

# The home of every public name.
_HOMES = {
    "candidates.search_plan": ("SearchPlan",),
    "certificate": ("About", "AboutModel", "Certificate", "FamilyCertificate", "GroupCertificate"),
    "certification": ("certify", "certify_family", "certify_groups", "certify_scores", "certify_tolerance"),
    "certification.curve": ("certify_curve",),
    "certification.succession": ("recalibrate",),
    "core.signatures": ("generate_keys",),
    "diagnostics": ("diagnose",),
    "estimators.family": ("CertifiedFamily",),
    "estimators.files": ("load",),
    "estimators.regressor": ("CertifiedRegressor",),
    "exceptions": (
        "CertificateError",
        "InvalidInput",
        "InvalidScale",
        "MissingExtra",
        "NotEnoughSamples",
        "OutOfRange",
        "PacbandError",
        "PromiseWarning",
        "ReusedData",
        "UnknownCategories",
        "UnlikelyPromise",
        "UntrustedTypes",
    ),
    "judging": ("Verdict", "check"),
    "local": ("LocalKernelRidge", "LocalRidge"),
    "models.digest": ("model_digest",),
    "models.signing": ("sign", "verify_signature"),
    "monitoring": ("Monitor",),
    "planning": (
        "AcceptancePlan",
        "Plan",
        "PlanTable",
        "attained_delta",
        "attained_eps",
        "max_rank",
        "min_samples",
        "plan",
        "plan_acceptance",
        "plan_table",
    ),
    "reporting.document": ("report",),
    "reporting.figures.acceptance": ("plot_acceptance",),
    "reporting.figures.band": ("plot_band",),
    "reporting.figures.family": ("plot_family",),
    "reporting.figures.plan_map": ("plot_plan",),
    "reporting.figures.scores": ("plot_scores",),
    "reporting.figures.slices": ("plot_slices",),
    "reporting.figures.tube": ("plot_tube",),
    "scale": ("ParzenScale",),
    "scores": ("Share",),
    "tables.applying": ("apply_frame",),
    "tables.certifying": ("certify_frame",),
    "tables.checking": ("check_frame",),
    "tables.chunks": ("certify_chunks",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
_PUBLIC_MODULES = ("certification.baselines", "datasets", "draws", "mlflow", "scale")
_MODULES = {module.rpartition(".")[2]: module for module in _PUBLIC_MODULES}

__all__ = [
    "About",
    "AboutModel",
    "AcceptancePlan",
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
    "MissingExtra",
    "Monitor",
    "NotEnoughSamples",
    "OutOfRange",
    "PacbandError",
    "ParzenScale",
    "Plan",
    "PlanTable",
    "PromiseWarning",
    "ReusedData",
    "SearchPlan",
    "Share",
    "UnknownCategories",
    "UnlikelyPromise",
    "UntrustedTypes",
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
    "certify_scores",
    "certify_tolerance",
    "check",
    "check_frame",
    "datasets",
    "diagnose",
    "draws",
    "generate_keys",
    "load",
    "max_rank",
    "min_samples",
    "mlflow",
    "model_digest",
    "plan",
    "plan_acceptance",
    "plan_table",
    "plot_acceptance",
    "plot_band",
    "plot_family",
    "plot_plan",
    "plot_scores",
    "plot_slices",
    "plot_tube",
    "recalibrate",
    "report",
    "scale",
    "sign",
    "verify_signature",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(f"pacband.{_MODULE_OF[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"pacband.{_MODULES[name]}")
    else:
        raise AttributeError(f"module 'pacband' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
