"""
A certified model in MLflow
===========================

The model is logged with its certificate, registered, loaded, and used with its band.

It needs the extra ``mlflow``; without it, the script says so and ends. The store is a SQLite file in a temporary
folder.
"""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

import pacband

if importlib.util.find_spec("mlflow") is None:
    print("This example needs MLflow: pip install 'pacband[mlflow]'")
    sys.exit()

# MLflow sends usage data over the network unless this is set before it is imported.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
# It also prints how it makes its store.
os.environ["MLFLOW_LOGGING_LEVEL"] = "WARNING"
import mlflow

# %%
# A pump, and a model of its power.
rng = np.random.default_rng(0)


def operate(n_rows):
    """Flow, speed and power of a pump."""
    flow, speed = rng.uniform(1.0, 10.0, n_rows), rng.integers(10, 30, n_rows)
    power = 2.0 * flow + 0.1 * speed + (0.3 + 0.05 * flow) * rng.standard_normal(n_rows)
    return pd.DataFrame({"flow": flow, "speed": speed}), power


forest = RandomForestRegressor(50, min_samples_leaf=20, random_state=0)
model = pacband.CertifiedRegressor(forest, eps=0.05, delta=1e-3, random_state=0).fit(*operate(4000))

# %%
# The run, the registered model, and what a service gets that loads it.
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.create_experiment("pumps", artifact_location=Path(folder, "artifacts").as_uri())
    mlflow.set_experiment("pumps")

    # Fresh rows give the signature its types, the mean width of the band, and a report that
    # tests the promise.
    X, y = operate(1000)
    with mlflow.start_run() as run:
        logged = pacband.mlflow.log_model(model, X=X, y=y, registered_model_name="pump")
    print(mlflow.get_run(run.info.run_id).data.metrics)

    (version,) = mlflow.search_model_versions(filter_string="name='pump'")
    print(f"pump, version {version.version}: {version.tags['pacband.promise']}\n")

    # Anything that loads a model of MLflow gets the band with the prediction.
    new, _ = operate(3)
    loaded = mlflow.pyfunc.load_model("models:/pump/1")
    bands = loaded.predict(new)
    print(bands.round(2))
    assert (bands[["lower", "upper"]].to_numpy() == model.predict_interval(new)).all()

    certificate = mlflow.artifacts.download_artifacts(
        f"runs:/{run.info.run_id}/certificates/model.json"
    )
    assert pacband.load(certificate) == model.certificate_

print("\nmlflow models serve --model-uri models:/pump/1 answers the same on /invocations.")
