"""
From fit to drift to successor
==============================

What becomes of a promise after deployment?

A pump's power draw is predicted from its flow. After half a year its bearings wear, and errors grow. The monitor
sees it, the certificate is followed by another, and the chain of both keeps one promise.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

import pacband

OUT = Path("out")
rng = np.random.default_rng(7)


def operate(n_rows, wear=0.0):
    """Flow and power of so many hours; worn bearings make the power less regular."""
    flow = rng.uniform(1.0, 10.0, n_rows)
    noise = (0.3 + 0.05 * flow) * (1.0 + wear) * rng.standard_normal(n_rows)
    return flow[:, None], 2.0 * flow + 0.1 * flow**2 + noise


# %%
# Fit on one part of the data, calibrate on another.
X_train, y_train = operate(3000)
model = GradientBoostingRegressor(n_estimators=60, max_depth=2, random_state=0)
model.fit(X_train, y_train)
X_cal, y_cal = operate(2500)

# %%
# Before the promise: do the calibration rows meet its assumptions?
print(pacband.diagnose(y_cal, model.predict(X_cal), X=X_cal, training=(X_train, y_train)))

# %%
# Half of δ for the first certificate, half for all that may follow: the chain holds with confidence 99.9 %.
first = pacband.certify(y_cal, model.predict(X_cal), eps=0.05, delta=5e-4)
print(first.promise)

# %%
# After deployment, a day at a time. A day that is sent twice is counted once, and state survives a restart.
OUT.mkdir(exist_ok=True)
state = OUT / "pump-state.json"
state.unlink(missing_ok=True)
monitor = pacband.Monitor(first, alpha=0.01)
for day in range(365):
    X, y = operate(24, wear=0.0 if day < 180 else 0.4)
    y[rng.random(24) < 0.02] = np.nan  # labels that never came
    batch = monitor.update(y, model.predict(X), batch_id=f"day {day}")
    if day % 60 == 0:
        monitor.save(state)
        monitor = pacband.Monitor.load(state, first)
    if batch.state == "warning":
        print(f"day {day}: {monitor.reason}")
        break

# %%
# The certificate stays in use while someone looks into it; the evidence of the whole stream follows later.
monitor.acknowledge()
while monitor.state != "revoked" and day < 1000:
    day += 1
    X, y = operate(24, wear=0.4)
    monitor.update(y, model.predict(X), batch_id=f"day {day}")
print(f"day {day}: {monitor.reason}")
monitor.save(state)
written = json.loads(state.read_text())["content"]["state"]
print(f"state file: {written}, {state.stat().st_size} bytes")

# %%
# The successor is calibrated on rows drawn after that decision, and knows whom it follows.
X_new, y_new = operate(2500, wear=0.4)
second = pacband.recalibrate(first, y_new, model.predict(X_new))
print(second)

watch = pacband.Monitor(second)
for _ in range(90):
    X, y = operate(24, wear=0.4)
    watch.update(y, model.predict(X))
print(f"after 90 days with the successor: {watch}")

# %%
# The violation rate over time, for the first certificate and for its successor. The first warning was acknowledged,
# which resets the detector and removes its line. The line that is drawn is the next warning.
figure = plt.figure(figsize=(8.0, 6.4), layout="constrained")
above, below = figure.subplots(2, 1)
monitor.plot(above)
above.axvline(180 * 24, color="0.6", lw=0.8)
above.annotate("bearings worn", (180 * 24, above.get_ylim()[1] * 0.9), fontsize="small", ha="right")
watch.plot(below)
figure.savefig(OUT / "deployment.png", dpi=150)
print(f"Figure: {OUT / 'deployment.png'}")
