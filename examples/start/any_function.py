"""
Any function is a model
=======================

A PyTorch network, a simulator, a formula: a model only has to take rows and give numbers. Here it is the textbook
period of a pendulum. For PyTorch, pass
``lambda X: network(torch.as_tensor(X, dtype=torch.float32)).detach().numpy()[:, 0]``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pacband


def pendulum_period(length_and_angle: np.ndarray) -> np.ndarray:
    """Return the textbook period 2π·sqrt(L/g), which is wrong for wide swings."""
    return 2 * np.pi * np.sqrt(length_and_angle[:, 0] / 9.81)


def width(length_and_angle: np.ndarray) -> np.ndarray:
    """Return how wrong we believe the formula to be: noise, and the term that it neglects.

    The period grows by about angle²/16 of itself, and one metre has a period of 2 s.
    """
    return 0.02 + length_and_angle[:, 1] ** 2 / 8


# %%
# The measured period has the first terms of the true series in the angle, and some noise.
rng = np.random.default_rng(0)
swings = np.column_stack([rng.uniform(0.2, 2.0, 3000), rng.uniform(0.0, 1.2, 3000)])
series = 1 + swings[:, 1] ** 2 / 16 + 11 * swings[:, 1] ** 4 / 3072
measured = pendulum_period(swings) * series + 0.01 * rng.standard_normal(3000)

# %%
# Nothing has to be fitted, so that all rows certify. A scale, also a function, makes the bound depend on the input.
fixed = pacband.CertifiedRegressor(pendulum_period).calibrate(swings, measured)
scaled = pacband.CertifiedRegressor(pendulum_period, scale=width).calibrate(swings, measured)
print(f"one bound for all swings: {fixed.certificate_.promise}")
print(f"one that knows the angle: {scaled.certificate_.promise}")

# %%
# Both make the same promise. The second is far sharper where the formula is good, and a little wider for the widest
# swings.
for angle in (0.1, 1.0):
    swing = np.array([[1.0, angle]])
    for name, model in (("fixed", fixed), ("scaled", scaled)):
        lower, upper = model.predict_interval(swing)[0]
        print(f"angle {angle:.1f} rad, {name:>6}: {lower:.3f} s to {upper:.3f} s")

figure, ax = plt.subplots(figsize=(7.4, 3.6), layout="constrained")
errors = measured - pendulum_period(swings)
ax.scatter(swings[:, 1], errors, s=4, color="0.5", linewidths=0, label="errors")
angles = np.column_stack([np.ones(100), np.linspace(0.0, 1.2, 100)])
for name, model, color in (("fixed", fixed, "#c04a00"), ("scaled", scaled, "#0072b2")):
    ends = model.predict_interval(angles) - model.predict(angles)[:, None]
    ax.plot(angles[:, 1], ends, color=color, label=[f"{name} bound", None])
ax.set(xlabel="angle in rad", ylabel="measured − predicted period in s", ylim=(-0.3, 0.5))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left", markerscale=2)
Path("out").mkdir(exist_ok=True)
figure.savefig("out/any_function.png", dpi=150)
