"""
A scikit-learn model
====================

Fit a model, certify it, predict with a band, and keep the certificate. 442 patients are few rows: the example
also shows what pacband says if they are too few for a promise.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacband

X, y = load_diabetes(return_X_y=True)

# %%
# Which promise can be had? With half of the rows for calibration, 90 % of future errors at a confidence of 95 % can.
print(f"samples needed at least: {pacband.min_samples(eps=0.1, delta=0.05)}")

# %%
# ``fit`` splits the rows. The model is fitted on one part, and the other part certifies it.
model = pacband.CertifiedRegressor(
    make_pipeline(StandardScaler(), Ridge()),
    eps=0.1,
    delta=0.05,
    calibration_size=0.5,
    random_state=0,
).fit(X, y)
print(model.certificate_)

# %%
# The band of a row is its prediction plus and minus the bound. The promise is about all rows together: it says how many
# rows are outside of their bands, and not which. It is about new rows; some of these three were used to fit the model.
bands = model.predict_interval(X[:3])
for prediction, (lower, upper) in zip(model.predict(X[:3]), bands, strict=True):
    print(f"predicted {prediction:5.1f}, band [{lower:5.1f}, {upper:5.1f}]")

figure, ax = plt.subplots(figsize=(7.4, 3.8), layout="constrained")
target = "progression of the disease"
pacband.plot_band(model.certificate_, y, model.predict(X), y_name=target, ax=ax)
Path("out").mkdir(exist_ok=True)
figure.savefig("out/sklearn_model.png", dpi=150)

# %%
# A promise that the samples cannot support is an error. The error states what they can support.
try:
    model.set_params(delta=1e-9, eps=0.01).fit(X, y)
except pacband.NotEnoughSamples as error:
    print(error)
