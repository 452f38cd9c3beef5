"""
Skewed errors
=============

Costs overrun far more than they fall short. A band with two half-widths is wide on the side where errors are large, and
narrow on the other.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import pacband
from pacband.scale import QuantileScale

rng = np.random.default_rng(0)
size = rng.uniform(1.0, 5.0, (5000, 1))
cost = 10 * size[:, 0] + size[:, 0] * rng.lognormal(0.0, 1.0, 5000)

# %%
# ``QuantileScale`` learns a lower and an upper scale by quantile regression, on the rows of the fit.
model = HistGradientBoostingRegressor(loss="absolute_error", max_iter=50, random_state=0)
bands = {}
for name, scale in (("symmetric", None), ("asymmetric", QuantileScale())):
    certified = pacband.CertifiedRegressor(model, scale=scale, eps=0.1, delta=0.01, random_state=0)
    certified.fit(size[:3000], cost[:3000])
    lower, upper = certified.predict_interval(size[3000:]).T
    bands[name] = certified
    outside = ((cost[3000:] < lower) | (cost[3000:] > upper)).mean()
    print(f"{name:>10}: {certified.certificate_.inequality}")
    width = np.mean(upper - lower)
    print(f"            mean width {width:.1f}, violations on fresh rows {outside:.1%}")

# %%
# Both bands have the same promise. The second has its width where the errors are.
figure, axes = plt.subplots(1, 2, figsize=(9.2, 3.6), sharey=True, layout="constrained")
grid = np.linspace(1.0, 5.0, 200)[:, None]
for ax, (name, certified) in zip(axes, bands.items(), strict=True):
    lower, upper = certified.predict_interval(grid).T
    ax.scatter(size[3000:, 0], cost[3000:], s=4, color="0.5", linewidths=0, label="fresh rows")
    ax.fill_between(
        grid[:, 0], lower, upper, color="#0072b2", alpha=0.25, linewidth=0, label="band"
    )
    ax.plot(grid[:, 0], certified.predict(grid), color="#0072b2", label="prediction")
    ax.set_title(name, loc="left", fontsize=10.5, fontweight="bold")
    ax.set(xlabel="size", ylim=(0, 120))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("cost")
axes[0].legend(frameon=False, loc="upper left", markerscale=2)
Path("out").mkdir(exist_ok=True)
figure.savefig("out/asymmetric.png", dpi=150)
