"""Predictions from elsewhere: a table of targets and predictions is all that is needed, whatever made them."""

import csv
import tempfile
from pathlib import Path

import numpy as np

import pacband

folder = Path(tempfile.mkdtemp())

# A model in another language has written this file: the true values, its predictions, and its own error estimates.
rng = np.random.default_rng(0)
level = rng.uniform(1.0, 5.0, 2000)
with open(folder / "scored.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["measured", "predicted", "sigma"])
    for sigma in level:
        predicted = rng.normal(100.0, 20.0)
        writer.writerow([predicted + 0.7 * sigma * rng.standard_t(5), predicted, sigma])

table = np.genfromtxt(folder / "scored.csv", delimiter=",", names=True)
certificate = pacband.certify(table["measured"], table["predicted"], table["sigma"], eps=0.05, delta=1e-6)
print(certificate)

# The certificate is a JSON file of its own; whoever has it can draw the band, and check it against the data.
path = certificate.save(folder / "certificate.json")
loaded = pacband.load(path)
holds = loaded.verify(table["measured"], table["predicted"], table["sigma"])
print(f"\nread back, and verified against the data: {holds}")
print(f"band around a prediction of 120 with sigma 2: {loaded.interval([120.0], scale=[2.0]).round(1)[0]}")

# A damaged or edited file is noticed.
path.write_text(path.read_text().replace('"eps": 0.05', '"eps": 0.01'))
try:
    pacband.load(path)
except pacband.CertificateError as error:
    print(f"edited by hand: {str(error).split(' ', 1)[1]}")
