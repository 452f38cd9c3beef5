"""
A promise within every group
============================

A promise that holds on average over all rows may fail far too often in a small group. With ``groups``, every group
gets its own rank and bound, and all of them hold at once.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import pacband

# %%
# Three sites, and one of them, the summit, has few rows and large errors.
rng = np.random.default_rng(0)
sites = rng.choice(["coast", "hills", "summit"], size=9000, p=[0.6, 0.3, 0.1])
noise = np.select([sites == "coast", sites == "hills"], [1.0, 2.0], default=5.0)
table = pd.DataFrame({"pressure": rng.normal(1000.0, 10.0, 9000), "site": pd.Categorical(sites)})
measured = 15.0 + 0.3 * (table["pressure"] - 1000.0) + noise * rng.standard_normal(9000)
known, fresh = slice(0, 6000), slice(6000, None)

# %%
# The group of a row is a column of the table; fit keeps enough rows of each group for calibration.
model = HistGradientBoostingRegressor(
    max_iter=30, categorical_features="from_dtype", random_state=0
)
overall, grouped = (
    pacband.CertifiedRegressor(model, eps=0.05, delta=1e-3, groups=groups, random_state=0).fit(
        table[known], measured[known]
    )
    for groups in (None, "site")
)
print(grouped.certificate_)

# %%
# On fresh rows, the common bound fails on the summit. The bounds of the groups do not.
print("violations on fresh rows (at most 5 % promised)")
outside = {}
for name, certified in (("overall", overall), ("grouped", grouped)):
    lower, upper = certified.predict_interval(table[fresh]).T
    outside[name] = (measured[fresh] < lower) | (measured[fresh] > upper)
shares = {}
for site in ("coast", "hills", "summit"):
    rows = table["site"][fresh] == site
    shares[site] = [outside[name][rows].mean() for name in ("overall", "grouped")]
    overall_share, group_share = shares[site]
    print(f"  {site:<7} one bound {overall_share:6.1%}   a bound for each site {group_share:6.1%}")

figure, ax = plt.subplots(figsize=(7.4, 3.4), layout="constrained")
kinds = (("one bound", -0.2, "#c04a00"), ("a bound for each site", 0.2, "#0072b2"))
for k, (name, offset, color) in enumerate(kinds):
    heights = [100 * shares[site][k] for site in shares]
    bars = ax.bar(np.arange(3) + offset, heights, width=0.38, color=color, label=name)
    ax.bar_label(bars, fmt="%.1f %%", padding=2)
ax.axhline(5, color="black", linewidth=1.2)
ax.annotate(
    "promised: at most 5 %", (-0.45, 5), va="bottom", xytext=(0, 2), textcoords="offset points"
)
ax.set_xticks(range(3), list(shares))
ax.set(ylabel="violations on fresh rows in %", xlim=(-0.5, 2.5), ylim=(0, 30))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
Path("out").mkdir(exist_ok=True)
figure.savefig("out/per_group.png", dpi=150)
