"""A band with two half-widths: where errors are skewed, it is wide on one side only."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import pacband
from pacband.scale import QuantileScale

rng = np.random.default_rng(0)
size = rng.uniform(1.0, 5.0, (5000, 1))
# Costs overrun far more than they fall short.
cost = 10 * size[:, 0] + size[:, 0] * rng.lognormal(0.0, 1.0, 5000)

model = HistGradientBoostingRegressor(loss="absolute_error", max_iter=50, random_state=0)
for name, scale in (("symmetric", None), ("asymmetric", QuantileScale())):
    certified = pacband.CertifiedRegressor(model, scale=scale, eps=0.1, delta=0.01, random_state=0)
    certified.fit(size[:3000], cost[:3000])
    lower, upper = certified.predict_interval(size[3000:]).T
    outside = ((cost[3000:] < lower) | (cost[3000:] > upper)).mean()
    print(f"{name:>10}: {certified.certificate_.inequality}")
    print(f"            mean width {np.mean(upper - lower):.1f}, violations on fresh rows {outside:.1%}")
