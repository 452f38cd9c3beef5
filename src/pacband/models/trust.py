"""Which types a model file may hold: written and read by skops, which runs nothing that is not named here.

skops trusts the estimators of scikit-learn and the arrays of numpy. To these come, each by its exact name (a whole
module would let a file call any function in it): pacband's own models, and parts of scikit-learn and scipy that are
harmless once their content has been checked (`pacband.models.soundness`).
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any
from zipfile import ZIP_DEFLATED

from sklearn.exceptions import InconsistentVersionWarning

from pacband import __version__
from pacband.exceptions import CertificateError, InvalidInput
from pacband.models.soundness import check_sound

__all__ = ["KNOWN", "UntrustedTypes", "dump", "rebuild", "versions"]

_BY_MODULE = {
    "pacband._auto.blend": ("Averaged", "Band", "Stack"),
    "pacband._auto.defaults": ("LogOfStandardised",),
    "pacband._auto.smooth": ("SmoothProcess",),
    "pacband._auto.tables": ("TableReader",),
    "pacband._auto.windows": ("ShortestWindow",),
    "pacband.local.design": ("Gram", "Regressors"),
    "pacband.local.factor": ("Factor", "Factor.features"),
    "pacband.local.kernel_ridge": ("LocalKernelRidge",),
    "pacband.local.kernels": ("Kernel",),
    "pacband.local.locality": ("Locality",),
    "pacband.local.norms": ("Norm",),
    "pacband.local.ridge": ("LocalRidge", "_FeatureMap"),
    "pacband.local.solvers.jobs": ("Model",),
    "pacband.local.weights": ("Weight",),
    "pacband.scale.band": ("QuantileBand",),
    "pacband.scale.combine": ("FloorScale", "ProductScale"),
    "pacband.scale.crossfit": ("_Reader",),
    "pacband.scale.ends": ("QuantileEnds",),
    "pacband.scale.ensemble": ("EnsembleScale", "_Ensemble"),
    "pacband.scale.leverage": ("LeverageScale",),
    "pacband.scale.neighbors": ("NeighborScale",),
    "pacband.scale.parzen": ("ParzenScale", "_nothing"),
    "pacband.scale.quantile": ("QuantileScale",),
    "pacband.scale.residual": ("ResidualScale",),
    "pacband.scale.shrinkage": ("PairShrinkage", "Shrinkage"),
    "pacband.scale.std": ("StdScale",),
    # Building a partial calls nothing, and what it will call has to be known as well.
    "functools": ("partial",),
    "numpy": ("dtype",),
    "sklearn.gaussian_process.kernels": (
        "CompoundKernel", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Hyperparameter",
        "Matern", "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel",
    ),
    "sklearn.utils.validation": ("check_array",),
    # The content of these is checked.
    "scipy.interpolate._bsplines": ("BSpline",),
    "sklearn.ensemble._hist_gradient_boosting.predictor": ("TreePredictor",),
    "sklearn.metrics._dist_metrics": ("ChebyshevDistance64", "EuclideanDistance64", "ManhattanDistance64"),
    "sklearn.neighbors._ball_tree": ("BallTree",),
    "sklearn.neighbors._kd_tree": ("KDTree",),
    "sklearn.tree._tree": ("Tree",),
    # How a BSpline calls numpy.asarray, by the release of scipy.
    "scipy._external.array_api_compat.numpy._aliases": ("asarray",),
    "scipy._lib.array_api_compat.numpy._aliases": ("asarray",),
}  # fmt: skip
KNOWN = frozenset(f"{module}.{name}" for module, names in _BY_MODULE.items() for name in names)

_VERSIONED = ("scikit-learn", "numpy", "scipy", "skops")


class UntrustedTypes(CertificateError):
    """A model file holds types that nobody has trusted; they are its attribute `types`."""

    def __init__(self, source: str, types: Sequence[str]) -> None:
        super().__init__(
            f"{source} holds {len(types)} type(s) that pacband does not know: {', '.join(types)}. If you trust the "
            f"packages they belong to, and the file, load it with trusted={list(types)}."
        )
        self.source = source
        self.types = tuple(types)


def versions() -> dict[str, str]:
    """Return the versions that a saved model depends on."""
    return {"pacband": __version__, "python": platform.python_version(), **{name: version(name) for name in _VERSIONED}}


def dump(parts: Any) -> bytes:
    """Return the parts of a model as skops writes them, or raise where they could not be read again."""
    skops = _skops()
    try:
        data: bytes = skops.dumps(parts, compression=ZIP_DEFLATED)
        strange = _strange(data)
    except Exception as error:  # an estimator of a third party may refuse in any way
        raise InvalidInput(f"the model cannot be saved: {type(error).__name__}: {error}") from error
    for name in strange:
        if not _importable(name):
            raise InvalidInput(
                f"the model cannot be saved: it holds {name}, which cannot be imported by that name. Functions and "
                "classes must stand in a module, under a name of their own."
            )
    return data


def rebuild(data: bytes, source: str, saved_with: dict[str, str], trusted: Sequence[str | type] = ()) -> dict[str, Any]:
    """Return the parts of a model, once all of its types are trusted; then check their content."""
    accepted = KNOWN | _names(trusted)
    skops = _skops()
    try:
        strange = sorted(set(_strange(data)) - accepted)
        parts: dict[str, Any] = {}
        if not strange:
            with warnings.catch_warnings():
                # One for every tree of a forest: said once, below.
                warnings.simplefilter("ignore", InconsistentVersionWarning)
                parts = skops.loads(data, trusted=sorted(accepted))
    except Exception as error:  # a class that has moved, an array that is short: it shows in any way
        raise CertificateError(
            f"{source} cannot be rebuilt here: {type(error).__name__}: {error}. It was saved with {_said(saved_with)}; "
            f"this is {_said(versions())}."
        ) from error
    if strange:
        raise UntrustedTypes(source, strange)
    check_sound(parts, source)
    if saved_with["scikit-learn"] != version("scikit-learn"):
        warnings.warn(
            f"{source} was saved with scikit-learn {saved_with['scikit-learn']}, and this is "
            f"{version('scikit-learn')}: the model may predict otherwise than the one that was certified. Calibrate it "
            "again, or use the version it was saved with.",
            stacklevel=4,
        )
    return parts


def _skops() -> Any:
    try:
        import skops.io
    except ModuleNotFoundError:
        raise InvalidInput("model files need the package skops: pip install 'pacband[cli]'.") from None
    return skops.io


def _strange(data: bytes) -> list[str]:
    """Return the types in a dump that neither skops nor pacband knows."""
    return [name for name in _skops().get_untrusted_types(data=data) if name not in KNOWN]


def _names(trusted: Iterable[str | type]) -> set[str]:
    if isinstance(trusted, (str, bool)) or not all(isinstance(item, (str, type)) for item in trusted):
        raise InvalidInput(f"trusted must be a list of names of types, got {trusted!r}.")
    return {item if isinstance(item, str) else f"{item.__module__}.{item.__qualname__}" for item in trusted}


def _importable(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if not module:
        return False
    try:
        return hasattr(import_module(module), attribute)
    except ImportError:
        # A method, by the name of its class.
        outer, _, kind = module.rpartition(".")
        try:
            return bool(outer) and hasattr(getattr(import_module(outer), kind, None), attribute)
        except ImportError:
            return False


def _said(saved: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in saved.items())
