"""Fitted models in MLflow: logged with their certificate, loaded and served with their band.

>>> import pacband.mlflow                                              # doctest: +SKIP
>>> logged = pacband.mlflow.log_model(model, X=X_train)                # doctest: +SKIP
>>> mlflow.pyfunc.load_model(logged.model_uri).predict(new_rows)       # doctest: +SKIP

What is logged is the file that `model.save` writes, and MLflow's own description of it: no pickle. ``mlflow models
serve`` and `mlflow.pyfunc.spark_udf` work as for any model of MLflow.

MLflow sends usage data over the network unless ``MLFLOW_DISABLE_TELEMETRY=true`` is set. pacband sends nothing.
"""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pacband.core.extras import require
from pacband.delivery.columns import ANY, column_names, input_types
from pacband.delivery.numbers import describe, measure
from pacband.delivery.scoring import Scorer, output_names
from pacband.estimators.drawing import without_column
from pacband.estimators.files import load
from pacband.estimators.saving import save_model
from pacband.exceptions import InvalidInput
from pacband.models.trust import names_of
from pacband.models.versions import versions
from pacband.reporting.document import Report
from pacband.reporting.document import report as report_rows

if TYPE_CHECKING:
    from pacband.estimators.base import Certified

__all__ = ["log_model"]

# What MLflow does not allow in the name of a model, or of a registered model.
_NOT_IN_NAMES = "/:.%\"'"


