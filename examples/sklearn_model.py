"""A scikit-learn model: fit, certify, predict with a band, and keep the certificate."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacband

X, y = load_diabetes(return_X_y=True)

# 442 patients are few: with half of them for calibration, 90 % of future errors at 95 % confidence can be had.
print(f"samples needed at least: {pacband.min_samples(eps=0.1, delta=0.05)}")

model = pacband.CertifiedRegressor(
    make_pipeline(StandardScaler(), Ridge()), eps=0.1, delta=0.05, calibration_size=0.5, random_state=0
).fit(X, y)

print(model.certificate_)
for prediction, (lower, upper) in zip(model.predict(X[:3]), model.predict_interval(X[:3]), strict=True):
    print(f"predicted {prediction:5.1f}, certified to lie in [{lower:5.1f}, {upper:5.1f}]")

# A promise that the samples cannot support is an error. It states what they can support.
try:
    model.set_params(delta=1e-9, eps=0.01).fit(X, y)
except pacband.NotEnoughSamples as error:
    print(f"\n{error}")
