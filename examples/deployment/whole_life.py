"""
The whole life of a model
=========================

Fit, predict, monitor, drift, alarm, successor, predict again. The last section does the same in the shell.

A model predicts the wear of a tool from speed and load. It is saved with its certificate, and predicts in production.
Then the steel changes, and errors grow. A monitor with the model and raw rows sees it and revokes the certificate. Rows
that are measured afterwards recalibrate the model: the same models, the next certificate of the chain.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

import pacband
from pacband import CertifiedFamily, Monitor
from pacband.scale import NeighborScale

rng = np.random.default_rng(1)
folder = Path(tempfile.mkdtemp())


def measure(n_rows, hardness=1.0):
    """Speed, load and wear of so many tools; hard steel makes the wear less regular."""
    X = pd.DataFrame({"speed": rng.uniform(1, 5, n_rows), "load": rng.uniform(0, 2, n_rows)})
    noise = hardness * (0.1 + 0.2 * X["load"]) * rng.standard_normal(n_rows)
    return X, 2 * X["speed"] + X["load"] + noise


# %%
# Fit: two candidates, certified together. One knows that the errors grow with the load.
X, y = measure(2000)
candidates = {
    "line": LinearRegression(),
    "line, local scale": (LinearRegression(), NeighborScale()),
}
model = CertifiedFamily(candidates, eps=0.1, delta=5e-4, random_state=0).fit(X, y)
model.save(folder / "model.pacband")
print(model.certificate_.promise)

# %%
# Predict, in another process and with other rows: the band, and the scale that makes it wide or narrow.
model = pacband.load(folder / "model.pacband")
X_new, _ = measure(3)
bands = model.predict_interval(X_new, output="frame")
print(bands.assign(scale=model.predict_scale(X_new)).round(2))

# %%
# Monitor: raw rows, a day at a time. The state survives a restart.
monitor = Monitor(model)
for day in range(60):
    X_day, y_day = measure(50, hardness=1.0 if day < 20 else 2.0)
    batch = monitor.update(X_day, y_day, batch_id=f"day {day}")
    if batch.state == "revoked":
        break
monitor.save(folder / "state.json")
print(f"Day {day}: {Monitor.load(folder / 'state.json', model)}")

figure, ax = plt.subplots(figsize=(7.4, 3.4), layout="constrained")
monitor.plot(ax)
Path("out").mkdir(exist_ok=True)
figure.savefig("out/whole_life.png", dpi=150)

# %%
# What has changed? The rows contradict the promise, and the report shows where.
X_drift, y_drift = measure(400, hardness=2.0)
print(pacband.check(model, X_drift, y_drift))
pacband.report(model, X_drift, y_drift).save(folder / "report.html")

# %%
# Recalibrate with rows that are drawn after the decision to do so. Rows that raised the alarm were selected by it.
successor = model.recalibrate(*measure(1500, hardness=2.0))
successor.save(folder / "model2.pacband")
first = next(iter(successor.certificate_.candidates.values()))
print(f"{successor.certificate_.promise}")
print(f"It is certificate {first.generation} of its chain, and follows {first.predecessor[:16]}….")

# %%
# Predict again: the bands are wider, and fresh rows do not contradict the promise.
print(successor.predict_interval(X_new, output="frame").round(2))
print(f"\n{pacband.check(successor, *measure(1000, hardness=2.0))}")
assert pacband.check(successor, *measure(1000, hardness=2.0)).holds

# %%
# The same in the shell
# ---------------------
# :download:`whole_life.sh <whole_life.sh>` needs no line of Python. It ends with an error if a step does not end with
# the exit code that it should have.
#
# .. literalinclude:: whole_life.sh
#    :language: bash