def log_model(
    model: Certified,
    name: str = "model",
    *,
    X: Any = None,
    y: Any = None,
    report: Report | None = None,
    input_example: Any = None,
    trusted: Sequence[str | type] = (),
    registered_model_name: str | None = None,
    pip_requirements: Sequence[str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> Any:
    """Log a fitted model to MLflow, with its certificate. Needs the extra ``mlflow``.

    The model becomes a pyfunc. It takes the columns that the model was fitted on and returns the columns prediction,
    lower and upper; with k outputs they are numbered, prediction_0 and so on. The active run gets the certificate as
    ``certificates/<name>.json``, a report as ``reports/<name>.html``, and the metrics gamma, eps, delta and mean_width:
    γ̄ (with groups, the largest), ε, δ and the mean width of the band over X. A band with one end has no width: then the
    metric is mean_distance, the mean distance from the prediction to that end. The tags ``pacband.promise`` and
    ``pacband.certificate`` of the model, and of its registered version, are the promise in words and the digest of the
    certificate. If no run is active, a run is started, and ended again.

    Parameters
    ----------
    model : CertifiedRegressor or CertifiedFamily
        The fitted model. Models that `save` refuses, such as functions, are refused.
    name : str
        The name of the model in MLflow.
    X : array-like or dataframe, optional
        Rows as they come in production. Their types become those of the signature, and MLflow then refuses other types,
        such as integers in place of floats. Without X, the signature has the names of the columns and no types. X is
        not logged.
    y : array-like, optional
        The targets of the rows X. With them, a report of these rows is logged. It shows some of the rows.
    report : Report, optional
        A report that `pacband.report` made, to be logged instead.
    input_example : array-like or dataframe, optional
        A few rows, which are stored with the model for its readers.
    trusted : sequence of str or type
        Types that pacband cannot check, as in `save`. Their names are logged with the model: MLflow loads it without
        asking again. Load models only from a tracking store that you trust. This is true of all models in MLflow,
        because a model names the code that loads it.
    registered_model_name : str, optional
        Register the model under this name.
    pip_requirements : sequence of str, optional
        What pip installs where MLflow makes an environment for the model. By default pacband and the libraries that its
        predictions depend on, at the versions of today.
    tags : mapping of str to str, optional
        More tags of the model.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its `model_uri` is what `mlflow.pyfunc.load_model` and ``mlflow models serve --model-uri`` take.

    Examples
    --------
    >>> import mlflow                                                               # doctest: +SKIP
    >>> import pacband
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = pacband.datasets.paper_sample(5000, random_state=0)
    >>> model = pacband.CertifiedRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> with mlflow.start_run():                                                    # doctest: +SKIP
    ...     logged = pacband.mlflow.log_model(model, X=X)
    >>> mlflow.pyfunc.load_model(logged.model_uri).predict(X[:2])                   # doctest: +SKIP
    """
    mlflow = _import_mlflow()
    _check_name("name", name)
    if registered_model_name is not None:
        _check_name("registered_model_name", registered_model_name)
    if y is not None and X is None:
        raise InvalidInput("y needs the rows it belongs to: pass X as well.")
    if report is not None and not isinstance(report, Report):
        raise InvalidInput(f"report must be what pacband.report returns, got {type(report).__name__}.")
    if report is not None and y is not None:
        raise InvalidInput("pass either report or y, from which a report is made.")
    with tempfile.TemporaryDirectory(prefix="pacband-") as folder:
        # Whatever can fail here fails before MLflow has written anything.
        file = save_model(model, Path(folder) / "model.pacband", trusted=trusted)
        if report is not None and report.summary.certificate != model.certificate_:
            raise InvalidInput("report must be about the certificate of this model, got one about another.")
        certificate = model.certificate_.save(Path(folder) / f"{name}.json")
        page = report_rows(model, X, y) if y is not None else report
        written = None if page is None else page.save(Path(folder) / f"{name}.html")
        signature = _signature(model, X)
        numbers = measure(model, X)
        example = None if input_example is None else _example(model, input_example)
        names = sorted(names_of(trusted))
        needed = list(_requirements(names) if pip_requirements is None else pip_requirements)
        promise, details = model.certificate_, describe(model)
        words = {**(tags or {}), "pacband.promise": promise.promise, "pacband.certificate": promise.digest}
        with warnings.catch_warnings(), contextlib.nullcontext() if mlflow.active_run() else mlflow.start_run():
            # The signature is not guessed from an example.
            warnings.filterwarnings("ignore", ".*input example was not provided")
            logged = mlflow.pyfunc.log_model(
                name=name,
                loader_module=__name__,
                data_path=str(file),
                signature=signature,
                input_example=example,
                pip_requirements=needed,
                model_config={"trusted": names} if names else None,
                registered_model_name=registered_model_name,
                params=details,
                tags=words,
            )
            if registered_model_name is not None:
                # Earlier releases of MLflow give the tags to the logged model alone.
                for key, value in words.items():
                    mlflow.MlflowClient().set_model_version_tag(
                        registered_model_name, logged.registered_model_version, key, value
                    )
            mlflow.log_metrics(numbers, model_id=logged.model_id)
            mlflow.log_artifact(str(certificate), "certificates")
            if written is not None:
                mlflow.log_artifact(str(written), "reports")
    return logged


def _load_pyfunc(path: str, model_config: Mapping[str, Any] | None = None) -> Scorer:
    """Load a logged model. MLflow calls this function by its name."""
    return Scorer(load(path, trusted=(model_config or {}).get("trusted", ())))


def _import_mlflow() -> Any:
    with warnings.catch_warnings():
        # MLflow warns of type hints in its own modules.
        warnings.simplefilter("ignore")
        mlflow = require("mlflow", purpose="log_model")
        require("mlflow.pyfunc", purpose="log_model")
        return mlflow


def _check_name(option: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip() or set(value) & set(_NOT_IN_NAMES):
        raise InvalidInput(f"{option} must be a text without {' '.join(_NOT_IN_NAMES)}, and not empty; got {value!r}.")


def _signature(model: Certified, X: Any) -> Any:
    """Return the signature: the columns that the model reads, and those of its band."""
    types = require("mlflow.types.schema")
    columns = input_types(model, X)
    named: Sequence[str | None] = column_names(model) or [None] * len(columns)
    inputs = [
        types.ColSpec(types.AnyType() if column == ANY else column, name)
        for column, name in zip(columns, named, strict=True)
    ]
    outputs = [types.ColSpec("double", name) for name in output_names(model)]
    return require("mlflow.models").ModelSignature(types.Schema(inputs), types.Schema(outputs))


def _example(model: Certified, rows: Any) -> Any:
    """Return rows that are stored as an example, as pandas or numpy has them, or raise if the model refuses them."""
    model.predict_interval(rows)
    import narwhals as nw

    frame = nw.from_native(without_column(model.draws, rows), eager_only=True, pass_through=True)
    return frame.to_pandas() if isinstance(frame, nw.DataFrame) else np.asarray(rows)


def _requirements(trusted: Sequence[str]) -> list[str]:
    """Return what pip must install to load the model: pacband, and what its predictions depend on."""
    saved = versions()
    pinned = {"pacband[mlflow]": saved["pacband"]}
    pinned |= {name: number for name, number in saved.items() if name not in ("pacband", "python")}
    if trusted:
        owners = packages_distributions()
        packages = {"skops", *(owner for name in trusted for owner in owners.get(name.partition(".")[0], ()))}
        pinned |= {package: version(package) for package in sorted(packages)}
    return [f"{package}=={number}" for package, number in pinned.items()]
