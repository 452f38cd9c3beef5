"""
Predictions from a CSV file
===========================

A table of targets and predictions is all that is needed, whatever made them: R, MATLAB, a database, a person.
"""

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pacband

folder = Path(tempfile.mkdtemp())

# %%
# A model in another language has written this file: the true values, its predictions, and its own error estimates.
rng = np.random.default_rng(0)
level = rng.uniform(1.0, 5.0, 2000)
with open(folder / "scored.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["measured", "predicted", "sigma"])
    for sigma in level:
        predicted = rng.normal(100.0, 20.0)
        writer.writerow([predicted + 0.7 * sigma * rng.standard_t(5), predicted, sigma])

# %%
# Three columns make a certificate.
table = np.genfromtxt(folder / "scored.csv", delimiter=",", names=True)
columns = table["measured"], table["predicted"], table["sigma"]
certificate = pacband.certify(*columns, eps=0.05, delta=1e-6)
print(certificate)

# %%
# The bound stands among the scores at the rank that was chosen before looking at them.
figure, ax = plt.subplots(figsize=(7.4, 3.4), layout="constrained")
pacband.plot_scores(certificate, *columns, ax=ax)
Path("out").mkdir(exist_ok=True)
figure.savefig("out/predictions_from_csv.png", dpi=150)

# %%
# The certificate is a JSON file. Whoever has it can draw the band, and verify it against the data.
path = certificate.save(folder / "certificate.json")
loaded = pacband.load(path)
print(f"read back, and verified against the data: {loaded.verify(*columns)}")
band = loaded.interval([120.0], scale=[2.0]).round(1)[0]
print(f"band around a prediction of 120 with sigma 2: {band}")

# %%
# A damaged or edited file is refused.
path.write_text(path.read_text().replace('"eps": 0.05', '"eps": 0.01'))
try:
    pacband.load(path)
except pacband.CertificateError as error:
    print(f"edited by hand: {str(error).split(' ', 1)[1]}")
