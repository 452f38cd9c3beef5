"""A bound from one side: a delivery promise, where late is a broken word and early is not."""

import numpy as np
from sklearn.linear_model import LinearRegression

import pacband
from pacband.scale import ResidualScale

rng = np.random.default_rng(0)
distance = rng.uniform(1.0, 30.0, (6000, 1))
# Traffic makes long trips late by more, and never early by much.
minutes = 5 + 2 * distance[:, 0] + distance[:, 0] * rng.gamma(2.0, 0.25, 6000)

late = pacband.CertifiedRegressor(
    LinearRegression(), scale=ResidualScale(), side="upper", eps=0.05, delta=1e-3, random_state=0
).fit(distance[:4000], minutes[:4000])
print(late.certificate_)

for kilometres in (2.0, 25.0):
    expected, (_, latest) = late.predict([[kilometres]])[0], late.predict_interval([[kilometres]])[0]
    print(f"{kilometres:4.0f} km: expected after {expected:.0f} minutes, promised within {latest:.0f}")

lower, upper = late.predict_interval(distance[4000:]).T
print(f"late on fresh trips: {(minutes[4000:] > upper).mean():.1%} (at most 5 % promised); the lower end is {lower[0]}")
