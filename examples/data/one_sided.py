"""
A bound from one side
=====================

A delivery may be early, and must not be late. Only errors above the prediction count.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

import pacband
from pacband.scale import ResidualScale

# %%
# Traffic makes long trips late by more, and never early by much.
rng = np.random.default_rng(0)
distance = rng.uniform(1.0, 30.0, (6000, 1))
minutes = 5 + 2 * distance[:, 0] + distance[:, 0] * rng.gamma(2.0, 0.25, 6000)

# %%
# ``side="upper"`` bounds y from above alone. The scale lets the bound grow with the distance.
late = pacband.CertifiedRegressor(
    LinearRegression(), scale=ResidualScale(), side="upper", eps=0.05, delta=1e-3, random_state=0
).fit(distance[:4000], minutes[:4000])
print(late.certificate_)

# %%
# What the customer is told, and what came true on 2,000 fresh trips.
for kilometres in (2.0, 25.0):
    trip = [[kilometres]]
    expected, (_, latest) = late.predict(trip)[0], late.predict_interval(trip)[0]
    minutes_told = f"expected after {expected:.0f} minutes, promised within {latest:.0f}"
    print(f"{kilometres:4.0f} km: {minutes_told}")

lower, upper = late.predict_interval(distance[4000:]).T
share = (minutes[4000:] > upper).mean()
print(f"late on fresh trips: {share:.1%} (at most 5 % promised); the lower end is {lower[0]}")

figure, ax = plt.subplots(figsize=(7.4, 3.6), layout="constrained")
ax.scatter(distance[4000:, 0], minutes[4000:], s=4, color="0.5", linewidths=0, label="fresh trips")
trips = np.linspace(1.0, 30.0, 100)[:, None]
ax.plot(trips, late.predict(trips), color="0.2", label="expected")
upper = late.predict_interval(trips)[:, 1]
ax.plot(trips, upper, color="#0072b2", linewidth=2, label="promised within")
ax.set(xlabel="distance in km", ylabel="minutes")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/one_sided.png", dpi=150)
