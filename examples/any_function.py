"""Any function is a model: a PyTorch network, a simulator, a formula. It only has to take rows and give numbers.

For PyTorch: ``lambda X: network(torch.as_tensor(X, dtype=torch.float32)).detach().numpy()[:, 0]``.
"""

import numpy as np

import pacband


def pendulum_period(length_and_angle: np.ndarray) -> np.ndarray:
    """Return the textbook period 2π·sqrt(L/g), which is wrong for wide swings."""
    return 2 * np.pi * np.sqrt(length_and_angle[:, 0] / 9.81)


def width(length_and_angle: np.ndarray) -> np.ndarray:
    """Return how wrong we believe the formula to be: it grows with the square of the angle."""
    return 0.01 + length_and_angle[:, 1] ** 2


rng = np.random.default_rng(0)
swings = np.column_stack([rng.uniform(0.2, 2.0, 3000), rng.uniform(0.0, 1.2, 3000)])
# The measured period: the first terms of the true series in the angle, and some noise.
series = 1 + swings[:, 1] ** 2 / 16 + 11 * swings[:, 1] ** 4 / 3072
measured = pendulum_period(swings) * series + 0.01 * rng.standard_normal(3000)

fixed = pacband.CertifiedRegressor(pendulum_period).calibrate(swings, measured)
scaled = pacband.CertifiedRegressor(pendulum_period, scale=width).calibrate(swings, measured)
print(f"one bound for all swings:  {fixed.certificate_.promise}")
print(f"one that knows the angle:  {scaled.certificate_.promise}")

for angle in (0.1, 1.0):
    swing = np.array([[1.0, angle]])
    for name, model in (("fixed", fixed), ("scaled", scaled)):
        lower, upper = model.predict_interval(swing)[0]
        print(f"angle {angle:.1f} rad, {name:>6}: {lower:.3f} s to {upper:.3f} s")
