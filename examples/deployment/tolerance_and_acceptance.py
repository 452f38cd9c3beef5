"""
A tolerance from a contract
===========================

The customer gives the tolerance. Plan an acceptance test, run it, and state what it shows.

A virtual sensor replaces a pressure gauge. The contract states that it may be wrong by at most 2 bar, and that it may
exceed this in at most 5 % of all measurements. The plan is made before any measurement.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pacband

OUT = Path("out")
TOLERANCE = 2.0  # bar, from the contract
rng = np.random.default_rng(3)


def measure(n_rows, noise):
    """Return the true pressure and what the virtual sensor shows."""
    pressure = rng.uniform(20.0, 80.0, n_rows)
    return pressure, pressure + noise * rng.standard_normal(n_rows)


# %%
# How many measurements separate a sensor with 5 % of violations from one with 1 %?
plan = pacband.plan_acceptance(0.05, 0.05, eps_good=0.01, beta=0.1)
print(plan)

# %%
# Two suppliers take the test. The errors of the first exceed 2 bar in 0.8 % of the rows, those of the second in 9.6 %.
for supplier, noise in (("first", 0.75), ("second", 1.2)):
    y, shown = measure(plan.n_samples, noise)
    violations = int((np.abs(y - shown) > TOLERANCE).sum())
    verdict = "accepted" if violations <= plan.max_violations else "rejected"
    print(
        f"{supplier} supplier: {violations} of {plan.n_samples} exceed {TOLERANCE:g} bar: {verdict}"
    )

# %%
# What the winner's sensor can promise, from more measurements: the tolerance is given, and the share is found.
y, shown = measure(2000, 0.75)
certificate = pacband.certify_tolerance(y, shown, TOLERANCE, delta=1e-3)
print(certificate)
assert certificate.verify(y, shown)

# %%
# How many of the next 500 measurements exceed the tolerance, at most?
most = certificate.outlook(500)
print(f"Of the next 500 measurements, at most {most} exceed {TOLERANCE:g} bar (confidence 99.9 %).")
errors = (np.subtract(*measure(500, 0.75)) for _ in range(2000))
counts = np.array([(np.abs(error) > TOLERANCE).sum() for error in errors])
print(f"In 2000 simulated months of 500 measurements, the largest count is {counts.max()}.\n")

# %%
# A score of your own: the time until the sensor answers. No prediction, no band, the same promise.
milliseconds = rng.gamma(4.0, 2.0, 2000)
print(pacband.certify_scores(milliseconds, eps=0.01, delta=1e-3).promise)

# %%
# The chance to pass the test, for every true share of violations.
OUT.mkdir(exist_ok=True)
figure, ax = plt.subplots(figsize=(7.4, 3.4), layout="constrained")
pacband.plot_acceptance(plan, ax=ax)
figure.savefig(OUT / "acceptance.png", dpi=150)

# %%
# The counts of the next 500 measurements, and the outlook.
figure, ax = plt.subplots(figsize=(7.4, 3.4), layout="constrained")
ax.bar(*np.unique(counts, return_counts=True), color="#0072b2", alpha=0.85)
ax.axvline(most + 0.5, color="#c04a00", linewidth=1.6)
ax.annotate(
    f"outlook: at most {most}  ",
    (most + 0.5, 0.95),
    xycoords=("data", "axes fraction"),
    ha="right",
    color="#c04a00",
)
ax.set_title("Violations among the next 500", loc="left", fontsize=10.5, fontweight="bold")
ax.set(xlabel="violations in 500 measurements", ylabel="simulated months")
ax.spines[["top", "right"]].set_visible(False)
figure.savefig(OUT / "outlook.png", dpi=150)
print(f"Figures: {OUT / 'acceptance.png'}, {OUT / 'outlook.png'}")
