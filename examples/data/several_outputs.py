"""
Several outputs at once
=======================

A position has two coordinates. One promise covers both: all coordinates of an error stay within their bounds, or the
error stays within an ellipsoid.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

import pacband

# %%
# The errors of the two coordinates are correlated.
rng = np.random.default_rng(0)
covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
command = rng.uniform(-1, 1, (6000, 3))
noise = rng.multivariate_normal([0, 0], covariance, 6000)
position = command @ [[5.0, 0.0], [0.0, 5.0], [1.0, 1.0]] + noise

# %%
# A box around the prediction: the largest error of the coordinates makes the score.
promise = {"eps": 0.05, "delta": 1e-6, "random_state": 0}
box = pacband.CertifiedRegressor(LinearRegression(), **promise).fit(command, position)
print(f"box: {box.certificate_.promise}")

# %%
# An ellipsoid, for correlated errors. Its shape is any matrix that was chosen without the calibration rows.
tilted = pacband.CertifiedRegressor(LinearRegression(), gauge=covariance, **promise)
tilted.fit(command, position)
print(f"ellipsoid: {tilted.certificate_.promise}")

# %%
# The ellipsoid has the smaller area, at the same promise.
half, radius = box.certificate_.gamma, tilted.certificate_.gamma
area = np.pi * np.linalg.det(covariance) ** 0.5 * radius**2
print(f"area of the box {(2 * half) ** 2:.1f}, of the ellipsoid {area:.1f}")
(x_low, x_high), (y_low, y_high) = box.predict_interval(command[:1])[0]
print(f"the box of the first row: [{x_low:.1f}, {x_high:.1f}] by [{y_low:.1f}, {y_high:.1f}]")

errors = position - box.predict(command)
turn = np.linspace(0, 2 * np.pi, 200)
circle = np.linalg.cholesky(covariance) @ [np.cos(turn), np.sin(turn)]
figure, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
ax.scatter(*errors.T, s=4, color="0.6", linewidths=0, label="errors")
ax.plot(*(half * np.array([[-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]])), color="#c04a00", label="box")
ax.plot(*(radius * circle), color="#0072b2", label="ellipsoid")
ax.set(xlabel="error of the first output", ylabel="error of the second output", aspect="equal")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/several_outputs.png", dpi=150)
