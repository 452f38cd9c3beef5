"""
Other inputs in use
===================

The inputs will be distributed differently in use, in a way that is known. Rows are accepted by their importance, and
accepted rows are draws of the use.

A model is calibrated in the laboratory, where the load x of a motor is spread around 0. In the field the loads are
higher. How the temperature depends on the load stays the same. The importance w(x) is the density of loads in the field
over the density in the laboratory. Both are known, and w(x) ≤ 2.47 for all x. A row is accepted with probability
w(x)/2.47, and accepted rows are draws of the field.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pacband
from pacband.draws import Weighted

OUT = Path("out")
EPS, DELTA, N = 0.1, 0.05, 2000
# Loads in the field: normal, with this mean and this deviation; in the laboratory 0 and 1.
SHIFT, SPREAD = 0.7, 0.8
# w(x) = exp(x²/2 − (x − 0.7)²/(2·0.64))/0.8 is largest at x = 0.7/0.36.
AT_MOST = 2.47
rng = np.random.default_rng(4)


def importance(load):
    """Return the density of loads in the field over that in the laboratory."""
    return np.exp(0.5 * load**2 - 0.5 * ((load - SHIFT) / SPREAD) ** 2) / SPREAD


def measure(load):
    """Return the errors of the model, which grow with the load."""
    return (0.3 + 0.4 * np.maximum(load, 0.0)) * rng.standard_normal(len(load))


# %%
# One calibration in the laboratory, with a promise about the field. The seed is part of the certificate.
load = rng.standard_normal(N)
error = measure(load)
draws = Weighted(importance(load), at_most=AT_MOST, random_state=0)
certificate = pacband.certify(error, 0 * error, eps=EPS, delta=DELTA, draws=draws)
print(certificate)

# %%
# Two hundred calibrations in the laboratory, and what the field makes of them.
field = measure(SHIFT + SPREAD * rng.standard_normal(200_000))
shares = {"laboratory rows as they are": [], "rows accepted by importance": []}
for seed in range(200):
    load = rng.standard_normal(N)
    error = measure(load)
    accepted = Weighted(importance(load), at_most=AT_MOST, random_state=seed)
    for name, draws in zip(shares, (None, accepted), strict=True):
        gamma = pacband.certify(error, 0 * error, eps=EPS, delta=DELTA, draws=draws).gamma
        shares[name].append(float(np.mean(np.abs(field) > gamma)))

# %%
# Laboratory rows as they are promise too much: the field has more of the high loads, where errors are large.
OUT.mkdir(exist_ok=True)
figure = plt.figure(figsize=(7.4, 3.4), layout="constrained")
ax = figure.subplots()
for (name, found), color in zip(shares.items(), ("#c04a00", "#0072b2"), strict=True):
    broken = np.mean(np.array(found) > EPS)
    label = f"{name}: broken in {100 * broken:.3g} %"
    print(f"{label} of 200 calibrations (at most {100 * DELTA:g} % allowed)")
    ax.hist(found, bins=np.linspace(0.04, 0.2, 65), color=color, alpha=0.75, label=label)
ax.axvline(EPS, color="black", linewidth=1.2)
ax.annotate(
    f" promised: at most {100 * EPS:g} %",
    (EPS, 0.94),
    xycoords=("data", "axes fraction"),
)
ax.set_title(
    "The same laboratory rows, judged in the field",
    loc="left",
    fontsize=10.5,
    fontweight="bold",
)
ax.set_xlabel("share of errors in the field beyond the bound")
ax.set_ylabel("calibrations")
ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g} %")
ax.spines[["top", "right"]].set_visible(False)
ax.set_ylim(0, 1.5 * ax.get_ylim()[1])
ax.legend(frameon=False, loc="upper right", bbox_to_anchor=(1.0, 0.9))
figure.savefig(OUT / "covariate_shift.png", dpi=150)
print(f"Figure: {OUT / 'covariate_shift.png'}")
