"""Several outputs at once: all coordinates of an error within their bounds, with one promise for all."""

import numpy as np
from sklearn.linear_model import LinearRegression

import pacband

rng = np.random.default_rng(0)
covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
command = rng.uniform(-1, 1, (6000, 3))
position = command @ [[5.0, 0.0], [0.0, 5.0], [1.0, 1.0]] + rng.multivariate_normal([0, 0], covariance, 6000)

# A box around the prediction: the largest error of the coordinates makes the score.
box = pacband.CertifiedRegressor(LinearRegression(), eps=0.05, delta=1e-6, random_state=0).fit(command, position)
print(f"box:       {box.certificate_.promise}")

# An ellipsoid, for correlated errors. Its shape is any matrix that was chosen without the calibration rows.
tilted = pacband.CertifiedRegressor(LinearRegression(), gauge=covariance, eps=0.05, delta=1e-6, random_state=0)
tilted.fit(command, position)
print(f"ellipsoid: {tilted.certificate_.promise}")

areas = (2 * box.certificate_.gamma) ** 2, np.pi * np.linalg.det(covariance) ** 0.5 * tilted.certificate_.gamma**2
print(f"area of the box {areas[0]:.1f}, of the ellipsoid {areas[1]:.1f}")
(x_low, x_high), (y_low, y_high) = box.predict_interval(command[:1])[0]
print(f"the box of the first row: [{x_low:.1f}, {x_high:.1f}] by [{y_low:.1f}, {y_high:.1f}]")
