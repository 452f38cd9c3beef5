"""
Errors in per cent
==================

Prices: errors in per cent rather than in euros, three ways. None of them promises a negative price.

1. An absolute band that is clipped to the range of the target: ``clip=(0, None)``.
2. The relative error: with the scale ``σ̂(x) = |T(x)|``, the bound γ̄ is ``|y − T(x)| / |T(x)|``.
3. A factor: the model and its certificate are about log y. The exponential is monotonic, so that the ends of the band
   of log y give the ends of a band of y, with the same promise.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import pacband

PROMISE = {"eps": 0.1, "delta": 0.01}


def draw(rng, n_rows):
    """Return floor area in square metres, and prices in thousands whose noise is a factor."""
    area = rng.uniform(20, 200, (n_rows, 1))
    return area, 3.0 * area[:, 0] * np.exp(0.3 * rng.standard_normal(n_rows))


rng = np.random.default_rng(0)
X_train, y_train = draw(rng, 2000)
X_cal, y_cal = draw(rng, 2000)
X_new, y_new = draw(rng, 2000)
small_and_large = np.array([[25.0], [190.0]])


def show(name, promise, ends, of_new):
    """Print a promise, two bands, and how many new prices are inside of theirs."""
    inside = (of_new[:, 0] <= y_new) & (y_new <= of_new[:, 1])
    print(f"{name}\n  {promise}")
    for (area,), (lower, upper) in zip(small_and_large, ends, strict=True):
        print(f"  {area:.0f} m²: from {lower:6.1f} to {upper:6.1f}")
    print(f"  inside of it: {inside.mean():.1%} of {len(y_new)} new prices\n")


# %%
# The model of log y is linear in the logarithm of the area. Of this model, `model` predicts prices.
of_logarithm = make_pipeline(FunctionTransformer(np.log), LinearRegression())
model = TransformedTargetRegressor(of_logarithm, func=np.log, inverse_func=np.exp)
model.fit(X_train, y_train)

# %%
# An absolute band, clipped at zero.
absolute = pacband.CertifiedRegressor(model, clip=(0, None), **PROMISE).calibrate(X_cal, y_cal)
show(
    "An absolute error, and no negative price",
    absolute.certificate_.promise,
    absolute.predict_interval(small_and_large),
    absolute.predict_interval(X_new),
)

# %%
# A relative error: the scale is the prediction.
relative = pacband.CertifiedRegressor(
    model, scale=lambda X: np.abs(model.predict(X)), clip=(0, None), **PROMISE
)
relative.calibrate(X_cal, y_cal)
show(
    f"A relative error: {relative.certificate_.gamma:.1%} of the prediction",
    relative.certificate_.promise,
    relative.predict_interval(small_and_large),
    relative.predict_interval(X_new),
)

# %%
# Here fit and certificate are both about log y: pass log y, and take the exponential of every answer.
factor = pacband.CertifiedRegressor(of_logarithm, **PROMISE)
factor.fit(X_train, np.log(y_train), calibration=(X_cal, np.log(y_cal)))
show(
    f"A factor of {np.exp(factor.certificate_.gamma):.2f}, up or down: T(x) / f ≤ y ≤ T(x) · f",
    f"for log y: {factor.certificate_.promise}",
    np.exp(factor.predict_interval(small_and_large)),
    np.exp(factor.predict_interval(X_new)),
)

# %%
# The three bands over the area. The second and the third are narrow for small flats.
figure, ax = plt.subplots(figsize=(7.4, 3.8), layout="constrained")
ax.scatter(X_new[:, 0], y_new, s=4, color="0.6", linewidths=0, label="new prices")
areas = np.linspace(20, 200, 100)[:, None]
for name, ends, color in (
    ("absolute", absolute.predict_interval(areas), "#c04a00"),
    ("relative", relative.predict_interval(areas), "#0072b2"),
    ("factor", np.exp(factor.predict_interval(areas)), "#009e73"),
):
    ax.plot(areas[:, 0], ends, color=color, label=[name, None])
ax.set(xlabel="area in m²", ylabel="price in thousands")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/relative_error.png", dpi=150)
